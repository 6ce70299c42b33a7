"""Which measures a policy asks for, as instances."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from discreet import registry
from discreet.errors import PolicyError
from discreet.model.attribute import Role
from discreet.model.contracts import LossMeasure, RiskMeasure
from discreet.model.policy import Policy

Measures = Iterable[str | RiskMeasure | LossMeasure] | Mapping[str, Mapping[str, Any]] | str | None
"""Names or instances of measures, or names with parameters; None: those that the policy names."""


def make_measures(kind: Any, measures: Measures, policy: Policy) -> list[Any]:
    """Instances of the measures named, with the policy's parameters; of those the policy names where none are."""
    parameters: Mapping[str, Mapping[str, Any]] = policy.risk if kind == "risk" else policy.loss
    if measures is None:
        measures = list(parameters) or default_measures(kind, policy)
    if isinstance(measures, str):
        measures = [measures]
    if isinstance(measures, Mapping):
        return [registry.create(kind, name, values, origin="the call") for name, values in measures.items()]
    return [
        registry.create(kind, measure, parameters.get(measure), origin=policy.origin) if isinstance(measure, str) else measure
        for measure in measures
    ]


def measures_for_limits(kind: str, policy: Policy) -> list[str]:
    """The names of the measures that a policy names and of those that its limits need."""
    named = policy.risk if kind == "risk" else policy.loss
    return list(dict.fromkeys([*named, *_limited(kind, policy)])) or default_measures(kind, policy)


def default_measures(kind: str, policy: Policy) -> list[str]:
    """The measures taken where the policy names none: those that its limits need, else the plainest one."""
    if limited := _limited(kind, policy):
        return list(dict.fromkeys(limited))
    if kind == "loss":
        return ["ncp"]
    attributes = policy.at_largest_known().attributes.values()
    has_known = any(attribute.known > 0 and attribute.role is not Role.IDENTIFIER for attribute in attributes)
    if has_known and "known_sets" in registry.installed_names("risk"):
        return ["known_sets"]
    if policy.named(Role.KEY):
        return ["k_anonymity"]
    raise PolicyError(
        f"{policy.origin}: nothing to measure: give an attribute the role key or a known probability, or name a measure"
    )


def _limited(kind: str, policy: Policy) -> list[str]:
    return [limit.split(".")[0] for limit in policy.limits if registry.resolve_limit(limit, origin=policy.origin)[0] == kind]
