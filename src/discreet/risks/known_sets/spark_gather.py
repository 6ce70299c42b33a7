"""The codes of a distributed table on this machine, where they fit, so that the local engine's own kernels count the known sets.

One pass over the table: a worker encodes parts of its partition, each with dictionaries of its own, and only codes and
dictionaries come to the driver, compressed. The driver gives the parts common codes. For 111 sets that is many times faster than
moving rows between workers for every few sets. A table that is too large, or whose values hardly repeat, stays on the cluster.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from discreet.engine.encoding.columns import Column, encode_series, thread_count
from discreet.engine.encoding.growing_columns import GrowingColumn
from discreet.engine.runtime.memory import PROGRAM, available_memory
from discreet.engine.runtime.worker_threads import WorkerThreads
from discreet.engine.spark.arrow import chunks, in_arrow
from discreet.engine.spark.joins import col
from discreet.engine.spark.value_counts import array_of, clean
from discreet.model.encoded import Encoded

if TYPE_CHECKING:
    from discreet.engine.spark.microdata import SparkMicrodata

MOST_CELLS = 1 << 29
"""Values (records times attributes) that may come to the driver; about a byte each, within Spark's default limits of 1 GB."""
_BYTES_PER_VALUE = 8
"""Bytes per record that the different values of an attribute may have in a part: beyond them its values hardly repeat."""
_FEW_BYTES = 1 << 20
_CODE_BYTES = 4
_WORK_BYTES = 64.0
"""Measured: memory per record of the local engine's kernels besides the codes."""
_SHARE = 0.5
"""Share of the free memory that a table may take: on one machine Spark needs memory too."""
_SCHEMA = "records long, content binary"


@dataclass(frozen=True)
class EncodeParts:
    """Parts of a partition as Arrow streams of dictionary-encoded columns; no content where values hardly repeat."""

    names: tuple[str, ...]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in chunks(batches):
            content = self._encode(table)
            columns: list[Any] = [pa.array([table.num_rows]), pa.array([content], pa.binary())]
            yield pa.RecordBatch.from_arrays(columns, names=["records", "content"])

    def _encode(self, table: pa.Table) -> bytes | None:
        arrays = []
        for name in self.names:
            encoded = pc.dictionary_encode(clean(array_of(table, name)))
            if encoded.dictionary.nbytes > max(_FEW_BYTES, _BYTES_PER_VALUE * table.num_rows):
                return None
            # the code after the last value, which is that of null, must fit too
            size = len(encoded.dictionary)
            kind = pa.int8() if size < 1 << 7 else pa.int16() if size < 1 << 15 else pa.int32()
            arrays.append(pa.DictionaryArray.from_arrays(encoded.indices.cast(kind), encoded.dictionary))
        batch = pa.RecordBatch.from_arrays(arrays, names=list(self.names))
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as writer:
            writer.write_batch(batch)
        return bytes(sink.getvalue())


def gather_codes(data: SparkMicrodata, names: Sequence[str]) -> Encoded | None:
    """The table with the codes of these columns; None where it is too large or values hardly repeat.

    The codes are those of the local engine; the order of records is that of the partitions.
    """
    if not names or not _fits(len(data), len(names)):
        return None
    frame = data.frame.select(*[col(name) for name in names])
    try:
        parts = in_arrow(frame, EncodeParts(tuple(names)), _SCHEMA).toArrow()
    except Exception as error:
        if "maxResultSize" not in str(error):
            raise
        return None
    if parts.column("content").null_count:
        return None
    columns, records = _merge(data, names, parts)
    encoded = Encoded.of(data.shape, records, columns, data.to_polars)
    vars(encoded)["is_initial"] = data.is_initial
    return encoded


def _fits(records: int, attributes: int) -> bool:
    need = PROGRAM + records * (attributes * (_CODE_BYTES + _BYTES_PER_VALUE) + _WORK_BYTES)
    return records * attributes <= MOST_CELLS and need <= _SHARE * available_memory()


def _merge(data: SparkMicrodata, names: Sequence[str], parts: pa.Table) -> tuple[dict[str, Column], int]:
    """The columns of all parts with common codes, in the order of the values."""
    records = int(pc.sum(parts.column("records")).as_py() or 0)
    growing = {name: GrowingColumn(name, records) for name in names}
    with WorkerThreads(thread_count()) as pool:
        for content in parts.column("content"):
            batch = pa.ipc.open_stream(content.as_buffer()).read_next_batch()
            list(pool.map(lambda name: growing[name].append_encoded(_column(name, batch.column(name))), names))  # noqa: B023 - finished before the next part is read
        empty = data.shape.frame

        def finish(name: str) -> Column:
            attribute, labelled = data.attribute(name), name in data.cells
            return growing[name].finish(attribute, labelled) if records else encode_series(empty[name], attribute, labelled)

        return dict(zip(names, pool.map(finish, names), strict=True)), records


def _column(name: str, array: pa.DictionaryArray) -> Column:
    """A part's column with the values in any order, and null behind them."""
    indices, size = array.indices, len(array.dictionary)
    codes = np.asarray(pc.fill_null(indices, pa.scalar(size, indices.type)) if indices.null_count else indices)
    return Column(name, codes, pl.Series(name, array.dictionary), bool(indices.null_count))
