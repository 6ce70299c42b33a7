"""The risk of every record before and after masking, and how many records are above a threshold.

Of a sample, the number in the whole table is given as an interval. Equivalence classes only grow when records are added, so a
record is never riskier in the whole table than in the sample: the share above the threshold in the sample bounds the share in the
table from above. A class of f records has at most about u(f) N/n records in the table, where u(f) is the upper end of the score
interval of a Poisson mean: a record whose risk stays above the threshold when divided by u(f)/f N/n is above it in the table, and
these records bound the number from below. Wilson's interval (Wilson 1927) adds the error of drawing the sample to both ends. Both
bounds assume that the plan does to the whole table what it does to the sample.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from discreet import registry
from discreet.assessment.measures import default_measures
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.model.results import Assessment, Release
from discreet.model.score import Score
from discreet.web.errors import InvalidRequest

SHOWN_MEASURES = ("known_sets", "k_anonymity")
"""Measures whose records the workspace ranks; the risk of k-anonymity is one over the size of the equivalence class."""
_POSITIONS = 80
_CLASS_SIZES = (2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 15, 20, 25, 30, 40, 50, 75, 100, 200, 500, 1_000)
_SIZE_BANDS = (1, 2, 3, 5, 10, 20, 50, 100, 1_000)
_LOWEST_BAND = -12
_MOST_BANDS = 16
_Z = 1.959964
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Band:
    """Records with a risk from ``low`` up to but not including ``high``."""

    label: str
    low: float
    high: float
    before: int
    after: int


@dataclass(frozen=True)
class Count:
    """Records above a threshold: in the records measured, and the interval for the whole table (equal ends: exact)."""

    measured: int
    low: int
    high: int


@dataclass(frozen=True)
class RecordRisks:
    """The risk of each record of a table, or of a sample of it."""

    measure: str
    rows: NDArray[np.int64]
    """The row of each record in the file of the initial microdata, from 0."""
    before: Floats
    after: Floats
    """NaN where the record is not released."""
    of: int
    """Records of the whole table."""
    threshold: float
    """The threshold of the policy."""

    @property
    def is_sample(self) -> bool:
        """Whether only some records were measured."""
        return len(self.rows) < self.of

    @cached_property
    def _sorted(self) -> tuple[Floats, Floats]:
        return np.sort(self.before[~np.isnan(self.before)]), np.sort(self.after[~np.isnan(self.after)])

    @cached_property
    def thresholds(self) -> list[float]:
        """The positions of the slider, in rising order; the policy's threshold is one of them."""
        if self.measure == "k_anonymity":
            return sorted({1 / size for size in _CLASS_SIZES} | {self.threshold})
        positive = [part[part > 0] for part in self._sorted]
        ends = [end for part in positive if len(part) for end in (part[0], part[-1])] + [self.threshold or 1.0]
        low, high = max(min(ends), 10.0**_LOWEST_BAND), max(ends)
        spaced = np.geomspace(low * 0.99, high, _POSITIONS) if high > low else [high]
        return sorted({float(f"{value:.3g}") for value in spaced} | {self.threshold})

    def order(self, side: Literal["before", "after"]) -> NDArray[np.intp]:
        """Positions of the records by falling risk, equal ones in the order of the table; those without a risk come last."""
        return self._order_before if side == "before" else self._order_after

    @cached_property
    def _order_before(self) -> NDArray[np.intp]:
        return np.argsort(-self.before, kind="stable")

    @cached_property
    def _order_after(self) -> NDArray[np.intp]:
        return np.argsort(-self.after, kind="stable")

    def order_above(self, side: Literal["before", "after"], threshold: float) -> NDArray[np.intp]:
        """The beginning of :meth:`order` with the records whose risk is greater than a threshold."""
        return self.order(side)[: _count_greater(self._sorted[0 if side == "before" else 1], threshold)]

    def order_within(self, side: Literal["before", "after"], band: Band) -> NDArray[np.intp]:
        """The part of :meth:`order` with the records of a band."""
        risks = self._sorted[0 if side == "before" else 1]
        first, last = (len(risks) - int(np.searchsorted(risks, end, side="left")) for end in (band.high, band.low))
        return self.order(side)[first:last]

    @property
    def default_position(self) -> int:
        """The slider's position at the policy's threshold."""
        return self.thresholds.index(self.threshold)

    def count_above(self, threshold: float) -> tuple[Count, Count]:
        """Records with a greater risk than a threshold, before and after masking."""
        before, after = (
            self._count(risks, least, threshold) for risks, least in zip(self._sorted, self._least_in_table, strict=True)
        )
        return before, after

    @cached_property
    def counts(self) -> list[tuple[Count, Count]]:
        """:meth:`count_above` at every position of the slider, which each page needs."""
        return [self.count_above(threshold) for threshold in self.thresholds]

    @cached_property
    def places(self) -> list[float]:
        """:meth:`place` of every position of the slider."""
        return [self.place(threshold) for threshold in self.thresholds]

    @cached_property
    def _least_in_table(self) -> tuple[Floats, Floats]:
        """The least risks that the sample allows for in the whole table, sorted: the slider asks for them at every position."""
        before, after = (np.sort(self._shrink(risks)) if self.is_sample else risks for risks in self._sorted)
        return before, after

    def _shrink(self, risks: Floats) -> Floats:
        # a class of f records in the sample has at most about this many times N/n records in the table
        excess = _poisson_excess(1 / risks) if self.measure == "k_anonymity" else _poisson_excess(1.0)
        least: Floats = risks / excess / (self.of / len(self.rows))
        return least

    def _count(self, risks: Floats, least: Floats, threshold: float) -> Count:
        above = _count_greater(risks, threshold)
        if not self.is_sample:
            return Count(above, above, above)
        size, surely = len(self.rows), _count_greater(least, threshold)
        low = math.floor(wilson_interval(surely, size)[0] * self.of)
        return Count(above, max(low, surely), math.ceil(wilson_interval(above, size)[1] * self.of))

    @cached_property
    def bands(self) -> list[Band]:
        """The records by risk, in rising order."""
        edges = _size_edges() if self.measure == "k_anonymity" else self._decade_edges()
        before, after = self._sorted
        counts = [np.searchsorted(part, [edge[1] for edge in edges] + [np.inf], side="left") for part in (before, after)]
        return [
            Band(label, low, high, int(counts[0][at + 1] - counts[0][at]), int(counts[1][at + 1] - counts[1][at]))
            for at, (label, low, high) in enumerate(edges)
        ]

    def _decade_edges(self) -> list[tuple[str, float, float]]:
        """Parts of decades, so many that the distribution has a shape; the first holds everything below it."""
        positive = [part[part > 0] for part in self._sorted if (part > 0).any()]
        edges = [("0", 0.0, math.ulp(0.0))]
        if not positive:
            return edges
        lowest = max(math.log10(min(np.quantile(part, 0.01) for part in positive)), _LOWEST_BAND)
        highest = math.log10(max(part[-1] for part in positive))
        parts = next((parts for parts in (8, 4, 2) if (highest - lowest) * parts <= _MOST_BANDS), 1)
        first, last = math.floor(parts * lowest), math.floor(parts * highest + 1e-9)
        for at in range(first, last + 1):
            low, high = 10 ** (at / parts), 10 ** ((at + 1) / parts)
            label = f"{_short(low)} to {_short(high)}" if at > first else f"below {_short(high)}"
            edges.append((label, low if at > first else math.ulp(0.0), high))
        return edges

    def place(self, threshold: float) -> float:
        """Where a threshold stands in the chart of the bands, from 0 (left) to 1."""
        bands = self.bands
        for at, band in enumerate(bands):
            if band.low <= threshold < band.high:
                if self.measure == "k_anonymity" or at == 0:
                    return at / len(bands)
                step = math.log(bands[-1].high / bands[-1].low)
                inside = 1 - math.log(band.high / threshold) / step
                return (at + min(max(inside, 0.0), 1.0)) / len(bands)
        return 1.0


