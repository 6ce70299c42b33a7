r"""Best and worst cases of the risk where the data controller's guesses are ranges.

D(r) is a polynomial in the probabilities and sensitivities with coefficients that are not negative (Orooji & Knapp (2018a), eq.
1), so it rises in each of them: its least and largest value over a box of guesses are those at its two ends. A set is kept where
its probability is greater than epsilon, which holds for more sets the larger the probabilities, so the same is true of the sum
over the kept sets. Two sums are exact, whatever the number of ranges.

The effective class size k = N / M (N: the sum with every count 1, M: the sum, both without the empty set) is a ratio of such
polynomials and not monotone. N - M and M are (each set adds v (1 - 1/n) and v / n), so over the box

    1 + (N - M)_low / M_high  <=  k  <=  1 + (N - M)_high / M_low,

which is certified, but need not be attained. Being a ratio of functions that are linear in each guess, k is monotone in each of
them while the others stay, so its extremes are at corners of the box: where the ranges are few, all corners are summed and the
extremes are exact (over the kept sets; over all sets within the bounds of the corners). See docs/theory/ranges.md.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from discreet.engine.known_sets.effective_size import Sizes, high_risk
from discreet.model.threshold import Among

if TYPE_CHECKING:
    from numpy.typing import NDArray


MOST_CORNERED = 4
"""Ranges up to which all corners of the box are summed, sixteen sums at most."""


@dataclass(frozen=True)
class End:
    """The sums of the records at one corner of the ranges, before alpha; zero for records with nothing to learn there.

    ``sizes`` are the effective class sizes there, with their bounds. ``mass`` is N over all known sets, ``lower`` and ``upper``
    bound M over all of them.
    """

    risk: NDArray[np.float64]
    sizes: Sizes
    mass: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]

    @classmethod
    def empty(cls, size: int) -> End:
        """For so many records, none of which has anything to learn."""
        risk, mass, lower, upper = (np.zeros(size) for _ in range(4))
        return cls(risk, Sizes(*(np.full(size, np.nan) for _ in range(3))), mass, lower, upper)

    def fill(self, places: NDArray[np.int64], end: End) -> None:
        """Write the sums of some of the records."""
        for name in ("risk", "mass", "lower", "upper"):
            getattr(self, name)[places] = getattr(end, name)
        for name in ("value", "lower", "upper"):
            getattr(self.sizes, name)[places] = getattr(end.sizes, name)


@dataclass(frozen=True)
class Extremes:
    """What holds of the records over the whole box: risks at both ends (with alpha), and sizes between certified bounds."""

    best_risk: NDArray[np.float64]
    worst_risk: NDArray[np.float64]
    sizes: Sizes
    """Value: the smaller size of the two ends, which is attained. Lower: certified. Upper: of the smallest size in the box."""
    largest_size: NDArray[np.float64]
    """A certified upper bound of the size anywhere in the box."""

    def fields(self, threshold: float | Among, records: int) -> dict[str, Any]:
        """The summary's fields about the ranges."""
        defined = self.sizes.lower[self.sizes.defined]
        return {
            "high_risk_low": int(self._high_risk(threshold, self.best_risk, self.largest_size).sum()),
            "high_risk_high": int(self._high_risk(threshold, self.worst_risk, self.sizes.lower).sum()),
            "mean_best": float(self.best_risk.sum()) / records if records else 0.0,
            "mean_worst": float(self.worst_risk.sum()) / records if records else 0.0,
            "effective_k_low": float(defined.min()) if len(defined) else None,
        }

    @staticmethod
    def _high_risk(threshold: float | Among, risk: NDArray[np.float64], size: NDArray[np.float64]) -> NDArray[np.bool_]:
        return high_risk(threshold, risk, risk, risk, Sizes(size, size, size)).kept

    def columns(self, slots: NDArray[np.int64], records: int) -> list[pl.Series]:
        """The columns per record about the ranges; ``slots`` are the records with something to learn in the worst case."""

        def spread(name: str, values: NDArray[np.float64], absent: float) -> pl.Series:
            column = np.full(records, absent)
            column[slots] = values
            return pl.Series(name, column).fill_nan(None)

        return [
            spread("risk_best", self.best_risk, 0.0),
            spread("risk_worst", self.worst_risk, 0.0),
            spread("effective_k_low", self.sizes.lower, np.nan),
            spread("effective_k_high", self.largest_size, np.nan),
        ]

    def narrowed_to_corners(self, corners: Iterable[End]) -> Extremes:
        """The extremes of the sizes over all corners of the box.

        Where nothing can be learnt of a record at a corner (N = M = 0) the corner does not count: along an edge that ends there
        both are multiples of one guess, so the size is the same as at the edge's other end.
        """
        value, lower, upper, largest = (np.full(len(self.worst_risk), np.nan) for _ in range(4))
        for end in corners:
            value = np.fmin(value, end.sizes.value)
            lower, upper = np.fmin(lower, end.sizes.lower), np.fmin(upper, end.sizes.upper)
            largest = np.fmax(largest, end.sizes.upper)
        return replace(self, sizes=Sizes(value, np.fmin(lower, value), np.fmax(upper, value)), largest_size=largest)


def extremes_over_ranges(best: End, worst: End, alpha: float, records: int) -> Extremes:
    """Combine the corners of all lower and of all upper ends."""
    most, sizes = float(max(records, 1)), worst.sizes

    def ratio(above: NDArray[np.float64], below: NDArray[np.float64]) -> NDArray[np.float64]:
        size = 1 + np.divide(np.maximum(above, 0.0), below, out=np.full(len(above), np.inf), where=below > 0)
        return np.asarray(np.clip(size, 1.0, most))

    lower = np.minimum(ratio(best.mass - best.upper, worst.upper), sizes.lower)
    largest = np.maximum(ratio(worst.mass - worst.lower, best.lower), sizes.upper)
    value = np.fmin(sizes.value, best.sizes.value)  # fmin: at the lower ends there may be nothing to learn
    box = Sizes(value, np.minimum(lower, value), np.maximum(np.fmin(sizes.upper, best.sizes.upper), value))
    for column in (box.lower, box.upper, largest):
        column[~sizes.defined] = np.nan
    return Extremes(best.risk * alpha, worst.risk * alpha, box, largest)
