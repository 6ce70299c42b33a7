"""A method's own work on each batch of records by itself: how most masking methods run on Spark.

Draws are keyed by record, so what a method does with a record does not depend on the others, once what it must know of the whole
(a standard deviation, a limit, categories) is known. A batch becomes the local engine's Microdata with its record numbers, and
what the method makes of it goes back in its place. How many values of a record changed is counted on the way, in a hidden column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pyarrow as pa

from discreet.engine.spark.arrow import chunks, in_arrow, numbers
from discreet.engine.spark.errors import told
from discreet.engine.spark.joins import quoted
from discreet.engine.spark.microdata import HIDDEN, RECORD, SparkMicrodata
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy

if TYPE_CHECKING:
    from numpy.typing import NDArray

CHANGED = f"{HIDDEN}changed"
"""The hidden column that says how many values of a record a step changed."""
_ROWS = 1 << 16

Change = Callable[[Microdata], Mapping[str, pl.Series]]
Keep = Callable[[Microdata], "NDArray[np.bool_]"]


@dataclass(frozen=True)
class Masked:
    """What a step made on Spark: the table, with the column CHANGED, and how many records it took out."""

    table: SparkMicrodata
    removed: int = 0


@dataclass(frozen=True)
class ByMethod:
    """What a plug-in's own ``mask`` makes of the columns: for methods that look at one record at a time."""

    method: Any
    columns: tuple[str, ...]
    draw: Any

    def __call__(self, data: Microdata) -> Mapping[str, pl.Series]:
        made = self.method.mask(data, self.columns, self.draw)
        return {name: made.frame[name] for name in self.columns}


@dataclass(frozen=True)
class ByValue:
    """New values for old ones, worked out once for the values that occur; a null is one of them."""

    tables: Mapping[str, pl.DataFrame]

    def __call__(self, data: Microdata) -> Mapping[str, pl.Series]:
        return {name: mapped(data.frame.select(pl.col(name).alias("old")), table)["new"] for name, table in self.tables.items()}


def mapped(rows: pl.DataFrame, table: pl.DataFrame) -> pl.DataFrame:
    """Rows, in their order, with what a table says of the same values."""
    return rows.join(table, on=rows.columns, how="left", nulls_equal=True, maintain_order="left")


def changed(
    data: SparkMicrodata, change: Change, types: Mapping[str, pl.DataType] | None = None, keep: Keep | None = None
) -> Any:
    """The table with some columns changed, batch by batch; ``types`` are those of columns that get another one."""
    from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
    from pyspark.sql.types import IntegerType, StructField, StructType

    names = data.columns
    with told(data.source):
        frame = data.numbered.select(*[quoted(one) for one in data.numbered.columns if one != CHANGED])
        new = from_arrow_schema(pa.schema([(name, _arrow(dtype)) for name, dtype in (types or {}).items()]))
        own = {field.name: field for field in new.fields}
        fields = [own.get(field.name, StructField(field.name, field.dataType)) for field in frame.schema.fields]
        schema = StructType([*fields, StructField(CHANGED, IntegerType())])
        stage = _Stage(change, keep, data.policy, data.source, tuple(names), to_arrow_schema(schema))
        return data.replace(in_arrow(frame, stage, schema))


def _arrow(dtype: pl.DataType) -> pa.DataType:
    return pa.string() if dtype == pl.String else pl.Series([], dtype=dtype).to_arrow().type


@dataclass(frozen=True)
class _Stage:
    change: Change
    keep: Keep | None
    policy: Policy
    source: str
    names: tuple[str, ...]
    schema: pa.Schema

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for rows in chunks(batches, _ROWS):
            table = rows
            data = Microdata(pl.DataFrame(table.select(self.names)), self.policy, self.source, numbers(table, RECORD))
            kept = None if self.keep is None else self.keep(data)
            if kept is not None:
                data, table = data.take(np.flatnonzero(kept)), table.filter(pa.array(kept))
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                made = self.change(data)
            count = np.zeros(len(data), dtype=np.int32)
            columns = {name: table.column(name) for name in table.column_names}
            for name, series in made.items():
                count += differing(data.frame[name], series)
                field = self.schema.field(name)
                columns[name] = pa.chunked_array([series.to_arrow(compat_level=pl.CompatLevel.oldest()).cast(field.type)])
            columns[CHANGED] = pa.chunked_array([pa.array(count)])
            ordered = [columns[name].cast(self.schema.field(name).type) for name in self.schema.names]
            yield from pa.table(ordered, schema=self.schema).to_batches()


def differing(old: pl.Series, new: pl.Series) -> NDArray[np.bool_]:
    """Which values changed; of columns of different types by number, or by text."""
    if old.dtype != new.dtype:
        both = float if old.dtype.is_numeric() and new.dtype.is_numeric() else str
        old, new = old.cast(both), new.cast(both)
    return old.ne_missing(new).to_numpy()


def unchanged(_: Microdata) -> Mapping[str, pl.Series]:
    """For steps that take records out and leave the others alone."""
    return {}


def local(data: SparkMicrodata, content: Mapping[str, pl.Series]) -> Microdata:
    """A small table here under the same policy: some columns with values of their own, padded by nulls, all others null."""
    size = max((len(series) for series in content.values()), default=0)
    made = [
        content[name].extend_constant(None, size - len(content[name])).cast(dtype).alias(name)
        if name in content
        else pl.Series(name, [None] * size, dtype=dtype)
        for name, dtype in data.shape.schema.items()
    ]
    return Microdata(pl.DataFrame(made), data.policy, data.source, cells=data.cells)


def extremes(data: SparkMicrodata, names: Sequence[str]) -> tuple[Microdata, dict[str, int]]:
    """The least and the greatest value of some columns as a table of at most two rows, and how many values each has.

    What checks ask (is there a value, are all finite, how far do they reach) is the same of it as of the whole table.
    """
    from pyspark.sql import functions as f

    columns = [f.col(quoted(name)) for name in names]
    with told(data.source):
        asked = [part for one in columns for part in (f.min(one), f.max(one), f.count(one))]
        found = data.frame.agg(f.count(f.lit(1)).alias("0"), *[part.alias(str(at)) for at, part in enumerate(asked, 1)])
        row = pl.DataFrame(found.toArrow()).row(0)
    content, counts = {}, {}
    for at, name in enumerate(names):
        least, most, number = row[1 + 3 * at : 4 + 3 * at]
        values = [least, most if number > 1 else None][: row[0]]
        content[name] = pl.Series(name, values, dtype=data.shape.schema[name])
        counts[name] = number
    if not names:
        content = {name: pl.Series(name, [None] * min(row[0], 2), dtype=dtype) for name, dtype in data.shape.schema.items()}
    return local(data, content), counts
