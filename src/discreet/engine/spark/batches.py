"""Masking batch by batch: how most masking methods run on Spark.

Draws are keyed by record, so what a method does with a record does not depend on the others, once what it needs to know of the
whole table (a standard deviation, a limit, categories) is known. A batch becomes the local engine's Microdata with its record
numbers, the method changes it, and the new values go back in place of the old ones. The hidden column CHANGED counts the values
of each record that changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pyarrow as pa

from discreet.engine.spark.arrow import chunks, in_arrow, numbers
from discreet.engine.spark.errors import translate_errors
from discreet.engine.spark.hidden_columns import CHANGED, RECORD
from discreet.engine.spark.joins import col, quote
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.engine.spark.microdata import SparkMicrodata

_ROWS = 1 << 16

Change = Callable[[Microdata], Mapping[str, pl.Series]]
"""From a batch the new values of the columns that change; sent to the workers."""
Keep = Callable[[Microdata], "NDArray[np.bool_]"]
"""Which records of a batch stay in the table; sent to the workers."""


@dataclass(frozen=True)
class Masked:
    """The result of a masking step on Spark: the table, with the column CHANGED, and how many records were removed."""

    table: SparkMicrodata
    removed: int = 0


@dataclass(frozen=True)
class ApplyMethod:
    """The plug-in's own ``mask`` on each batch: for methods that use one record at a time."""

    method: Any
    columns: tuple[str, ...]
    draw: Any

    def __call__(self, data: Microdata) -> Mapping[str, pl.Series]:
        masked = self.method.mask(data, self.columns, self.draw)
        return {name: masked.frame[name] for name in self.columns}


@dataclass(frozen=True)
class ReplaceValues:
    """New values by a table of ``old`` and ``new`` per column, computed once for the values that occur; null is a value too."""

    tables: Mapping[str, pl.DataFrame]

    def __call__(self, data: Microdata) -> Mapping[str, pl.Series]:
        return {
            name: look_up_values(data.frame.select(pl.col(name).alias("old")), table)["new"]
            for name, table in self.tables.items()
        }


def look_up_values(rows: pl.DataFrame, table: pl.DataFrame) -> pl.DataFrame:
    """Rows, in their order, with the other columns of a table for the same values."""
    return rows.join(table, on=rows.columns, how="left", nulls_equal=True, maintain_order="left")


def change_columns(
    data: SparkMicrodata, change: Change, types: Mapping[str, pl.DataType] | None = None, keep: Keep | None = None
) -> SparkMicrodata:
    """The table with some columns changed, batch by batch; ``types`` are those of columns that get another type."""
    from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
    from pyspark.sql.types import IntegerType, StructField, StructType

    with translate_errors(data.source):
        frame = data.numbered.select(*[quote(name) for name in data.numbered.columns if name != CHANGED])
        new_types = from_arrow_schema(pa.schema([(name, _arrow_type(dtype)) for name, dtype in (types or {}).items()]))
        new_fields = {field.name: field for field in new_types.fields}
        fields = [new_fields.get(field.name, StructField(field.name, field.dataType)) for field in frame.schema.fields]
        schema = StructType([*fields, StructField(CHANGED, IntegerType())])
        stage = _ChangeBatches(change, keep, data.policy, data.source, tuple(data.columns), to_arrow_schema(schema))
        return data.replace(in_arrow(frame, stage, schema))


def _arrow_type(dtype: pl.DataType) -> pa.DataType:
    return pa.string() if dtype == pl.String else pl.Series([], dtype=dtype).to_arrow().type


@dataclass(frozen=True)
class _ChangeBatches:
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
            if self.keep is not None:
                stays = self.keep(data)
                data, table = data.take(np.flatnonzero(stays)), table.filter(pa.array(stays))
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                new_values = self.change(data)
            count = np.zeros(len(data), dtype=np.int32)
            columns = {name: table.column(name) for name in table.column_names}
            for name, series in new_values.items():
                count += flag_changes(data.frame[name], series)
                field = self.schema.field(name)
                columns[name] = pa.chunked_array([series.to_arrow(compat_level=pl.CompatLevel.oldest()).cast(field.type)])
            columns[CHANGED] = pa.chunked_array([pa.array(count)])
            ordered = [columns[name].cast(self.schema.field(name).type) for name in self.schema.names]
            yield from pa.table(ordered, schema=self.schema).to_batches()


def flag_changes(old: pl.Series, new: pl.Series) -> NDArray[np.bool_]:
    """Which values changed; columns of different types are compared as numbers, or as text."""
    if old.dtype != new.dtype:
        common = float if old.dtype.is_numeric() and new.dtype.is_numeric() else str
        old, new = old.cast(common), new.cast(common)
    return old.ne_missing(new).to_numpy()


def leave_unchanged(_: Microdata) -> Mapping[str, pl.Series]:
    """No new values: for steps that only remove records."""
    return {}


def build_local_table(data: SparkMicrodata, content: Mapping[str, pl.Series]) -> Microdata:
    """A small local table under the same policy: some columns with these values, padded by nulls, all others null."""
    size = max((len(series) for series in content.values()), default=0)
    columns = [
        content[name].extend_constant(None, size - len(content[name])).cast(dtype).alias(name)
        if name in content
        else pl.Series(name, [None] * size, dtype=dtype)
        for name, dtype in data.shape.schema.items()
    ]
    return Microdata(pl.DataFrame(columns), data.policy, data.source, cells=data.cells)


def collect_extremes(data: SparkMicrodata, names: Sequence[str]) -> tuple[Microdata, dict[str, int]]:
    """The least and the greatest value of some columns as a table of at most two rows, and how many values each has.

    Checks (is there a value, are all finite, how far do they reach) have the same answer on it as on the whole table.
    """
    from pyspark.sql import functions as f

    aggregates = [
        f.count(f.lit(1)),
        *[part for name in names for part in (f.min(col(name)), f.max(col(name)), f.count(col(name)))],
    ]
    with translate_errors(data.source):
        row = pl.DataFrame(data.frame.agg(*[part.alias(str(at)) for at, part in enumerate(aggregates)]).toArrow()).row(0)
    records, content, counts = row[0], {}, {}
    for at, name in enumerate(names):
        least, greatest, number = row[1 + 3 * at : 4 + 3 * at]
        values = [least, greatest if number > 1 else None][:records]
        content[name] = pl.Series(name, values, dtype=data.shape.schema[name])
        counts[name] = number
    if not names:
        content = {name: pl.Series(name, [None] * min(records, 2), dtype=dtype) for name, dtype in data.shape.schema.items()}
    return build_local_table(data, content), counts
