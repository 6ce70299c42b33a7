"""The measures of a search: those that limits name, the axes of the map, and the losses of the objective."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from discreet import registry
from discreet.errors import PolicyError
from discreet.model.contracts import Direction, LossMeasure, RiskMeasure
from discreet.model.policy import Policy
from discreet.selection.objective import FIELDS, OBJECTIVE
from discreet.selection.options import SelectOptions


@dataclass(frozen=True)
class Measures:
    """Risks and losses by name, with the parameters of the policy."""

    risk_axis: str
    better: Mapping[str, Direction]
    """Whether less or more is better, for each limit and for both axes, by MEASURE.FIELD."""
    risks: Mapping[str, RiskMeasure]
    losses: Mapping[str, LossMeasure]


def create_measures(policy: Policy, options: SelectOptions) -> Measures:
    """The measures that a search needs; losses compute only the fields that are asked for, and attacks are sampled."""
    risk_axis = options.risk or default_risk(policy)
    axes = [risk_axis, *([] if options.loss == OBJECTIVE else [options.loss])]
    fields = list(dict.fromkeys([*axes, *FIELDS, *policy.limits]))
    resolved = [registry.resolve_limit(limit, origin=policy.origin) for limit in fields]
    if resolved[0][0] != "risk" or any(kind != "loss" for kind, *_ in resolved[1 : len(axes)]):
        raise PolicyError(
            f"{policy.origin}: select.risk must name a risk and select.loss a loss or 'objective'; "
            f"got {risk_axis}, {options.loss}"
        )
    better = {limit: better for limit, (*_, better) in zip(fields, resolved, strict=True)}
    risks: dict[str, RiskMeasure] = {
        name: registry.create("risk", name, policy.risk.get(name), origin=policy.origin).sampled()
        for kind, name, *_ in resolved
        if kind == "risk"
    }
    losses: dict[str, LossMeasure] = {
        name: registry.create("loss", name, policy.loss.get(name), origin=policy.origin).only(
            {field for kind, measure, field, _ in resolved if (kind, measure) == ("loss", name)}
        )
        for kind, name, *_ in resolved
        if kind == "loss"
    }
    return Measures(risk_axis, better, risks, losses)


def measure_in_full(policy: Policy) -> Policy:
    """The policy with attacks that limits name made on everybody: in a search they are sampled, at its end made in full.

    The chosen policy says so, and whoever assesses the release gets the same numbers.
    """
    risks = {name: dict(parameters) for name, parameters in policy.risk.items()}
    for limit in policy.limits:
        kind, name, *_ = registry.resolve_limit(limit, origin=policy.origin)
        if kind != "risk":
            continue
        measure: RiskMeasure = registry.create("risk", name, policy.risk.get(name), origin=policy.origin)
        full = measure.in_full()
        changed = {field: value for field, value in full.parameters.items() if value != measure.parameters[field]}
        if changed:
            risks[name] = {**risks.get(name, {}), **changed}
    return policy if risks == policy.risk else policy.with_(risk=risks)


def samples_attacks(policy: Policy) -> bool:
    """Whether a search samples what is measured in full at its end."""
    names = {name for kind, name, *_ in map(registry.resolve_limit, policy.limits) if kind == "risk"}
    measures: list[RiskMeasure] = [registry.create("risk", name, policy.risk.get(name), origin=policy.origin) for name in names]
    return any(measure.sampled() != measure for measure in measures)


def default_risk(policy: Policy) -> str:
    """The default risk axis of the map: a risk that falls smoothly as equivalence classes grow."""
    limited = {limit.split(".")[0] for limit in policy.limits} & set(registry.installed_names("risk"))
    named = limited - {"coverage"} or set(policy.risk)  # a risk without a limit is measured only where no risk has one
    if "known_sets" in named:
        return "known_sets.mean"
    if "k_anonymity" in named or not named & set(registry.installed_names("risk")):
        return "k_anonymity.classes"
    return next(
        (limit for limit in policy.limits if registry.resolve_limit(limit, origin=policy.origin)[0] == "risk"),
        "k_anonymity.classes",
    )
