"""A move of the search on a whole table: columns beside the keys are left as they are that only a sample was singled out by.

Of a sample, columns that nobody looked at single out more records together with the keys than of the whole table. The search on
the sample masks them all the same, because gaps are looked for on the whole table alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from discreet.selection.outcome import TriedPlan
from discreet.selection.space.dimensions import AS_IT_IS, Point, Space

_FEWEST_PLANS = 2
"""Plans that are tried before: the first may lose far more than others."""


def points_with_columns_left(space: Space, tried: Sequence[TriedPlan]) -> Iterator[Point]:
    """The point of the best plan with such columns left as they are; none once a plan with them left has shown gaps."""
    left = {f"beside:{name}": AS_IT_IS for name, keys in space.companions.items() if not keys}
    left = {name: choice for name, choice in left.items() if choice in space.choices[name]}
    shown = any(plan.outcome.gaps and left.items() <= plan.point.items() for plan in tried)
    meeting = [plan for plan in tried if plan.outcome.meets_limits]
    if left and meeting and len(tried) >= _FEWEST_PLANS and not shown:
        best = min(meeting, key=lambda plan: plan.outcome.rank)
        if not left.items() <= best.point.items():
            yield {**best.point, **left}
