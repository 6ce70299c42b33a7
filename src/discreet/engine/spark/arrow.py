"""Functions on whole partitions, in Arrow: how the local engine's kernels run beside the rows.

A *stage* is an object with ``__call__(batches)`` that takes the Arrow batches of a partition and yields others. It is sent to the
workers with all its fields, which works on a classic cluster and through Spark Connect alike.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

Stage = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]
ROWS = 1 << 18
"""Rows worked on at once where a partition can be streamed."""


def in_arrow(frame: DataFrame, stage: Stage, schema: str | StructType) -> DataFrame:
    """The rows that a stage yields for every partition."""
    names = list(frame.columns)
    # Spark itself looks each column up by its name as an expression, where a dot or a backtick means something else
    renamed = any("." in name or "`" in name for name in names)

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        os.environ["DISCREET_THREADS"] = "1"  # the cluster runs a task per core already
        return stage((batch.rename_columns(names) for batch in batches) if renamed else batches)

    return (frame.toDF(*map(str, range(len(names)))) if renamed else frame).mapInArrow(run, schema)


def grouped(frame: DataFrame, key: str, function: Callable[[pa.Table], pa.Table], schema: str) -> DataFrame:
    """The result of a function on all rows with the same key."""

    def run(table: pa.Table) -> pa.Table:
        os.environ["DISCREET_THREADS"] = "1"
        return function(table)

    return frame.groupBy(key).applyInArrow(run, schema)


def chunks(batches: Iterable[pa.RecordBatch], rows: int = ROWS) -> Iterator[pa.Table]:
    """Batches combined to tables of about ``rows`` rows; nothing for an empty partition."""
    pending: list[pa.RecordBatch] = []
    size = 0
    for batch in batches:
        if not batch.num_rows:
            continue
        pending.append(batch)
        size += batch.num_rows
        if size >= rows:
            yield pa.Table.from_batches(pending).combine_chunks()
            pending, size = [], 0
    if pending:
        yield pa.Table.from_batches(pending).combine_chunks()


def whole(batches: Iterable[pa.RecordBatch]) -> pa.Table | None:
    """A whole partition as a table, or None if it is empty."""
    return next(chunks(batches, 1 << 62), None)


def numbers(table: pa.Table, name: str) -> NDArray[Any]:
    """A column without nulls as an array."""
    column = table.column(name)
    return np.asarray(column.chunk(0) if column.num_chunks == 1 else column.combine_chunks())


def rows_of_bytes(states: NDArray[np.float64], at: NDArray[np.int64], size: int) -> pa.Array:
    """Rows of numbers as a binary column of ``size`` rows: the rows ``at`` have a value, the others are null."""
    width = states.shape[1] * 8
    present = np.zeros(size, dtype=np.bool_)
    present[at] = True
    offsets = np.zeros(size + 1, dtype=np.int32)
    np.cumsum(present * width, out=offsets[1:])
    bitmap = np.packbits(present, bitorder="little")
    buffers = [pa.py_buffer(bitmap), pa.py_buffer(offsets), pa.py_buffer(np.ascontiguousarray(states))]
    return pa.Array.from_buffers(pa.binary(), size, buffers, null_count=size - len(at))


def bytes_as_rows(column: pa.ChunkedArray, width: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The numbers in a binary column, and the positions of the rows that have them."""
    states, places, begin = [], [], 0
    for array in column.chunks:  # chunk by chunk: together they may exceed the size of an Arrow array
        at = np.flatnonzero(np.asarray(array.is_valid()))
        data = array.buffers()[2]
        if len(at) and data is not None:
            offsets = np.frombuffer(array.buffers()[1], dtype=np.int32)[array.offset : array.offset + len(array) + 1]
            flat = np.frombuffer(data, dtype=np.uint8)[offsets[0] : offsets[-1]]
            states.append(flat.view(np.float64).reshape(-1, width))
            places.append(at + begin)
        begin += len(array)
    if not places:
        return np.zeros((0, width)), np.zeros(0, dtype=np.int64)
    return np.concatenate(states), np.concatenate(places)
