"""The Disclosure Risk and Information Loss Analyzer (Truta et al., section 2): a release judged by its owner's limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache

import polars as pl

from discreet import registry
from discreet.assessment.adversaries import side_by_side
from discreet.assessment.known_scores import KnownScores
from discreet.assessment.limit_gaps import gaps_in_limits, limits_at_the_worst, limits_out_of_range
from discreet.assessment.measurements import Covering, Measurements
from discreet.assessment.unlimited import describe_unlimited_risks
from discreet.assessment.verdicts import Evidence, judge_limit
from discreet.engine.runtime.dispatch import is_distributed
from discreet.model.contracts import RiskMeasure
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.model.presets.catalogue import describe_use
from discreet.model.results import KNOWS_ORIGINALS, Assessment, Verdict
from discreet.model.score import Score

_INFORMED = "for an intruder who knows the original values"


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
    unmeasured: Mapping[str, str] | None = None,
    known: KnownScores | None = None,
) -> Assessment:
    """Every risk before and after, beside losses already measured, and the verdict limit by limit.

    Both tables keep their encoded columns, so what several measures count is encoded once. Limits on risk are judged on the worse
    of two intruders, unless the policy says ``judge: release``. After the deadline, a moment of ``time.monotonic``, neither the
    informed intruder is measured nor coverage nor a risk without a limit; what should have been judged on them is then
    incomplete. A ``patient`` assessment measures the informed intruder all the same where a limit names the risk. After ``last``
    nothing more is measured, not even what a limit names: the limit is then incomplete.
    A measure that cannot be taken is left out with its reason, and a limit on it is incomplete; the others are taken.
    ``before`` are scores of the original that are known already, by measure; ``unmeasured`` are reasons why losses are missing;
    ``known`` are scores of both tables that are known already, which are taken where an equal measure gave them.
    ``doubts`` are sentences on why it is not certain which row is whose; what needs to know that is incomplete too. ``covering``
    is the measure of what nobody looked at, and the table as it is written.
    """
    written = covering.released if covering is not None else masked
    taken = Measurements(original, masked, deadline, patient=patient, last=last, written=written, known=known)
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
    missing, bound = {**(unmeasured or {}), **taken.missing}, taken.bound
    policy = original.policy
    evidence = Evidence(after, informed, losses, frozenset(bound), missing, policy.judge)
    verdicts = tuple(judge_limit(limit, required, evidence) for limit, required in policy.limits.items())
    verdicts = tuple(_explain_blanks(verdict, risks, policy) for verdict in verdicts)
    verdicts = tuple(_doubted(one, taken.sampled.get(one.limit.split(".")[0])) for one in verdicts)
    linked = [_uses_links(verdict, policy.judge) for verdict in verdicts]
    if doubts:
        verdicts = tuple(
            _doubted(verdict, doubts[0]) if uses else verdict for verdict, uses in zip(verdicts, linked, strict=True)
        )
    gaps = [*gaps_in_limits(original), *limits_out_of_range(policy), *(doubts if any(linked) else ())]
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
        f"{name} could not be measured{f' {_INFORMED}' if name in after else ' on the release' if name in taken.before else ''}: "
        f"{reason}"
        for name, reason in missing.items()
        if name not in limited or name in (unmeasured or {}) or (policy.judge == "release" and name in after)
    ]
    warnings += limits_at_the_worst(policy)
    judged_scores = (after, {} if policy.judge == "release" else informed)
    warnings += describe_unlimited_risks(policy, len(masked), *judged_scores, missing=missing)

    @cache
    def records() -> pl.DataFrame:
        return side_by_side(original, masked, after)

    return Assessment(
        measured_before, after, informed, losses, verdicts, len(original), len(masked), (*warnings, *doubts), records,
        tuple(dict.fromkeys(gaps)), policy.judge, tuple(describe_use(policy.presets, policy.limits)),
    )  # fmt: skip


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


def _doubted(verdict: Verdict, doubt: str | None) -> Verdict:
    """A verdict that rests on something in doubt: what is met is incomplete."""
    if verdict.status != "met" or doubt is None:
        return verdict
    return replace(verdict, status="incomplete", sentence=f"{verdict.sentence}, but {doubt}")


def _count_simulated(masked: Microdata) -> int:
    """Released rows that come from no original record; on a cluster the rows are not looked at for this."""
    return 0 if is_distributed(masked) else int((masked.records < 0).sum())
