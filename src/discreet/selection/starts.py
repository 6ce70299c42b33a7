"""The starting points of the search: what a statistician would try first, given roles, levels and the riskiest records."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from discreet.selection.space import (
    LIGHT_NUMERIC_WEIGHTS,
    SCORE_TARGET,
    STARTING_NUMERIC_WEIGHTS,
    TARGETED_GENERALIZATION,
    Choice,
    Point,
    Space,
)

_PREFERRED_FINISHES = (
    "balanced_partition",
    "full_domain",
    "partition",
    "balanced_persons",
    "balanced",
    "microaggregation",
    "clusters",
    "local_suppression",
    "given",
    "none",
)
_MANY_CATEGORIES = 30
"""Attributes with more categories are recoded before near records are grouped: few of a group would agree otherwise."""
_SUPPRESSION = 0.02
"""Share of records that full-domain recoding may suppress in most starting points."""
_RECODINGS_TRIED_FIRST = 2
_WEIGHTS_OF_ANALYSED = (16.0, 4.0)
"""Starting weights of the keys in regressions that the owner names, where near records are grouped."""
_MOST_DROPPED = 3
"""Attributes of the riskiest known sets that starting points recode to a single value, one more at a time."""


def starting_points(space: Space, top: Sequence[str] = (), recodings: Sequence[Mapping[str, int]] = ()) -> list[Point]:
    """The points to start with, the most promising first.

    ``top`` are the attributes of the riskiest known sets, ``recodings`` levels of the keys, finer ones first. The search tries
    the points in this order: another order finds other plans with the same seed.
    """
    starts = _Starts(space)
    starts.add_quick_plan()
    starts.add_unchanged()
    starts.add_score_target()
    starts.add_classes_with_target(recodings)
    starts.add_targeted_generalization()
    starts.add_clusters(("range",))
    starts.add_light_numbers(LIGHT_NUMERIC_WEIGHTS[:1])
    starts.add_recodings(recodings, most=_RECODINGS_TRIED_FIRST)
    starts.add_clusters(("range", "std"))
    starts.add_levels_with_suppression()
    starts.add_recodings(recodings)
    starts.add_longest_keys_dropped()
    starts.add_large_groups()
    starts.add_light_numbers(LIGHT_NUMERIC_WEIGHTS[1:])
    starts.add_generalizations()
    starts.add_other_finishes_over_known()
    starts.add_other_targets()
    starts.add_every_finish()
    starts.add_dropped_attributes(top)
    starts.add_larger_classes()
    starts.add_suppression_limits()
    starts.add_targeting_first()
    starts.add_least_information()
    return starts.points


class _Starts:
    """Collects starting points, without repetitions; each ``add_...`` method is one rule."""

    def __init__(self, space: Space) -> None:
        self.space = space
        self.points: list[Point] = []
        self.finishes = [name for name in _PREFERRED_FINISHES if name in space.choices["finish"]]
        self.best_finish = self.finishes[0]
        self.generalizations = [name for name in ("full_domain", "partition") if name in self.finishes]
        self.offered_targets = space.choices.get("target", ["none"])
        # targeted generalization has a rule of its own
        combined = [target for target in self.offered_targets if target not in ("none", TARGETED_GENERALIZATION)]
        self.targets: list[Choice] = combined or ["none"]
        self.known_side_target = next((target for target in self.targets if str(target).endswith(" known")), self.targets[0])
        # sensitive attributes are blanked where no target lowers the risk of single records
        self.blanked = len(space.blankable) if "hide" in space.choices and self.targets == ["none"] else 0
        self.over_known = [
            name for name in ("microaggregation", "partition", self.best_finish) if name in space.finishes_over_known
        ]
        self.class_sizes = [size for size in space.choices.get("k", ()) if int(size) >= space.required_k]
        self.large_class_sizes = self.class_sizes[6:][::3] or self.class_sizes[-1:]

    def add(self, **changes: Choice) -> None:
        """Add the point with these changes; changes that the space does not offer are ignored, such as of protected columns."""
        offered = {name: value for name, value in changes.items() if value in self.space.choices.get(name, ())}
        point = self.space.unchanged_point() | offered
        if point not in self.points:
            self.points.append(point)

    def _add_with_first_target(self, **changes: Choice) -> None:
        self.add(target=self.targets[0], hide=self.blanked, **changes)

    def _numeric_weights(self, weight: float) -> dict[str, Choice]:
        return {f"weight:{name}": weight for name in self.space.numeric}

    def add_quick_plan(self) -> None:
        """Classes that hardly take time, so that a short search has a plan: on large tables the others may take long."""
        quick = [name for name in ("partition", "local_suppression") if name in self.finishes]
        finish = next((name for name in quick if name not in self.space.uncompiled), self.best_finish)
        if len(self.offered_targets) > 1:  # without a targeted method, larger classes must do
            over = "all" if finish in self.space.finishes_over_known else "keys"
            k = self.large_class_sizes[0] if self.large_class_sizes else 2
            self.add(finish=finish, over=over, k=k)
        else:
            self.add(finish=finish)

    def add_unchanged(self) -> None:
        """Nothing but the removal of identifiers, which may be enough, and is the end of the frontier without loss."""
        self.add()

    def add_score_target(self) -> None:
        """Only the values that make records special, which is often enough for a limit on their scores."""
        if SCORE_TARGET in self.offered_targets:
            self.add(target=SCORE_TARGET)

    def add_classes_with_target(self, recodings: Sequence[Mapping[str, int]]) -> None:
        """Classes of the required size, then a target: where known_sets is limited, few plans without one meet its limits.

        These come early, so that a search of few trials has a plan that meets them.
        """
        if self.targets == ["none"]:
            return
        middle = len(recodings) // 2
        for recoding in recodings[middle : middle + 1] if "local_suppression" in self.finishes else ():
            levels: dict[str, Choice] = {f"level:{name}": level for name, level in recoding.items()}
            self._add_with_first_target(finish="local_suppression", **levels)
        if self.best_finish == "balanced_partition":
            weights = self._numeric_weights(LIGHT_NUMERIC_WEIGHTS[0])
            self._add_with_first_target(finish=self.best_finish, publish="ranges", **weights)

    def add_recodings(self, recodings: Sequence[Mapping[str, int]], most: int | None = None) -> None:
        """Keys recoded until few records are in small classes, then local suppression; or the dropped keys alone, then Mondrian.

        Those in the middle first: little recoding leaves much to suppress, and much recoding is a loss of its own.
        """
        middle_first = sorted(range(len(recodings)), key=lambda index: abs(index - len(recodings) // 2))
        for number, index in enumerate(middle_first[:most]):
            levels: dict[str, Choice] = {f"level:{name}": level for name, level in recodings[index].items()}
            for finish in ("local_suppression", "partition"):
                if finish in self.finishes:
                    self._add_with_first_target(finish=finish, **levels)
            if "local_suppression" in self.finishes and number == 0:
                self._add_with_first_target(finish="local_suppression", k=self.class_sizes[1], **levels)

    def add_levels_with_suppression(self) -> None:
        """All known attributes at one level of their hierarchies, but never a single value, then local suppression.

        Each with the required size, and with values that cost the less to suppress the more of them there are; where a blank
        agrees with any value, with smaller classes and by agreement too.
        """
        finish = "local_suppression" if "local_suppression" in self.finishes else self.best_finish
        smaller = [size for size in self.space.choices.get("k", ()) if int(size) < self.space.required_k][-2:]
        for level in (0, 1, 2, 3):
            coarser = self._levels(level)
            self._add_with_first_target(finish=finish, **coarser)
            if "blanks" in self.space.choices:
                self._add_with_first_target(finish=finish, blanks="match", **coarser)
            for size in smaller:
                self._add_with_first_target(finish=finish, k=size, **coarser)
            if 0 < level < 3:
                self._add_with_first_target(finish=finish, **coarser, **self._suppression_costs())

    def add_longest_keys_dropped(self) -> None:
        """The keys with the most values recoded to a single value, the others to level 1, then local suppression."""
        if "local_suppression" not in self.finishes:
            return
        longest = sorted(self.space.keys, key=lambda name: -self.space.value_counts.get(name, 0))
        for number in (1, 2, 3, 5):
            if number < len(longest):
                dropped: dict[str, Choice] = {f"level:{name}": self.space.heights[name] for name in longest[:number]}
                self._add_with_first_target(finish="local_suppression", **self._levels(1) | dropped)

    def _levels(self, level: int) -> dict[str, Choice]:
        """One level for every known attribute, or the level below its last."""
        return {f"level:{name}": min(level, max(height - 1, 0)) for name, height in self.space.heights.items()}

    def _suppression_costs(self) -> dict[str, Choice]:
        """Weights of the keys: a value of a key with few values, or of one that is analysed, costs more to suppress."""
        costs: dict[str, Choice] = {}
        for name in self.space.keys:
            power = -round(math.log2(max(2, self.space.value_counts.get(name, 2))) / 2) + 4 * (name in self.space.analysed)
            offered = [float(weight) for weight in self.space.choices.get(f"weight:{name}", (1.0,))]
            costs[f"weight:{name}"] = min(offered, key=lambda weight: abs(weight - 2.0**power))
        return costs

    def add_clusters(self, scales: Sequence[str]) -> None:
        """Groups of near records that publish their ranges; by range, categories weigh more in the distance than numbers.

        Without a target, which takes long where cells overlap: larger groups lower the risk of single records too.
        """
        if "clusters" not in self.finishes:
            return
        targeting = len(self.offered_targets) > 1
        sizes = [self.space.required_k, *self.class_sizes[3:5]] if targeting else [self.space.required_k]
        for scale in scales:
            for size in sizes:
                for weight in _WEIGHTS_OF_ANALYSED if self.space.analysed else ():
                    analysed: dict[str, Choice] = {f"weight:{name}": weight for name in self.space.analysed}
                    self.add(finish="clusters", scale=scale, k=size, **analysed)
                self.add(finish="clusters", scale=scale, k=size)
            for common in STARTING_NUMERIC_WEIGHTS if len(scales) > 1 else ():
                self.add(finish="clusters", scale=scale, weight=common)

    def add_light_numbers(self, weights: Sequence[float]) -> None:
        """Balanced partitioning with light numbers."""
        if self.best_finish == "balanced_partition":
            for weight in weights:
                for publish in ("ranges", "means"):
                    self._add_with_first_target(finish=self.best_finish, publish=publish, **self._numeric_weights(weight))

    def add_large_groups(self) -> None:
        """Classes over all known attributes, so large that few records stay above the threshold; a target lowers those.

        Attributes with many categories are made coarser first: hardly two records of a class would agree on them.
        """
        coarser: dict[str, Choice] = {
            f"level:{name}": self.space.heights[name] - 1
            for name, count in self.space.category_counts.items()
            if count > _MANY_CATEGORIES and self.space.heights[name] > 1
        }
        for finish in self.over_known[:1]:
            for levels in (coarser, {}):
                for weight in STARTING_NUMERIC_WEIGHTS:
                    for k in self.large_class_sizes:
                        self.add(finish=finish, over="all", target=self.known_side_target, k=k, weight=weight, **levels)

    def add_targeted_generalization(self) -> None:
        """Alone: it starts from original values, and no other method takes its coarse values further."""
        if TARGETED_GENERALIZATION in self.offered_targets:
            self.add(finish="none", target=TARGETED_GENERALIZATION)

    def add_generalizations(self) -> None:
        """Generalization, which is fast; the best finish where it cannot be used."""
        for finish in self.generalizations or self.finishes[:1]:
            self._add_with_first_target(finish=finish, suppression=_SUPPRESSION)

    def add_other_finishes_over_known(self) -> None:
        """The other finishes over all known attributes, with the smallest of the large class sizes."""
        for finish in self.over_known[1:]:
            self.add(finish=finish, over="all", target=self.known_side_target, k=self.large_class_sizes[0])

    def add_other_targets(self) -> None:
        """Each other target after generalization and after the best finish."""
        for target in self.targets[1:]:
            for finish in dict.fromkeys((*self.generalizations, self.best_finish)):
                weights = self._numeric_weights(LIGHT_NUMERIC_WEIGHTS[0])
                self.add(finish=finish, target=target, suppression=_SUPPRESSION, **weights)

    def add_every_finish(self) -> None:
        """Each finish with the first target."""
        for finish in self.finishes:
            self._add_with_first_target(finish=finish, suppression=_SUPPRESSION)

    def add_dropped_attributes(self, top: Sequence[str]) -> None:
        """The attributes of the riskiest known sets recoded to a single value, one more at a time."""
        dropped: dict[str, Choice] = {}
        for name in [name for name in top if f"level:{name}" in self.space.choices][:_MOST_DROPPED]:
            dropped[f"level:{name}"] = self.space.heights[name]
            for finish in dict.fromkeys((*self.generalizations[:1], self.best_finish)):
                weights = self._numeric_weights(LIGHT_NUMERIC_WEIGHTS[0])
                self.add(
                    finish=finish, target=self.targets[-1], hide=self.blanked, suppression=_SUPPRESSION, **weights, **dropped
                )

    def add_larger_classes(self) -> None:
        """The best finish with somewhat larger classes."""
        for k in self.class_sizes[3:6:2]:
            self._add_with_first_target(finish=self.best_finish, k=k)

    def add_suppression_limits(self) -> None:
        """Full-domain recoding with less and with more suppression."""
        if "full_domain" in self.finishes:
            for suppression in (0.0, 0.1, 0.4):
                self._add_with_first_target(finish="full_domain", suppression=suppression)

    def add_targeting_first(self) -> None:
        """The target before the classes are built."""
        self.add(finish=self.best_finish, target=self.targets[-1], order="first", hide=self.blanked)

    def add_least_information(self) -> None:
        """Every known attribute a single value: if this does not meet a limit on risk, nothing in the space will."""
        highest: dict[str, Choice] = {f"level:{name}": height for name, height in self.space.heights.items()}
        self.add(finish="none", hide=len(self.space.blankable), **highest)
