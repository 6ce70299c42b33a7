"""The Disclosure Risk and Information Loss Analyzer (Truta et al., section 2): a release judged by its owner's limits."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache

import polars as pl

from discreet import registry
from discreet.assessment.adversaries import side_by_side
from discreet.assessment.verdicts import Evidence, judge_limit, limits_of
from discreet.engine.runtime.dispatch import is_distributed
from discreet.engine.runtime.progress import OutOfTimeError, stop_after
from discreet.errors import DataError, MemoryLimitError, UnexplainedCellError
from discreet.model.attribute import Role
from discreet.model.contracts import RiskMeasure
from discreet.model.engine_work import engine_label
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.model.presets.catalogue import describe_use
from discreet.model.results import KNOWS_ORIGINALS, NO_LIMITS, NO_RISK_LIMIT, Assessment, Verdict
from discreet.model.score import Score

_INFORMED = "for an intruder who knows the original values"
_COUNTS_PERSONS = "repeated_records"
_SECONDS = 60.0
"""What one measurement may spend on bringing the bounds of its numbers to one side of the limits on them."""
_LEAST_SECONDS = 2.0
"""The same where the deadline has passed: as much as a search spends on each plan."""
_NO_TIME = "there was no time left for it; 'discreet assess' measures it"


def assess(
    original: Microdata,
    masked: Microdata,
    risks: list[RiskMeasure],
    losses: Mapping[str, Score],
    deadline: float | None = None,
    doubts: Sequence[str] = (),
    covering: Covering | None = None,
    *,
    patient: bool = False,
    last: float | None = None,
    before: Mapping[str, Score] | None = None,
) -> Assessment:
    """Every risk before and after, beside losses already measured, and the verdict limit by limit.

    Both tables keep their encoded columns, so what several measures count is encoded once. Limits on risk are judged on the worse
    of two intruders, unless the policy says ``judge: release``. After the deadline, a moment of ``time.monotonic``, neither the
    informed intruder is measured nor coverage nor a risk without a limit; what should have been judged on them is then
    incomplete. A ``patient`` assessment measures the informed intruder all the same where a limit names the risk. After ``last``
    nothing more is measured, not even what a limit names: the limit is then incomplete.
    ``before`` are scores of the original that are known already, by measure.
    ``doubts`` are sentences on why it is not certain which row is whose; what needs to know that is incomplete too. ``covering``
    is the measure of what nobody looked at, and the table as it is written.
    """
    written = covering.released if covering is not None else masked
    taken = _Measurements(original, masked, deadline, patient=patient, last=last, written=written)
    taken.before |= before or {}
    limited = {limit.split(".")[0] for limit in original.policy.limits}
    for measure in risks:
        if measure.name in limited:
            taken.measure_limited(measure)
    if covering is not None:
        taken.cover(covering, doubts)
    for measure in risks:
        if measure.name not in limited:
            taken.measure_if_time(measure)
    order = [*(measure.name for measure in risks), *([covering.measure.name] if covering is not None else [])]
    measured_before, after, informed = (
        {name: scores[name] for name in order if name in scores} for scores in (taken.before, taken.after, taken.informed)
    )
    missing, bound = taken.missing, taken.bound
    policy = original.policy
    evidence = Evidence(after, informed, losses, frozenset(bound), missing, policy.judge)
    verdicts = tuple(judge_limit(limit, required, evidence) for limit, required in policy.limits.items())
    verdicts = tuple(_explain_blanks(verdict, risks, policy) for verdict in verdicts)
    linked = [_uses_links(verdict, policy.judge) for verdict in verdicts]
    if doubts:
        verdicts = tuple(
            _doubted(verdict, doubts[0]) if uses else verdict for verdict, uses in zip(verdicts, linked, strict=True)
        )
    gaps = [*_gaps_in_limits(original), *_limits_out_of_range(policy), *(doubts if any(linked) else ())]
    if (simulated := _count_simulated(masked)) and any(_judged_informed(verdict, policy.judge) for verdict in verdicts):
        gaps.append(f"{simulated:,} of {len(masked):,} released rows are simulated and not measured {_INFORMED}")
    gaps += [
        f"{name} is 0 for every record of the original, so that limits on it say nothing: no attribute has a sensitivity, or no "
        "value a weight"
        for name in dict.fromkeys(limit.split(".")[0] for limit in policy.limits)
        if name in measured_before and len(original) and measured_before[name].bounds.get("max") == (0.0, 0.0)
    ]
    gaps += [gap for score in (*after.values(), *informed.values(), *losses.values()) for gap in score.gaps]
    if covering is not None and (reason := missing.get(covering.measure.name)):
        gaps.append(f"{covering.measure.name} was not measured, so columns that nobody looked at are not known: {reason}")
    limited |= {covering.measure.name} if covering is not None else set()
    warnings = [
        f"{name} could not be measured {_INFORMED if name in after else 'on the release'}: {reason}"
        for name, reason in missing.items()
        if name not in limited or (policy.judge == "release" and name in after)
    ]
    warnings += _limits_at_the_worst(policy)

    @cache
    def records() -> pl.DataFrame:
        return side_by_side(original, masked, after)

    return Assessment(
        measured_before, after, informed, losses, verdicts, len(original), len(masked), (*warnings, *doubts), records,
        tuple(dict.fromkeys(gaps)), policy.judge, tuple(describe_use(policy.presets, policy.limits)),
    )  # fmt: skip


class _Measurements:
    """The scores of an assessment, and why those are missing that could not be taken."""

    def __init__(
        self, original: Microdata, masked: Microdata, deadline: float | None, *, patient: bool, last: float | None,
        written: Microdata | None = None,
    ) -> None:  # fmt: skip
        self.original, self.masked, self.deadline, self.patient, self.last = original, masked, deadline, patient, last
        self.written = masked if written is None else written
        """The masked table without columns that are left out of what is written."""
        self.before: dict[str, Score] = {}
        self.after: dict[str, Score] = {}
        self.informed: dict[str, Score] = {}
        self.missing: dict[str, str] = {}
        self.bound: set[str] = set()
        """The measures that cannot be taken without the original values."""

    def measure_limited(self, measure: RiskMeasure) -> None:
        """Measure a risk that a limit names: until the last moment, but for the informed intruder."""
        try:
            with stop_after(self.last):
                self._measure_before(measure)
                self._measure_after(measure, self.last if self.patient else self.deadline)
        except OutOfTimeError:
            self.missing[measure.name] = _NO_TIME

    def measure_if_time(self, measure: RiskMeasure) -> None:
        """Measure a risk that no limit names."""
        try:
            with stop_after(self.deadline):
                self._measure_before(measure)
                self._measure_after(measure, self.deadline)
        except OutOfTimeError:
            self.missing[measure.name] = _NO_TIME

    def cover(self, covering: Covering, doubts: Sequence[str]) -> None:
        """Measure the coverage of the original and of the release."""
        name = covering.measure.name
        with self._explaining(name), stop_after(self.deadline):
            self.before[name], self.after[name] = _cover(covering, self.original, doubts)

    def _measure_before(self, measure: RiskMeasure) -> None:
        if measure.name in self.before:
            return
        needs_original = measure.needs_original(self.original)
        self.before[measure.name] = measure.measure(self.original, original=self.original if needs_original else None)

    def _measure_after(self, measure: RiskMeasure, deadline: float | None) -> None:
        name, required = measure.name, measure.needs_original(self.masked)
        released = self.written if measure.judges_written else self.masked
        measure = measure.for_limits(limits_of(name, self.original.policy), seconds=self._seconds_per_decision())
        if required:
            self.bound.add(name)
        with self._explaining(name):
            self.after[name] = measure.measure(released, original=self.original if required else None)
            if measure.uses_original(self.masked) and not required:
                with stop_after(deadline):
                    self.informed[name] = measure.measure(self.masked, original=self.original)

    def _seconds_per_decision(self) -> float:
        if self.deadline is None:
            return _SECONDS
        return min(_SECONDS, max(_LEAST_SECONDS, self.deadline - time.monotonic()))

    @contextmanager
    def _explaining(self, name: str) -> Iterator[None]:
        """Keep the reason why a measure could not be taken."""
        try:
            yield
        except UnexplainedCellError:  # nobody knows what was released: that is wrong input, and no verdict can be given at all
            raise
        except (DataError, MemoryLimitError) as error:
            self.missing[name] = str(error)
        except MemoryError:
            self.missing[name] = "there is not enough memory for it"
        except OutOfTimeError:
            self.missing[name] = _NO_TIME


def _gaps_in_limits(original: Microdata) -> list[str]:
    """What the limits leave open: no limit at all, none on disclosure risk, or none that counts persons where it must."""
    limits = original.policy.limits
    if not limits:
        return [NO_LIMITS]
    if not any(registry.judges_disclosure(limit) for limit in limits):
        return [NO_RISK_LIMIT]
    person = next(iter(original.named(Role.PERSON)), None)
    if person is None or is_distributed(original) or any(limit.startswith(f"{_COUNTS_PERSONS}.") for limit in limits):
        return []
    persons = original.frame[person].n_unique()
    if persons == len(original):
        return []
    counted = f"'{person}' has several records per person ({len(original):,} records, {persons:,} persons)"
    return [f"{counted}, and the limits count records, not persons; set a limit on {_COUNTS_PERSONS} as well"]


def _limits_out_of_range(policy: Policy) -> list[str]:
    """Limits beyond the worst number that their field can have, such as a share of 5: typing errors, or percentages."""
    slack = {limit: registry.slack_of_limit(limit, required) for limit, required in policy.limits.items()}
    return [
        f"the limit {limit}: {policy.limits[limit]:g} is beyond the worst number that any table can have, so it judges nothing; "
        "shares are written from 0 to 1"
        for limit, beyond in slack.items()
        if beyond is not None and beyond > 0
    ]


def _limits_at_the_worst(policy: Policy) -> list[str]:
    """Limits that every table meets, such as a k of 1."""
    return [
        f"every table meets the limit {limit}: {required:g}, so it judges nothing"
        for limit, required in policy.limits.items()
        if registry.slack_of_limit(limit, required) == 0
    ]


@dataclass(frozen=True)
class Covering:
    """The measure ``coverage``, and the release as it is written: without identifiers that are never written."""

    measure: RiskMeasure
    released: Microdata


def _cover(covering: Covering, original: Microdata, doubts: Sequence[str]) -> tuple[Score, Score]:
    """Coverage of the original and of the release; masked values are only compared where it is certain which row is whose."""
    measure, released = covering.measure, covering.released
    if is_distributed(released):
        raise DataError(f"it does not run on {engine_label(released.engine)}; read both tables on the local engine")
    before = measure.measure(original)
    if not doubts:
        return before, measure.measure(released, original=original)
    after = measure.measure(released)
    if original.policy.judge == "both":
        after.gaps = (*after.gaps, f"it was not measured whether masked values can be restored, because {doubts[0]}")
    return before, after


def _uses_links(verdict: Verdict, judge: str) -> bool:
    """Whether a verdict rests on knowing which original each released row comes from."""
    return _judged_informed(verdict, judge) or registry.resolve_limit(verdict.limit)[0] == "loss"


def _judged_informed(verdict: Verdict, judge: str) -> bool:
    return verdict.intruder == KNOWS_ORIGINALS or (judge == "both" and verdict.measured_informed is not None)


def _explain_blanks(verdict: Verdict, risks: Sequence[RiskMeasure], policy: Policy) -> Verdict:
    """Say where a step and a measure read blanks differently: each does what it promises, and yet the limit is missed."""
    name = verdict.limit.split(".")[0]
    counts_blanks = any(risk.name == name and getattr(risk, "missing", None) == "category" for risk in risks)
    blanks = [
        step.parameters.get("blanks", "match")
        for step in policy.plan.steps
        if step.enabled and step.method == "local_suppression" and step.parameters.get("blanks") != "category"
    ]
    if verdict.status != "not met" or not counts_blanks or not blanks:
        return verdict
    reason = (
        f"a blank that local_suppression left (blanks: {blanks[0]}) counts as a value of its own in {name}: with "
        "blanks: category the step counts it so too"
    )
    return replace(verdict, sentence=f"{verdict.sentence}; {reason}")


def _doubted(verdict: Verdict, doubt: str) -> Verdict:
    """A verdict that rests on links which are in doubt: what is met is incomplete."""
    if verdict.status != "met":
        return verdict
    return replace(verdict, status="incomplete", sentence=f"{verdict.sentence}, but {doubt}")


def _count_simulated(masked: Microdata) -> int:
    """Released rows that come from no original record; on a cluster the rows are not looked at for this."""
    return 0 if is_distributed(masked) else int((masked.records < 0).sum())
