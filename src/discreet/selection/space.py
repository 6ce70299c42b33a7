"""What the wizard may vary: the dimensions of the search, made by rules from roles, levels and limits.

A point is a choice a dimension; :mod:`discreet.selection.build` makes it a plan. Dimensions are:

    finish        which method makes the classes of the limit on k, and its settings (k, suppression, publish, scale, weight:KEY)
    target        which method lowers the risk of single records where known_sets is limited
    level:NAME    how coarse an attribute is recoded: 0 as it is, the last says nothing
    numbers:KEY   what is done to a numeric key that is not recoded
    hide          how many sensitive attributes are blanked, those in the riskiest records first
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from discreet import registry
from discreet.engine.hierarchies import hierarchy_of
from discreet.model.attribute import Level, Role
from discreet.model.microdata import Microdata
from discreet.selection.proposals import knowable

Choice = str | int | float
Point = dict[str, Choice]

_TARGETS = (
    "targeted_suppression sensitive", "targeted_suppression cheapest", "targeted_suppression known", "targeted_generalization",
)  # fmt: skip
"""Methods with the side they take: what would be learnt, what finds the record, or whichever costs less."""
_WEIGHTS = tuple(2.0**power for power in range(-6, 5))
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

    def plain(self) -> Point:
        """The point that changes nothing."""
        return {name: 1.0 if name.startswith("weight:") else choices[0] for name, choices in self.choices.items()}


def space_of(data: Microdata, *, top: Sequence[str] = ()) -> Space:
    """The dimensions for a table under its (completed) policy; ``top`` are the sensitive attributes, the riskiest first."""
    limits = data.policy.limits
    keys = tuple(_keys(data))
    known = [*keys, *(name for name in knowable(data) if name not in keys)]
    numeric = tuple(name for name in keys if data.level(name) is Level.NUMERIC and data.frame.schema[name].is_numeric())
    heights = {name: hierarchy_of(data, name).height for name in known}
    limited = {limit.split(".")[0] for limit in limits}
    choices: dict[str, Sequence[Choice]] = {"finish": _finishes(data, keys, limited)}
    ordered = {"k", "suppression", "hide"}
    if keys:
        least = max(2, math.ceil(limits.get("k_anonymity.k", 2)))
        choices["k"] = [least * times for times in (1, 2, 3, 5, 10, 20)]
        choices["suppression"] = [0.0, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4]
        choices["publish"] = ["means", "ranges"]
        choices["scale"] = ["range", "std", "none"]
        for name in keys:
            choices[f"weight:{name}"] = list(_WEIGHTS)
    if targets := [one for one in _TARGETS if one.split()[0] in registry.names("masking") and "known_sets" in limited]:
        choices["target"] = ["none", *targets]
        choices["order"] = ["last", "first"]
    for name in known:
        choices[f"level:{name}"] = list(range(heights[name] + 1))
        if name in numeric:
            choices[f"numbers:{name}"] = ["as is", "microaggregation", "top_bottom_coding"]
    if top and "known_sets" in limited:
        choices["hide"] = list(range(len(top) + 1))
    ordered |= {name for name in choices if name.startswith(("level:", "weight:"))}
    return Space(choices, frozenset(ordered), keys, heights, tuple(top), numeric)


def _keys(data: Microdata) -> list[str]:
    said = data.policy.risk.get("k_anonymity", {}).get("keys") or ()
    return [name for name in said if name in data.columns] or data.named(Role.KEY)


def _finishes(data: Microdata, keys: Sequence[str], limited: set[str]) -> list[Choice]:
    """The methods that can make classes here, the plainest first."""
    made: list[Choice] = ["none"]
    if data.policy.plan.steps and any(step.method != "remove_identifiers" for step in data.policy.plan.steps):
        made.append("given")
    if keys:
        made += ["full_domain", "partition", "balanced_partition", "microaggregation", "local_suppression"]
        if "repeated_records" in limited and data.named(Role.PERSON):
            made += ["balanced_persons", "balanced"]
    return made
