"""For each column of a release: which step changed it, which adversary reads it, and what its owner decided."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from discreet import registry
from discreet.errors import DiscreetError
from discreet.model.attribute import Role
from discreet.model.contracts import RiskMeasure
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.risks.coverage.pairing import Paired

_DECIDED = (Role.KEY, Role.CONFIDENTIAL, Role.WEIGHT, Role.HOUSEHOLD)
_MOSTLY = 0.5
_DIRECT = (Role.IDENTIFIER, Role.PERSON)


@dataclass(frozen=True)
class Examination:
    """What is known of one column before its values are looked at."""

    name: str
    role: Role
    steps: tuple[str, ...]
    adversaries: tuple[str, ...]
    accepted: str | None
    changed: bool
    """Whether it was masked: by its values where the original is at hand, by the plan where it is not."""

    @property
    def direct(self) -> bool:
        """Whether it names people by its owner's own word and is released as it was."""
        return self.role in _DIRECT and not self.changed and self.accepted is None

    @property
    def overlooked(self) -> bool:
        """Whether nobody looked: no adversary, no step, no word of the owner."""
        return (
            self.role not in _DECIDED
            and self.role not in _DIRECT
            and not self.adversaries
            and not self.changed
            and self.accepted is None
        )


def adversaries(policy: Policy) -> list[RiskMeasure]:
    """The risk measures that a policy asks for: by its risk section, by its limits, or by default; never this one."""
    limited = [limit.split(".")[0] for limit in policy.limits if registry.direction(limit, origin=policy.origin)[0] == "risk"]
    names = [name for name in dict.fromkeys([*policy.risk, *limited]) if name != "coverage"]
    if not names:
        known = any(one.known > 0 and one.role not in _DIRECT for one in policy.attributes.values())
        names = ["known_sets"] if known else ["k_anonymity"] if policy.named(Role.KEY) else []
    return [registry.make("risk", name, policy.risk.get(name), origin=policy.origin) for name in names]


def steps_of(policy: Policy, data: Microdata) -> dict[str, list[str]]:
    """Column by column the methods of the plan's steps that work on it: those named, or the method's own choice."""
    found: dict[str, list[str]] = {}
    for step in policy.plan.steps:
        if not step.enabled:
            continue
        columns = step.columns
        if columns is None:
            try:
                method = registry.make("masking", step.method, step.parameters, origin=policy.origin)
                columns = tuple(method.choose(data))
            except DiscreetError:
                columns = ()
        for name in columns:
            found.setdefault(name, []).append(step.method)
    return found


def changed_columns(paired: Paired) -> dict[str, float]:
    """Column by column the share of released cells that differ from the original; 1 for a column that it does not have."""
    shares = {name: float(paired.hidden(name).mean()) if len(paired) else 0.0 for name in paired.original.columns}
    return {name: shares.get(name, 1.0) for name in paired.data.columns}


def examine(data: Microdata, original: Microdata | None, changed: Mapping[str, float] | None) -> list[Examination]:
    """The examination of every released column; ``changed`` are the shares of changed cells where they are known."""
    policy = data.policy
    steps = steps_of(policy, original if original is not None else data)
    readers: dict[str, list[str]] = {}
    for measure in adversaries(policy):
        try:
            read = measure.examines(data)
        except DiscreetError:
            read = []
        for name in read:
            readers.setdefault(name, []).append(measure.name)
    found = []
    for name in data.columns:
        attribute = data.attribute(name)
        # a step that changed nothing masked nothing; a column that no step names counts as masked where most of it is changed
        share = changed.get(name, 0.0) if changed is not None else 1.0
        altered = share > 0 if name in steps else changed is not None and share >= _MOSTLY
        found.append(
            Examination(
                name, attribute.role, tuple(steps.get(name, ())), tuple(readers.get(name, ())), attribute.accepted, altered
            )
        )
    return found
