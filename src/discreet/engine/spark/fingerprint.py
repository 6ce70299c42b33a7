"""The fingerprint of a table on Spark: each partition sums the mixed cells of its records, and the driver adds the sums."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pyarrow as pa

from discreet.engine.draws.fingerprint import column_kinds, column_sums, combine_sums
from discreet.engine.spark.arrow import chunks, in_arrow, numbers
from discreet.engine.spark.errors import translate_errors
from discreet.engine.spark.hidden_columns import RECORD

if TYPE_CHECKING:
    from discreet.engine.spark.microdata import SparkMicrodata

_ROWS = 1 << 16


def table_fingerprint(data: SparkMicrodata, secret: bytes) -> bytes:
    """As :func:`discreet.engine.draws.fingerprint.table_fingerprint`: no partitioning changes a sum."""
    names = tuple(data.columns)
    with translate_errors(data.source):
        parts = in_arrow(data.numbered, _SumCells(names, secret), "sums array<bigint>, records bigint").collect()
    sums = np.zeros(len(names), dtype=np.uint64)
    for part in parts:
        sums += np.array(part["sums"], dtype=np.int64).view(np.uint64)
    records = sum(part["records"] for part in parts)
    return combine_sums(column_kinds(data.shape.frame.schema), [int(total) for total in sums], records, secret)


@dataclass(frozen=True)
class _SumCells:
    names: tuple[str, ...]
    secret: bytes = field(repr=False)

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        total, records = np.zeros(len(self.names), dtype=np.uint64), 0
        for rows in chunks(batches, _ROWS):
            frame = pl.DataFrame(rows.select(self.names))
            total += np.array(column_sums(frame, numbers(rows, RECORD), self.secret), dtype=np.uint64)
            records += len(frame)
        sums = pa.array([total.view(np.int64).tolist()], type=pa.list_(pa.int64()))
        yield pa.RecordBatch.from_arrays([sums, pa.array([records], type=pa.int64())], names=["sums", "records"])
