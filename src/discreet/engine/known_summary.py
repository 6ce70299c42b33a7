"""The numbers that sum up the risks of a table, taken from its records some at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

QUANTILES = (0.5, 0.9, 0.95, 0.99, 0.999)


class Summary:
    """Counts over risks and their intervals; a record that is never added has risk 0."""

    def __init__(self, threshold: float) -> None:
        self.threshold = threshold
        self.high, self.doubt, self.positive = 0, 0, 0
        self.total, self.largest, self.widest = 0.0, 0.0, 0.0
        self.powers: dict[int, int] = {}

    def add(self, risk: NDArray[np.float64], lower: NDArray[np.float64], upper: NDArray[np.float64]) -> None:
        """Take in some records."""
        self.high += int((risk > self.threshold).sum())
        self.doubt += int(((lower <= self.threshold) & (upper > self.threshold)).sum())
        some = lower > 0
        self.widest = max(self.widest, float(((upper[some] - lower[some]) / lower[some]).max(initial=0.0)))
        self.total += float(risk.sum())
        self.largest = max(self.largest, float(risk.max(initial=0.0)))
        positive = risk[risk > 0]
        self.positive += len(positive)
        powers, counts = np.unique(np.floor(np.log10(positive)).astype(int), return_counts=True)
        for power, count in zip(powers.tolist(), counts.tolist(), strict=True):
            self.powers[power] = self.powers.get(power, 0) + count

    def fields(self, sets: int, records: int, risk: NDArray[np.float64]) -> dict[str, Any]:
        """The summary of so many records; ``risk`` are the risks of all that were added, for the quantiles."""
        return {
            "sets": sets,
            "high_risk": self.high,
            "high_risk_share": self.high / records if records else 0.0,
            "mean": self.total / records if records else 0.0,
            "max": self.largest,
            "undecided": self.doubt,
            "widest": self.widest,
            "quantiles": dict(zip(map(str, QUANTILES), quantiles(risk, records, QUANTILES), strict=True)),
            "histogram": self._histogram(records),
        }

    def _histogram(self, records: int) -> dict[str, int]:
        """Records by power of ten, those without risk under '0'."""
        made = {"0": records - self.positive}
        if self.powers:
            made.update({f"1e{power:+03d}": self.powers.get(power, 0) for power in range(min(self.powers), max(self.powers) + 1)})
        return made


def quantiles(risk: NDArray[np.float64], records: int, shares: Sequence[float]) -> list[float]:
    """The smallest risks that at least these shares of all records do not exceed; records without a sum have risk 0."""
    places = [int(np.ceil(share * records)) - 1 - (records - len(risk)) for share in shares]
    inside = sorted({place for place in places if place >= 0})
    sorted_there = np.partition(risk, inside) if inside else risk
    return [float(sorted_there[place]) if place >= 0 and records else 0.0 for place in places]
