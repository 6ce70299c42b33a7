"""Local suppression where a blank is a value of its own: every combination of values that is released, blanks included, is shared
by at least k records.

Records of small classes are moved into other classes by blanking one attribute: each pass takes the attribute by which most of
them end up in a class of at least k, for its cost. Where no single attribute helps, the one that merges most of the small classes
is blanked in all of them. Blanks only ever increase, so this ends.

An attribute that costs far more than another is one that the owner wants left alone. It is blanked only where nothing else is
left: first records that agree on it give up their other values to fill up the classes that are still too small.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.encoding.columns import Column
from discreet.engine.encoding.unique_keys import unique_keys
from discreet.engine.runtime.progress import report_progress

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FAR_COSTLIER = 10_000.0
"""An attribute that costs this many times as much as the cheapest one is blanked only where no other value is left."""


def find_class_suppressions(columns: Sequence[Column], records: int, k: int, costs: Sequence[float]) -> NDArray[np.bool_]:
    """Which values to suppress, one row per record and one column per attribute.

    Fewer than k records cannot be made safe: all their values are suppressed. Each pass takes O(records x attributes) and a sort.
    """
    state = _Classes(columns, records)
    allowed = np.asarray(costs) <= _FAR_COSTLIER * min(costs)
    while (small := np.flatnonzero(state.class_sizes() < k)).size:
        report_progress("suppressing values", records - small.size, records)
        open_values = ~state.blank[small] & allowed
        if not open_values.any():
            if _fill_up(state, small, k, np.flatnonzero(~allowed)):
                continue
            if allowed.all():
                break
            allowed[:] = True
            continue
        moves = [state.moved(index, small) for index in range(len(columns))]
        staying = state.count_staying(small)
        sizes = [_sizes_after(total, *staying) for total in moves]
        saved = [(size >= k) & open_values[:, index] for index, size in enumerate(sizes)]
        gains = [rows.sum() / cost for rows, cost in zip(saved, costs, strict=True)]
        best = int(np.argmax(gains))
        if gains[best] > 0:
            state.suppress(best, small[saved[best]])
            continue
        merged = [
            (1 + small.size - len(unique_keys(total[is_open]))) / cost if is_open.any() else 0.0
            for total, is_open, cost in zip(moves, open_values.T, costs, strict=True)
        ]
        best = int(np.argmax(merged))
        state.suppress(best, small[open_values[:, best]])
    return state.suppressed


def _sizes_after(moved: NDArray[np.uint64], staying: NDArray[np.uint64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The size of the class that each record would be in: the records that move there, and those that are there and stay."""
    classes, inverse, sizes = np.unique(moved, return_inverse=True, return_counts=True)
    if staying.size:
        position = np.minimum(np.searchsorted(staying, classes), staying.size - 1)
        sizes = sizes + np.where(staying[position] == classes, counts[position], 0)
    return np.asarray(sizes[inverse])


def _fill_up(state: _Classes, small: NDArray[np.int64], k: int, fixed: NDArray[np.int64]) -> bool:
    """Suppress values of other records too, so that records of which only the ``fixed`` attributes are left are at least k.

    Donors agree on the fixed attributes. Returns whether there were any.
    """
    anything = False
    agreeing = state.sum_over(fixed)
    for total in unique_keys(state.total[small]).tolist():
        rows, sizes = np.flatnonzero(state.total == total), state.class_sizes()
        is_donor = agreeing == agreeing[rows[0]]
        is_donor[rows] = False
        missing = k - rows.size
        if missing <= 0 or not is_donor.any():
            continue
        largest = int(np.where(is_donor, sizes, 0).argmax())
        if sizes[largest] - k >= missing:
            donors = np.flatnonzero(state.total == state.total[largest])[:missing]
        else:  # no class has records to spare: one class joins as a whole, the smallest
            smallest = int(np.where(is_donor, sizes, np.iinfo(np.int64).max).argmin())
            donors = np.flatnonzero(state.total == state.total[smallest])
        for index in range(state.blank.shape[1]):
            if index not in fixed:
                state.suppress(index, donors)
        anything = True
    return anything


class _Classes:
    """Records by a sum of random numbers, one per attribute and value: equal for records that agree on all attributes.

    ``blank`` are the values that are null, ``suppressed`` those that this method made so.
    """

    def __init__(self, columns: Sequence[Column], records: int) -> None:
        rng = np.random.default_rng(0x1DC)
        self.numbers, self.nulls = [], []
        self.blank = np.zeros((records, len(columns)), dtype=np.bool_)
        for index, column in enumerate(columns):
            by_code = rng.integers(0, 1 << 63, column.cardinality + 1, dtype=np.uint64)
            self.blank[:, index] = column.is_null
            self.nulls.append(by_code[-1])
            self.numbers.append(np.where(column.is_null, by_code[-1], by_code[column.codes]))
        self.suppressed = np.zeros_like(self.blank)
        self.total: NDArray[np.uint64] = np.asarray(np.sum(self.numbers, axis=0, dtype=np.uint64))

    def class_sizes(self) -> NDArray[np.int64]:
        """The number of records that agree with each record."""
        _, inverse, counts = np.unique(self.total, return_inverse=True, return_counts=True)
        return np.asarray(counts[inverse])

    def sum_over(self, attributes: NDArray[np.int64]) -> NDArray[np.uint64]:
        """The sum of the numbers of some attributes, equal for records that agree on them."""
        chosen = [self.numbers[index] for index in attributes.tolist()]
        return np.asarray(np.sum(chosen, axis=0, dtype=np.uint64)) if chosen else np.zeros(len(self.total), dtype=np.uint64)

    def moved(self, index: int, rows: NDArray[np.int64]) -> NDArray[np.uint64]:
        """The sums of some records if an attribute of theirs were blank."""
        return np.asarray(self.total[rows] - self.numbers[index][rows] + self.nulls[index])

    def count_staying(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """The sums of all records but these, sorted, and the number of records of each."""
        staying = np.ones(len(self.total), dtype=np.bool_)
        staying[rows] = False
        return np.unique(self.total[staying], return_counts=True)

    def suppress(self, index: int, rows: NDArray[np.int64]) -> None:
        """Blank an attribute of some records."""
        rows = rows[~self.blank[rows, index]]
        self.total[rows] = self.total[rows] - self.numbers[index][rows] + self.nulls[index]
        self.numbers[index][rows] = self.nulls[index]
        self.blank[rows, index] = self.suppressed[rows, index] = True