def _short(value: float) -> str:
    """A number of two digits, without an exponent where it is readable."""
    return f"{float(f'{value:.2g}'):,.6g}" if 1e-4 <= value < 1e6 else f"{value:.1e}"


def wilson_interval(count: int, size: int) -> tuple[float, float]:
    """Wilson's interval of 95 % for a share.

    >>> tuple(round(end, 4) for end in wilson_interval(10, 1000))
    (0.0054, 0.0183)
    """
    if not size:
        return 0.0, 1.0
    share, square = count / size, _Z**2 / size
    middle = (share + square / 2) / (1 + square)
    half = _Z / (1 + square) * math.sqrt(share * (1 - share) / size + square / (4 * size))
    return (0.0 if count == 0 else max(0.0, middle - half)), (1.0 if count == size else min(1.0, middle + half))


def _count_greater(numbers: Floats, threshold: float) -> int:
    """How many of the sorted numbers are greater than a threshold."""
    return int(len(numbers) - np.searchsorted(numbers, threshold, side="right"))


def _poisson_excess(size: Any) -> Any:
    """By which factor the mean of a Poisson count can exceed the count, at 97.5 %: the upper end of the score interval."""
    return (size + _Z**2 / 2 + _Z * np.sqrt(size + _Z**2 / 4)) / size


