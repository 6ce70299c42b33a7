"""One plan tried: masked, measured, and held against the limits."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from discreet import registry
from discreet.assessment.verdicts import Evidence, judge_limit, limits_of, meets, number_of
from discreet.errors import DataError, DiscreetError, MemoryLimitError, PolicyError
from discreet.keys.choose import secret_of
from discreet.masking.generate import masked_by
from discreet.model.contracts import Direction, LossMeasure, RiskMeasure
from discreet.model.microdata import Microdata
from discreet.model.policy import Plan, Policy, Step
from discreet.model.score import Score
from discreet.selection.build import scaled_count
from discreet.selection.options import SelectOptions

TARGETED = ("targeted_suppression", "targeted_generalization")
_DECIDING = 2.0
"""Seconds that one measurement may spend on deciding a limit; assess takes more."""
_NUMBERS = ("alpha", "epsilon", "threshold", "max_sets", "missing")
_MOST_ABOVE, _FEW = 0.5, 5_000
"""The share of records above a threshold from which on their risk is not lowered one by one, unless they are few."""
FAILED = 1e6
"""The violation of a plan that cannot run at all."""


@dataclass(frozen=True)
class Outcome:
    """What a plan led to: the numbers of the limits and of the map, by how much each is missed, and its place on the map."""

    risk: float
    loss: float
    found: Mapping[str, float | None] = field(default_factory=dict)
    missed: Mapping[str, float] = field(default_factory=dict)
    error: str | None = None
    seconds: float = 0.0
    lost: Mapping[str, float] = field(default_factory=dict)
    """The loss of each attribute, where the measure tells it: where to look for less."""
    unjudged: float = 0.0
    """What is added to the distance because the informed intruder was not measured: the release alone misses a limit already."""

    @property
    def kept(self) -> bool:
        return not self.missed and self.error is None

    @property
    def distance(self) -> float:
        """How far the limits are: the sum of what each is missed by, in shares of what stood there before."""
        return FAILED if self.error is not None else sum(self.missed.values()) + self.unjudged

    @property
    def rank(self) -> tuple[float, float, float]:
        """Less is better: within the limits by loss, outside them by how far, then by risk."""
        return (0.0, self.loss, self.risk) if self.kept else (self.distance, self.risk, self.loss)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


class Evaluator:
    """Tries plans on one table; ``scale`` is the share of the whole table that it holds.

    In a sample a count shrinks with the share, so 1 / count grows: limits and thresholds that speak of counts are brought
    to the sample's measure. Such numbers guide the search and are never told. One that is ``patient`` gives no plan up.
    """

    def __init__(
        self, data: Microdata, options: SelectOptions, *, scale: float = 1.0, patient: bool = False, secret: bytes | None = None
    ) -> None:
        self.scale, self.patient = scale, patient
        self.secret = secret_of(data.policy.plan) if secret is None else secret
        """Every plan is measured with the draws that its release will have."""
        self.options = options
        self.policy = policy = data.policy if scale == 1.0 else sampled_policy(data.policy, scale)
        self.data = data if scale == 1.0 else data.with_policy(policy)
        self.risk_axis = options.risk or default_risk(policy)
        named = [self.risk_axis, options.loss, *policy.limits]
        kinds = [registry.direction(limit, origin=policy.origin) for limit in named]
        if kinds[0][0] != "risk" or kinds[1][0] != "loss":
            raise PolicyError(f"{policy.origin}: select.risk must name a risk and select.loss a loss; got {named[0]}, {named[1]}")
        self.better = dict(zip(named, (kind[3] for kind in kinds), strict=True))
        self.risks: dict[str, RiskMeasure] = {
            name: registry.make("risk", name, policy.risk.get(name), origin=policy.origin)
            for kind, name, *_ in kinds
            if kind == "risk"
        }
        self.losses: dict[str, LossMeasure] = {
            name: registry.make("loss", name, policy.loss.get(name), origin=policy.origin).only(
                {field for kind, other, field, _ in kinds if (kind, other) == ("loss", name)}
            )
            for kind, name, *_ in kinds
            if kind == "loss"
        }
        self._seen: tuple[Microdata, Score] | None = None
        """The table that a plan's last step was given, with its known_sets: where that step changes nothing it is the outcome."""
        limited = {limit.split(".")[0] for limit in policy.limits}
        self.informed: dict[str, RiskMeasure] = {
            name: measure
            for name, measure in self.risks.items()
            if policy.judge == "both" and name in limited and measure.uses_original(data)
        }
        """The measures of limits that are judged on an intruder who knows the original values as well."""
        began = time.perf_counter()
        evidence = self._evidence(self.data)
        self.before = {limit: _finite(number_of(_all_scores(evidence), *limit.split("."))) for limit in self.better}
        self.known = evidence.release.get("known_sets")
        """The known_sets of the table as it is, where it is measured at all: what the rules start from."""
        self.measuring = time.perf_counter() - began
        began = time.perf_counter()
        self._with_informed(evidence, self.data)
        self.measuring_informed = time.perf_counter() - began
        self.unjudged = sum(
            _missed_by(required, self.before[limit], self.better[limit], self.before[limit])
            for limit, required in policy.limits.items()
            if limit.split(".")[0] in self.informed
        )
        self.worst = self._signed(self.risk_axis, self.before)

    def __call__(self, plan: Plan) -> Outcome:
        """Mask and measure; a plan that the data do not allow is an outcome as well."""
        started = time.perf_counter()
        try:
            secret = self.secret if plan.seed is None else None
            masked = masked_by(self.data, plan, None if self.patient else self._worth, secret)
            if not len(masked):
                return Outcome(self.worst, 1.0, error="no record is left")
            evidence = self._evidence(masked)
            found = {limit: _finite(number_of(_all_scores(evidence), *limit.split("."))) for limit in self.better}
            risk, loss = self._signed(self.risk_axis, found), found.get(self.options.loss)
            missed, unjudged = self._missed(evidence, found), self.unjudged
            if not missed:
                evidence, unjudged = self._with_informed(evidence, masked), 0.0
                missed = self._missed(evidence, found)
        except DiscreetError as error:
            return Outcome(self.worst, 1.0, error=str(error), seconds=time.perf_counter() - started)
        gone = 1 - len(masked) / len(self.data) if len(masked) < len(self.data) else 0.0
        # a record that is gone has lost everything
        total = 1.0 if loss is None else loss + gone * (1 - loss)
        seconds = time.perf_counter() - started
        return Outcome(risk, total, found, missed, None, seconds, self._loss_by_attribute(evidence), unjudged)

    def _worth(self, step: Step, table: Microdata) -> bool:
        """Whether a step that lowers the risk of single records has any to lower.

        Raises, to give up the plan, where it would have to change most records: others are cheaper, and end sooner.
        """
        if step.method not in TARGETED or "known_sets" not in self.risks or step.parameters.get("side") == "sensitive":
            return True
        score = self._measured("known_sets", table)
        above = score.summary["high_risk_share"]
        self._seen = (table, score)
        if isinstance(above, float) and above > _MOST_ABOVE and above * len(table) > _FEW:
            raise PolicyError(f"{above:.0%} of the records are above the threshold, too many to lower the risk of one by one")
        return above != 0.0 or not self._measures_alike(step)

    def _measures_alike(self, step: Step) -> bool:
        """Whether a step lowers just the risk that is measured here, by the same numbers."""
        _, method = registry.resolve_step(step, self.policy, origin=self.policy.origin)
        measure = self.risks["known_sets"]
        return all(getattr(method, name, None) == getattr(measure, name, None) for name in _NUMBERS)

    def _measured(self, name: str, masked: Microdata) -> Score:
        if name == "known_sets" and self._seen is not None and self._seen[0] is masked:
            return self._seen[1]
        measure = self.risks[name]
        return measure.measure(masked, original=self.data if measure.needs_original(masked) else None)

    def _evidence(self, masked: Microdata) -> Evidence:
        """What can be measured on the release alone, and the losses."""
        release = {name: self._measured(name, masked) for name in self.risks}
        self._seen = None
        losses = {name: measure.measure(self.data, masked) for name, measure in self.losses.items()}
        bound = frozenset(name for name, measure in self.risks.items() if measure.needs_original(masked))
        return Evidence(release, {}, losses, bound, {}, self.policy.judge, certified=False)

    def _with_informed(self, evidence: Evidence, masked: Microdata) -> Evidence:
        """The same evidence with what an intruder learns who knows the original values, as ``assess`` measures it.

        Numbers that have bounds are judged on these, and measured again where a limit is not decided.
        """
        informed: dict[str, Score] = {}
        missing: dict[str, str] = {}
        for name, measure in self.informed.items():
            if name in evidence.bound:
                continue
            try:
                deciding = measure.for_limits(limits_of(name, self.policy), seconds=_DECIDING)
                informed[name] = deciding.measure(masked, original=self.data)
            except (DataError, MemoryLimitError) as error:
                missing[name] = str(error)
        made = replace(evidence, informed=informed, missing=missing, certified=True)
        doubtful = {
            limit.split(".")[0]
            for limit, required in self.policy.limits.items()
            if judge_limit(limit, required, replace(made, informed={}, missing={})).status == "incomplete"
        }
        release = {
            name: self.risks[name].for_limits(limits_of(name, self.policy), seconds=_DECIDING).measure(masked)
            for name in doubtful
            if name in self.risks and name not in evidence.bound
        }
        return replace(made, release={**evidence.release, **release})

    def _loss_by_attribute(self, evidence: Evidence) -> dict[str, float]:
        """The loss of each attribute where the measure tells it."""
        table = evidence.losses[self.options.loss.split(".")[0]].per_attribute
        told = table is not None and {"attribute", "loss"} <= set(table.columns)
        return dict(table.select("attribute", "loss").iter_rows()) if table is not None and told else {}

    def _missed(self, evidence: Evidence, found: dict[str, float | None]) -> dict[str, float]:
        """By how much each limit is missed, judged as ``assess`` judges it; ``found`` then holds the number that was judged."""
        made: dict[str, float] = {}
        for limit, required in self.policy.limits.items():
            verdict = judge_limit(limit, required, evidence)
            found[limit] = _finite(verdict.found)
            undecided = verdict.found is not None and not meets(verdict.found, required, self.better[limit])
            if found[limit] is None or (verdict.status == "incomplete" and not undecided):
                made[limit] = FAILED
            elif verdict.status != "met":  # what is not decided misses by the worst that it may be
                made[limit] = _missed_by(required, verdict.found, self.better[limit], self.before.get(limit))
        return made

    def _signed(self, limit: str, found: Mapping[str, float | None]) -> float:
        value = found[limit]
        if value is None:
            return FAILED
        return value if self.better[limit] == "low" else -value


