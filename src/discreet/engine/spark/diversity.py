"""l-diversity and t-closeness on Spark: values are counted class by class, and the local engine's functions read the counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pyarrow as pa

from discreet.engine.classes.closeness import Ground, ground_distance
from discreet.engine.classes.diversity import Histograms, distinct, entropy_l, histograms, overall, recursive_l
from discreet.engine.classes.groups import groups_of
from discreet.engine.encoding.columns import encode_series
from discreet.engine.spark.arrow import in_arrow, whole
from discreet.engine.spark.errors import told
from discreet.engine.spark.gaps import PATTERNS
from discreet.engine.spark.joins import COUNT, TooManyPatternsError, agreeing, col, joined
from discreet.engine.spark.joins import distinct as distinct_rows
from discreet.engine.spark.microdata import RECORD, SparkMicrodata
from discreet.engine.spark.score import SparkScore
from discreet.engine.spark.value_counts import Dictionary, dictionaries, series_of
from discreet.errors import DataError, ParameterError, nearest
from discreet.model.attribute import Role
from discreet.model.microdata import Microdata
from discreet.risks.t_closeness.measure import MANY_VALUES

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pyspark.sql import DataFrame

FIELDS = ("l", "entropy_l", "recursive_l")


@dataclass(frozen=True)
class _Diversity:
    """The diversity of one sensitive attribute in each class."""

    c: float
    names = FIELDS

    def __call__(self, ids: NDArray[np.int64], number: int, values: pl.Series, counts: NDArray[np.int64]) -> list[NDArray[Any]]:
        column = encode_series(values)
        found = histograms(ids, number, column.codes, len(column.values), counts)
        return [distinct(found), entropy_l(found), recursive_l(found, self.c)]


@dataclass(frozen=True)
class _Closeness:
    """The distance of each class from the whole table under one ground distance."""

    ground: Ground
    dictionary: Dictionary
    shares: NDArray[np.float64]
    names = ("t",)

    def __call__(self, ids: NDArray[np.int64], number: int, values: pl.Series, counts: NDArray[np.int64]) -> list[NDArray[Any]]:
        found: Histograms = histograms(ids, number, self.dictionary.codes(values.to_arrow()), len(self.dictionary.values), counts)
        return [np.nan_to_num(self.ground.emd(found, self.shares))]


@dataclass(frozen=True)
class _ByClass:
    """Reads the counts of whole classes, and gives a row a class."""

    keys: tuple[str, ...]
    sensitive: str
    measure: _Diversity | _Closeness

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        table = whole(batches)
        if table is None:
            return
        columns = [encode_series(series_of(table, name)) for name in self.keys]
        ids, number = groups_of(columns, table.num_rows)
        first = np.empty(number, dtype=np.int64)
        first[ids[::-1]] = np.arange(table.num_rows - 1, -1, -1)
        values = series_of(table, self.sensitive)
        numbers = self.measure(ids, number, values, np.asarray(table.column(COUNT)))
        rows = table.select(list(self.keys)).take(pa.array(first)).combine_chunks()
        own = [pa.chunked_array([pa.array(np.ascontiguousarray(one), from_pandas=True)]) for one in numbers]
        made = pa.Table.from_arrays([*rows.columns, *own], names=[*self.keys, *self.measure.names])
        yield from made.to_batches()


def l_diversity(plugin: Any, data: SparkMicrodata, _: SparkMicrodata | None = None) -> SparkScore:
    """The diversity of the sensitive values in each class of records that agree on all keys."""
    from pyspark.sql import functions as f

    keys, sensitive = _attributes(plugin, data)
    with told(data.source):
        classes = distinct_rows(data.frame, keys)
        made = classes
        for at, name in enumerate(sensitive):
            found = _by_class(plugin, data, classes, keys, name, _Diversity(plugin.c))
            made = joined(made, found.withColumnsRenamed({field: f"{field} {at}" for field in FIELDS}), keys)
        worst = made.withColumns({field: _fold(f.least, field, len(sensitive)) for field in FIELDS})
        least = [f.min(col(f"{field} {at}")) for at in range(len(sensitive)) for field in FIELDS]
        alike = f.sum(f.when(col("l") == 1, col(COUNT)).otherwise(0))
        row = worst.agg(*[f.min(col(field)) for field in FIELDS], alike, *least).collect()[0]
    table = [
        {"attribute": name, **{field: _number(row[4 + 3 * at + place], field) for place, field in enumerate(FIELDS)}}
        for at, name in enumerate(sensitive)
    ]
    schema = {"attribute": pl.String, "l": pl.Int64, "entropy_l": pl.Float64, "recursive_l": pl.Int64}

    def records() -> DataFrame:
        shown = [col(field) if field == "entropy_l" else col(field).cast("long").alias(field) for field in FIELDS]
        return joined(data.numbered, worst.select(*[col(name) for name in (*keys, *FIELDS)]), keys).select(col(RECORD), *shown)

    summary = {field: _number(row[place], field) for place, field in enumerate(FIELDS)}
    return SparkScore(plugin.name, {**summary, "homogeneous": int(row[3] or 0)}, records, pl.DataFrame(table, schema=schema))


def t_closeness(plugin: Any, data: SparkMicrodata, _: SparkMicrodata | None = None) -> SparkScore:
    """The earth mover's distance between the values of each class and those of the whole table."""
    from pyspark.sql import functions as f

    keys, sensitive = _attributes(plugin, data)
    for name in plugin.distance:
        if name not in sensitive:
            raise ParameterError(f"t_closeness.distance names '{name}', which is not sensitive; {nearest(name, sensitive)}")
    found, records = dictionaries(data, sensitive)
    grounds: dict[str, Ground] = {}
    with told(data.source):
        classes = distinct_rows(data.frame, keys)
        made = classes
        for at, name in enumerate(sensitive):
            one = found[name]
            if one.wide:
                MANY_VALUES.refuse(plugin, data.engine)
            values = Microdata(pl.DataFrame({name: one.values}), _only(data, name), data.source)
            grounds[name] = ground_distance(values, one.column, plugin.distance.get(name))
            shares = overall(np.arange(len(one.counts)), len(one.values), one.counts)
            distances = _by_class(plugin, data, classes, keys, name, _Closeness(grounds[name], one, shares))
            made = joined(made, distances.withColumnRenamed("t", f"t {at}"), keys)
        zero = {f"t {at}": f.coalesce(col(f"t {at}"), f.lit(0.0)) for at in range(len(sensitive))}
        worst = made.withColumns(zero).withColumn("t", _fold_named(f.greatest, list(zero)))
        most = [f.max(col(name)) for name in zero]
        row = worst.agg(f.max(col("t")), f.sum(col("t") * col(COUNT)), *most).collect()[0]
    rows = [(name, grounds[name].kind, float(row[2 + at] or 0.0)) for at, name in enumerate(sensitive)]
    schema = {"attribute": pl.String, "distance": pl.String, "t": pl.Float64}
    return SparkScore(
        plugin.name,
        {"t": float(row[0] or 0.0), "mean_t": float(row[1]) / records if records else 0.0},
        lambda: joined(data.numbered, worst.select(*[col(name) for name in (*keys, "t")]), keys).select(col(RECORD), col("t")),
        pl.DataFrame(rows, schema=schema, orient="row"),
    )


