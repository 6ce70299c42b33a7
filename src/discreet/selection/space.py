"""What the wizard may vary: the dimensions of the search, made by rules from roles, levels and limits.

A point is a choice a dimension; :mod:`discreet.selection.build` makes it a plan. Dimensions are:

    finish        which method makes the classes of the limit on k, and its settings (k, suppression, publish, scale, weight:NAME,
                  and weight, that of all numbers beside names where classes are made of near records)
    over          whether classes are made over the keys, or over all that an intruder may know
    target        which method lowers the risk of single records where known_sets is limited
    level:NAME    how coarse an attribute is recoded: 0 as it is, the last says nothing
    numbers:KEY   what is done to a numeric key that is not recoded
    hide          how many sensitive attributes are blanked, those in the riskiest records first
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from discreet import registry
from discreet.engine.cells.hierarchies import hierarchy_of
from discreet.errors import DiscreetError
from discreet.model.attribute import Level, Role
from discreet.model.microdata import Microdata
from discreet.selection.proposals import knowable

Choice = str | int | float
Point = dict[str, Choice]

GENERALIZED = "targeted_generalization"
_TARGETS = ("targeted_suppression sensitive", "targeted_suppression cheapest", "targeted_suppression known", GENERALIZED)
"""Methods with the side they take: what would be learnt, what finds the record, or whichever costs less."""
_TIMES = (1, 2, 3, 4, 5, 6, 8, 10, 14, 20, 28, 40, 56, 80, 112, 160, 224, 320, 480, 640)
"""What the least k is multiplied by: large classes are what limits on known_sets need."""
_FEWEST_CLASSES = 20
_WIDEST_LATTICE = 50_000
_WEIGHTS = tuple(2.0**power for power in range(-6, 5))
_NUMBERS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
"""What numbers may weigh beside names: little where names are what is lost, much where their correlations must stay."""
_STEPS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "full_domain": ("generalization", {"k": 2, "algorithm": "full_domain"}),
    "partition": ("generalization", {"k": 2, "algorithm": "partition"}),
    "balanced_partition": ("balanced_partition", {"k": 2, "criterion": "records"}),
    "microaggregation": ("microaggregation", {"size": 2, "how": "mdav"}),
    "local_suppression": ("local_suppression", {"k": 2}),
}
"""The methods that make classes, with parameters to ask whether they can."""
BESIDE_NAMES = (16.0, 1.0)
"""What numbers weigh beside names to begin with, where near records are grouped: so that correlations stay, and alike."""
LIGHT = (0.25, 0.0625, 0.5)
"""What numbers weigh to begin with: a mean is off by a share of the range, where a changed name is lost altogether."""


@dataclass(frozen=True)
class Space:
    """The dimensions with their choices, in a fixed order; ``ordered`` ones have neighbours."""

    choices: Mapping[str, Sequence[Choice]]
    ordered: frozenset[str]
    keys: tuple[str, ...]
    heights: Mapping[str, int]
    hidable: tuple[str, ...]
    numeric: tuple[str, ...]
    known: tuple[str, ...] = ()
    wide: frozenset[str] = frozenset()
    """The finishes that can make classes over all that an intruder may know."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """How many values each attribute of names has that an intruder may know: what is a name stays one when it is recoded."""

    def plain(self) -> Point:
        """The point that changes nothing."""
        return {name: 1.0 if name.startswith("weight") else choices[0] for name, choices in self.choices.items()}


def space_of(data: Microdata, *, top: Sequence[str] = ()) -> Space:
    """The dimensions for a table under its (completed) policy; ``top`` are the sensitive attributes, the riskiest first."""
    limits = data.policy.limits
    keys = tuple(_keys(data))
    known = [*keys, *(name for name in knowable(data) if name not in keys)]
    numeric = tuple(name for name in known if _is_number(data, name))
    heights = {name: hierarchy_of(data, name).height for name in known}
    limited = {limit.split(".")[0] for limit in limits}
    choices: dict[str, Sequence[Choice]] = {"finish": _finishes(data, keys, limited)}
    wide = _wide(data, keys, known, heights, choices["finish"]) if "known_sets" in limited else []
    learnt = [name for name in top if _worth_blanking(data, name)]
    ordered = {"k", "suppression", "hide", "weight"}
    if keys:
        least = max(2, math.ceil(limits.get("k_anonymity.k", 2)))
        choices["k"] = [least * times for times in _TIMES if times == 1 or least * times * _FEWEST_CLASSES <= len(data)]
        choices["suppression"] = [0.0, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4]
        choices["publish"] = ["means", "ranges"]
        choices["scale"] = ["range", "std", "none"]
        for name in known if wide else keys:
            choices[f"weight:{name}"] = list(_WEIGHTS)
        if "microaggregation" in choices["finish"] and numeric:
            choices["weight"] = list(_NUMBERS)
        if "microaggregation" in choices["finish"] and any(data.frame[name].has_nulls() for name in known):
            choices["missing"] = ["category", "apart"]
    if wide:
        choices["over"] = ["keys", "all"]
    if targets := [one for one in _TARGETS if "known_sets" in limited and _can_target(one, data)]:
        choices["target"] = ["none", *targets]
        choices["order"] = ["last", "first"]
    for name in known:
        choices[f"level:{name}"] = list(range(heights[name] + 1))
        if name in numeric and name in keys:
            choices[f"numbers:{name}"] = ["as is", "microaggregation", "top_bottom_coding"]
    if learnt and "known_sets" in limited:
        choices["hide"] = list(range(len(learnt) + 1))
    ordered |= {name for name in choices if name.startswith(("level:", "weight:"))}
    counts = {name: data.frame[name].n_unique() for name in known if data.level(name) in (Level.NOMINAL, Level.ORDINAL)}
    return Space(choices, frozenset(ordered), keys, heights, tuple(learnt), numeric, tuple(known), frozenset(wide), counts)


def _is_number(data: Microdata, name: str) -> bool:
    return data.level(name) is Level.NUMERIC and data.frame.schema[name].is_numeric()


def _worth_blanking(data: Microdata, name: str) -> bool:
    """Whether a value of a sensitive attribute can weigh more than none does: only then nothing is learnt from a blank."""
    attribute = data.attribute(name)
    return attribute.sensitivity > 0 and max(attribute.values.values(), default=0.0) > attribute.unlisted


def _can_target(target: str, data: Microdata) -> bool:
    method, _, side = target.partition(" ")
    if method not in registry.names("masking"):
        return False
    return side not in ("sensitive", "cheapest") or any(_worth_blanking(data, name) for name in data.columns)


def _wide(
    data: Microdata, keys: Sequence[str], known: Sequence[str], heights: Mapping[str, int], finishes: Sequence[Choice]
) -> list[str]:
    """The finishes that can work over all that may be known, in a time that is worth it."""
    if len(known) == len(keys):
        return []
    lattice = math.prod(heights[name] + 1 for name in known)
    slow = {"full_domain"} if lattice > _WIDEST_LATTICE else set()
    return [str(one) for one in finishes if one in _STEPS and one not in slow and _fits(data, str(one), known)]


def _fits(data: Microdata, finish: str, columns: Sequence[str]) -> bool:
    """Whether a method that makes classes says that it can do so over these columns."""
    name, parameters = _STEPS[finish]
    try:
        registry.make("masking", name, parameters, origin="select").check(data, columns)
    except DiscreetError:
        return False
    return True


def _keys(data: Microdata) -> list[str]:
    said = data.policy.risk.get("k_anonymity", {}).get("keys") or ()
    return [name for name in said if name in data.columns] or data.named(Role.KEY)


def _finishes(data: Microdata, keys: Sequence[str], limited: set[str]) -> list[Choice]:
    """The methods that can make classes here, the plainest first."""
    made: list[Choice] = ["none"]
    if data.policy.plan.steps and any(step.method != "remove_identifiers" for step in data.policy.plan.steps):
        made.append("given")
    if keys:
        made += [one for one in _STEPS if _fits(data, one, keys)]
        if "repeated_records" in limited and data.named(Role.PERSON):
            made += ["balanced_persons", "balanced"]
    return made
