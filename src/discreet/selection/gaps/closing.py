"""Closing the gaps in the evidence that the best plan leaves: the columns that cause them are masked too.

First as the search would treat them: with the keys, dropped or averaged (see selection/space); those that still cause
gaps are dropped.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from discreet.engine.runtime.progress import OutOfTimeError, stop_after
from discreet.model.attribute import Role
from discreet.model.policy import Plan
from discreet.selection.choices import choose_plan
from discreet.selection.evaluation.evaluator import Evaluator
from discreet.selection.options import SelectOptions
from discreet.selection.outcome import TriedPlan
from discreet.selection.space.beside_keys import named_by_risks, with_companions
from discreet.selection.space.dimensions import Space
from discreet.selection.steps.build import build_plan
from discreet.selection.steps.columns import close_columns

_MOST_ROUNDS = 4
"""When one column is masked, another one may give the same values back."""


def close_gaps(
    tried: Sequence[TriedPlan], space: Space, options: SelectOptions, evaluate: Evaluator, deadline: float | None
) -> list[TriedPlan]:
    """The best plan with the columns masked that cause its gaps; empty if some plan has none, or if nothing can be masked."""
    closed: list[TriedPlan] = []
    if any(plan.outcome.is_acceptable for plan in tried):
        return closed
    with_gaps = [plan for plan in tried if plan.outcome.meets_limits and plan.outcome.gaps]
    best = choose_plan(with_gaps, options, evaluate.worst, options.prefer) if with_gaps else None
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


def _mask_more(
    best: TriedPlan, space: Space, options: SelectOptions, evaluate: Evaluator
) -> tuple[dict[str, str | int | float], Plan, Space]:
    """The best plan with more columns masked, its point and the space of this; the same plan if there is nothing to mask."""
    columns = maskable_columns(best, options, evaluate)
    space = with_companions(space, evaluate.data, options, {name: () for name in columns if name not in space.companions})
    point = dict(best.point)
    for name in [name for name in space.companions if f"beside:{name}" not in point]:
        point[f"beside:{name}"] = space.choices[f"beside:{name}"][0]
    plan = build_plan(evaluate.data, space, point)
    if plan == best.plan or point == best.point:  # what the search would do was done
        masked = {name for step in best.plan.steps for name in step.columns or () if step.method == "remove_identifiers"}
        steps = close_columns(evaluate.data, [name for name in columns if name not in masked], space.required_k)
        new = tuple(step for step in steps if step not in best.plan.steps)
        plan = best.plan.model_copy(update={"steps": (*best.plan.steps, *new)})
    return point, plan, space


def maskable_columns(plan: TriedPlan, options: SelectOptions, evaluate: Evaluator) -> list[str]:
    """The columns that cause gaps and that may be masked: no keys, and none that the owner or a measure needs."""
    needed = {*options.protect, *options.keep, *options.analysed_attributes, *named_by_risks(evaluate.policy)}
    return [
        name for name in plan.outcome.gap_columns if name not in needed and evaluate.data.attribute(name).role is not Role.KEY
    ]