def choose_measure(policy: Policy, names: Sequence[str]) -> str:
    """The measure that ranks the records: one with a limit, else one of the policy, else the default."""
    limited = [limit.split(".")[0] for limit in policy.limits]
    shown = [name for name in (*limited, *names) if name in SHOWN_MEASURES]
    return shown[0] if shown else default_measures("risk", policy.with_(limits={}))[0]


def align_risks(
    measure: str, data: Microdata, release: Release, assessment: Assessment, rows: NDArray[np.int64], of: int
) -> RecordRisks:
    """The risk of each original record before masking, and after it by the worse of both intruders."""
    if measure not in assessment.before or measure not in assessment.after:
        raise InvalidRequest(f"there was no time to measure {measure} on the sample; run the plan on the whole table instead")
    before = _risk_of(assessment.before[measure])
    released = _risk_of(assessment.after[measure])
    if measure in assessment.informed and data.policy.judge == "both":
        released = np.fmax(released, _risk_of(assessment.informed[measure]))
    after = np.full(len(data), np.nan)
    linked = release.masked.records >= 0
    np.fmax.at(after, release.masked.records[linked], released[linked])
    return RecordRisks(measure, rows, before, after, of, policy_threshold(measure, data.policy))


def policy_threshold(measure: str, policy: Policy) -> float:
    """The risk above which a record counts as at risk: the threshold of the measure, or one over the required k."""
    if measure == "k_anonymity":
        return 1 / max(float(policy.limits.get("k_anonymity.k", 5)), 1.0)
    created: Any = registry.create("risk", measure, policy.risk.get(measure), origin=policy.origin)
    return float(created.threshold)


def _risk_of(score: Score) -> Floats:
    table = score.per_record
    assert table is not None
    if score.measure != "k_anonymity":
        return table["risk"].cast(float).fill_null(np.nan).to_numpy()
    return 1 / table["class_size"].cast(float).fill_null(np.nan).to_numpy()


def _size_edges() -> list[tuple[str, float, float]]:
    """Bands of class sizes, from the largest (the least risk) to sample uniques."""
    edges = []
    for at, size in enumerate(_SIZE_BANDS):
        last = _SIZE_BANDS[at + 1] - 1 if at + 1 < len(_SIZE_BANDS) else None
        label = f"{size:,} and more" if last is None else f"{size:,}" if last == size else f"{size:,} to {last:,}"
        high = math.inf if size == 1 else 1 / (size - 0.5)
        edges.append((label, 0.0 if last is None else 1 / (last + 0.5), high))
    return edges[::-1]
