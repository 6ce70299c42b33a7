"""The values of each attribute with their counts, in one pass over the table: the codes that partitions share.

Values, not rows, come to the driver, and at most :data:`MOST_VALUES` of an attribute. One that has more is *wide*: only its
frequent values get codes of their own (they decide how rows can be spread), all others share the last code, and its values
travel with the rows.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from discreet.engine.encoding.columns import Column, encode_series
from discreet.engine.spark.arrow import chunks, grouped, in_arrow
from discreet.engine.spark.errors import translate_errors
from discreet.engine.spark.joins import quote
from discreet.model.attribute import Attribute

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.engine.spark.microdata import SparkMicrodata

MOST_VALUES = 1 << 20
_FREQUENT = 1000
_SCHEMA = "at int, rows long, wide boolean, content binary"


@dataclass(frozen=True)
class Dictionary:
    """The values of one attribute in the order of their codes, then null, then (if wide) all values that are not listed."""

    name: str
    values: pl.Series
    counts: NDArray[np.int64]
    has_null: bool
    wide: bool

    @property
    def cardinality(self) -> int:
        return len(self.values) + self.has_null + self.wide

    @property
    def most(self) -> int:
        """How many records have the most frequent value that is listed."""
        return int(self.counts[: len(self.values) + self.has_null].max(initial=0))

    def with_null(self) -> Dictionary:
        """The same with a code for null, for a table that gets nulls later."""
        counts = self.counts if self.has_null else np.insert(self.counts, len(self.values), 0)
        return Dictionary(self.name, self.values, counts, True, self.wide)

    @property
    def column(self) -> Column:
        """A column of the local engine with one row per code."""
        return Column(self.name, np.arange(self.cardinality), self.values, self.has_null)

    def codes(self, values: pa.Array) -> NDArray[np.int64]:
        """The codes of a partition's values."""
        column = clean(values)
        size, last = len(self.values), max(0, self.cardinality - 1)
        if size:
            listed = self.values.to_arrow().cast(column.type)
            codes = np.asarray(pc.fill_null(pc.index_in(column, value_set=listed, skip_nulls=True), last)).astype(np.int64)
        else:
            codes = np.full(len(column), last, dtype=np.int64)
        if self.has_null:
            codes[np.asarray(column.is_null())] = size
        return codes


def clean(values: pa.Array) -> pa.Array:
    """Values as the local engine counts them: no float that is not a number, no minus zero."""
    if not pa.types.is_floating(values.type):
        return values
    return pc.if_else(pc.is_nan(values), pa.scalar(None, values.type), pc.add(values, pa.scalar(0.0, values.type)))


def array_of(table: pa.Table, name: str | int) -> pa.Array:
    """A column as a single array."""
    column = table.column(name)
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)


def series_of(table: pa.Table, name: str) -> pl.Series:
    """A column as the local engine takes it, cleaned."""
    return pl.Series(name, clean(array_of(table, name)))


def dictionaries(data: SparkMicrodata, names: Sequence[str]) -> tuple[dict[str, Dictionary], int]:
    """The dictionary of every attribute, and the number of records."""
    stage = _Count(tuple(names), MOST_VALUES)
    with translate_errors(data.source):
        counted = in_arrow(data.frame.select(*[quote(name) for name in names]), stage, _SCHEMA)
        rows = grouped(counted, "at", _Merge(MOST_VALUES), _SCHEMA).toArrow().to_pylist()
    by_name, records = {}, 0
    for row in rows:
        name = names[row["at"]]
        records = row["rows"]
        by_name[name] = _dictionary(
            name, pl.read_ipc(row["content"]), row["wide"], None if row["wide"] else data.attribute(name), name in data.cells
        )
    empty = data.shape.frame
    for name in names:  # a table without rows
        by_name.setdefault(name, Dictionary(name, empty[name], np.zeros(0, dtype=np.int64), False, False))
    return by_name, records


def _dictionary(name: str, content: pl.DataFrame, wide: bool, attribute: Attribute | None, labelled: bool) -> Dictionary:
    known = content.filter(pl.col("value").is_not_null())
    nulls = int(content.filter(pl.col("value").is_null())["count"].sum())
    column = encode_series(known["value"].alias(name), attribute, labelled)
    counts = np.zeros(len(column.values) + (nulls > 0) + wide, dtype=np.int64)
    counts[column.codes] = known["count"].to_numpy()
    if nulls:
        counts[len(column.values)] = nulls
    return Dictionary(name, column.values, counts, nulls > 0, wide)


@dataclass(frozen=True)
class _Count:
    """Each partition's values with their counts; of an attribute with too many the frequent ones."""

    names: tuple[str, ...]
    most: int

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        counted: list[pl.DataFrame | None] = [None] * len(self.names)
        wide, rows = [False] * len(self.names), 0
        for table in chunks(batches):
            rows += table.num_rows
            for at in range(len(self.names)):
                values, counts = pc.value_counts(clean(array_of(table, at))).flatten()
                new = pl.DataFrame({"value": pl.Series(values), "count": pl.Series(counts, dtype=pl.Int64)})
                old = counted[at]
                counted[at] = new if old is None else _add_counts([old, new])
                if len(counted[at]) > self.most:  # type: ignore[arg-type]
                    wide[at] = True
                    counted[at] = _keep_frequent(counted[at], rows)  # type: ignore[arg-type]
        if rows:
            yield _batch([(at, rows, wide[at], counts) for at, counts in enumerate(counted) if counts is not None])


@dataclass(frozen=True)
class _Merge:
    """The dictionaries of all partitions together."""

    most: int

    def __call__(self, table: pa.Table) -> pa.Table:
        parts = table.to_pylist()
        rows, wide = sum(part["rows"] for part in parts), any(part["wide"] for part in parts)
        merged = _add_counts([pl.read_ipc(part["content"]) for part in parts])
        if wide or len(merged) > self.most:
            wide, merged = True, _keep_frequent(merged, rows)
        return pa.Table.from_batches([_batch([(parts[0]["at"], rows, wide, merged)])])


def _add_counts(parts: list[pl.DataFrame]) -> pl.DataFrame:
    return pl.concat(parts).group_by("value").agg(pl.col("count").sum()) if len(parts) > 1 else parts[0]


def _keep_frequent(content: pl.DataFrame, rows: int) -> pl.DataFrame:
    return content.filter(pl.col("count") * _FREQUENT >= rows)


def _batch(rows: Sequence[tuple[int, int, bool, pl.DataFrame]]) -> pa.RecordBatch:
    def content(frame: pl.DataFrame) -> bytes:
        buffer = io.BytesIO()
        frame.write_ipc(buffer, compression="lz4")
        return buffer.getvalue()

    columns: list[Any] = [
        pa.array([at for at, *_ in rows], pa.int32()),
        pa.array([number for _, number, *_ in rows], pa.int64()),
        pa.array([wide for *_, wide, _ in rows], pa.bool_()),
        pa.array([content(frame) for *_, frame in rows], pa.binary()),
    ]
    return pa.RecordBatch.from_arrays(columns, names=["at", "rows", "wide", "content"])
