"""Grouping of similar records within cells: records of one stratum that have values in the same attributes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from discreet.engine.encoding.columns import thread_count
from discreet.engine.runtime.progress import report_progress
from discreet.engine.runtime.worker_threads import WorkerThreads
from discreet.masking.microaggregation.mdav import mdav_groups, split_rows
from discreet.masking.microaggregation.optimal import optimal_groups

if TYPE_CHECKING:
    from numpy.typing import NDArray

Scale = Literal["std", "range"]
# most values (records x attributes) of a part that mdav groups at once: a fixed number, or so many per record of a group
_PART_VALUES, _PART_VALUES_PER_SIZE = 150_000, 10_000
_SAMPLE_SIZE = 20_000  # records on which the cost of splitting is estimated


@dataclass(frozen=True)
class Features:
    """Records as points: one row per record, NaN for a missing value, nominal attributes as codes."""

    values: NDArray[np.float64]
    weights: NDArray[np.float64]
    nominal: NDArray[np.bool_]

    @classmethod
    def of(
        cls, columns: Sequence[NDArray[np.float64]], nominal: NDArray[np.bool_], *, scale: Scale = "std",
        importance: Sequence[float] | None = None,
    ) -> Features:  # fmt: skip
        """Weights are the importance of a column divided by the unit of its squared distances; 0 for a constant column.

        The unit is, by ``std``, the variance (nominal: that of the 0/1 distance), by ``range`` the squared range (nominal: 1).
        """
        divisors = [
            _squared_unit(column[~np.isnan(column)], scale, nominal=bool(is_nominal))
            for column, is_nominal in zip(columns, nominal, strict=True)
        ]
        weights = np.array([1 / divisor if divisor > 0 else 0.0 for divisor in divisors])
        return cls(np.stack(columns, axis=1), weights * (1.0 if importance is None else np.asarray(importance)), nominal)

    def take(self, rows: NDArray[np.int64], attributes: NDArray[np.bool_]) -> Features:
        return Features(self.values[np.ix_(rows, attributes)], self.weights[attributes], self.nominal[attributes])

    def groups(self, size: int, parts: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
        """MDAV within each of the parts; groups are numbered from 0."""
        group_numbers = np.empty(len(self.values), dtype=np.int64)
        first = 0
        with WorkerThreads(thread_count()) as pool:
            tasks = [pool.submit(mdav_groups, self.values[rows], self.weights, self.nominal, size) for rows in parts]
            for number, (rows, task) in enumerate(zip(parts, tasks, strict=True)):
                report_progress("grouping records", number, len(parts))
                groups = task.result()
                group_numbers[rows] = groups + first
                first += int(groups.max()) + 1
        return group_numbers

    def parts(self, most: int) -> list[NDArray[np.int64]]:
        return split_rows(self.values, self.weights, self.nominal, most)

    def error(self, groups: NDArray[np.int64]) -> float:
        """The sum of squared errors: over records and attributes, weight x squared distance to the group's centre."""
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


def _squared_unit(values: NDArray[np.float64], scale: Scale, *, nominal: bool) -> float:
    """What the squared distances of a column are divided by; see ``Features.of``."""
    if not len(values) or values.min() == values.max():
        return 0.0
    if nominal:
        return 1.0 if scale == "range" else (1.0 - float(((np.bincount(values.astype(np.int64)) / len(values)) ** 2).sum())) / 2
    return float(np.ptp(values)) ** 2 if scale == "range" else float(values.var())


@dataclass(frozen=True)
class Grouping:
    """Groups of at least ``size`` similar records of one cell; the records of a cell have values in the same attributes."""

    features: Features
    cells: NDArray[np.int64]
    size: int
    exact_up_to: int

    def groups(self, optimal: bool) -> NDArray[np.int64]:
        """The group number of each record; -1 if it has no value, or if its cell has fewer than ``size`` records."""
        group_numbers, first = np.full(len(self.cells), -1, dtype=np.int64), 0
        for rows, features in self._split_cells():
            report_progress("grouping records", first, len(self.cells))
            if optimal:
                order = np.argsort(features.values[:, 0], kind="stable")
                groups = np.empty(len(rows), dtype=np.int64)
                groups[order] = optimal_groups(features.values[order, 0], self.size)
            else:
                groups = features.groups(self.size, self._split_features(features))
            group_numbers[rows] = groups + first
            first += int(groups.max()) + 1
        return group_numbers

    def _split_cells(self) -> list[tuple[NDArray[np.int64], Features]]:
        """The rows of every cell of at least ``size`` records, with the features that they have."""
        order = np.argsort(self.cells, kind="stable")
        cells = []
        for rows in np.split(order, np.flatnonzero(np.diff(self.cells[order])) + 1):
            if len(rows) < self.size:
                continue
            present = ~np.isnan(self.features.values[rows[0]])
            if present.any():
                cells.append((rows, self.features.take(rows, present)))
        return cells

    def _split_features(self, features: Features) -> list[NDArray[np.int64]]:
        """The rows in parts for MDAV: one part up to ``exact_up_to`` records."""
        if len(features.values) <= self.exact_up_to:
            return [np.arange(len(features.values))]
        return features.parts(self._max_part(features))

    def _max_part(self, features: Features) -> int:
        """The most records of a part: the work grows with records, groups and attributes."""
        values = max(_PART_VALUES, _PART_VALUES_PER_SIZE * self.size)
        return int(max(min(self.exact_up_to, values // features.values.shape[1]), 2 * self.size))

    def describe_splitting_cost(self) -> list[str]:
        """One sentence per cell that was split into parts: how much larger its error is, estimated on a sample."""
        sentences = []
        for rows, features in self._split_cells():
            parts = len(self._split_features(features))
            if parts == 1:
                continue
            sampled = np.arange(0, len(rows), -(-len(rows) // _SAMPLE_SIZE))
            sample = features.take(sampled, np.ones(features.values.shape[1], np.bool_))
            number = len(sample.values)
            exact_error = sample.error(sample.groups(self.size, [np.arange(number)]))
            split_error = sample.error(sample.groups(self.size, sample.parts(max(-(-number // parts), 2 * self.size))))
            increase = (split_error / exact_error - 1) if exact_error else 0.0
            sentences.append(
                f"{len(rows):,} records were split into {parts} parts, each grouped on its own; on a sample of {number:,} "
                f"records in as many parts, the sum of squared errors is {100 * increase:.1f} % above that of the exact "
                "method; for all records it is probably less, because smaller parts have more boundaries"
            )
        return sentences
