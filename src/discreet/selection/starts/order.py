"""The starting points of the search: what a statistician would try first, given roles, levels and the riskiest records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from discreet.selection.space.dimensions import (
    LIGHT_NUMERIC_WEIGHTS,
    Point,
    Space,
)
from discreet.selection.starts import classes, targets
from discreet.selection.starts.collecting import Starts

_RECODINGS_TRIED_FIRST = 2
_FEW_MISSING = 0.5
"""Share of the records that miss a limit on effective class sizes up to which they are targeted one by one."""


def starting_points(
    space: Space, top: Sequence[str] = (), recodings: Sequence[Mapping[str, int]] = (), share_missing: float = 0.0
) -> list[Point]:
    """The points to start with, the most promising first.

    ``top`` are the attributes of the riskiest known sets, ``recodings`` levels of the keys, finer ones first. ``share_missing``
    is the share of the records that miss a limit on effective class sizes. The search tries the points in this order: another
    order finds other plans with the same seed.
    """
    starts = Starts(space)
    classes.add_quick_plan(starts)
    classes.add_unchanged(starts)
    targets.add_score_target(starts)
    if "margin" in space.choices:
        if share_missing <= _FEW_MISSING:  # classes of all records would lose more than they need to
            targets.add_size_targets(starts)
        else:
            classes.add_six_times_the_size(starts)
        classes.add_clusters(starts, ("range",))
    targets.add_classes_with_target(starts, recodings)
    targets.add_targeted_generalization(starts)
    classes.add_clusters(starts, ("range",))
    classes.add_balanced_ranges(starts)
    classes.add_light_numbers(starts, LIGHT_NUMERIC_WEIGHTS[:1])
    classes.add_recodings(starts, recodings, most=_RECODINGS_TRIED_FIRST)
    classes.add_clusters(starts, ("range", "std"))
    classes.add_levels_with_suppression(starts)
    classes.add_recodings(starts, recodings)
    classes.add_longest_keys_dropped(starts)
    targets.add_large_groups(starts)
    classes.add_light_numbers(starts, LIGHT_NUMERIC_WEIGHTS[1:])
    classes.add_generalizations(starts)
    targets.add_other_finishes_over_known(starts)
    targets.add_other_targets(starts)
    classes.add_every_finish(starts)
    targets.add_dropped_attributes(starts, top)
    classes.add_larger_classes(starts)
    classes.add_suppression_limits(starts)
    targets.add_targeting_first(starts)
    classes.add_least_information(starts)
    return starts.points
