"""Grouping records by nearness within cells: strata, and records that lack the same attributes."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from discreet.engine.encoding.columns import thread_count
from discreet.masking.microaggregation.mdav import mdav_groups, split
from discreet.masking.microaggregation.optimal import optimal_groups

if TYPE_CHECKING:
    from numpy.typing import NDArray

Scale = Literal["std", "range"]
_PART_CELLS, _GROUP_CELLS = 150_000, 10_000
_SAMPLE = 20_000


@dataclass(frozen=True)
class Features:
    """Records as points: a row a record, NaN where a value lacks; nominal attributes as codes."""

    values: NDArray[np.float64]
    weights: NDArray[np.float64]
    nominal: NDArray[np.bool_]

    @classmethod
    def of(
        cls, columns: Sequence[NDArray[np.float64]], nominal: NDArray[np.bool_], *, scale: Scale = "std",
        importance: Sequence[float] | None = None,
    ) -> Features:  # fmt: skip
        """Weights are what squared distances are divided by, inverted, times the importance; 0 for a constant column.

        By ``std`` that is the variance, of the 0/1 distance where nominal; by ``range`` the squared range, 1 where nominal.
        """
        squares = [
            _square(column[~np.isnan(column)], scale, nominal=bool(one)) for column, one in zip(columns, nominal, strict=True)
        ]
        weights = np.array([1 / square if square > 0 else 0.0 for square in squares])
        return cls(np.stack(columns, axis=1), weights * (1.0 if importance is None else np.asarray(importance)), nominal)

    def take(self, rows: NDArray[np.int64], attributes: NDArray[np.bool_]) -> Features:
        return Features(self.values[np.ix_(rows, attributes)], self.weights[attributes], self.nominal[attributes])

    def groups(self, size: int, parts: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
        """MDAV within each of the parts; group numbers are dense."""
        made = np.empty(len(self.values), dtype=np.int64)
        with ThreadPoolExecutor(thread_count()) as pool:
            found = list(pool.map(lambda rows: mdav_groups(self.values[rows], self.weights, self.nominal, size), parts))
        first = 0
        for rows, groups in zip(parts, found, strict=True):
            made[rows] = groups + first
            first += int(groups.max()) + 1
        return made

    def parts(self, most: int) -> list[NDArray[np.int64]]:
        return split(self.values, self.weights, self.nominal, most)

    def error(self, groups: NDArray[np.int64]) -> float:
        """Sum over records and attributes of weight x squared distance to the group's centre."""
        total = 0.0
        sizes = np.bincount(groups)
        for column, weight, is_nominal in zip(self.values.T, self.weights, self.nominal, strict=True):
            if is_nominal:
                _, cell, counts = np.unique(
                    np.stack((groups, column.astype(np.int64))), axis=1, return_inverse=True, return_counts=True
                )
                total += weight * float((1.0 - counts[cell.ravel()] / sizes[groups]).sum()) / 2
            else:
                total += weight * float(((column - (np.bincount(groups, column) / sizes)[groups]) ** 2).sum())
        return total


def _square(values: NDArray[np.float64], scale: Scale, *, nominal: bool) -> float:
    if not len(values) or values.min() == values.max():
        return 0.0
    if nominal:
        return 1.0 if scale == "range" else (1.0 - float(((np.bincount(values.astype(np.int64)) / len(values)) ** 2).sum())) / 2
    return float(np.ptp(values)) ** 2 if scale == "range" else float(values.var())


@dataclass(frozen=True)
class Grouping:
    """Groups of at least ``size`` near records that lie in one cell; cells lack the same attributes."""

    features: Features
    cells: NDArray[np.int64]
    size: int
    exact_up_to: int

    def groups(self, optimal: bool) -> NDArray[np.int64]:
        """A group number a record; -1 where it has no value, or where its cell has fewer than ``size`` records."""
        made, first = np.full(len(self.cells), -1, dtype=np.int64), 0
        for rows, features in self._work():
            if optimal:
                order = np.argsort(features.values[:, 0], kind="stable")
                groups = np.empty(len(rows), dtype=np.int64)
                groups[order] = optimal_groups(features.values[order, 0], self.size)
            else:
                groups = features.groups(self.size, self._parts(features))
            made[rows] = groups + first
            first += int(groups.max()) + 1
        return made

    def _work(self) -> list[tuple[NDArray[np.int64], Features]]:
        order = np.argsort(self.cells, kind="stable")
        found = []
        for rows in np.split(order, np.flatnonzero(np.diff(self.cells[order])) + 1):
            if len(rows) < self.size:
                continue
            present = ~np.isnan(self.features.values[rows[0]])
            if present.any():
                found.append((rows, self.features.take(rows, present)))
        return found

    def _parts(self, features: Features) -> list[NDArray[np.int64]]:
        if len(features.values) <= self.exact_up_to:
            return [np.arange(len(features.values))]
        return features.parts(self._most(features))

    def _most(self, features: Features) -> int:
        """How many records a part may have: the work grows with them, with the groups they make, and with the attributes."""
        cells = max(_PART_CELLS, _GROUP_CELLS * self.size)
        return int(max(min(self.exact_up_to, cells // features.values.shape[1]), 2 * self.size))

    def cost_of_splitting(self) -> list[str]:
        """How much larger the error is where records were split first, found on a sample that both ways can do."""
        made = []
        for rows, features in self._work():
            parts = len(self._parts(features))
            if parts == 1:
                continue
            sample = features.take(np.arange(0, len(rows), -(-len(rows) // _SAMPLE)), np.ones(features.values.shape[1], np.bool_))
            number = len(sample.values)
            exact = sample.error(sample.groups(self.size, [np.arange(number)]))
            cut = sample.error(sample.groups(self.size, sample.parts(max(-(-number // parts), 2 * self.size))))
            more = (cut / exact - 1) if exact else 0.0
            made.append(
                f"{len(rows):,} records were split into {parts} parts, each grouped by itself; on a sample of {number:,} records "
                f"in as many parts the sum of squared errors is {100 * more:.1f} % above that of the exact method, "
                "and smaller parts have more edges, so for all records it is likely less"
            )
        return made
