"""The evaluation of a plan: mask, measure, and judge against the limits."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Self

import polars as pl

from discreet import registry
from discreet.assessment.verdicts import Evidence, judge_limit, limits_of, meets, number_of
from discreet.engine.encoding.record_links import positions_of_records
from discreet.errors import DataError, DiscreetError, MemoryLimitError, PolicyError
from discreet.keys.choose import secret_of
from discreet.masking.generate import mask_without_log
from discreet.model.attribute import Role
from discreet.model.cells import EVERYTHING
from discreet.model.contracts import Direction, LossMeasure, RiskMeasure
from discreet.model.microdata import Microdata
from discreet.model.policy import Plan, Policy, Step
from discreet.model.score import Score
from discreet.selection.build import scaled_count
from discreet.selection.options import SelectOptions
from discreet.selection.proposals import knowable_attributes

TARGETED = ("targeted_suppression", "targeted_generalization")
_SECONDS_PER_DECISION = 2.0
"""Seconds that one measurement may spend on deciding a limit; ``assess`` spends more."""
_RISK_PARAMETERS = ("alpha", "epsilon", "threshold", "max_sets", "missing")
_MOST_HIGH_RISK_SHARE, _FEW_HIGH_RISK = 0.5, 5_000
"""A plan is given up if its targeted step would have to change more than this share of the records, unless they are few."""
MOST_BLANK = 0.6
"""The share of a key's values from which suppressing them counts as losing the key."""
CANNOT_RUN = 1e6
"""The violation of a limit by a plan that cannot run, or for which the limit cannot be measured."""
_JOURNAL_NAMES = {"measured": "found", "loss_by_attribute": "lost"}
"""Fields of an outcome that journals hold under another name, so that earlier searches can be resumed."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of a plan: its risk and loss, the measured values of the limits, and by how much each limit is missed.

    ``missed`` has one entry per unmet limit: the violation as a share of the larger of the limit and the value of the original.
    """

    risk: float
    loss: float
    measured: Mapping[str, float | None] = field(default_factory=dict)
    """The values of the limits and of the map's axes, by MEASURE.FIELD."""
    missed: Mapping[str, float] = field(default_factory=dict)
    error: str | None = None
    seconds: float = 0.0
    loss_by_attribute: Mapping[str, float] = field(default_factory=dict)
    """The loss of each attribute, where the measure has one: the search changes attributes with much loss more often."""
    blank: float = 0.0
    """The largest share of the values of a key that the plan suppresses."""
    unjudged: float = 0.0
    """Added to the distance if the intruder who knows the original values was not measured: the release alone misses a limit."""

    @property
    def meets_limits(self) -> bool:
        return not self.missed and self.error is None

    @property
    def distance(self) -> float:
        """The distance from meeting all limits: the sum of the violations."""
        return CANNOT_RUN if self.error is not None else sum(self.missed.values()) + self.unjudged

    @property
    def rank(self) -> tuple[float, float, float]:
        """Less is better: by loss if the limits are met, else by distance and then by risk.

        A plan that suppresses most of a key ranks behind all plans that do not.
        """
        loss = self.loss + (1.0 if self.blank > MOST_BLANK else 0.0)
        return (0.0, loss, self.risk) if self.meets_limits else (self.distance, self.risk, loss)

    def to_journal(self) -> dict[str, Any]:
        """The fields under the names that a journal holds."""
        return {_JOURNAL_NAMES.get(name, name): value for name, value in asdict(self).items()}

    @classmethod
    def from_journal(cls, content: Mapping[str, Any]) -> Self:
        """The outcome that :meth:`to_journal` gave."""
        fields = {name: field for field, name in _JOURNAL_NAMES.items()}
        return cls(**{fields.get(name, name): value for name, value in content.items()})


