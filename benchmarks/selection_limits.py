"""The limits that owners set, by name, for comparing the wizard with plans by hand."""

from __future__ import annotations

from typing import Any

from discreet.model.attribute import Role
from discreet.model.microdata import Microdata

LIMITS: dict[str, tuple[dict[str, float], int]] = {
    "k5": ({"k_anonymity.k": 5}, 5),
    "risk0.09": ({"target_linkage.max": 0.09}, 12),
    "below5": ({"known_sets.below_5": 0}, 10),
    "k5l2": ({"k_anonymity.k": 5, "l_diversity.l": 2}, 5),
    "risk0.2": ({"target_linkage.max": 0.2}, 5),
    "k10": ({"k_anonymity.k": 10}, 10),
    "k3": ({"k_anonymity.k": 3}, 3),
}
"""Limits by name, with the class size that a statistician would aim at; those that say most of the wizard come first."""


def set_limits(data: Microdata, name: str) -> Microdata:
    """The table under the limits with a name."""
    limits, _ = LIMITS[name]
    measures = {limit.split(".")[0] for limit in limits}
    risk: dict[str, Any] = {measure: dict(data.policy.risk.get(measure, {})) for measure in measures}
    if "l_diversity" in risk:
        confidential = data.named(Role.CONFIDENTIAL) or [column for column in data.columns if column not in data.named(Role.KEY)]
        risk["l_diversity"] = {"sensitive": confidential[:1]}
    return data.with_policy(data.policy.with_(risk=risk, limits=limits))
