"""What the rules for starting points share: the points so far, and what the space offers."""

from __future__ import annotations

import math

from discreet.selection.space.dimensions import (
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


SUPPRESSION = 0.02
"""Share of records that full-domain recoding may suppress in most starting points."""


class Starts:
    """Collects starting points, without repetitions; the rules are functions that add to it."""

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

    def add_with_first_target(self, **changes: Choice) -> None:
        self.add(target=self.targets[0], hide=self.blanked, **changes)

    def numeric_weights(self, weight: float) -> dict[str, Choice]:
        return {f"weight:{name}": weight for name in self.space.numeric}

    def levels(self, level: int) -> dict[str, Choice]:
        """One level for every known attribute, or the level below its last."""
        return {f"level:{name}": min(level, max(height - 1, 0)) for name, height in self.space.heights.items()}

    def suppression_costs(self) -> dict[str, Choice]:
        """Weights of the keys: a value of a key with few values, or of one that is analysed, costs more to suppress."""
        costs: dict[str, Choice] = {}
        for name in self.space.keys:
            power = -round(math.log2(max(2, self.space.value_counts.get(name, 2))) / 2) + 4 * (name in self.space.analysed)
            offered = [float(weight) for weight in self.space.choices.get(f"weight:{name}", (1.0,))]
            costs[f"weight:{name}"] = min(offered, key=lambda weight: abs(weight - 2.0**power))
        return costs
