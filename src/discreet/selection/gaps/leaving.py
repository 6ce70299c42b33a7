"""A move of the search on a whole table: columns beside the keys are left as they are that only a sample was singled out by.

Of a sample, columns that nobody looked at single out more records together with the keys than of the whole table. The search on
the sample masks them all the same, because gaps are looked for on the whole table alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from discreet.selection.outcome import TriedPlan
from discreet.selection.space.dimensions import AS_IT_IS, Point, Space

_MOST_LOSS_OF_BEST = 1.5
"""How many times the loss of the best plan that of another finish may be."""
_FEWEST_PLANS = 2
"""Plans that are tried before: the first may lose far more than others."""


def points_with_columns_left(space: Space, tried: Sequence[TriedPlan]) -> Iterator[Point]:
    """The points of the best plans of each finish with such columns left as they are, the best first.

    None of a finish of which a plan with them left has shown gaps, and none of one that loses much more than the best.
    """
    left = {f"beside:{name}": AS_IT_IS for name, keys in space.companions.items() if not keys}
    left = {name: choice for name, choice in left.items() if choice in space.choices[name]}
    shown = {plan.point.get("finish") for plan in tried if plan.outcome.gaps and left.items() <= plan.point.items()}
    meeting = [plan for plan in tried if plan.outcome.meets_limits]
    if not left or not meeting or len(tried) < _FEWEST_PLANS:
        return
    ranked = sorted(meeting, key=lambda plan: plan.outcome.rank)
    best_of_finish = {plan.point.get("finish"): plan for plan in reversed(ranked)}
    for plan in ranked:
        is_close = plan.outcome.ranked_loss <= _MOST_LOSS_OF_BEST * ranked[0].outcome.ranked_loss
        finish = plan.point.get("finish")
        if is_close and plan is best_of_finish[finish] and finish not in shown and not left.items() <= plan.point.items():
            yield {**plan.point, **left}
