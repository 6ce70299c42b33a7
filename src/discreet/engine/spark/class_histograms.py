"""Sensitive values counted class by class on Spark: a function reads the counts of whole equivalence classes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np
import polars as pl
import pyarrow as pa

from discreet.engine.classes.groups import group_columns
from discreet.engine.encoding.columns import encode_series
from discreet.engine.spark.arrow import in_arrow, whole
from discreet.engine.spark.gaps import PATTERNS
from discreet.engine.spark.joins import COUNT, TooManyPatternsError, col, count_agreeing, count_distinct_rows, quote
from discreet.engine.spark.value_counts import series_of
from discreet.errors import DataError
from discreet.model.attribute import Role

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pyspark.sql import DataFrame

    from discreet.engine.spark.microdata import SparkMicrodata


class ClassFunction(Protocol):
    """Numbers of each class from the counts of one sensitive attribute in it; sent to the workers.

    ``ids`` is the class of each distinct value in a class, ``number`` how many classes there are, ``counts`` how many records
    have the value. One array per field is returned, with one element per class.
    """

    fields: ClassVar[tuple[str, ...]]

    def __call__(
        self, ids: NDArray[np.int64], number: int, values: pl.Series, counts: NDArray[np.int64]
    ) -> list[NDArray[Any]]: ...


def find_attributes(plugin: Any, data: SparkMicrodata) -> tuple[list[str], list[str]]:
    """The keys and the sensitive attributes that a measure uses: those it names, or those with the role."""
    keys = list(plugin.keys) or data.named(Role.KEY)
    sensitive = list(plugin.sensitive) or data.named(Role.CONFIDENTIAL)
    for names, role in ((keys, "key"), (sensitive, "confidential")):
        if not names:
            raise DataError(f"{plugin.name} needs at least one attribute with the role {role} in {data.source}")
        for name in names:
            data.attribute(name)
    if both := set(keys) & set(sensitive):
        raise DataError(f"{plugin.name}: '{sorted(both)[0]}' cannot be a key and sensitive at once")
    return keys, sensitive


def measure_classes(
    plugin: Any, data: SparkMicrodata, classes: DataFrame, keys: Sequence[str], sensitive: str, function: ClassFunction
) -> DataFrame:
    """One row per class: its keys, and the fields of a function of its sensitive values."""
    counted = count_distinct_rows(data.frame.filter(col(sensitive).isNotNull()), [*keys, sensitive])
    if plugin.missing == "wildcard":
        try:
            counted = count_agreeing(classes, counted, keys, wildcard=True, extra=[sensitive])
        except TooManyPatternsError:
            PATTERNS.refuse(plugin, data.engine)
    types = {field.name: field.dataType.simpleString() for field in data.frame.schema.fields}
    schema = ", ".join([f"{quote(key)} {types[key]}" for key in keys] + [f"`{field}` double" for field in function.fields])
    by_class = counted.select(*[col(name) for name in (*keys, sensitive, COUNT)]).repartition(*[col(key) for key in keys])
    return in_arrow(by_class, _MeasureClasses(tuple(keys), sensitive, function), schema)


def fold_columns(function: Any, names: Sequence[str]) -> Any:
    """The least or greatest of some columns, nulls left out; Spark's functions need at least two."""
    columns = [col(name) for name in names]
    return function(*columns) if len(columns) > 1 else columns[0]


@dataclass(frozen=True)
class _MeasureClasses:
    """Reads the counts of whole classes, and returns one row per class."""

    keys: tuple[str, ...]
    sensitive: str
    function: ClassFunction

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        table = whole(batches)
        if table is None:
            return
        ids, number = group_columns([encode_series(series_of(table, name)) for name in self.keys], table.num_rows)
        first = np.empty(number, dtype=np.int64)  # a row of each class, for its key values
        first[ids[::-1]] = np.arange(table.num_rows - 1, -1, -1)
        results = self.function(ids, number, series_of(table, self.sensitive), np.asarray(table.column(COUNT)))
        key_values = table.select(list(self.keys)).take(pa.array(first)).combine_chunks()
        arrays = [pa.chunked_array([pa.array(np.ascontiguousarray(array), from_pandas=True)]) for array in results]
        names = [*self.keys, *self.function.fields]
        yield from pa.Table.from_arrays([*key_values.columns, *arrays], names=names).to_batches()
