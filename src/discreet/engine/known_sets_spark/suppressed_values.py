"""Which records lost which values: numbers of records and attributes, never a value, so that the driver may hold it.

What a round of blanking took is sent to the workers, who take it from the rows as they read them. So the rows are always those of
the first round, however many rounds there were, and no round's lineage is longer than another's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from discreet.engine.spark.arrow import numbers
from discreet.engine.spark.hidden_columns import RECORD
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class SuppressedValues:
    """The records that lost values, by their numbers in order, and ``[record, attribute]`` what each lost."""

    names: tuple[str, ...]
    records: NDArray[np.int64]
    gone: NDArray[np.bool_]

    @classmethod
    def nothing(cls, names: tuple[str, ...]) -> SuppressedValues:
        return cls(names, np.zeros(0, np.int64), np.zeros((0, len(names)), np.bool_))

    def of(self, records: NDArray[np.int64]) -> NDArray[np.bool_]:
        """What some records lost."""
        flags = np.zeros((len(records), len(self.names)), dtype=np.bool_)
        if len(self.records):
            at = np.minimum(np.searchsorted(self.records, records), len(self.records) - 1)
            mine = np.flatnonzero(self.records[at] == records)
            flags[mine] = self.gone[at[mine]]
        return flags

    def more(self, records: NDArray[np.int64], gone: NDArray[np.bool_]) -> SuppressedValues:
        """The same with what other records, or these, lost since."""
        every = np.union1d(self.records, records[gone.any(axis=1)])
        flags = self.of(every)
        flags |= SuppressedValues.of(SuppressedValues(self.names, *_ordered(records, gone)), every)
        return SuppressedValues(self.names, every, flags)

    def applied(self, table: pa.Table) -> pa.Table:
        """Rows with their numbers, without the values that they lost."""
        gone = self.of(numbers(table, RECORD))
        for at, name in enumerate(self.names):
            place = table.column_names.index(name) if name in table.column_names else -1
            if place >= 0 and gone[:, at].any():
                column = table.column(place)
                blanked = pc.if_else(pa.array(gone[:, at]), pa.scalar(None, column.type), column)
                table = table.set_column(place, name, blanked)
        return table

    def __call__(self, data: Microdata) -> Mapping[str, pl.Series]:
        """The columns of a batch without what was lost."""
        gone, names = self.of(data.records), np.flatnonzero(self.gone.any(axis=0))
        return {self.names[at]: data.frame[self.names[at]].set(pl.Series(gone[:, at]), None) for at in names}


def _ordered(records: NDArray[np.int64], gone: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    order = np.argsort(records)
    return records[order], gone[order]