def _missed_by(required: float, number: float | None, better: Direction, before: float | None) -> float:
    """By how much a number misses a limit, as a share of the larger of the limit and what the original has; 0 where it is met."""
    if number is None:
        return FAILED
    by = number - required if better == "low" else required - number
    return max(by, 0.0) / (max(abs(required), abs(before or 0.0)) or 1.0)


def _finite(number: float | None) -> float | None:
    return number if number is not None and math.isfinite(number) else None


def _all_scores(evidence: Evidence) -> dict[str, Score]:
    return {**evidence.release, **evidence.losses}


def default_risk(policy: Policy) -> str:
    """The risk of the map where the owner names none: one that falls smoothly as records become alike."""
    named = {limit.split(".")[0] for limit in policy.limits} | set(policy.risk)
    if "known_sets" in named:
        return "known_sets.mean"
    if "k_anonymity" in named or not named & set(registry.names("risk")):
        return "k_anonymity.classes"
    return next(
        (limit for limit in policy.limits if registry.direction(limit, origin=policy.origin)[0] == "risk"), "k_anonymity.classes"
    )


def sampled_policy(policy: Policy, scale: float) -> Policy:
    """The policy in the measure of a sample of this share: fewer records of each kind, so larger 1 / count."""
    limits = dict(policy.limits)
    for limit, wanted in limits.items():
        if limit in ("k_anonymity.k", "repeated_records.k", "repeated_records.min_persons"):
            limits[limit] = scaled_count(math.ceil(wanted), scale)
        elif limit in ("known_sets.mean", "known_sets.max"):
            limits[limit] = wanted / scale
        elif limit in ("known_sets.effective_k_min", "known_sets.effective_k_median"):
            limits[limit] = max(1.0, wanted * scale)
    risk = {name: dict(parameters) for name, parameters in policy.risk.items()}
    if any(limit.startswith("known_sets.") for limit in limits):
        said = risk.setdefault("known_sets", {})
        threshold = registry.make("risk", "known_sets", said, origin=policy.origin).model_dump()["threshold"]
        if isinstance(threshold, dict):
            said["threshold"] = {"among": max(min(threshold["among"], 2.0), threshold["among"] * scale)}
        else:
            said["threshold"] = threshold / scale
    return policy.with_(limits=limits, risk=risk)
