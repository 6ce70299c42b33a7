"""The counts of every kept set for requested records, which are needed to choose the values to suppress.

Rows pass through the stages of :mod:`discreet.engine.known_sets_spark.sums`. The state of a requested record is not a sum but the
weights of its values, their null flags, and one count per set.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from discreet.engine.known_sets_spark.partition import ALL_ATTRIBUTES
from discreet.engine.known_sets_spark.stages import Encode, Layout
from discreet.engine.known_sets_spark.sums import Work, run_stages, select_columns
from discreet.engine.known_sets_spark.suppressed_values import SuppressedValues
from discreet.engine.spark.arrow import in_arrow, numbers
from discreet.engine.spark.hidden_columns import RECORD
from discreet.engine.spark.value_counts import array_of, clean

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class TallyLayout(Layout):
    """A state holds the weights and the null flags of the attributes in the family's order, and the counts of the kept sets."""

    names: tuple[str, ...]
    sets: int

    @property
    def width(self) -> int:
        return 2 * len(self.names) + self.sets

    def read(self, states: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.int32]]:
        """Weights, null flags and counts of the requested records, one row per record."""
        width = len(self.names)
        return states[:, :width], states[:, width : 2 * width] > 0, states[:, 2 * width :].astype(np.int32)


@dataclass(frozen=True)
class _Encode(Encode):
    """Encodes all records, but gives a state only to those with the numbers ``requested`` (ascending)."""

    requested: NDArray[np.int64] = None  # type: ignore[assignment]

    def _states(self, table: pa.Table, weights: dict[str, NDArray[np.float64]]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        layout: Any = self.layout
        rows = np.flatnonzero(np.isin(numbers(table, RECORD), self.requested))
        states = np.ones((len(rows), layout.width))
        for index, name in enumerate(layout.names):
            states[:, index] = weights[name][rows] if name in weights else 0.0
            states[:, len(layout.names) + index] = np.asarray(clean(array_of(table, name)).is_null())[rows]
        return rows, states


@dataclass
class _Counts:
    """The states of the requested records while sets are counted.

    Counts start at 1, so nothing is written for the supersets of a set on which a record is unique.
    """

    states_of_records: NDArray[np.float64]
    begin: int

    @property
    def weight(self) -> NDArray[np.float64]:
        return self.states_of_records[:, 0]

    rest = weight

    @property
    def single(self) -> NDArray[np.float64]:
        return self.states_of_records[:, :0]

    def into(self, states: NDArray[np.float64], rows: NDArray[np.int64] | slice = slice(None)) -> None:
        states[rows] = self.states_of_records


@dataclass(frozen=True)
class CountVisitor:
    """As :class:`discreet.engine.known_sets_spark.partition.SumVisitor`, but stores counts instead of summing."""

    begin: int

    def sums(self, states: NDArray[np.float64], rows: NDArray[np.int64] | slice = slice(None)) -> _Counts:
        return _Counts(states[rows], self.begin)

    def below(self, nodes: Sequence[int | None], _ends: Sequence[int]) -> list[None]:
        return [None] * len(nodes)

    def add(self, node: int, active: NDArray[np.uint32], counts: NDArray[np.int32], sums: _Counts, **_: Any) -> None:
        if node != ALL_ATTRIBUTES:
            sums.states_of_records[active, self.begin + node] = counts[active]


@dataclass(frozen=True)
class CountedRecords:
    """Rows with states of counts, the layout of the states, and the intermediate rows cached on the cluster."""

    frame: DataFrame
    layout: TallyLayout
    kept: DataFrame

    def release(self) -> None:
        self.kept.unpersist()


def count_records(work: Work, requested: NDArray[np.int64], lost: SuppressedValues | None = None) -> CountedRecords:
    """Count the kept sets for the records with these numbers; values ``lost`` (suppressed before) count as null."""
    names = tuple(work.names[index] for index in work.tree.order)
    layout = TallyLayout(work.packing, work.wide, RECORD, 0, work.types, names, len(work.tree))
    attributes = {name: work.data.attribute(name) for name in work.weights}
    encode = _Encode(layout, work.dictionary, attributes, work.weights, {}, (), False, lost, requested)
    packed = in_arrow(select_columns(work, True), encode, layout.schema).persist()
    frame, _ = run_stages(work, layout, packed, work.members, range(len(work.tree)), CountVisitor(2 * len(names)))
    return CountedRecords(frame, layout, packed)
