"""Closing the gaps in the evidence that the best plan leaves: the columns that cause them are masked too.

First as the search would treat them: with the keys, dropped or averaged (see selection/space); those that still cause
gaps are dropped.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import replace

from discreet.engine.runtime.progress import OutOfTimeError, stop_after
from discreet.model.policy import Plan, Step
from discreet.selection.choices import choose_plan
from discreet.selection.evaluation.evaluator import Evaluator
from discreet.selection.options import SelectOptions
from discreet.selection.outcome import TriedPlan
from discreet.selection.space.beside_keys import maskable_columns, with_gap_columns
from discreet.selection.space.dimensions import AS_IT_IS, DROPPED, Space
from discreet.selection.steps.build import build_plan
from discreet.selection.steps.columns import close_columns

_MOST_ROUNDS = 4
"""When one column is masked, another one may give the same values back."""


def close_gaps(
    tried: Sequence[TriedPlan], space: Space, options: SelectOptions, evaluate: Evaluator, deadline: float | None
) -> list[TriedPlan]:
    """The best plan with the columns masked that cause its gaps; empty if nothing can be masked.

    Empty too if a plan without gaps is as good as this one would be with its gaps closed.
    """
    closed: list[TriedPlan] = []
    best = _best_with_gaps(tried, options, evaluate)
    for _ in range(_MOST_ROUNDS):
        if best is None:
            break
        needed = 2 * best.outcome.seconds + evaluate.expected_for_gaps
        if deadline is not None and time.monotonic() + needed > deadline:
            break
        point, plan, space = _mask_more(best, space, options, evaluate)
        if plan == best.plan:
            break
        try:
            with stop_after(deadline):
                smaller = TriedPlan(point, plan, evaluate(plan))
        except OutOfTimeError:
            break
        closed.append(smaller)
        still_open = smaller.outcome.meets_limits and (smaller.outcome.gaps or 0) > 0
        best = smaller if still_open else None
    return closed


def _best_with_gaps(tried: Sequence[TriedPlan], options: SelectOptions, evaluate: Evaluator) -> TriedPlan | None:
    """The best of the plans with gaps; None if there is none, or if a plan without gaps is as good, its gaps apart."""
    with_gaps = [plan for plan in tried if plan.outcome.meets_limits and plan.outcome.gaps]
    if not with_gaps:
        return None
    best = choose_plan(with_gaps, options, evaluate.worst, options.prefer)
    as_if_closed = replace(best, outcome=replace(best.outcome, gaps=0))
    acceptable = [plan for plan in tried if plan.outcome.is_acceptable]
    return best if choose_plan([*acceptable, as_if_closed], options, evaluate.worst, options.prefer) is as_if_closed else None


def _mask_more(
    best: TriedPlan, space: Space, options: SelectOptions, evaluate: Evaluator
) -> tuple[dict[str, str | int | float], Plan, Space]:
    """The best plan with more columns masked, its point and the space of this; the same plan if there is nothing to mask."""
    columns = maskable_columns(evaluate.data, options, best.outcome.gap_columns)
    space = with_gap_columns(space, evaluate.data, options, columns)
    point = dict(best.point)
    for name in [name for name in columns if f"beside:{name}" in space.choices]:
        if point.get(f"beside:{name}", AS_IT_IS) == AS_IT_IS:
            choices = space.choices[f"beside:{name}"]
            point[f"beside:{name}"] = next((choice for choice in choices if choice != AS_IT_IS), AS_IT_IS)
    if point == best.point:  # what causes gaps although it is masked with the keys is dropped
        offered = [f"beside:{name}" for name in columns if DROPPED in space.choices.get(f"beside:{name}", ())]
        point |= dict.fromkeys(offered, DROPPED)
    plan = build_plan(evaluate.data, space, point)
    if plan == best.plan or point == best.point:  # what the search would do was done
        plan = _close_columns_first(best.plan, columns, space, evaluate)
    return point, plan, space


def _close_columns_first(plan: Plan, columns: Sequence[str], space: Space, evaluate: Evaluator) -> Plan:
    """The plan with columns closed before anything else happens to them: a step finds no groups for values masked already."""
    removed = {name for step in plan.steps for name in step.columns or () if step.method == "remove_identifiers"}
    closing = close_columns(evaluate.data, [name for name in columns if name not in removed], space.required_k)
    closed = {name for step in closing for name in step.columns or ()}
    if not closed or all(step in plan.steps for step in closing):
        return plan
    others = [shorter for step in plan.steps if (shorter := _without_columns(step, closed)) is not None]
    first = [step for step in others if step.method == "remove_identifiers"]
    return plan.model_copy(update={"steps": (*first, *closing, *(step for step in others if step not in first))})


def _without_columns(step: Step, names: Collection[str]) -> Step | None:
    """The step on its other columns, with their weights; None if there are none."""
    if step.columns is None or not set(names) & set(step.columns):
        return step
    rest = tuple(name for name in step.columns if name not in names)
    by_column = {
        parameter: {name: weight for name, weight in value.items() if name not in names}
        for parameter, value in step.parameters.items()
        if isinstance(value, dict)
    }
    return Step.model_validate({**step.model_dump(), **by_column, "columns": rest}) if rest else None