class Evaluator:
    """Evaluates plans on one table; ``scale`` is the table's share of the whole table, less than 1 for a sample.

    In a sample counts shrink with the share, and 1 / count grows: limits and thresholds on counts are scaled accordingly. Such
    numbers guide the search and are never reported. A ``patient`` evaluator never gives up a plan.
    """

    def __init__(
        self, data: Microdata, options: SelectOptions, *, scale: float = 1.0, patient: bool = False, secret: bytes | None = None
    ) -> None:
        self.scale, self.patient = scale, patient
        self.secret = secret_of(data.policy.plan) if secret is None else secret
        """Every plan is evaluated with the same random draws as its release."""
        self.options = options
        self.policy = policy = data.policy if scale == 1.0 else sampled_policy(data.policy, scale)
        self.data = data if scale == 1.0 else data.with_policy(policy)
        self.risk_axis = options.risk or default_risk(policy)
        fields = [self.risk_axis, options.loss, *policy.limits]
        resolved = [registry.resolve_limit(limit, origin=policy.origin) for limit in fields]
        if resolved[0][0] != "risk" or resolved[1][0] != "loss":
            raise PolicyError(
                f"{policy.origin}: select.risk must name a risk and select.loss a loss; got {fields[0]}, {fields[1]}"
            )
        self.better = {limit: better for limit, (*_, better) in zip(fields, resolved, strict=True)}
        """Whether less or more is better, for each limit and for both axes, by MEASURE.FIELD."""
        self.risks: dict[str, RiskMeasure] = {
            name: registry.create("risk", name, policy.risk.get(name), origin=policy.origin)
            for kind, name, *_ in resolved
            if kind == "risk"
        }
        self.losses: dict[str, LossMeasure] = {
            name: registry.create("loss", name, policy.loss.get(name), origin=policy.origin).only(
                {field for kind, measure, field, _ in resolved if (kind, measure) == ("loss", name)}
            )
            for kind, name, *_ in resolved
            if kind == "loss"
        }
        self._known_sets_before_step: tuple[Microdata, Score] | None = None
        """The table before a plan's targeted step, with its known_sets score, which is used again if the step is skipped."""
        limited = {limit.split(".")[0] for limit in policy.limits}
        self.informed: dict[str, RiskMeasure] = {
            name: measure
            for name, measure in self.risks.items()
            if policy.judge == "both" and name in limited and measure.uses_original(data)
        }
        """The measures whose limits are also judged against an intruder who knows the original values."""
        began = time.perf_counter()
        evidence = self._evidence(self.data)
        self.before = {limit: _finite_or_none(number_of(_all_scores(evidence), *limit.split("."))) for limit in self.better}
        self.known = evidence.release.get("known_sets")
        """The known_sets score of the original table, if it is measured: the starting points depend on it."""
        self.measuring = time.perf_counter() - began
        began = time.perf_counter()
        self._with_informed(evidence, self.data)
        self.measuring_informed = time.perf_counter() - began
        self.unjudged = sum(
            _violation(required, self.before[limit], self.better[limit], self.before[limit])
            for limit, required in policy.limits.items()
            if limit.split(".")[0] in self.informed
        )
        self.worst = self._signed(self.risk_axis, self.before)
        self.keys = [name for name in knowable_attributes(data) if data.attribute(name).role is Role.KEY]
        self.guarded = list(dict.fromkeys([*self.keys, *options.keep]))
        """The columns of which suppressed values are counted."""

    def __call__(self, plan: Plan) -> Outcome:
        """Mask and measure; the outcome of a plan that cannot run on these data has an error."""
        started = time.perf_counter()
        try:
            secret = self.secret if plan.seed is None else None
            masked = mask_without_log(self.data, plan, None if self.patient else self._should_run, secret)
            if not len(masked):
                return Outcome(self.worst, 1.0, error="no record is left")
            evidence = self._evidence(masked)
            measured = {limit: _finite_or_none(number_of(_all_scores(evidence), *limit.split("."))) for limit in self.better}
            risk, loss = self._signed(self.risk_axis, measured), measured.get(self.options.loss)
            missed, unjudged = self._judge_limits(evidence, measured), self.unjudged
            if not missed:
                evidence, unjudged = self._with_informed(evidence, masked), 0.0
                missed = self._judge_limits(evidence, measured)
            blank = {name: _share_blanked(self.data, masked, name) for name in self.guarded}
            missed |= self._judge_options(masked, blank)
        except DiscreetError as error:
            return Outcome(self.worst, 1.0, error=str(error), seconds=time.perf_counter() - started)
        removed_share = 1 - len(masked) / len(self.data) if len(masked) < len(self.data) else 0.0
        # a removed record has lost all its information
        total = 1.0 if loss is None else loss + removed_share * (1 - loss)
        seconds = time.perf_counter() - started
        lost = max((share for name, share in blank.items() if name in self.keys), default=0.0)
        return Outcome(risk, total, measured, missed, None, seconds, self._loss_by_attribute(evidence), lost, unjudged)

    def _judge_options(self, masked: Microdata, blank: Mapping[str, float]) -> dict[str, float]:
        """By how much a plan misses what the options require of columns: to be unchanged, or not to be suppressed too often."""
        missed = {
            f"keep {name}": share - (1 - blank[name])
            for name, share in self.options.keep.items()
            if 1 - blank[name] < share - 1e-12
        }
        rows = positions_of_records(masked.records, self.data.records) if self.options.protect else None
        for name in self.options.protect:
            kept = name in masked.columns and rows is not None and bool((rows >= 0).all())
            if not kept or not self.data.frame[name].gather(rows.tolist() if rows is not None else []).equals(masked.frame[name]):
                missed[f"protect {name}"] = 1.0
        return missed

    def _should_run(self, step: Step, table: Microdata) -> bool:
        """Whether to run a step: False for a targeted step if no record is above the threshold.

        Raises PolicyError, to give up the plan, if a targeted step would have to change most records: other plans cost less.
        """
        if step.method not in TARGETED or "known_sets" not in self.risks or step.parameters.get("side") == "sensitive":
            return True
        score = self._measure_risk("known_sets", table)
        share = score.summary["high_risk_share"]
        self._known_sets_before_step = (table, score)
        if isinstance(share, float) and share > _MOST_HIGH_RISK_SHARE and share * len(table) > _FEW_HIGH_RISK:
            raise PolicyError(f"{share:.0%} of the records are above the threshold, too many to lower the risk of one by one")
        return share != 0.0 or not self._has_same_parameters(step)

    def _has_same_parameters(self, step: Step) -> bool:
        """Whether a targeted step lowers exactly the risk that is measured here."""
        _, method = registry.resolve_step(step, self.policy, origin=self.policy.origin)
        measure = self.risks["known_sets"]
        return all(getattr(method, name, None) == getattr(measure, name, None) for name in _RISK_PARAMETERS)

    def _measure_risk(self, name: str, masked: Microdata) -> Score:
        if name == "known_sets" and self._known_sets_before_step is not None and self._known_sets_before_step[0] is masked:
            return self._known_sets_before_step[1]
        measure = self.risks[name]
        return measure.measure(masked, original=self.data if measure.needs_original(masked) else None)

    def _evidence(self, masked: Microdata) -> Evidence:
        """The risks of the release alone, and the losses."""
        release = {name: self._measure_risk(name, masked) for name in self.risks}
        self._known_sets_before_step = None
        losses = {name: measure.measure(self.data, masked) for name, measure in self.losses.items()}
        bound = frozenset(name for name, measure in self.risks.items() if measure.needs_original(masked))
        return Evidence(release, {}, losses, bound, {}, self.policy.judge, certified=False)

    def _with_informed(self, evidence: Evidence, masked: Microdata) -> Evidence:
        """The same evidence with the risks from an intruder who knows the original values, as ``assess`` measures them.

        Values with bounds are judged by their bounds, and measured again where these do not decide a limit.
        """
        informed: dict[str, Score] = {}
        missing: dict[str, str] = {}
        for name, measure in self.informed.items():
            if name in evidence.bound:
                continue
            try:
                deciding = measure.for_limits(limits_of(name, self.policy), seconds=_SECONDS_PER_DECISION)
                informed[name] = deciding.measure(masked, original=self.data)
            except (DataError, MemoryLimitError) as error:
                missing[name] = str(error)
        complete = replace(evidence, informed=informed, missing=missing, certified=True)
        undecided = {
            limit.split(".")[0]
            for limit, required in self.policy.limits.items()
            if judge_limit(limit, required, replace(complete, informed={}, missing={})).status == "incomplete"
        }
        release = {
            name: self.risks[name].for_limits(limits_of(name, self.policy), seconds=_SECONDS_PER_DECISION).measure(masked)
            for name in undecided
            if name in self.risks and name not in evidence.bound
        }
        return replace(complete, release={**evidence.release, **release})

    def _loss_by_attribute(self, evidence: Evidence) -> dict[str, float]:
        """The loss of each attribute; empty if the measure has none."""
        table = evidence.losses[self.options.loss.split(".")[0]].per_attribute
        if table is None or not {"attribute", "loss"} <= set(table.columns):
            return {}
        return dict(table.select("attribute", "loss").iter_rows())

    def _judge_limits(self, evidence: Evidence, measured: dict[str, float | None]) -> dict[str, float]:
        """By how much each limit is missed, judged as by ``assess``; sets the judged values in ``measured``."""
        missed: dict[str, float] = {}
        for limit, required in self.policy.limits.items():
            verdict = judge_limit(limit, required, evidence)
            measured[limit] = _finite_or_none(verdict.found)
            undecided = verdict.found is not None and not meets(verdict.found, required, self.better[limit])
            if measured[limit] is None or (verdict.status == "incomplete" and not undecided):
                missed[limit] = CANNOT_RUN
            elif verdict.status != "met":  # an undecided limit is missed by its worst possible value
                missed[limit] = _violation(required, verdict.found, self.better[limit], self.before.get(limit))
        return missed

    def _signed(self, limit: str, measured: Mapping[str, float | None]) -> float:
        """A measured value, negated if more of it is better, so that less is always better."""
        value = measured[limit]
        if value is None:
            return CANNOT_RUN
        return value if self.better[limit] == "low" else -value


