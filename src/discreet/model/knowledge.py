"""What an intruder knows besides single probabilities: attributes that are known together, and scenarios.

Attributes that are known together are one unit with one probability, the largest of theirs: who knows one of them knows them all,
so that the larger number counts for all. A scenario replaces the probabilities of the attributes that it names; the others keep
those of the attribute table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import Field

from discreet.errors import nearest
from discreet.model.attribute import Attribute, Role
from discreet.model.guess import Guess, GuessedShare

AS_ATTRIBUTES = "attributes"
"""The name of the scenario in which every attribute has the probability of the attribute table."""

BY_SCENARIO = "_by_scenario"
"""The end of the names of fields that hold a number for each scenario."""

ScenarioName = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9 _-]{0,63}$")]
Scenarios = dict[ScenarioName, dict[str, GuessedShare]]


def check_groups(groups: Sequence[Sequence[str]], attributes: Mapping[str, Attribute]) -> None:
    """Raise ValueError unless groups have two or more different attributes of the policy, each in one group only."""
    seen: set[str] = set()
    for group in groups:
        if len(group) < 2:
            raise ValueError(f"what is known together is two or more attributes; got {list(group)}")
        for name in group:
            _check_name("known_together", name, attributes)
            if name in seen:
                raise ValueError(f"known_together names '{name}' twice; an attribute is in one group only, and once")
            seen.add(name)


def check_scenarios(scenarios: Mapping[str, Mapping[str, float]], attributes: Mapping[str, Attribute]) -> None:
    """Raise ValueError unless every scenario names attributes of the policy."""
    for scenario, known in scenarios.items():
        if scenario == AS_ATTRIBUTES:
            raise ValueError(
                f"a scenario cannot be named '{AS_ATTRIBUTES}', which stands for the attribute table itself; choose another name"
            )
        for name in known:
            _check_name(f"scenarios.{scenario}", name, attributes)


def _check_name(where: str, name: str, attributes: Mapping[str, Attribute]) -> None:
    if name not in attributes:
        raise ValueError(f"{where} names '{name}', which is not an attribute of the policy; {nearest(name, list(attributes))}")
    if (role := attributes[name].role) in (Role.IDENTIFIER, Role.PERSON):
        raise ValueError(f"{where} names '{name}', whose role is {role}: no known set has it; leave it out")


def join_groups(attributes: Mapping[str, Attribute], groups: Sequence[Sequence[str]]) -> dict[str, Attribute]:
    """The attributes, with the largest probability of each group for all of it."""
    joined = dict(attributes)
    for group in groups:
        members = [name for name in group if name in joined]
        known = largest([joined[name].known for name in members])
        for name in members:
            if joined[name].known != known:
                joined[name] = joined[name].model_copy(update={"known": known})
    return joined


def put_scenario(
    attributes: Mapping[str, Attribute], known: Mapping[str, float], groups: Sequence[Sequence[str]]
) -> dict[str, Attribute]:
    """The attributes with a scenario's probabilities; a group of which it names some gets the largest of those that it names."""
    named = dict(known)
    for group in groups:
        if given := [known[name] for name in group if name in known]:
            named |= dict.fromkeys((name for name in group if name in attributes), largest(given))
    changed = {name: attributes[name].model_copy(update={"known": value}) for name, value in named.items() if name in attributes}
    return {**attributes, **changed}


def largest(guesses: Sequence[float]) -> float:
    """The largest of some guesses, end by end.

    >>> largest([0.2, Guess(0.1, 0.5)]), largest([0.6, Guess(0.1, 0.5)])
    ([0.2, 0.5], 0.6)
    """
    low = max((guess.low if isinstance(guess, Guess) else guess for guess in guesses), default=0.0)
    high = max(map(float, guesses), default=0.0)
    return Guess(low, high) if low < high else high
