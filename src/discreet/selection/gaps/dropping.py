"""A move of the search: the column is masked through which the plan with the least loss leaves gaps in the evidence.

A plan with gaps ranks behind every plan without, however much that one loses. A random neighbour seldom changes just the
dimension of the column that causes them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from discreet.selection.outcome import TriedPlan
from discreet.selection.space.dimensions import AS_IT_IS, SPARED, Choice, Point, Space


def points_without_gap_columns(space: Space, tried: Sequence[TriedPlan]) -> Iterator[Point]:
    """Points of plans with gaps, the columns masked that cause them; the best plan first, as it would rank without gaps.

    Only of plans that would then rank before all plans that have none, and whose columns the space can mask. Of plans with gaps
    through the same columns, treated alike, the best is enough: what it leaves open is left open by the others too.
    """
    least = min((plan.outcome.rank for plan in tried if plan.outcome.is_acceptable), default=None)
    with_gaps = [plan for plan in tried if plan.outcome.meets_limits and plan.outcome.gaps]
    ranked = sorted(((replace(plan.outcome, gaps=0).rank, plan) for plan in with_gaps), key=lambda pair: pair[0])
    seen: set[frozenset[tuple[str, Choice | None]]] = set()
    for rank, plan in ranked:
        if least is not None and rank >= least:
            return
        columns = {(name, plan.point.get(f"beside:{name}")) for name in plan.outcome.gap_columns}
        gap = frozenset(columns | {(name, plan.point.get(f"spare:{name}")) for name in plan.outcome.gap_keys})
        if gap not in seen:
            seen.add(gap)
            masked = _mask_columns(space, plan)
            if not masked.items() <= plan.point.items():
                yield {**plan.point, **masked}


def _mask_columns(space: Space, plan: TriedPlan) -> Point:
    """The choices that mask the columns through which a plan leaves gaps, without those that allow none.

    The treatments of a column are listed with the most promising first: a column that is left as it is gets the first one, and
    one that leaves a gap in spite of a treatment the next one. A weight has one only.
    """
    masked: Point = {}
    for dimension in [f"beside:{name}" for name in plan.outcome.gap_columns if f"beside:{name}" in space.choices]:
        treatments = [choice for choice in space.choices[dimension] if choice != AS_IT_IS]
        current = plan.point.get(dimension, AS_IT_IS)
        tried = treatments.index(current) + 1 if current in treatments else 0
        masked[dimension] = treatments[min(tried, len(treatments) - 1)]
    if plan.point.get("target", "none") != "none":  # what is given back need not be suppressed: other values may do
        masked |= {f"spare:{name}": SPARED for name in plan.outcome.gap_keys if f"spare:{name}" in space.choices}
    return masked
