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
from discreet.model.attribute import Attribute

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.engine.spark.microdata import SparkMicrodata

MOST_VALUES = 1 << 20
_FREQUENT = 1000
_SCHEMA = "at int, rows long, wide boolean, content binary"


@dataclass(frozen=True)
class Dictionary:
    """The values of one attribute in the order of their codes, then null, then (of a wide one) all values that are not listed."""

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
        """The same where nulls may come to be."""
        counts = self.counts if self.has_null else np.insert(self.counts, len(self.values), 0)
        return Dictionary(self.name, self.values, counts, True, self.wide)

    @property
    def column(self) -> Column:
        """As the local engine's column, a row a code."""
        return Column(self.name, np.arange(self.cardinality), self.values, self.has_null)

    def codes(self, values: pa.Array) -> NDArray[np.int64]:
        """The codes of a partition's values."""
        column = clean(values)
        size, last = len(self.values), max(0, self.cardinality - 1)
        if size:
            listed = self.values.to_arrow().cast(column.type)
            found = np.asarray(pc.fill_null(pc.index_in(column, value_set=listed, skip_nulls=True), last)).astype(np.int64)
        else:
            found = np.full(len(column), last, dtype=np.int64)
        if self.has_null:
            found[np.asarray(column.is_null())] = size
        return found


def clean(values: pa.Array) -> pa.Array:
    """Values as the local engine counts them: no float that is not a number, no minus zero."""
    if not pa.types.is_floating(values.type):
        return values
    return pc.if_else(pc.is_nan(values), pa.scalar(None, values.type), pc.add(values, pa.scalar(0.0, values.type)))


def array_of(table: pa.Table, name: str | int) -> pa.Array:
    """A column in one piece."""
    column = table.column(name)
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)


def series_of(table: pa.Table, name: str) -> pl.Series:
    """A column as the local engine takes it, cleaned."""
    return pl.Series(name, clean(array_of(table, name)))


def dictionaries(data: SparkMicrodata, names: Sequence[str]) -> tuple[dict[str, Dictionary], int]:
    """The dictionary of every attribute, and the number of records."""
    stage = _Count(tuple(names), MOST_VALUES)
    with translate_errors(data.source):
        counted = in_arrow(data.frame.select(*[f"`{name}`" for name in names]), stage, _SCHEMA)
        rows = grouped(counted, "at", _Merge(MOST_VALUES), _SCHEMA).toArrow().to_pylist()
    found, records = {}, 0
    for row in rows:
        name = names[row["at"]]
        records = row["rows"]
        found[name] = _dictionary(
            name, pl.read_ipc(row["content"]), row["wide"], None if row["wide"] else data.attribute(name), name in data.cells
        )
    empty = data.shape.frame
    for name in names:  # a table without rows
        found.setdefault(name, Dictionary(name, empty[name], np.zeros(0, dtype=np.int64), False, False))
    return found, records


def _dictionary(name: str, content: pl.DataFrame, wide: bool, attribute: Attribute | None, labelled: bool) -> Dictionary:
    known = content.filter(pl.col("value").is_not_null())
    nulls = int(content.filter(pl.col("value").is_null())["count"].sum())
    made = encode_series(known["value"].alias(name), attribute, labelled)
    counts = np.zeros(len(made.values) + (nulls > 0) + wide, dtype=np.int64)
    counts[made.codes] = known["count"].to_numpy()
    if nulls:
        counts[len(made.values)] = nulls
    return Dictionary(name, made.values, counts, nulls > 0, wide)


@dataclass(frozen=True)
class _Count:
    """Each partition's values with their counts; of an attribute with too many the frequent ones."""

    names: tuple[str, ...]
    most: int

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        held: list[pl.DataFrame | None] = [None] * len(self.names)
        wide, rows = [False] * len(self.names), 0
        for table in chunks(batches):
            rows += table.num_rows
            for at in range(len(self.names)):
                values, counts = pc.value_counts(clean(array_of(table, at))).flatten()
                new = pl.DataFrame({"value": pl.Series(values), "count": pl.Series(counts, dtype=pl.Int64)})
                old = held[at]
                held[at] = new if old is None else _added([old, new])
                if len(held[at]) > self.most:  # type: ignore[arg-type]
                    wide[at] = True
                    held[at] = _frequent(held[at], rows)  # type: ignore[arg-type]
        if rows:
            yield _batch([(at, rows, wide[at], one) for at, one in enumerate(held) if one is not None])


@dataclass(frozen=True)
class _Merge:
    """The dictionaries of all partitions together."""

    most: int

    def __call__(self, table: pa.Table) -> pa.Table:
        parts = table.to_pylist()
        rows, wide = sum(part["rows"] for part in parts), any(part["wide"] for part in parts)
        made = _added([pl.read_ipc(part["content"]) for part in parts])
        if wide or len(made) > self.most:
            wide, made = True, _frequent(made, rows)
        return pa.Table.from_batches([_batch([(parts[0]["at"], rows, wide, made)])])


def _added(parts: list[pl.DataFrame]) -> pl.DataFrame:
    return pl.concat(parts).group_by("value").agg(pl.col("count").sum()) if len(parts) > 1 else parts[0]


def _frequent(content: pl.DataFrame, rows: int) -> pl.DataFrame:
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