def _only(data: SparkMicrodata, name: str) -> Any:
    return data.policy.with_(attributes={name: data.attribute(name)})


def _attributes(plugin: Any, data: SparkMicrodata) -> tuple[list[str], list[str]]:
    keys = list(plugin.keys) or data.named(Role.KEY)
    sensitive = list(plugin.sensitive) or data.named(Role.CONFIDENTIAL)
    for found, role in ((keys, "key"), (sensitive, "confidential")):
        if not found:
            raise DataError(f"{plugin.name} needs at least one attribute with the role {role} in {data.source}")
        for name in found:
            data.attribute(name)
    if both := set(keys) & set(sensitive):
        raise DataError(f"{plugin.name}: '{sorted(both)[0]}' cannot be a key and sensitive at once")
    return keys, sensitive


def _by_class(
    plugin: Any, data: SparkMicrodata, classes: DataFrame, keys: Sequence[str], name: str, measure: _Diversity | _Closeness
) -> DataFrame:
    """A row a class with what a measure says of its values of one sensitive attribute."""
    counted = distinct_rows(data.frame.filter(col(name).isNotNull()), [*keys, name])
    if plugin.missing == "wildcard":
        try:
            counted = agreeing(classes, counted, keys, wildcard=True, extra=[name])
        except TooManyPatternsError:
            PATTERNS.refuse(plugin, data.engine)
    types = {field.name: field.dataType.simpleString() for field in data.frame.schema.fields}
    schema = ", ".join([f"`{key}` {types[key]}" for key in keys] + [f"`{field}` double" for field in measure.names])
    spread = counted.select(*[col(one) for one in (*keys, name, COUNT)]).repartition(*[col(key) for key in keys])
    return in_arrow(spread, _ByClass(tuple(keys), name, measure), schema)


def _fold(function: Any, field: str, number: int) -> Any:
    return _fold_named(function, [f"{field} {at}" for at in range(number)])


def _fold_named(function: Any, names: Sequence[str]) -> Any:
    """The least or greatest of some columns, nulls left out."""
    columns = [col(name) for name in names]
    return function(*columns) if len(columns) > 1 else columns[0]


def _number(value: Any, field: str) -> int | float | None:
    if value is None:
        return None
    return float(value) if field == "entropy_l" else int(value)
