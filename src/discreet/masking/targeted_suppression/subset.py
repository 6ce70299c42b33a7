"""Records apart from their table: who agrees with them outside was counted before, and never changes.

Blanking takes values only from records above a threshold, so what a round of it changes is how these agree with each other. They
alone are needed for it, with the counts that they had when they were taken from the table.
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
from discreet.engine.targeting.state import Targets, tree_arrays
from discreet.masking.targeted_suppression.sums_from_counts import sum_from_counts
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass
class RecordSubset(Targets):
    """As :class:`Targets`; ``worth[record, place]`` is W(A) W(value), ``before[record, set]`` who agrees outside."""

    worth: NDArray[np.float64] = None  # type: ignore[assignment]
    before: NDArray[np.int32] = None  # type: ignore[assignment]
    total: int = 0

    @property
    def everyone(self) -> int:
        return self.total

    @classmethod
    def from_counts(
        cls,
        names: list[str],
        tree: Family,
        singles: list[int],
        records: NDArray[np.int64],
        columns: list[Column],
        worth: NDArray[np.float64],
        blank: NDArray[np.float64],
        counts: NDArray[np.int32],
        total: int,
        missing: Missing,
        *,
        together: bool,
        share: float = 0.0,
    ) -> RecordSubset:
        """Records with the counts of every kept set in the whole table; ``together`` where others' blanks are to be seen.

        ``names`` are in the table's order, everything else a place in the family's.
        """
        place = {at: where for where, at in enumerate(tree.order)}
        weight = np.zeros(len(records))
        for at in range(len(names)):  # in the table's order, as the sums of the whole table are
            weight += worth[:, place[at]]
        sums = sum_from_counts(tree, singles, weight, np.ascontiguousarray(worth[:, singles]), counts)
        sums = excess_over(share, sums, weight, total)
        start = KnownSets(names, tree, np.arange(len(records)), sums, weight)
        data = Microdata(pl.DataFrame({"record": records}), source="the records above the threshold", records=records)
        ordered = [names[at] for at in tree.order]
        subset = cls(
            data, start, missing, ordered, columns, [], blank, tree_arrays(tree, share), set(), False, worth, counts, total
        )
        if together:
            subset.before = counts - Targets.counts(subset, start.slots) if len(records) else counts
        return subset if together else _SeparateRecords(**vars(subset))

    def weight(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.where(self.nulls(rows), self.blank, self.worth[rows])

    def counts(self, rows: NDArray[np.int64]) -> NDArray[np.int32]:
        return super().counts(rows) + self.before[rows]

    def each_kind(
        self, rows: NDArray[np.int64], decide: Callable[[NDArray[np.int64], NDArray[np.int32]], NDArray[Any]]
    ) -> NDArray[Any] | None:
        decisions = [decide(part, counts) for part, counts in self.counted(rows)]
        return np.concatenate(decisions) if decisions else None


class _SeparateRecords(RecordSubset):
    """Records each by itself, as the whole table stands."""

    def counts(self, rows: NDArray[np.int64]) -> NDArray[np.int32]:
        return self.before[rows]
