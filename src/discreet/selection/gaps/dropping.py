"""A move of the search: the column is dropped through which the plan with the least loss leaves gaps in the evidence.

A plan with gaps ranks behind every plan without, however much that one loses. A random neighbour seldom changes just the
dimension of the column that causes them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from discreet.selection.outcome import TriedPlan
from discreet.selection.space.dimensions import DROPPED, Point, Space


def points_without_gap_columns(space: Space, tried: Sequence[TriedPlan]) -> Iterator[Point]:
    """Points of plans with gaps, the columns dropped that cause them; the best plan first, as it would rank without gaps.

    Only of plans that would then rank before all plans that have none, and whose columns the space can drop.
    """
    least = min((plan.outcome.rank for plan in tried if plan.outcome.is_acceptable), default=None)
    with_gaps = [plan for plan in tried if plan.outcome.meets_limits and plan.outcome.gaps]
    ranked = sorted(((replace(plan.outcome, gaps=0).rank, plan) for plan in with_gaps), key=lambda pair: pair[0])
    for rank, plan in ranked:
        if least is not None and rank >= least:
            return
        dimensions = [f"beside:{name}" for name in plan.outcome.gap_columns]
        changed = {name: DROPPED for name in dimensions if name in plan.point and DROPPED in space.choices.get(name, ())}
        if changed and not changed.items() <= plan.point.items():
            yield {**plan.point, **changed}
