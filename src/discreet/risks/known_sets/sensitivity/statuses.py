"""The state of a limit at a point of the guesses, or over a whole box of them, certified by its two corners.

Risks rise with every guess, so over a box the largest is that of its upper corner and the least that of its lower corner.
Effective class sizes do not; over a box they lie between the bounds of Proposition 2 of docs/theory/ranges.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.known_sets.effective_size import FEW, is_below
from discreet.model.contracts import Direction
from discreet.model.results import Status
from discreet.model.threshold import Among
from discreet.risks.known_sets.ranges import Extremes, extremes_over_ranges
from discreet.risks.known_sets.sensitivity.counted import Point

if TYPE_CHECKING:
    from numpy.typing import NDArray

MARGIN = 1e-9
"""Sums agree to 1e-9, so a number that is nearer to its limit than this is not decided away from the guesses as given."""
_RISKS = ("high_risk", "high_risk_share", "mean", "max")
_SIZES = ("effective_k_min", "effective_k_median", "below_5")


@dataclass(frozen=True)
class Limit:
    """A limit on one field of known_sets, with the parameters that the field depends on."""

    field: str
    required: float
    better: Direction
    threshold: float | Among
    alpha: float

    @property
    def name(self) -> str:
        return f"known_sets.{self.field}"

    @property
    def is_examined(self) -> bool:
        """Whether the field depends on the guesses in a way that is known here."""
        return self.field in (*_RISKS, *_SIZES)

    @property
    def is_monotone(self) -> bool:
        """Whether the field rises with every guess."""
        counts = self.field in ("high_risk", "high_risk_share")
        return self.field in _RISKS and not (counts and isinstance(self.threshold, Among))

    def bounds_over(self, low: Sequence[Point], high: Sequence[Point], margin: float = MARGIN) -> tuple[float, float] | None:
        """The least and the largest number over a box with these corners, for the worse intruder; None where there is none."""
        pairs = [
            _Box(below, above, self.alpha, margin).bounds(self.field, self.threshold)
            for below, above in zip(low, high, strict=True)
        ]
        bounds = [pair for pair in pairs if pair is not None]
        if not bounds:
            return None
        worse = max if self.better == "low" else min
        return worse(pair[0] for pair in bounds), worse(pair[1] for pair in bounds)

    def status_over(self, low: Sequence[Point], high: Sequence[Point], margin: float = MARGIN) -> Status:
        """The state that holds everywhere in the box, or ``incomplete``."""
        bounds = self.bounds_over(low, high, margin)
        if bounds is None:
            return "incomplete"
        least, most = bounds
        if self.better == "low":
            return "met" if most <= self.required else "not met" if least > self.required else "incomplete"
        return "met" if least >= self.required else "not met" if most < self.required else "incomplete"


@dataclass(frozen=True)
class _Box:
    """The numbers of one intruder over a box of guesses between two corners."""

    low: Point
    high: Point
    alpha: float
    margin: float

    def bounds(self, field: str, threshold: float | Among) -> tuple[float, float] | None:
        records, number = self.low.records, self.low.multiplicity
        if field in ("high_risk", "high_risk_share"):
            counts = self._high_risk(threshold)
            return counts if field == "high_risk" else (counts[0] / max(records, 1), counts[1] / max(records, 1))
        if field == "mean":
            return float(self.least @ number) / max(records, 1), float(self.most @ number) / max(records, 1)
        if field == "max":
            return float(self.least.max(initial=0.0)), float(self.most.max(initial=0.0))
        if field == "below_5":
            return self._below(FEW)
        lower, upper = self.sizes
        defined = ~np.isnan(lower)
        if not defined.any():
            return None
        if field == "effective_k_min":
            return float(lower[defined].min()), float(upper[defined].min())
        if np.isinf(upper[defined]).any():  # some records have a size in a part of the box only
            return float(lower[defined].min()), np.inf
        return _median(lower[defined], number[defined]), _median(upper[defined], number[defined])

    def _high_risk(self, threshold: float | Among) -> tuple[float, float]:
        if isinstance(threshold, Among):
            return self._below(threshold.among)
        number = self.low.multiplicity
        return float(number[self.least > threshold].sum()), float(number[self.most > threshold].sum())

    def _below(self, size: float) -> tuple[float, float]:
        lower, upper = self.sizes
        number = self.low.multiplicity
        return float(number[is_below(upper, size)].sum()), float(number[is_below(lower, size)].sum())

    @cached_property
    def least(self) -> NDArray[np.float64]:
        """The least risk of each record over the box."""
        return (self.low.lower + self.low.alone) * (self.alpha * (1 - self.margin))

    @cached_property
    def most(self) -> NDArray[np.float64]:
        """The largest risk of each record over the box."""
        return (self.high.upper + self.high.alone) * (self.alpha * (1 + self.margin))

    @cached_property
    def sizes(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Between which sizes each record's lies over the box; not a number where nothing can be learnt anywhere in it.

        A record of which nothing can be learnt at the lower corner is hidden there, so no size is its largest.
        """
        extremes: Extremes = extremes_over_ranges(self.low.end, self.high.end, self.alpha, self.low.records)
        lower = np.maximum(extremes.sizes.lower * (1 - self.margin), 1.0)  # no count is less than 1
        upper = np.where(self.low.end.sizes.defined, extremes.largest_size * (1 + self.margin), np.inf)
        return lower, np.where(np.isnan(lower), np.nan, upper)


def _median(sizes: NDArray[np.float64], number: NDArray[np.float64]) -> float:
    """The smallest size that at least half of the records do not exceed, where each size is that of several records."""
    order = np.argsort(sizes)
    place = np.searchsorted(np.cumsum(number[order]), (number.sum() + 1) // 2)
    return float(sizes[order][min(int(place), len(sizes) - 1)])
