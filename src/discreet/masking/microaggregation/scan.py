"""MDAV by scanning all records that remain for each group, with NumPy alone: for tables too small for the compiler.

The groups are those of ``mdav.py`` to the last bit: distances are summed attribute by attribute in the same order, and the
centroid is kept by the same additions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def scan_groups(
    values: NDArray[np.float64], weights: NDArray[np.float64], nominal: NDArray[np.bool_], size: int
) -> NDArray[np.int64]:
    """One group number per row; see ``mdav.mdav_groups``. O(rows * rows * attributes / size)."""
    records = _RemainingRecords(values, weights, nominal)
    groups, group = np.full(len(values), -1, dtype=np.int64), 0
    while len(records.rows) >= 2 * size:
        forms_two = len(records.rows) >= 3 * size
        first, second = records.find_farthest(records.distances_from_centroid(), -1), -1
        for turn in range(2):
            distances = records.distances_from(first)
            if turn == 0 and forms_two:
                second = records.find_farthest(distances, first)
            seed = first
            members = records.find_nearest(distances, seed, size - 1)
            groups[members] = groups[seed] = group
            records.remove([*members.tolist(), seed])
            group += 1
            if not forms_two:
                break
            if turn == 0 and groups[second] >= 0:  # all at one distance: the second seed joined the first group
                second = records.find_farthest(records.distances_from(seed), -1)
            first = second
    groups[groups < 0] = group
    return groups


class _RemainingRecords:
    """The records that are in no group yet.

    ``rows`` are their rows, rising. Sums over them by attribute, as in ``mdav.Remaining``: ``total`` and its rounding error
    ``correction`` of numbers, ``counts`` of categories by code.
    """

    def __init__(self, values: NDArray[np.float64], weights: NDArray[np.float64], nominal: NDArray[np.bool_]) -> None:
        self.values, self.weights, self.nominal = values, weights, nominal.tolist()
        self.rows = np.arange(len(values))
        self.total, self.correction = [0.0] * len(weights), [0.0] * len(weights)
        self.counts = [
            np.bincount(column.astype(np.int64)) if is_nominal else np.zeros(0, dtype=np.int64)
            for column, is_nominal in zip(values.T, self.nominal, strict=True)
        ]
        for row in range(len(values)):
            self._add(row, 1)

    def _add(self, row: int, sign: int) -> None:
        """Add a row to the sums of numbers (sign 1), or take it away (sign -1), by Knuth's two-sum."""
        for axis, value in enumerate((sign * self.values[row]).tolist()):
            if self.nominal[axis]:
                continue
            total = self.total[axis]
            new_total = total + value
            part = new_total - total
            self.correction[axis] += (total - (new_total - part)) + (value - part)
            self.total[axis] = new_total

    def remove(self, members: list[int]) -> None:
        """Take rows away, in this order, because the rounding of the sums depends on it."""
        for row in members:
            self._add(row, -1)
            for axis, is_nominal in enumerate(self.nominal):
                if is_nominal:
                    self.counts[axis][int(self.values[row, axis])] -= 1
        self.rows = self.rows[~np.isin(self.rows, members)]

    def distances_from_centroid(self) -> NDArray[np.float64]:
        left = len(self.rows)
        distances = np.zeros(left)
        for axis, is_nominal in enumerate(self.nominal):
            column = self.values[self.rows, axis]
            if is_nominal:
                distances += self.weights[axis] * (1.0 - (self.counts[axis] / left)[column.astype(np.int64)])
            else:
                distances += self.weights[axis] * np.square(column - (self.total[axis] + self.correction[axis]) / left)
        return distances

    def distances_from(self, row: int) -> NDArray[np.float64]:
        """Squared distances of the remaining records from a record."""
        distances = np.zeros(len(self.rows))
        for axis, is_nominal in enumerate(self.nominal):
            column, centre = self.values[self.rows, axis], self.values[row, axis]
            distances += self.weights[axis] * ((column != centre) if is_nominal else np.square(column - centre))
        return distances

    def find_farthest(self, distances: NDArray[np.float64], skipped: int) -> int:
        """The row of the largest distance, of equal ones the highest row; the row ``skipped`` is left out."""
        allowed = np.where(self.rows == skipped, -1.0, distances)
        return int(self.rows[len(allowed) - 1 - int(np.argmax(allowed[::-1]))])

    def find_nearest(self, distances: NDArray[np.float64], row: int, number: int) -> NDArray[np.int64]:
        """The ``number`` rows of the smallest distances, nearest first, of equal ones the higher row; ``row`` is left out."""
        if number == 0:
            return np.zeros(0, dtype=np.int64)
        others = self.rows != row
        distances, rows = distances[others], self.rows[others]
        candidates = np.flatnonzero(distances <= np.partition(distances, number - 1)[number - 1])
        order = np.lexsort((-rows[candidates], distances[candidates]))[:number]
        nearest: NDArray[np.int64] = rows[candidates[order]]
        return nearest
