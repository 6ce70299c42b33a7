"""The starting points of the search: what a statistician would try first, given roles, levels and the riskiest records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from discreet import registry
from discreet.errors import DiscreetError
from discreet.model.microdata import Microdata
from discreet.model.score import Score
from discreet.selection.proposals import released_attributes
from discreet.selection.space import (
    LIGHT_NUMERIC_WEIGHTS,
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
    "local_suppression",
    "given",
    "none",
)
_MANY_CATEGORIES = 30
"""Attributes with more categories are recoded before near records are grouped: few of a group would agree otherwise."""
_RISKIEST_RECORDS = 1000
_SUPPRESSION = 0.02
"""Share of records that full-domain recoding may suppress in most starting points."""
_RECODINGS_TRIED_FIRST = 2
_MOST_DROPPED = 3
"""Attributes of the riskiest known sets that starting points recode to a single value, one more at a time."""


def rank_risky_attributes(data: Microdata, known: Score | None = None) -> tuple[list[str], list[str]]:
    """The attributes in the top known sets of the thousand riskiest records, and the sensitive attributes of those records.

    Both are ordered by the number of records concerned, most first; both are empty where known_sets cannot be measured.
    ``known`` is the score of known_sets on this table; default: it is measured.
    """
    try:
        measure = registry.create("risk", "known_sets", data.policy.risk.get("known_sets"), origin=data.policy.origin)
        table = (known or measure.measure(data)).per_record
    except DiscreetError:
        return [], []
    if table is None or not table.height:
        return [], []
    riskiest = np.argsort(-table["risk"].to_numpy(), kind="stable")[:_RISKIEST_RECORDS].tolist()
    columns = set(data.columns)
    in_top_sets = Counter(
        name for top_set in table["top_set"].gather(riskiest).to_list() for name in top_set.split("+") if name in columns
    )
    sensitive: Counter[str] = Counter()
    for name in released_attributes(data):
        attribute = data.attribute(name)
        if attribute.sensitivity > 0:
            values = data.frame[name].gather(riskiest).to_list()
            sensitive[name] = sum(attribute.value_weight(value) > 0 for value in values)
    return [name for name, _ in in_top_sets.most_common()], [name for name, _ in sensitive.most_common()]


def starting_points(space: Space, top: Sequence[str] = (), recodings: Sequence[Mapping[str, int]] = ()) -> list[Point]:
    """The points to start with, the most promising first.

    ``top`` are the attributes of the riskiest known sets, ``recodings`` levels of the keys, finer ones first. The search tries
    the points in this order: another order finds other plans with the same seed.
    """
    starts = _Starts(space)
    starts.add_quick_plan()
    starts.add_unchanged()
    starts.add_recodings(recodings, most=_RECODINGS_TRIED_FIRST)
    starts.add_light_numbers(LIGHT_NUMERIC_WEIGHTS[:1])
    starts.add_targeted_generalization()
    starts.add_recodings(recodings)
    starts.add_large_groups()
    starts.add_light_numbers(LIGHT_NUMERIC_WEIGHTS[1:])
    starts.add_generalizations()
    starts.add_other_finishes_over_known()
    starts.add_other_targets()
    starts.add_every_finish()
    starts.add_dropped_attributes(top)
    starts.add_coarser_levels()
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
        self.class_sizes = list(space.choices.get("k", ()))
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
        finish = next((name for name in ("partition", "local_suppression") if name in self.finishes), self.best_finish)
        if len(self.offered_targets) > 1:  # without a targeted method, larger classes must do
            over = "all" if finish in self.space.finishes_over_known else "keys"
            k = self.large_class_sizes[0] if self.large_class_sizes else 2
            self.add(finish=finish, over=over, k=k)
        else:
            self.add(finish=finish)

    def add_unchanged(self) -> None:
        """Nothing but the removal of identifiers, which may be enough, and is the end of the frontier without loss."""
        self.add()

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

    def add_coarser_levels(self) -> None:
        """All known attributes recoded to level 1, then 2, but never to a single value."""
        finish = "local_suppression" if "local_suppression" in self.finishes else self.best_finish
        for level in (1, 2):
            coarser: dict[str, Choice] = {
                f"level:{name}": min(level, max(height - 1, 0)) for name, height in self.space.heights.items()
            }
            self._add_with_first_target(finish=finish, **coarser)

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
