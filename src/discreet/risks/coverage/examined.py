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

_DIRECT = (Role.IDENTIFIER, Role.PERSON)
_HARDLY = 0.05
"""Share of the true values that a masked column may still show."""
_PSEUDONYMS = "pseudonymization"


@dataclass(frozen=True)
class Examination:
    """What is known of one column before its values are looked at."""

    name: str
    role: Role
    steps: tuple[str, ...]
    adversaries: tuple[str, ...]
    """The risk measures with a limit that read the column."""
    known_to: tuple[str, ...]
    """Those of them that assume that the intruder knows it; the others ask what he learns of it."""
    accepted: str | None
    still_true: float | None
    """The share of the true values that the release still shows; 1 for a column that the original does not have, None where no
    original is at hand."""

    @property
    def masked(self) -> bool:
        """Whether hardly a true value is left: by the values where the original is at hand, by the plan where it is not."""
        return bool(self.steps) if self.still_true is None else self.still_true <= _HARDLY

    @property
    def pseudonymized(self) -> bool:
        return self.masked and _PSEUDONYMS in self.steps

    @property
    def changed(self) -> bool:
        return self.still_true is not None and self.still_true < 1

    @property
    def direct(self) -> bool:
        """Whether its owner says that it identifies people."""
        return self.role in _DIRECT

    @property
    def unread_key(self) -> bool:
        """Whether its owner calls it a quasi-identifier that no adversary with a limit assumes to be known."""
        return self.role is Role.KEY and not self.known_to and self.accepted is None

    @property
    def undecided(self) -> bool:
        """Whether nobody looked: role other, no adversary, no reason of the owner."""
        return self.role is Role.OTHER and not self.adversaries and self.accepted is None


def adversaries(policy: Policy) -> list[RiskMeasure]:
    """The risk measures that the verdict depends on: those with a limit on disclosure; never this one.

    A measure that no limit names is shown and judges nothing, so a column that only such a measure reads is unexamined. Where
    no limit on disclosure can fail, those of the risk section and of the limits count, or the default.
    """
    limited = [limit.split(".")[0] for limit, required in policy.limits.items() if _can_fail(limit, required)]
    if not limited:
        limited = [*policy.risk, *(limit.split(".")[0] for limit in policy.limits if registry.resolve_limit(limit)[0] == "risk")]
    names = [name for name in dict.fromkeys(limited) if name != "coverage"]
    if not names:
        attributes = policy.at_largest_known().attributes.values()
        known = any(attribute.known > 0 and attribute.role not in _DIRECT for attribute in attributes)
        names = ["known_sets"] if known else ["k_anonymity"] if policy.named(Role.KEY) else []
    return [registry.create("risk", name, policy.risk.get(name), origin=policy.origin) for name in names]


def _can_fail(limit: str, required: float) -> bool:
    slack = registry.slack_of_limit(limit, required)
    return registry.judges_disclosure(limit) and (slack is None or slack < 0)


def read_columns(measure: RiskMeasure, data: Microdata) -> list[str]:
    """The released columns that an adversary reads; none where the measure does not apply to the table."""
    try:
        return [name for name in measure.examines(data) if name in data.columns]
    except DiscreetError:
        return []


def known_columns(measure: RiskMeasure, data: Microdata) -> list[str]:
    """The released columns that an adversary assumes to be known to the intruder, out of those that it reads.

    A measure with an ``epsilon`` takes an attribute as known where its probability is greater. Of the others, columns that are
    named as keys or as compared attributes are known, and of the rest all that is not confidential.
    """
    read = read_columns(measure, data)
    epsilon = getattr(measure, "epsilon", None)
    if isinstance(epsilon, float | int):
        attributes = data.policy.at_largest_known().attributes
        return [name for name in read if name in attributes and attributes[name].known > epsilon]
    learnt = {*getattr(measure, "sensitive", ()), *getattr(measure, "confidential", ())}
    named = {*getattr(measure, "keys", ()), *getattr(measure, "attributes", ())}
    return [name for name in read if name in named or (name not in learnt and data.attribute(name).role is not Role.CONFIDENTIAL)]


def quasi_identifiers(original: Microdata) -> list[str]:
    """The columns of a table that some adversary with a limit assumes to be known, released or not."""
    known = {name for measure in adversaries(original.policy) for name in known_columns(measure, original)}
    return [name for name in original.columns if name in known]


def blind_measures(data: Microdata) -> list[str]:
    """Adversaries by probability that keep the empty known set alone: no attribute is known above their epsilon."""
    chosen = [adversary for adversary in adversaries(data.policy) if isinstance(getattr(adversary, "epsilon", None), float | int)]
    return [adversary.name for adversary in chosen if data.columns and not known_columns(adversary, data)]


def steps_of(policy: Policy, data: Microdata) -> dict[str, list[str]]:
    """Column by column the methods of the plan's steps that work on it: those named, or the method's own choice."""
    methods: dict[str, list[str]] = {}
    for step in policy.plan.steps:
        if not step.enabled:
            continue
        columns = step.columns
        if columns is None:
            try:
                method = registry.create("masking", step.method, step.parameters, origin=policy.origin)
                columns = tuple(method.choose(data))
            except DiscreetError:
                columns = ()
        for name in columns:
            methods.setdefault(name, []).append(step.method)
    return methods


def shares_still_true(paired: Paired) -> dict[str, float]:
    """Released column by column the share of its true values that it still shows; 1 where the original does not have it."""
    shares: dict[str, float] = {}
    for name in paired.data.columns:
        if name not in paired.original.columns:
            shares[name] = 1.0
            continue
        present = int(paired.truth(name).is_not_null().sum())
        shares[name] = 1.0 - float(paired.hidden(name).sum()) / present if present else 1.0
    return shares


def examine(data: Microdata, original: Microdata | None, still_true: Mapping[str, float] | None) -> list[Examination]:
    """The examination of every released column; ``still_true`` are the shares of true values where they are known."""
    policy = data.policy
    steps = steps_of(policy, original if original is not None else data)
    readers: dict[str, list[str]] = {}
    knowing: dict[str, list[str]] = {}
    for measure in adversaries(policy):
        for name in read_columns(measure, data):
            readers.setdefault(name, []).append(measure.name)
        for name in known_columns(measure, data):
            knowing.setdefault(name, []).append(measure.name)
    examinations = []
    for name in data.columns:
        attribute = data.attribute(name)
        examinations.append(
            Examination(
                name,
                attribute.role,
                tuple(steps.get(name, ())),
                tuple(readers.get(name, ())),
                tuple(knowing.get(name, ())),
                attribute.accepted,
                None if still_true is None else still_true[name],
            )
        )
    return examinations
