"""Words for the sentences in which masking methods describe a step: lists, numbers, shares, strata and weights of columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from discreet.model.display import MAX_NAMES, format_number


def list_words(words: Sequence[str]) -> str:
    """Words as in a sentence; of many the first, and how many more.

    >>> list_words(["a"]), list_words(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    more = len(words) - MAX_NAMES
    shown = [*words[:MAX_NAMES], f"{more:,} more"] if more > 1 else list(words)
    return " and ".join(filter(None, [", ".join(shown[:-1]), shown[-1]])) if shown else ""


def say_value(value: Any) -> str:
    """The value of a parameter in words."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return format_number(value)
    if isinstance(value, Mapping):
        return list_words([f"{name} {say_value(inner)}" for name, inner in value.items()])
    return list_words([say_value(one) for one in value]) if isinstance(value, list | tuple) else str(value)


def say_required(value: Any) -> str:
    """A number of records that a step needs; where it names none, that of the policy."""
    return "the required number of" if value is None else say_value(value)


def say_percent(share: float) -> str:
    """A share in percent."""
    return f"{100 * share:.4g} %"


def say_strata(parameters: Mapping[str, Any]) -> str:
    """Within which groups of records a step works; empty if within the whole table."""
    strata = parameters.get("strata")
    return f", within each combination of {list_words(strata)}" if strata else ""


def say_weights(parameters: Mapping[str, Any]) -> str:
    """That columns count differently; their weights are in the policy."""
    if parameters.get("importance"):
        return ", sparing some columns more than others"
    return ", weighing the columns differently" if parameters.get("weights") else ""


def describe_target(verb: str, columns: str, parameters: Mapping[str, Any]) -> str:
    """What a targeted step does; ``verb`` is what it does to values: suppress or generalize."""
    threshold, measure = parameters.get("threshold"), parameters.get("risk", "known_sets")
    if isinstance(threshold, Mapping):
        until = f"each is hidden among at least {say_value(threshold['among'])} records"
    else:
        limit = "the policy's threshold" if threshold is None else say_value(threshold)
        until = f"none has a risk ({measure}) above {limit}"
    once = ", in one pass" if parameters.get("passes") == 1 else ""
    spared = f", never of {list_words(protect)}" if (protect := parameters.get("protect")) else ""
    return f"{verb} values of {columns} in high-risk records only, until {until}{once}{spared}"