def _violation(required: float, number: float | None, better: Direction, before: float | None) -> float:
    """By how much a number misses a limit, as a share of the larger of the limit and the original's value; 0 if it is met."""
    if number is None:
        return CANNOT_RUN
    excess = number - required if better == "low" else required - number
    return max(excess, 0.0) / (max(abs(required), abs(before or 0.0)) or 1.0)


def _share_blanked(original: Microdata, masked: Microdata, name: str) -> float:
    """The share of the values of a column that are suppressed in the masked table and were not in the original."""
    present = len(original) - original.frame[name].null_count()
    if not present or not len(masked):
        return 0.0
    if name not in masked.columns:
        return 1.0
    column = masked.frame[name]
    blank = column.null_count()
    if column.dtype == pl.String:
        blank += int((column == EVERYTHING).sum())
    missing_before = original.frame[name].null_count() / len(original)
    return max(0.0, (blank / len(masked) - missing_before) / (1 - missing_before))


def _finite_or_none(number: float | None) -> float | None:
    return number if number is not None and math.isfinite(number) else None


def _all_scores(evidence: Evidence) -> dict[str, Score]:
    return {**evidence.release, **evidence.losses}


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


def sampled_policy(policy: Policy, scale: float) -> Policy:
    """The policy scaled to a sample of this share: class sizes shrink with it, and risks of the form 1 / class size grow."""
    limits = dict(policy.limits)
    for limit, required in limits.items():
        if limit in ("k_anonymity.k", "repeated_records.k", "repeated_records.min_persons"):
            limits[limit] = scaled_count(math.ceil(required), scale)
        elif limit in ("known_sets.mean", "known_sets.max"):
            limits[limit] = required / scale
        elif limit in ("known_sets.effective_k_min", "known_sets.effective_k_median"):
            limits[limit] = max(1.0, required * scale)
    risk = {name: dict(parameters) for name, parameters in policy.risk.items()}
    if any(limit.startswith("known_sets.") for limit in limits):
        parameters = risk.setdefault("known_sets", {})
        threshold = registry.create("risk", "known_sets", parameters, origin=policy.origin).model_dump()["threshold"]
        if isinstance(threshold, dict):
            parameters["threshold"] = {"among": max(min(threshold["among"], 2.0), threshold["among"] * scale)}
        else:
            parameters["threshold"] = threshold / scale
    return policy.with_(limits=limits, risk=risk)
