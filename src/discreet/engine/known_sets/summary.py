"""The numbers that sum up the risks of a table, from statistics that can be added up record by record on any engine."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.known_sets.effective_size import FEW, Sizes, high_risk, is_below
from discreet.engine.known_sets.order_statistics import order_statistics
from discreet.model.display import format_number
from discreet.model.notes import Note
from discreet.model.threshold import Among

if TYPE_CHECKING:
    from numpy.typing import NDArray

QUANTILES = (0.5, 0.9, 0.95, 0.99, 0.999)
Bounds = dict[str, tuple[float, float]]
_TIGHT = 1e-3
"""Bounds that differ by a smaller share are not mentioned."""


@dataclass
class Summary:
    """Counts and sums over records; a record that is never added has risk 0 and nothing that could be learnt.

    ``high``, ``certain`` and ``possible`` count high-risk records by the kept sets, for certain over all sets, and possibly.
    Pairs of numbers belong to the lower and upper ends of the records' intervals.
    """

    threshold: float | Among
    high: int = 0
    certain: int = 0
    possible: int = 0
    positive: int = 0
    total: float = 0.0
    totals: tuple[float, float] = (0.0, 0.0)
    largest: float = 0.0
    largests: tuple[float, float] = (0.0, 0.0)
    widest: float = 0.0
    powers: dict[int, int] = field(default_factory=dict)
    sized: int = 0
    smallest: float = math.inf
    smallests: tuple[float, float] = (math.inf, math.inf)
    few: int = 0
    fews: tuple[int, int] = (0, 0)
    """Records with an effective class size below five: for certain, and possibly."""
    stretch: tuple[float, float] = (1.0, 1.0)
    """The least and the largest factor between a record's size and the ends of its interval."""

    def add(self, risk: NDArray[np.float64], lower: NDArray[np.float64], upper: NDArray[np.float64], sizes: Sizes) -> None:
        """Take in some records."""
        high = high_risk(self.threshold, risk, lower, upper, sizes)
        self.high += int(high.kept.sum())
        self.certain += int(high.certain.sum())
        self.possible += int(high.possible.sum())
        positive_lower = lower > 0
        self.widest = max(
            self.widest, float(((upper[positive_lower] - lower[positive_lower]) / lower[positive_lower]).max(initial=0.0))
        )
        self.total += float(risk.sum())
        self.totals = (self.totals[0] + float(lower.sum()), self.totals[1] + float(upper.sum()))
        self.largest = max(self.largest, float(risk.max(initial=0.0)))
        self.largests = (
            max(self.largests[0], float(lower.max(initial=0.0))),
            max(self.largests[1], float(upper.max(initial=0.0))),
        )
        powers = powers_of_ten(risk)
        self.positive += sum(powers.values())
        for power, number in powers.items():
            self.powers[power] = self.powers.get(power, 0) + number
        self._add_sizes(sizes.part(sizes.defined))

    def _add_sizes(self, sizes: Sizes) -> None:
        self.sized += len(sizes.value)
        self.smallest = min(self.smallest, float(sizes.value.min(initial=math.inf)))
        self.smallests = (
            min(self.smallests[0], float(sizes.lower.min(initial=math.inf))),
            min(self.smallests[1], float(sizes.upper.min(initial=math.inf))),
        )
        self.few += int(is_below(sizes.value, FEW).sum())
        self.fews = (
            self.fews[0] + int(is_below(sizes.upper, FEW).sum()),
            self.fews[1] + int(is_below(sizes.lower, FEW).sum()),
        )
        self.stretch = (
            min(self.stretch[0], float((sizes.lower / sizes.value).min(initial=1.0))),
            max(self.stretch[1], float((sizes.upper / sizes.value).max(initial=1.0))),
        )

    def merge(self, other: Mapping[str, Any]) -> None:
        """Take in the statistics of other records, as ``statistics`` gives them."""
        for name in ("high", "certain", "possible", "positive", "total", "sized", "few"):
            setattr(self, name, getattr(self, name) + other[name])
        for name in ("totals", "fews"):
            setattr(self, name, tuple(map(operator.add, getattr(self, name), other[name])))
        for name in ("largest", "widest"):
            setattr(self, name, max(getattr(self, name), other[name]))
        self.largests = (max(self.largests[0], other["largests"][0]), max(self.largests[1], other["largests"][1]))
        self.smallest = min(self.smallest, other["smallest"])
        self.smallests = (min(self.smallests[0], other["smallests"][0]), min(self.smallests[1], other["smallests"][1]))
        self.stretch = (min(self.stretch[0], other["stretch"][0]), max(self.stretch[1], other["stretch"][1]))
        for power, count in other["powers"].items():
            self.powers[int(power)] = self.powers.get(int(power), 0) + count

    def statistics(self) -> dict[str, Any]:
        """All that was added up, as plain values that can be sent."""
        return {name: value for name, value in vars(self).items() if name != "threshold"}

    def fields(self, sets: int, records: int, quantiles: Sequence[float], median: float | None) -> dict[str, Any]:
        """The summary of so many records; the quantiles of the risks and the median of the sizes are told from outside."""
        return {
            "sets": sets,
            "undecided": self.possible - self.certain,
            "high_risk": self.high,
            "high_risk_share": self.high / records if records else 0.0,
            "mean": self.total / records if records else 0.0,
            "max": self.largest,
            "effective_k_min": self.smallest if self.sized else None,
            "effective_k_median": median,
            "below_5": self.few,
            "widest": self.widest,
            "quantiles": dict(zip(map(str, QUANTILES), quantiles, strict=True)),
            "histogram": self._histogram(records),
        }

    def bounds(self, records: int, median: float | None, medians: tuple[float, float] | None = None) -> Bounds:
        """Between what numbers the fields lie over all known sets, for certain; each pair in order.

        ``medians`` are those of the lower and upper ends of the sizes, where somebody has them all.
        """
        bounds: Bounds = {
            "high_risk": (self.certain, self.possible),
            "mean": (self.totals[0] / records, self.totals[1] / records) if records else (0.0, 0.0),
            "max": self.largests,
            "below_5": self.fews,
        }
        bounds["high_risk_share"] = (self.certain / records, self.possible / records) if records else (0.0, 0.0)
        if self.sized and median is not None:
            bounds["effective_k_min"] = self.smallests
            # every record's interval lies within these factors of its size, so the medians of the ends do
            bounds["effective_k_median"] = medians or (median * self.stretch[0], median * self.stretch[1])
        return bounds

    def notes(self, records: int, bounds: Bounds) -> tuple[str, ...]:
        """What the numbers must not be read without; ``bounds`` are those of the fields."""
        notes: list[str] = []
        if doubt := self.possible - self.certain:
            notes.append(
                f"undecided: whether {doubt:,} of {records:,} records are high-risk is not certain over all known sets; "
                f"{self.certain:,} are for certain, at most {self.possible:,}; decide: true narrows this"
            )
        uncertain = [
            f"{name} is between {format_number(low)} and {format_number(high)}"
            for name in ("effective_k_min", "effective_k_median", "below_5")
            if (low := bounds.get(name, (0.0, 0.0))[0]) < (high := bounds.get(name, (0.0, 0.0))[1]) * (1 - _TIGHT)
        ]
        if uncertain:
            notes.append(
                Note(
                    f"over all known sets, {', '.join(uncertain)}; the numbers of the summary are over the kept sets",
                    "effective class sizes are over the kept sets; over all known sets they are certain within intervals only",
                )
            )
        if records and not self.totals[1]:
            notes.append(
                "no record has anything to learn, so a risk of 0 says nothing here: "
                "give attributes a sensitivity, and their values weights"
            )
        return tuple(notes)

    def _histogram(self, records: int) -> dict[str, int]:
        """Records by power of ten, those without risk under '0'."""
        histogram = {"0": records - self.positive}
        if self.powers:
            histogram.update(
                {f"1e{power:+03d}": self.powers.get(power, 0) for power in range(min(self.powers), max(self.powers) + 1)}
            )
        return histogram


def powers_of_ten(risk: NDArray[np.float64]) -> dict[int, int]:
    """How many of the positive risks are in each power of ten."""
    powers = np.floor(np.log10(risk[risk > 0])).astype(int)
    least = int(powers.min(initial=0))
    counts = np.bincount(powers - least)
    return {least + step: int(counts[step]) for step in np.flatnonzero(counts).tolist()}


def quantiles(risk: NDArray[np.float64], records: int, shares: Sequence[float]) -> list[float]:
    """The smallest risks that at least these shares of all records do not exceed; records without a sum have risk 0."""
    places = [int(np.ceil(share * records)) - 1 - (records - len(risk)) for share in shares]
    inside = [place for place in places if place >= 0]
    values = dict(zip(inside, order_statistics(risk, inside), strict=True))
    return [values.get(place, 0.0) for place in places]


def median_size(sizes: NDArray[np.float64]) -> float | None:
    """The smallest size that at least half of the records do not exceed; the array (without gaps) is put into another order."""
    if not len(sizes):
        return None
    place = (len(sizes) + 1) // 2 - 1
    sizes.partition(place)
    return float(sizes[place])
