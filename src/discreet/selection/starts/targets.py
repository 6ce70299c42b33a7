"""Starting points that lower the risk of single records, with classes of the right size for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from discreet.selection.space.dimensions import (
    KNOWN_TARGET,
    LIGHT_NUMERIC_WEIGHTS,
    SCORE_TARGET,
    STARTING_NUMERIC_WEIGHTS,
    TARGETED_GENERALIZATION,
    USUAL_MARGIN,
    Choice,
)
from discreet.selection.starts.collecting import SUPPRESSION, Starts

_MANY_CATEGORIES = 30
"""Attributes with more categories are recoded before near records are grouped: few of a group would agree otherwise."""
_MOST_DROPPED = 3
"""Attributes of the riskiest known sets that starting points recode to a single value, one more at a time."""


def add_score_target(starts: Starts) -> None:
    """Only the values that make records special, which is often enough for a limit on their scores."""
    if SCORE_TARGET in starts.offered_targets:
        starts.add(target=SCORE_TARGET)


def add_size_targets(starts: Starts) -> None:
    """Only the values through which records are found, where effective class sizes are limited: few records may be concerned.

    More than the required size, because an intruder who knows true values counts fewer records than the release shows.
    """
    for target, margin in ((KNOWN_TARGET, USUAL_MARGIN), (TARGETED_GENERALIZATION, 4.0), (TARGETED_GENERALIZATION, 2.0)):
        if target in starts.offered_targets:
            starts.add(target=target, margin=margin)


def add_classes_with_target(starts: Starts, recodings: Sequence[Mapping[str, int]]) -> None:
    """Classes of the required size, then a target: where known_sets is limited, few plans without one meet its limits.

    These come early, so that a search of few trials has a plan that meets them.
    """
    if starts.targets == ["none"]:
        return
    middle = len(recodings) // 2
    for recoding in recodings[middle : middle + 1] if "local_suppression" in starts.finishes else ():
        levels: dict[str, Choice] = {f"level:{name}": level for name, level in recoding.items()}
        starts.add_with_first_target(finish="local_suppression", **levels)
    if starts.best_finish == "balanced_partition":
        weights = starts.numeric_weights(LIGHT_NUMERIC_WEIGHTS[0])
        starts.add_with_first_target(finish=starts.best_finish, publish="ranges", **weights)


def add_targeted_generalization(starts: Starts) -> None:
    """Alone: it starts from original values, and no other method takes its coarse values further."""
    if TARGETED_GENERALIZATION in starts.offered_targets:
        starts.add(finish="none", target=TARGETED_GENERALIZATION)


def add_large_groups(starts: Starts) -> None:
    """Classes over all known attributes, so large that few records stay above the threshold; a target lowers those.

    Attributes with many categories are made coarser first: hardly two records of a class would agree on them.
    """
    coarser: dict[str, Choice] = {
        f"level:{name}": starts.space.heights[name] - 1
        for name, count in starts.space.category_counts.items()
        if count > _MANY_CATEGORIES and starts.space.heights[name] > 1
    }
    for finish in starts.over_known[:1]:
        for levels in (coarser, {}):
            for weight in STARTING_NUMERIC_WEIGHTS:
                for k in starts.large_class_sizes:
                    starts.add(finish=finish, over="all", target=starts.known_side_target, k=k, weight=weight, **levels)


def add_other_finishes_over_known(starts: Starts) -> None:
    """The other finishes over all known attributes, with the smallest of the large class sizes."""
    for finish in starts.over_known[1:]:
        starts.add(finish=finish, over="all", target=starts.known_side_target, k=starts.large_class_sizes[0])


def add_other_targets(starts: Starts) -> None:
    """Each other target after generalization and after the best finish."""
    for target in starts.targets[1:]:
        for finish in dict.fromkeys((*starts.generalizations, starts.best_finish)):
            weights = starts.numeric_weights(LIGHT_NUMERIC_WEIGHTS[0])
            starts.add(finish=finish, target=target, suppression=SUPPRESSION, **weights)


def add_dropped_attributes(starts: Starts, top: Sequence[str]) -> None:
    """The attributes of the riskiest known sets recoded to a single value, one more at a time."""
    dropped: dict[str, Choice] = {}
    for name in [name for name in top if f"level:{name}" in starts.space.choices][:_MOST_DROPPED]:
        dropped[f"level:{name}"] = starts.space.heights[name]
        for finish in dict.fromkeys((*starts.generalizations[:1], starts.best_finish)):
            weights = starts.numeric_weights(LIGHT_NUMERIC_WEIGHTS[0])
            starts.add(
                finish=finish, target=starts.targets[-1], hide=starts.blanked, suppression=SUPPRESSION, **weights, **dropped
            )


def add_targeting_first(starts: Starts) -> None:
    """The target before the classes are built."""
    starts.add(finish=starts.best_finish, target=starts.targets[-1], order="first", hide=starts.blanked)
