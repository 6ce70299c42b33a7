"""The points of a search on a sample that are tried on the whole table."""

from __future__ import annotations

import math
from collections.abc import Sequence

from discreet.selection.outcome import MOST_BLANK, TriedPlan
from discreet.selection.space.dimensions import Choice, Point, Space
from discreet.selection.space.prepare import coarsest_point, quickest_point

_SLOWER_TO_CONFIRM, _SURE_TO_END = 3.5, 1.5
"""How many times as long as a quick plan one may take on the sample to be tried on the whole table too, and not to be stopped."""
_NEARLY_AS_GOOD, _FAR_BEHIND = 1.5, 3.0
"""How many times the loss of the best plan of a finish the one that it began with may have to be tried too, and how many times
the least loss of all the best plan of such a finish may have."""
_MOST_POINTS_TO_CONFIRM = 12
"""Points of the sample that are tried on the whole table."""


def points_to_confirm(tried: Sequence[TriedPlan], longest: float | None) -> tuple[list[Point], Point | None]:
    """The best points on the sample, to be tried on the whole table, and one to fall back on if the first misses the limits.

    With a time limit, points whose plan took at most ``longest`` seconds on the sample are quick. The first point is the best
    that will hardly be stopped on the whole table: a slow one in its place could use up all the time, unless the quick ones all
    suppress most of a key. The others are not much slower, unless only slow ones meet the limits on the sample, or do it without
    suppressing most of a key: a slow plan that does is worth more than a quick one that does not. Second comes the best of each
    method: the best plans on the sample are often neighbours of one, and the whole table may differ; but none that suppresses
    most of a key where the best does not. Third comes the plan that each method began with. The point to fall back on is the
    quick one with the least risk, which the whole table is likely to confirm.
    """
    fitting = [plan for plan in tried if longest is None or plan.outcome.seconds <= _SLOWER_TO_CONFIRM * longest]
    if not any(_is_usable(plan) for plan in fitting) and any(_is_usable(plan) for plan in tried):
        fitting = list(tried)
    if not any(plan.outcome.meets_limits for plan in fitting):
        fitting = list(tried)
    meeting = [plan for plan in fitting if plan.outcome.meets_limits]
    quick = [plan for plan in meeting if longest is None or plan.outcome.seconds <= longest] or meeting
    ranked = sorted(fitting, key=lambda plan: plan.outcome.rank)
    methods = dict.fromkeys(_methods_of(plan) for plan in ranked if plan.outcome.meets_limits)
    of_each_finish = [next(plan for plan in ranked if _methods_of(plan) == method) for method in methods]
    of_each_finish = [plan for plan in of_each_finish if plan.outcome.blank <= max(MOST_BLANK, ranked[0].outcome.blank)]
    slow = math.inf if longest is None else _SURE_TO_END * longest
    first = min(
        meeting, key=lambda plan: (not _is_usable(plan), _seconds_of(plan, meeting) > slow, plan.outcome.rank), default=None
    )
    ordered = [*([] if first is None else [first]), *of_each_finish, *_untuned(of_each_finish, fitting), *ranked]
    best = [plan for index, plan in enumerate(ordered) if plan not in ordered[:index]][:_MOST_POINTS_TO_CONFIRM]
    safest = min(quick, key=lambda plan: plan.outcome.risk, default=None)
    return [dict(plan.point) for plan in best], None if safest is None else dict(safest.point)


def _methods_of(plan: TriedPlan) -> tuple[Choice | None, Choice | None]:
    """What builds the classes of a plan, and what lowers the risk of its single records."""
    return plan.point.get("finish"), plan.point.get("target")


def _untuned(best: Sequence[TriedPlan], fitting: Sequence[TriedPlan]) -> list[TriedPlan]:
    """The plan with which each finish began, if it is nearly as good as its best one: tuned settings may fit the sample alone.

    ``best`` are the best plans of each finish, in their order; those of finishes that are far behind are left out.
    """
    near = [plan for plan in best if plan.outcome.ranked_loss <= _FAR_BEHIND * best[0].outcome.ranked_loss]
    begun = [next(one for one in fitting if _methods_of(one) == _methods_of(plan) and one.outcome.meets_limits) for plan in near]
    return [
        first
        for first, plan in zip(begun, near, strict=True)
        if first.outcome.ranked_loss <= _NEARLY_AS_GOOD * plan.outcome.ranked_loss
    ]


def _seconds_of(plan: TriedPlan, others: Sequence[TriedPlan]) -> float:
    """The seconds of a plan, or of a quicker one with the same finish: the first plan of a search loads compiled code as well."""
    finish = plan.point.get("finish")
    alike = [other.outcome.seconds for other in others if finish is not None and other.point.get("finish") == finish]
    return min([plan.outcome.seconds, *alike])


def _is_usable(plan: TriedPlan) -> bool:
    """Whether a plan meets the limits and leaves something of every key."""
    return plan.outcome.meets_limits and plan.outcome.blank <= MOST_BLANK


def points_if_none_meets_limits(space: Space) -> list[Point]:
    """Points that the whole table may confirm although no plan meets the limits of the smaller sample: coarse ones."""
    return [quickest_point(space), coarsest_point(space)]
