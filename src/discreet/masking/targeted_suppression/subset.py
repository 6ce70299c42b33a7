"""A subset of the records of a table, with the counts that they had in the whole table.

Values are suppressed only in records above the threshold, so only the agreement among these records changes; the number of
agreeing records outside the subset was counted before and never changes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from discreet.engine.encoding.columns import Column
from discreet.engine.known_sets.excess import excess_over
from discreet.engine.known_sets.family import Family
from discreet.engine.known_sets.sums import KnownSets, Missing
from discreet.engine.targeting.state import TargetingState, family_arrays
from discreet.masking.targeted_suppression.sums_from_counts import sum_from_counts
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass
class RecordSubset(TargetingState):
    """A :class:`TargetingState` of some records of a table on a cluster.

    ``initial_weights[record, attribute]`` is W(A) W(value) before suppression, ``outside_counts[record, set]`` the number of
    agreeing records outside the subset, ``total_records`` the size of the whole table.
    """

    initial_weights: NDArray[np.float64] = None  # type: ignore[assignment]
    outside_counts: NDArray[np.int32] = None  # type: ignore[assignment]
    total_records: int = 0

    @property
    def record_count(self) -> int:
        return self.total_records

    @classmethod
    def from_counts(
        cls,
        names: list[str],
        tree: Family,
        singles: list[int],
        records: NDArray[np.int64],
        columns: list[Column],
        weights: NDArray[np.float64],
        null_weights: NDArray[np.float64],
        counts: NDArray[np.int32],
        total_records: int,
        missing: Missing,
        *,
        jointly: bool,
        share: float = 0.0,
    ) -> RecordSubset:
        """Build the subset from ``counts[record, set]`` in the whole table.

        With ``jointly``, suppression in one record changes the counts of the others; otherwise counts stay those of the whole
        table. ``names`` are in the order of the table; columns, weights and ``singles`` are in the order of the family.
        """
        position = {index: place for place, index in enumerate(tree.order)}
        total_weight = np.zeros(len(records))
        for index in range(len(names)):  # in the table's order, so that the sum is the same to the last bit as in the whole table
            total_weight += weights[:, position[index]]
        sums = sum_from_counts(tree, singles, total_weight, np.ascontiguousarray(weights[:, singles]), counts)
        sums = excess_over(share, sums, total_weight, total_records)
        initial = KnownSets(names, tree, np.arange(len(records)), sums, total_weight)
        data = Microdata(pl.DataFrame({"record": records}), source="the records above the threshold", records=records)
        ordered = [names[index] for index in tree.order]
        subset = cls(
            data, initial, missing, ordered, columns, [], null_weights, family_arrays(tree, share),
            initial_weights=weights, outside_counts=counts, total_records=total_records,
        )  # fmt: skip
        if jointly:
            subset.outside_counts = counts - TargetingState.count_agreeing(subset, initial.slots) if len(records) else counts
        return subset if jointly else _SeparateRecords(**vars(subset))

    def record_weights(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.where(self.nulls(rows), self.null_weights, self.initial_weights[rows])

    def count_agreeing(self, rows: NDArray[np.int64]) -> NDArray[np.int32]:
        return super().count_agreeing(rows) + self.outside_counts[rows]

    def decide_per_record(
        self, rows: NDArray[np.int64], decide: Callable[[NDArray[np.int64], NDArray[np.int32]], NDArray[Any]]
    ) -> NDArray[Any] | None:
        decisions = [decide(part, counts) for part, counts in self.count_in_parts(rows)]
        return np.concatenate(decisions) if decisions else None


class _SeparateRecords(RecordSubset):
    """Records whose counts are those of the whole table, whatever is suppressed in the subset."""

    def count_agreeing(self, rows: NDArray[np.int64]) -> NDArray[np.int32]:
        return self.outside_counts[rows]
