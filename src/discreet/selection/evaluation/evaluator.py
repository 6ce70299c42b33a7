"""The evaluation of a plan: mask, measure, and judge against the limits."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from discreet import registry
from discreet.assessment.known_scores import KnownScores
from discreet.assessment.verdicts import Evidence, judge_limit, limits_of, number_of
from discreet.engine.runtime.compiled import was_compiled
from discreet.engine.runtime.progress import OutOfTimeError, stop_after
from discreet.errors import DataError, DiscreetError, MemoryLimitError, PolicyError
from discreet.keys.choose import secret_of
from discreet.masking.generate import PlanResult, run_plan
from discreet.masking.release import withheld_columns
from discreet.model.attribute import Role
from discreet.model.contracts import RiskMeasure
from discreet.model.microdata import Microdata
from discreet.model.policy import Plan, Step
from discreet.model.results import Release
from discreet.model.score import Score
from discreet.selection.changes import attribute_changes, loss_by_attribute
from discreet.selection.evaluation.limits import LimitJudge, finite_or_none
from discreet.selection.evaluation.measures import create_measures
from discreet.selection.evaluation.suppressed import judge_options, share_suppressed
from discreet.selection.gaps.counting import GapCounter, Gaps
from discreet.selection.objective import OBJECTIVE, objective_parts
from discreet.selection.options import SelectOptions
from discreet.selection.outcome import CANNOT_RUN, MOST_BLANK, Outcome
from discreet.selection.proposals import knowable_attributes
from discreet.selection.sampling import sampled_policy, share_below

TARGETED = ("targeted_suppression", "targeted_generalization")
_SECONDS_PER_DECISION, _SECONDS_PER_DECISION_ON_SAMPLE = 2.0, 0.5
"""Seconds that one measurement may spend on deciding a limit; ``assess`` spends more, and a sample only guides the search."""
_SECONDS_TO_COMPILE = 10.0
"""Seconds that the first look for gaps takes longer where the kernels of coverage are not compiled yet."""
_MOST_RECORDS_REMEMBERED = 60_000
"""Up to so many records, recoded and compared columns are remembered between plans; of more they would take too much memory."""
_MOST_CELLS_REMEMBERED = 40_000_000
"""Up to so many values, the columns that one plan masked are compared with the original once for all losses."""
_RISK_PARAMETERS = ("alpha", "epsilon", "threshold", "max_sets", "missing")
_MOST_HIGH_RISK_SHARE, _FEW_HIGH_RISK = 0.5, 5_000
"""A plan is given up if its targeted step would have to change more than this share of the records, unless they are few."""


@dataclass(frozen=True)
class BestSoFar:
    """The best plan that an evaluator ran, with its table and its scores: at the end of a search they are needed again."""

    plan: Plan
    outcome: Outcome
    masked: Microdata
    evidence: Evidence
    coverage: Score | None = None
    """The coverage of the release, if gaps in the evidence were looked for."""
    result: PlanResult | None = None
    """What its release can be made from; None on a sample."""


class Evaluator:
    """Evaluates plans on one table; ``scale`` is the table's share of the whole table, less than 1 for a sample.

    In a sample counts shrink with the share, and 1 / count grows: limits and thresholds on counts are scaled accordingly. Such
    numbers guide the search and are never reported. A ``patient`` evaluator never gives up a plan. The original table is measured
    until the deadline, a moment of ``time.monotonic``: where that is too little, plans are judged without comparing them with it.
    ``effective_size`` is the effective class size that a sample needs where the limits are on such sizes.
    """

    def __init__(
        self, data: Microdata, options: SelectOptions, *, scale: float = 1.0, patient: bool = False, secret: bytes | None = None,
        deadline: float | None = None, effective_size: float | None = None,
    ) -> None:  # fmt: skip
        self.scale, self.patient = scale, patient
        self.secret = secret_of(data.policy.plan) if secret is None else secret
        """Every plan is evaluated with the same random draws as its release."""
        self.options = options
        self.policy = policy = data.policy if scale == 1.0 else sampled_policy(data.policy, scale, effective_size)
        self.data = data if scale == 1.0 else data.with_policy(policy)
        measures = create_measures(policy, options)
        self.risk_axis, self.better = measures.risk_axis, measures.better
        self.risks, self.losses = measures.risks, measures.losses
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
        evidence = complete = Evidence({}, {}, {}, frozenset(), {}, policy.judge, certified=False)
        try:
            with stop_after(deadline):
                evidence = complete = self._evidence(self.data)
        except OutOfTimeError:
            pass
        before = self._numbers(evidence)
        self.judge = LimitJudge(policy.limits, self.better, before)
        self.known = evidence.release.get("known_sets")
        """The known_sets score of the original table, if it is measured: the starting points depend on it."""
        self.measuring = time.perf_counter() - began
        """Seconds that measuring the original took, without the intruder who knows it."""
        began = time.perf_counter()
        try:
            with stop_after(deadline):
                complete = self._with_informed(evidence, self.data)
        except OutOfTimeError:
            pass
        self.measuring_informed = time.perf_counter() - began
        self.gap_counter = GapCounter(self.data, complete)
        self._original = complete
        self.best: BestSoFar | None = None
        self.counting_gaps = 0.0
        """Seconds that looking for gaps has taken so far."""
        self.expected_for_gaps = self.measuring + (1.0 if was_compiled("kernels", "score_pairs") else _SECONDS_TO_COMPILE)
        """Seconds that the next look for gaps is expected to take."""
        self.unjudged = sum(
            self.judge.violation(limit, before[limit]) for limit in policy.limits if limit.split(".")[0] in self.informed
        )
        self.worst = self._signed(self.risk_axis, before)
        self.keys = [name for name in knowable_attributes(data) if data.attribute(name).role is Role.KEY]
        self.guarded = list(dict.fromkeys([*self.keys, *options.keep]))
        """The columns of which suppressed values are counted."""

    @property
    def seconds_to_measure(self) -> float:
        """The seconds that measuring the original took, for both intruders."""
        return self.measuring + self.measuring_informed

    @property
    def _seconds_per_decision(self) -> float:
        return _SECONDS_PER_DECISION if self.scale == 1.0 else _SECONDS_PER_DECISION_ON_SAMPLE

    def time_again(self, longest: float) -> None:
        """Measure the original again for the time that it takes: the first time, compiled code had to be loaded.

        Where it takes longer than ``longest`` seconds, the first time counts.
        """
        began = time.perf_counter()
        try:
            with stop_after(time.monotonic() + longest):
                evidence = self._evidence(self.data)
                measured = time.perf_counter()
                self._with_informed(evidence, self.data)
        except OutOfTimeError:
            return
        self.measuring, self.measuring_informed = measured - began, time.perf_counter() - measured

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
            result = run_plan(self.data, plan, secret, None if self.patient else self._should_run)
            masked = result.masked
            if not len(masked):
                return Outcome(self.worst, 1.0, error="no record is left")
            # a plan that changes nothing returns the original, which all plans share
            if masked is not self.data and len(masked) * len(masked.columns) <= _MOST_CELLS_REMEMBERED:
                masked.remember_derived()
            evidence = self._evidence(masked)
            measured = self._numbers(evidence)
            blank = {name: share_suppressed(self.data, masked, name) for name in self.guarded}
            outcome = self._outcome(masked, evidence, measured, blank)
            missed, unjudged = self.judge.judge(evidence, measured), self.unjudged
            missed = missed or self.judge.surely_missed(evidence, measured)
            if not missed:
                could_be_chosen = outcome.ranked_loss < loss_to_beat
                evidence, unjudged = self._with_informed(evidence, masked, narrow=could_be_chosen), 0.0
                missed = self.judge.judge(evidence, measured)
                outcome = replace(outcome, skipped=not could_be_chosen and bool(missed))
            missed |= judge_options(self.options, self.data, masked, blank)
            gaps: Gaps | None = None
            if not missed and self.scale == 1.0 and not (is_needless is not None and is_needless(outcome)):
                gaps = self._count_gaps(masked, plan, evidence)
                if gaps is not None:
                    outcome = replace(outcome, gaps=gaps.number, gap_columns=gaps.columns, gap_keys=gaps.keys)
        except DiscreetError as error:
            return Outcome(self.worst, 1.0, error=str(error), seconds=time.perf_counter() - started)
        seconds = time.perf_counter() - started
        outcome = replace(outcome, measured=measured, missed=missed, unjudged=unjudged, seconds=seconds)
        if outcome.meets_limits and (self.best is None or outcome.rank < self.best.outcome.rank):
            # without what was derived from the table
            self.best = BestSoFar(
                plan, outcome, masked.replace(masked.frame), evidence, None if gaps is None else gaps.coverage,
                result if self.scale == 1.0 else None,
            )  # fmt: skip
            result.forget_derived()
        return outcome

    def look_for_gaps(self, plan: Plan) -> Outcome:
        """The outcome of a plan with its gaps; the best plan so far need not be run again for it."""
        if self.best is None or self.best.plan != plan:
            return self(plan)
        gaps = self._count_gaps(self.best.masked, plan, self.best.evidence)
        if gaps is None:
            return self.best.outcome
        outcome = replace(self.best.outcome, gaps=gaps.number, gap_columns=gaps.columns, gap_keys=gaps.keys)
        self.best = replace(self.best, outcome=outcome, coverage=gaps.coverage)
        return outcome

    def release_of(self, plan: Plan) -> Release | None:
        """The release of a plan, as ``generate`` makes it under the policy with this plan, if it is the best one so far.

        It is made only now: its log and its warnings take time, which a plan that is stopped at its deadline no longer has.
        """
        if self.best is None or self.best.plan != plan or self.best.result is None:
            return None
        release = self.best.result.to_release()
        masked, *stages = (
            table.replace(table.frame).with_policy(table.policy.with_(plan=plan)) for table in (release.masked, *release.stages)
        )
        original = self.data.with_policy(self.policy.with_(plan=plan))
        return replace(release, original=original, masked=masked, stages=tuple(stages))

    @property
    def knows_scores(self) -> bool:
        """Whether the scores of the limits are those that an assessment would measure, so that it need not."""
        limited = {limit.split(".")[0] for limit in self.policy.limits}
        return all(measure.name not in limited or self._is_final(measure) for measure in self.risks.values())

    def known_scores(self, release: Release) -> KnownScores | None:
        """The scores of a release, if its plan is the best one so far, and its table the same record by record."""
        best, masked = self.best, release.masked
        if best is None or best.plan != release.plan:
            return None
        if not np.array_equal(best.masked.records, masked.records) or not best.masked.frame.equals(masked.frame):
            return None
        final = {name: measure for name, measure in self.risks.items() if self._is_final(measure)}
        after = dict(best.evidence.release)
        coverage = self.gap_counter.measure
        if best.coverage is not None and self.gap_counter.withheld_columns(masked, best.plan) == withheld_columns(release):
            final[coverage.name], after[coverage.name] = coverage, best.coverage
        return KnownScores(final, self._original.release, after, best.evidence.informed, self.losses, best.evidence.losses)

    def _is_final(self, measure: RiskMeasure) -> bool:
        """Whether an assessment would measure just the same: neither attacks that are sampled here nor bounds to be narrowed."""
        deciding = measure.for_limits(limits_of(measure.name, self.policy), seconds=self._seconds_per_decision)
        return deciding == measure == measure.in_full() and not measure.judges_written

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
        by_attribute = loss_by_attribute(self.options.loss, evidence.losses, changes)
        shares = [share for name, share in blank.items() if name in self.keys]
        lost, lost_keys = max(shares, default=0.0), sum(share > MOST_BLANK for share in shares) / max(1, len(shares))
        risk = self._signed(self.risk_axis, measured)
        return Outcome(
            risk, total, loss_by_attribute=by_attribute, blank=lost, blank_keys=lost_keys, parts=parts, changes=changes,
            effect=measured.get("associations.effect") or 0.0,
        )  # fmt: skip

    def _should_run(self, step: Step, table: Microdata) -> bool:
        """Whether to run a step: False for a targeted step if no record is above the threshold.

        Raises PolicyError, to give up the plan, if a targeted step would have to change most records: other plans cost less.
        """
        if step.method not in TARGETED or "known_sets" not in self.risks or step.parameters.get("side") == "sensitive":
            return True
        score = self._measure_risk("known_sets", table)
        threshold = step.parameters.get("threshold")
        own = threshold.get("among") if isinstance(threshold, Mapping) else None
        share = score.summary["high_risk_share"] if own is None else share_below(float(own), score)
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
                deciding = measure.for_limits(limits_of(name, self.policy), seconds=self._seconds_per_decision)
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
            name: self.risks[name].for_limits(limits_of(name, self.policy), seconds=self._seconds_per_decision).measure(masked)
            for name in undecided
            if name in self.risks and name not in evidence.bound
        }
        return replace(complete, release={**evidence.release, **release})

    def _numbers(self, evidence: Evidence) -> dict[str, float | None]:
        """The measured values of the limits and of both axes, by MEASURE.FIELD."""
        scores = {**evidence.release, **evidence.losses}
        return {limit: finite_or_none(number_of(scores, *limit.split("."))) for limit in self.better}

    def _signed(self, limit: str, measured: Mapping[str, float | None]) -> float:
        """A measured value, negated if more of it is better, so that less is always better."""
        value = measured[limit]
        if value is None:
            return CANNOT_RUN
        return value if self.better[limit] == "low" else -value
