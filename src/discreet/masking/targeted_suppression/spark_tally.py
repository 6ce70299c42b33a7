"""The counts of every kept set, for records that are named by their numbers: what choosing values to blank needs of them.

Rows go the way of :mod:`discreet.engine.known_sets_spark.sums`. The state of a record that asks is not a sum but a number per
set, behind what each of its values is worth and which of them are null.
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
    """A state is worth and null of each attribute in the family's order, then the count of each kept set."""

    names: tuple[str, ...]
    sets: int

    @property
    def width(self) -> int:
        return 2 * len(self.names) + self.sets

    def read(self, states: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.int32]]:
        """Worth, nulls and counts of the records that asked."""
        wide = len(self.names)
        return states[:, :wide], states[:, wide : 2 * wide] > 0, states[:, 2 * wide :].astype(np.int32)


@dataclass(frozen=True)
class _Encode(Encode):
    """Only records with the numbers ``asking`` (in order) ask."""

    asking: NDArray[np.int64] = None  # type: ignore[assignment]

    def _states(self, table: pa.Table, weights: dict[str, NDArray[np.float64]]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        layout: Any = self.layout
        at = np.flatnonzero(np.isin(numbers(table, RECORD), self.asking))
        states = np.ones((len(at), layout.width))
        for place, name in enumerate(layout.names):
            states[:, place] = weights[name][at] if name in weights else 0.0
            states[:, len(layout.names) + place] = np.asarray(clean(array_of(table, name)).is_null())[at]
        return at, states


@dataclass
class _Counts:
    """What is written down of each record that asks; who is alone in a set is alone in all larger ones, as it was before."""

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
    """As :class:`discreet.engine.known_sets_spark.partition.Ask`, but counts are kept, not summed."""

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
    """Rows whose states hold counts, how they look, and what the cluster keeps of the way there."""

    frame: DataFrame
    layout: TallyLayout
    kept: DataFrame

    def release(self) -> None:
        self.kept.unpersist()


def count_records(work: Work, asking: NDArray[np.int64], lost: SuppressedValues | None = None) -> CountedRecords:
    """The records with these numbers and their counts, the values that some records lost left out."""
    names = tuple(work.names[at] for at in work.tree.order)
    layout = TallyLayout(work.packing, work.wide, RECORD, 0, work.types, names, len(work.tree))
    own = {name: work.data.attribute(name) for name in work.weights}
    encode = _Encode(layout, work.dictionary, own, work.weights, {}, (), False, lost, asking)
    packed = in_arrow(select_columns(work, True), encode, layout.schema).persist()
    frame, _ = run_stages(work, layout, packed, work.members, range(len(work.tree)), CountVisitor(2 * len(names)))
    return CountedRecords(frame, layout, packed)
