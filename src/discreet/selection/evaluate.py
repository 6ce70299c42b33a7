"""The evaluation of a plan: mask, measure, and judge against the limits."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import replace

import polars as pl

from discreet import registry
from discreet.assessment.verdicts import Evidence, judge_limit, limits_of, meets, number_of
from discreet.engine.encoding.record_links import positions_of_records
from discreet.engine.runtime.compiled import was_compiled
from discreet.engine.runtime.progress import OutOfTimeError
from discreet.errors import DataError, DiscreetError, MemoryLimitError, PolicyError
from discreet.keys.choose import secret_of
from discreet.masking.generate import mask_without_log
from discreet.model.attribute import Role
from discreet.model.cells import EVERYTHING
from discreet.model.contracts import Direction, LossMeasure, RiskMeasure
from discreet.model.microdata import Microdata
from discreet.model.policy import Plan, Policy, Step
from discreet.model.score import Score
from discreet.selection.changes import AttributeChange, attribute_changes
from discreet.selection.gaps.counting import GapCounter, Gaps
from discreet.selection.objective import FIELDS, OBJECTIVE, objective_parts
from discreet.selection.options import SelectOptions
from discreet.selection.outcome import CANNOT_RUN, MOST_BLANK, Outcome
from discreet.selection.proposals import knowable_attributes
from discreet.selection.sampling import sampled_policy

TARGETED = ("targeted_suppression", "targeted_generalization")
_SECONDS_PER_DECISION = 2.0
"""Seconds that one measurement may spend on deciding a limit; ``assess`` spends more."""
_SECONDS_TO_COMPILE = 10.0
"""Seconds that the first look for gaps takes longer where the kernels of coverage are not compiled yet."""
_MOST_RECORDS_REMEMBERED = 60_000
"""Up to so many records, recoded and compared columns are remembered between plans; of more they would take too much memory."""
_RISK_PARAMETERS = ("alpha", "epsilon", "threshold", "max_sets", "missing")
_MOST_HIGH_RISK_SHARE, _FEW_HIGH_RISK = 0.5, 5_000
"""A plan is given up if its targeted step would have to change more than this share of the records, unless they are few."""


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
        axes = [self.risk_axis, *([] if options.loss == OBJECTIVE else [options.loss])]
        fields = list(dict.fromkeys([*axes, *FIELDS, *policy.limits]))
        resolved = [registry.resolve_limit(limit, origin=policy.origin) for limit in fields]
        if resolved[0][0] != "risk" or any(kind != "loss" for kind, *_ in resolved[1 : len(axes)]):
            raise PolicyError(
                f"{policy.origin}: select.risk must name a risk and select.loss a loss or 'objective'; "
                f"got {self.risk_axis}, {options.loss}"
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
        if len(data) <= _MOST_RECORDS_REMEMBERED:
            self.data.remember_derived()
        began = time.perf_counter()
        evidence = self._evidence(self.data)
        self.before = {limit: _finite_or_none(number_of(_all_scores(evidence), *limit.split("."))) for limit in self.better}
        self.known = evidence.release.get("known_sets")
        """The known_sets score of the original table, if it is measured: the starting points depend on it."""
        self.measuring = time.perf_counter() - began
        began = time.perf_counter()
        complete = self._with_informed(evidence, self.data)
        self.measuring_informed = time.perf_counter() - began
        self.gap_counter = GapCounter(self.data, complete)
        self.counting_gaps = 0.0
        """Seconds that looking for gaps has taken so far."""
        self.expected_for_gaps = self.measuring + (1.0 if was_compiled("kernels", "score_pairs") else _SECONDS_TO_COMPILE)
        """Seconds that the next look for gaps is expected to take."""
        self.unjudged = sum(
            _violation(required, self.before[limit], self.better[limit], self.before[limit])
            for limit, required in policy.limits.items()
            if limit.split(".")[0] in self.informed
        )
        self.worst = self._signed(self.risk_axis, self.before)
        self.keys = [name for name in knowable_attributes(data) if data.attribute(name).role is Role.KEY]
        self.guarded = list(dict.fromkeys([*self.keys, *options.keep]))
        """The columns of which suppressed values are counted."""

    def __call__(
        self, plan: Plan, *, loss_to_beat: float = math.inf, is_needless: Callable[[Outcome], bool] | None = None
    ) -> Outcome:
        """Mask and measure; the outcome of a plan that cannot run on these data has an error.

        ``loss_to_beat`` is the loss of the best plan so far that meets the limits: for a plan with more loss, limits are judged
        on the bounds as they are, because narrowing them takes longer than all the rest. Gaps in the evidence are looked for in
        the whole table of a plan that meets the limits, unless ``is_needless`` says that this can be left out.
        """
        started = time.perf_counter()
        try:
            secret = self.secret if plan.seed is None else None
            masked = mask_without_log(self.data, plan, None if self.patient else self._should_run, secret)
            if not len(masked):
                return Outcome(self.worst, 1.0, error="no record is left")
            evidence = self._evidence(masked)
            measured = {limit: _finite_or_none(number_of(_all_scores(evidence), *limit.split("."))) for limit in self.better}
            blank = {name: _share_blanked(self.data, masked, name) for name in self.guarded}
            outcome = self._outcome(masked, evidence, measured, blank)
            missed, unjudged = self._judge_limits(evidence, measured), self.unjudged
            missed = missed or self._surely_missed(evidence, measured)
            if not missed:
                could_be_chosen = outcome.ranked_loss < loss_to_beat
                evidence, unjudged = self._with_informed(evidence, masked, narrow=could_be_chosen), 0.0
                missed = self._judge_limits(evidence, measured)
                outcome = replace(outcome, skipped=not could_be_chosen and bool(missed))
            missed |= self._judge_options(masked, blank)
            if not missed and self.scale == 1.0 and not (is_needless is not None and is_needless(outcome)):
                gaps = self._count_gaps(masked, plan, evidence)
                if gaps is not None:
                    outcome = replace(outcome, gaps=gaps.number, gap_columns=gaps.columns)
        except DiscreetError as error:
            return Outcome(self.worst, 1.0, error=str(error), seconds=time.perf_counter() - started)
        return replace(outcome, measured=measured, missed=missed, unjudged=unjudged, seconds=time.perf_counter() - started)

    def _count_gaps(self, masked: Microdata, plan: Plan, evidence: Evidence) -> Gaps | None:
        """The gaps in the evidence that a plan causes; None where the plan's time ended before: what else is known counts."""
        began = time.perf_counter()
        try:
            return self.gap_counter.count(masked, plan, evidence)
        except OutOfTimeError:
            return None
        finally:
            seconds = time.perf_counter() - began
            self.counting_gaps += seconds
            self.expected_for_gaps = max(seconds, 0.5 * self.expected_for_gaps)

    def _outcome(
        self, masked: Microdata, evidence: Evidence, measured: Mapping[str, float | None], blank: Mapping[str, float]
    ) -> Outcome:
        """Risk and loss of a masked table, and what was changed in it; its limits are not judged yet."""
        removed = 1 - len(masked) / len(self.data) if len(masked) < len(self.data) else 0.0
        parts = objective_parts(evidence.losses, removed)
        if self.options.loss == OBJECTIVE:
            total = self.options.objective.combine(parts)
        else:
            loss = measured.get(self.options.loss)
            total = 1.0 if loss is None else loss + removed * (1 - loss)  # a removed record has lost all its information
        changes = attribute_changes(evidence.losses, len(masked))
        by_attribute = self._loss_by_attribute(evidence, changes)
        shares = [share for name, share in blank.items() if name in self.keys]
        lost, lost_keys = max(shares, default=0.0), sum(share > MOST_BLANK for share in shares) / max(1, len(shares))
        risk = self._signed(self.risk_axis, measured)
        return Outcome(
            risk, total, loss_by_attribute=by_attribute, blank=lost, blank_keys=lost_keys, parts=parts, changes=changes,
            effect=measured.get("associations.effect") or 0.0,
        )  # fmt: skip

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

    def _with_informed(self, evidence: Evidence, masked: Microdata, *, narrow: bool = True) -> Evidence:
        """The same evidence with the risks from an intruder who knows the original values, as ``assess`` measures them.

        Values with bounds are judged by their bounds; with ``narrow`` they are measured again where these do not decide a limit.
        """
        informed: dict[str, Score] = {}
        missing: dict[str, str] = {}
        for name, measure in self.informed.items():
            if name in evidence.bound:
                continue
            try:
                deciding = measure.for_limits(limits_of(name, self.policy), seconds=_SECONDS_PER_DECISION)
                informed[name] = (deciding if narrow else measure).measure(masked, original=self.data)
            except (DataError, MemoryLimitError) as error:
                missing[name] = str(error)
        complete = replace(evidence, informed=informed, missing=missing, certified=True)
        undecided = {
            limit.split(".")[0]
            for limit, required in (self.policy.limits if narrow else {}).items()
            if judge_limit(limit, required, replace(complete, informed={}, missing={})).status == "incomplete"
        }
        release = {
            name: self.risks[name].for_limits(limits_of(name, self.policy), seconds=_SECONDS_PER_DECISION).measure(masked)
            for name in undecided
            if name in self.risks and name not in evidence.bound
        }
        return replace(complete, release={**evidence.release, **release})

    def _loss_by_attribute(self, evidence: Evidence, changes: Mapping[str, AttributeChange]) -> dict[str, float]:
        """The loss of each attribute; empty if the measure has none."""
        if self.options.loss == OBJECTIVE:
            return {name: change.penalty + change.false + change.association for name, change in changes.items()}
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

    def _surely_missed(self, evidence: Evidence, measured: dict[str, float | None]) -> dict[str, float]:
        """The limits that the release alone misses whatever lies between the bounds: no other intruder need be measured."""
        certified = replace(evidence, certified=True)
        verdicts = {limit: judge_limit(limit, required, certified) for limit, required in self.policy.limits.items()}
        missed = {}
        for limit, verdict in verdicts.items():
            if verdict.status == "not met":
                measured[limit] = _finite_or_none(verdict.found)
                missed[limit] = _violation(verdict.wanted, verdict.found, self.better[limit], self.before.get(limit))
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
