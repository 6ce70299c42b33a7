"""Released numbers, dates and intervals as spans, and how many records fall into bins of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.cells.containment import read_containment
from discreet.engine.cells.hierarchies import usable_hierarchy
from discreet.engine.cells.midpoints import positions_per_unit, released_numbers
from discreet.engine.cells.positions import kind_of
from discreet.engine.encoding.columns import encode
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Spans:
    """The distinct cells of a column: from ``low`` to ``high``, both NaN where nothing is known, and their records."""

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    records: NDArray[np.int64]

    @property
    def missing(self) -> int:
        """The records of which nothing is known: null or suppressed."""
        return int(self.records[np.isnan(self.low)].sum())

    def count_in_bins(self, edges: NDArray[np.float64]) -> NDArray[np.int64]:
        """The records below the first edge, between two edges and from the last edge on.

        The records of an interval are spread evenly over it: all of them at its midpoint would show peaks and empty bins that
        neither the original nor the release has. Whole numbers with the sum of all records that are known.
        """
        known = ~np.isnan(self.low)
        low, high, records = self.low[known], self.high[known], self.records[known].astype(np.float64)
        width = high - low
        is_point = width <= 0
        points = np.bincount(np.searchsorted(edges, low[is_point], side="right"), records[is_point], len(edges) + 1)
        low, width, records = low[~is_point], width[~is_point], records[~is_point]
        upto = [float((records * np.clip((edge - low) / width, 0.0, 1.0)).sum()) for edge in edges]
        total = np.concatenate((upto, [records.sum()])) + np.cumsum(points)
        return np.diff(np.round(total), prepend=0.0).astype(np.int64)


def released_spans(original: Microdata, masked: Microdata, name: str) -> Spans:
    """The cells of a released column of numbers or dates; what is neither a value nor an interval counts at its midpoint."""
    (before,), (after,) = encode(original, [name]), encode(masked, [name])
    numbers = released_numbers(original, masked, name)[1]
    codes, first, records = np.unique(after.codes, return_index=True, return_counts=True)
    midpoints = numbers[first]
    containment = read_containment(before, after, usable_hierarchy(original, name), cells=masked.cells.get(name))
    scale = positions_per_unit(kind_of(original.frame.schema[name]))
    low, high = containment.low[codes] / scale, containment.high[codes] / scale
    is_span = ~np.isnan(low) & ~np.isnan(midpoints)
    return Spans(np.where(is_span, low, midpoints), np.where(is_span, high, midpoints), records)
