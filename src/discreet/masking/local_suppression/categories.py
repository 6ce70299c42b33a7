"""Local suppression where a blank is a value of its own: every combination of values that is released, blanks included, is shared
by at least k records.

Records of small classes are moved into other classes by blanking one attribute: each pass takes the attribute by which most of
them end up in a class of at least k, for its cost. Where no single attribute helps, the one that merges most of the small classes
is blanked in all of them. Blanks only ever increase, so this ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.encoding.columns import Column
from discreet.engine.runtime.progress import report_progress

if TYPE_CHECKING:
    from numpy.typing import NDArray


def find_class_suppressions(columns: Sequence[Column], records: int, k: int, costs: Sequence[float]) -> NDArray[np.bool_]:
    """Which values to suppress, one row per record and one column per attribute.

    Fewer than k records cannot be made safe: all their values are suppressed. Each pass takes O(records x attributes) and a sort.
    """
    state = _Classes(columns, records)
    while (small := np.flatnonzero(state.class_sizes() < k)).size:
        report_progress("suppressing values", records - small.size, records)
        open_values = ~state.blank[small]
        if not open_values.any():
            _fill_up(state, small, k)
            break
        moves = [state.moved(index, small) for index in range(len(columns))]
        sizes = [state.sizes_after(small, total) for total in moves]
        saved = [(size >= k) & open_values[:, index] for index, size in enumerate(sizes)]
        gains = [one.sum() / cost for one, cost in zip(saved, costs, strict=True)]
        best = int(np.argmax(gains))
        if gains[best] > 0:
            state.suppress(best, small[saved[best]])
            continue
        merged = [
            (1 + small.size - len(np.unique(total[is_open]))) / cost if is_open.any() else 0.0
            for total, is_open, cost in zip(moves, open_values.T, costs, strict=True)
        ]
        best = int(np.argmax(merged))
        state.suppress(best, small[open_values[:, best]])
    return state.suppressed


def _fill_up(state: _Classes, blank_records: NDArray[np.int64], k: int) -> None:
    """Suppress all values of records of the largest class too, so that the records without any value are at least k."""
    sizes = state.class_sizes()
    spare = int(sizes.max()) - k
    missing = k - blank_records.size
    if 0 < missing <= spare:
        donors = np.flatnonzero(state.total == state.total[int(sizes.argmax())])[:missing]
    else:  # no class has records to spare: one class joins as a whole, the smallest
        others = sizes.copy()
        others[blank_records] = np.iinfo(np.int64).max
        if others.min() == np.iinfo(np.int64).max:
            return
        donors = np.flatnonzero(state.total == state.total[int(others.argmin())])
    for index in range(state.blank.shape[1]):
        state.suppress(index, donors)


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

    def moved(self, index: int, rows: NDArray[np.int64]) -> NDArray[np.uint64]:
        """The sums of some records if an attribute of theirs were blank."""
        return np.asarray(self.total[rows] - self.numbers[index][rows] + self.nulls[index])

    def sizes_after(self, rows: NDArray[np.int64], moved: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The size of the class that each record would be in: the records that move there, and those that are there and stay."""
        staying = np.ones(len(self.total), dtype=np.bool_)
        staying[rows] = False
        _, inverse, counts = np.unique(np.concatenate([moved, self.total[staying]]), return_inverse=True, return_counts=True)
        return np.asarray(counts[inverse][: len(rows)])

    def suppress(self, index: int, rows: NDArray[np.int64]) -> None:
        """Blank an attribute of some records."""
        rows = rows[~self.blank[rows, index]]
        self.total[rows] = self.total[rows] - self.numbers[index][rows] + self.nulls[index]
        self.numbers[index][rows] = self.nulls[index]
        self.blank[rows, index] = self.suppressed[rows, index] = True
