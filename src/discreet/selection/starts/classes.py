"""Starting points that build equivalence classes; a target follows where the space offers one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from discreet.selection.space.dimensions import (
    STARTING_NUMERIC_WEIGHTS,
    Choice,
)
from discreet.selection.starts.collecting import SUPPRESSION, Starts

_WEIGHTS_OF_ANALYSED = (16.0, 4.0)
"""Starting weights of the keys in regressions that the owner names, where near records are grouped."""


def add_quick_plan(starts: Starts) -> None:
    """Classes that hardly take time, so that a short search has a plan: on large tables the others may take long."""
    quick = [name for name in ("partition", "local_suppression") if name in starts.finishes]
    finish = next((name for name in quick if name not in starts.space.uncompiled), starts.best_finish)
    if len(starts.offered_targets) > 1:  # without a targeted method, larger classes must do
        over = "all" if finish in starts.space.finishes_over_known else "keys"
        k = starts.large_class_sizes[0] if starts.large_class_sizes else 2
        starts.add(finish=finish, over=over, k=k)
    else:
        starts.add(finish=finish)


def add_unchanged(starts: Starts) -> None:
    """Nothing but the removal of identifiers, which may be enough, and is the end of the frontier without loss."""
    starts.add()


def add_clusters(starts: Starts, scales: Sequence[str]) -> None:
    """Groups of near records that publish their ranges; by range, categories weigh more in the distance than numbers.

    Without a target, which takes long where cells overlap: larger groups lower the risk of single records too.
    """
    if "clusters" not in starts.finishes:
        return
    targeting = len(starts.offered_targets) > 1
    sizes = [starts.space.required_k, *starts.class_sizes[3:5]] if targeting else [starts.space.required_k]
    for scale in scales:
        for size in sizes:
            for weight in _WEIGHTS_OF_ANALYSED if starts.space.analysed else ():
                analysed: dict[str, Choice] = {f"weight:{name}": weight for name in starts.space.analysed}
                starts.add(finish="clusters", scale=scale, k=size, **analysed)
            starts.add(finish="clusters", scale=scale, k=size)
        for common in STARTING_NUMERIC_WEIGHTS if len(scales) > 1 else ():
            starts.add(finish="clusters", scale=scale, weight=common)


def add_recodings(starts: Starts, recodings: Sequence[Mapping[str, int]], most: int | None = None) -> None:
    """Keys recoded until few records are in small classes, then local suppression; or the dropped keys alone, then Mondrian.

    Those in the middle first: little recoding leaves much to suppress, and much recoding is a loss of its own.
    """
    middle_first = sorted(range(len(recodings)), key=lambda index: abs(index - len(recodings) // 2))
    for number, index in enumerate(middle_first[:most]):
        levels: dict[str, Choice] = {f"level:{name}": level for name, level in recodings[index].items()}
        for finish in ("local_suppression", "partition"):
            if finish in starts.finishes:
                starts.add_with_first_target(finish=finish, **levels)
        if "local_suppression" in starts.finishes and number == 0:
            starts.add_with_first_target(finish="local_suppression", k=starts.class_sizes[1], **levels)


def add_levels_with_suppression(starts: Starts) -> None:
    """All known attributes at one level of their hierarchies, but never a single value, then local suppression.

    Each with the required size, and with values that cost the less to suppress the more of them there are; where a blank
    agrees with any value, with smaller classes and by agreement too.
    """
    finish = "local_suppression" if "local_suppression" in starts.finishes else starts.best_finish
    smaller = [size for size in starts.space.choices.get("k", ()) if int(size) < starts.space.required_k][-2:]
    for level in (0, 1, 2, 3):
        coarser = starts.levels(level)
        starts.add_with_first_target(finish=finish, **coarser)
        if "blanks" in starts.space.choices:
            starts.add_with_first_target(finish=finish, blanks="match", **coarser)
        for size in smaller:
            starts.add_with_first_target(finish=finish, k=size, **coarser)
        if 0 < level < 3:
            starts.add_with_first_target(finish=finish, **coarser, **starts.suppression_costs())


def add_longest_keys_dropped(starts: Starts) -> None:
    """The keys with the most values recoded to a single value, the others to level 1, then local suppression."""
    if "local_suppression" not in starts.finishes:
        return
    longest = sorted(starts.space.keys, key=lambda name: -starts.space.value_counts.get(name, 0))
    for number in (1, 2, 3, 5):
        if number < len(longest):
            dropped: dict[str, Choice] = {f"level:{name}": starts.space.heights[name] for name in longest[:number]}
            starts.add_with_first_target(finish="local_suppression", **starts.levels(1) | dropped)


def add_six_times_the_size(starts: Starts) -> None:
    """Classes of six times the size that limits on effective class sizes ask for: attributes beside the keys count too."""
    for finish in ("partition", "local_suppression"):
        if finish in starts.finishes:
            starts.add(finish=finish, k=6 * starts.space.required_k)


def add_balanced_ranges(starts: Starts) -> None:
    """Balanced partitioning that publishes ranges, all keys with the same weight: a range loses what it covers, of any key."""
    if "balanced_partition" in starts.finishes:
        starts.add_with_first_target(finish="balanced_partition", publish="ranges")


def add_light_numbers(starts: Starts, weights: Sequence[float]) -> None:
    """Balanced partitioning with light numbers."""
    if starts.best_finish == "balanced_partition":
        for weight in weights:
            for publish in ("ranges", "means"):
                starts.add_with_first_target(finish=starts.best_finish, publish=publish, **starts.numeric_weights(weight))


def add_generalizations(starts: Starts) -> None:
    """Generalization, which is fast; the best finish where it cannot be used."""
    for finish in starts.generalizations or starts.finishes[:1]:
        starts.add_with_first_target(finish=finish, suppression=SUPPRESSION)


def add_every_finish(starts: Starts) -> None:
    """Each finish with the first target."""
    for finish in starts.finishes:
        starts.add_with_first_target(finish=finish, suppression=SUPPRESSION)


def add_larger_classes(starts: Starts) -> None:
    """The best finish with somewhat larger classes."""
    for k in starts.class_sizes[3:6:2]:
        starts.add_with_first_target(finish=starts.best_finish, k=k)


def add_suppression_limits(starts: Starts) -> None:
    """Full-domain recoding with less and with more suppression."""
    if "full_domain" in starts.finishes:
        for suppression in (0.0, 0.1, 0.4):
            starts.add_with_first_target(finish="full_domain", suppression=suppression)


def add_least_information(starts: Starts) -> None:
    """Every known attribute a single value: if this does not meet a limit on risk, nothing in the space will."""
    highest: dict[str, Choice] = {f"level:{name}": height for name, height in starts.space.heights.items()}
    starts.add(finish="none", hide=len(starts.space.blankable), **highest)
