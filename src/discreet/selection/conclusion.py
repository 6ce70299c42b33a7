"""The end of a search: the best plan is simplified, run once more, and its release assessed as a written file would be."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from discreet.assessment.release import assess_release
from discreet.engine.runtime.progress import OutOfTimeError, stop_after
from discreet.masking.generate import generate
from discreet.model.microdata import Microdata
from discreet.model.policy import Plan
from discreet.model.results import Assessment, Release
from discreet.selection.choices import choose_plan, dominating_plans, preference_order, three_plans
from discreet.selection.evaluation.evaluator import TARGETED, Evaluator
from discreet.selection.evaluation.measures import samples_attacks
from discreet.selection.frontier import MapPoint, frontier, mark_dominated
from discreet.selection.gaps.closing import close_gaps
from discreet.selection.options import SelectOptions
from discreet.selection.outcome import TriedPlan
from discreet.selection.reasons import explain_choice, explain_companions, explain_protected_keys
from discreet.selection.results import Selection
from discreet.selection.space.dimensions import Space
from discreet.selection.trials import TrialReporter
from discreet.selection.unreachable import explain_undecided_sizes, explain_unreachable_threshold

_MOST_UNTARGETED = 6
"""Plans that are tried again without their targeted steps, if no plan can run."""

_SHARE_FOR_ATTACKS = 0.2
"""Share of all seconds for attacks on everybody, where they were sampled in the search."""

_NO_PLAN_RUN = (
    "There was no time to run a plan on the whole table: this one removes identifiers and does nothing else. "
    "Give the search more seconds."
)


def assess_best_plan(
    data: Microdata, options: SelectOptions, evaluate: Evaluator, tried: Sequence[TriedPlan],
    tried_on_sample: Sequence[TriedPlan], began: float, searching: float, reporter: TrialReporter,
    space: Space,
) -> Selection:  # fmt: skip
    """Simplify the best plan, run it once more, and assess its release as ``assess`` does with a written file.

    ``space`` is the space that the plans were built from.
    """
    reserved = evaluate.measuring + evaluate.measuring_informed + reserve_for_attacks(data, options)
    deadline = None if options.seconds is None else began + options.seconds - reserved
    simplifying = time.monotonic()
    simplified: list[TriedPlan] = []
    interrupted = False
    try:
        simplified = _try_without_targeted_steps(tried, evaluate, deadline)
        tried = look_for_gaps(tried, options, evaluate, deadline)
        simplified += close_gaps(tried, space, options, evaluate, deadline)
        best = choose_plan([*tried, *simplified], options, evaluate.worst, options.prefer)
        if best not in simplified:
            simplified += _try_leaving_steps_out(best, evaluate, deadline)
    except KeyboardInterrupt:  # the best plan so far is assessed as it is
        interrupted = True
    searching += time.monotonic() - simplifying
    for plan in simplified:
        reporter.report(plan.plan, plan.outcome, whole=True)
    tried = [*tried, *simplified]
    chosen = choose_plan(tried, options, evaluate.worst, options.prefer)
    last = last_moment(options, began)
    release = evaluate.release_of(chosen.plan) or _run_in_time(data, chosen, evaluate.secret, last)
    run = release.plan
    policy = data.policy.with_(plan=run)
    # Work stops only between its steps, so the end is a little before the time limit. The limits of a plan that was chosen
    # because it meets them are always judged completely.
    end = None if options.seconds is None else began + 0.98 * options.seconds
    known = evaluate.known_scores(release)
    assessment = assess_release(release.original, release, end, patient=chosen.outcome.meets_limits, last=last, known=known)
    # plans have the numbers that on_trial was called with, those tried on the sample first
    named = {f"plan {number}": plan for number, plan in enumerate(tried, len(tried_on_sample) + 1)}
    points = [
        MapPoint(
            name,
            plan.outcome.risk,
            plan.outcome.loss,
            plan.outcome.is_acceptable,
            gaps_examined=plan.outcome.gaps is not None or not plan.outcome.meets_limits,
        )
        for name, plan in named.items()
        if plan.outcome.error is None
    ]
    best_points = tuple(frontier(points))
    # a plan whose gaps were not measured is dominated by one that was known then, so that this can be explained all the same
    met = [replace(point, kept=named[point.name].outcome.meets_limits and not named[point.name].outcome.gaps) for point in points]
    unmet = (*(verdict.limit for verdict in assessment.verdicts if not verdict.kept), *chosen.outcome.missed_conditions)
    axes = (evaluate.risk_axis, options.loss)
    tried_first, *why = explain_choice(chosen, tried, assessment, axes, evaluate.worst, options)
    sentences = [
        *([] if run == chosen.plan else [_NO_PLAN_RUN]),
        tried_first,
        *_explain_numbers(len(tried_on_sample)),
        *why,
        *_explain_attacks(assessment),
        *_explain_threshold_in_time(evaluate, unmet, last),
        *explain_companions(chosen, data, space),
        *explain_protected_keys(data, options.protect, (*unmet, *chosen.outcome.missed)),
    ]
    return Selection(
        plan=run,
        policy=policy,
        met=(assessment.ok or not policy.limits) and not chosen.outcome.missed_conditions,
        loss=chosen.outcome.loss,
        risk=chosen.outcome.risk,
        axes=axes,
        release=release,
        assessment=assessment,
        placed=tuple(mark_dominated(points)),
        frontier=best_points,
        plans={point.name: named[point.name].plan for point in best_points},
        choices=three_plans(named, options, evaluate.worst),
        dominated=dominating_plans(met, frontier([point for point in points if point.kept])),
        parts=chosen.outcome.parts,
        changes=chosen.outcome.changes,
        tried=len(tried),
        tried_on_sample=len(tried_on_sample),
        standing=unmet,
        sentences=tuple(sentences),
        seconds=time.monotonic() - began,
        searching=searching,
        gaps_of_plan=chosen.outcome.gaps,
        interrupted=interrupted,
        busy=sum(plan.outcome.seconds for plan in (*tried_on_sample, *tried)),
    )


def _run_in_time(data: Microdata, chosen: TriedPlan, secret: bytes | None, last: float | None) -> Release:
    """The release of the chosen plan; where it was stopped before and is again, only its removal of identifiers."""

    def run(plan: Plan) -> Release:
        return generate(data.with_policy(data.policy.with_(plan=plan)), plan, secret)

    if chosen.outcome.error is None:
        return run(chosen.plan)
    try:
        with stop_after(half_way_to(last)):
            return run(chosen.plan)
    except OutOfTimeError:
        removing = tuple(step for step in chosen.plan.steps if step.method == "remove_identifiers")
        return run(chosen.plan.model_copy(update={"steps": removing}))


def reserve_for_attacks(data: Microdata, options: SelectOptions) -> float:
    """Seconds at the end of a search for attacks on everybody that were sampled before; 0 without a time limit."""
    return _SHARE_FOR_ATTACKS * options.seconds if options.seconds is not None and samples_attacks(data.policy) else 0.0


def _explain_numbers(tried_on_sample: int) -> list[str]:
    """That plans were tried on a sample before, whose numbers come first."""
    if not tried_on_sample:
        return []
    return [f"Before them {tried_on_sample:,} plans were tried on a sample, so the numbers of these plans begin after that."]


def _explain_attacks(assessment: Assessment) -> list[str]:
    """That attacks were sampled in the search, and on how many people the verdict on them rests."""
    names = dict.fromkeys(verdict.limit.split(".")[0] for verdict in assessment.verdicts)
    numbers = {name: assessment.after[name].summary.get("attacks") for name in names if name in assessment.after}
    attacked = [f"{name} on {number:,} attacks" for name, number in numbers.items() if isinstance(number, int)]
    if not attacked:
        return []
    return [f"Attacks were sampled while plans were compared; the verdict on this plan rests for {', '.join(attacked)}."]


def _explain_threshold_in_time(evaluate: Evaluator, unmet: Sequence[str], last: float | None) -> list[str]:
    """Why a threshold is out of reach; this takes one more measurement, so nothing is said where there is no time for it."""
    try:
        with stop_after(last):
            return explain_unreachable_threshold(evaluate, unmet) + explain_undecided_sizes(evaluate, unmet)
    except OutOfTimeError:
        return []


def look_for_gaps(
    tried: Sequence[TriedPlan], options: SelectOptions, evaluate: Evaluator, deadline: float | None
) -> list[TriedPlan]:
    """The plans, of which gaps in the evidence are known up to the best one that has none, by the owner's preference.

    A plan whose gaps were not looked for during the search is run once more, as long as there is time.
    """
    plans = list(tried)
    while True:
        open_plans = [plan for plan in plans if plan.outcome.meets_limits and not plan.outcome.gaps]
        if not open_plans:
            return plans
        # one of which nobody looked for gaps may have none
        best = min(open_plans, key=lambda plan: preference_order(_hope(plan), options, evaluate.worst, options.prefer))
        # the final assessment looks for the gaps of the chosen plan anyway, and must still fit in
        runs = 0.5 if evaluate.best is not None and evaluate.best.plan == best.plan else 3
        needed = runs * best.outcome.seconds + 2 * evaluate.expected_for_gaps
        if best.outcome.gaps == 0 or (deadline is not None and time.monotonic() + needed > deadline):
            return plans
        try:
            with stop_after(deadline):
                outcome = evaluate.look_for_gaps(best.plan)
        except OutOfTimeError:
            return plans
        if outcome.gaps is None:  # no time was left for it, or the plan does not meet the limits on a second look
            return plans
        examined = replace(
            best.outcome, gaps=outcome.gaps, gap_columns=outcome.gap_columns, gap_keys=outcome.gap_keys
        )  # fmt: skip
        plans[plans.index(best)] = replace(best, outcome=examined)


def _hope(plan: TriedPlan) -> TriedPlan:
    return plan if plan.outcome.gaps is not None else replace(plan, outcome=replace(plan.outcome, gaps=0))


def last_moment(options: SelectOptions, began: float) -> float | None:
    """When a search with a time limit must have its result, whatever is still to be measured."""
    return None if options.seconds is None else began + 1.05 * options.seconds + 3.0


def half_way_to(last: float | None) -> float | None:
    """The moment up to which a plan may be tried after which there is more to do until the last moment."""
    return None if last is None else time.monotonic() + max(0.0, last - time.monotonic()) / 2


def _try_without_targeted_steps(tried: Sequence[TriedPlan], evaluate: Evaluator, deadline: float | None) -> list[TriedPlan]:
    """If not a single plan can run: some of them without their targeted steps, which would have to change too many records."""
    simplified: list[TriedPlan] = []
    if any(plan.outcome.error is None for plan in tried):
        return simplified
    for original in tried:
        steps = tuple(step for step in original.plan.steps if step.method not in TARGETED)
        plan = original.plan.model_copy(update={"steps": steps})
        late = deadline is not None and time.monotonic() > deadline
        is_new = plan != original.plan and plan not in [other.plan for other in simplified]
        if is_new and not late and len(simplified) < _MOST_UNTARGETED:
            try:
                with stop_after(deadline):
                    simplified.append(TriedPlan(original.point, plan, evaluate(plan)))
            except OutOfTimeError:
                break
    return simplified


def _try_leaving_steps_out(chosen: TriedPlan, evaluate: Evaluator, deadline: float | None) -> list[TriedPlan]:
    """The chosen plan with steps left out, one after the other, as long as it meets the limits at no more loss without them.

    With a time limit, only while a plan as long and the last run of the chosen plan still fit in.
    """
    simplified: list[TriedPlan] = []
    best = chosen
    for step in chosen.plan.steps:
        steps = tuple(other for other in best.plan.steps if other is not step)
        late = deadline is not None and time.monotonic() + 3 * chosen.outcome.seconds > deadline
        if step.method == "remove_identifiers" or not best.outcome.meets_limits or not steps or late:
            continue
        plan = best.plan.model_copy(update={"steps": steps})
        try:
            with stop_after(deadline):
                shorter = TriedPlan(chosen.point, plan, evaluate(plan))
        except OutOfTimeError:
            return simplified
        simplified.append(shorter)
        if shorter.outcome.meets_limits and shorter.outcome.ranked_loss <= best.outcome.ranked_loss:
            best = shorter
    return simplified
