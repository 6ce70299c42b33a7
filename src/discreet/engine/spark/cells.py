"""Masking on Spark, value by value: identifiers, recoding, rounding, pseudonyms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from discreet.engine.spark.batches import CHANGED, ByMethod, ByValue, Masked, changed, extremes, local
from discreet.engine.spark.errors import told
from discreet.engine.spark.gaps import MANY_CATEGORIES, QUANTILES
from discreet.engine.spark.joins import quoted
from discreet.engine.spark.microdata import SparkMicrodata
from discreet.engine.spark.value_counts import dictionaries
from discreet.model.cells import ColumnCells
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from discreet.engine.draws.draw import KeyedDraw

Names = tuple[str, ...]


def remove_identifiers(_: Any, data: SparkMicrodata, columns: Names, _draw: KeyedDraw) -> Masked:
    """Columns that are dropped move no row."""
    from pyspark.sql import functions as f

    frame = data.numbered.drop(*columns).withColumn(CHANGED, f.lit(len(columns)))
    return Masked(data.replace(frame))


def global_recoding(plugin: Any, data: SparkMicrodata, columns: Names, draw: KeyedDraw) -> Masked:
    """Intervals and dates batch by batch; groups and levels once for the values that occur."""
    types = dict.fromkeys(columns, pl.String())
    if not (plugin.groups or plugin.level is not None):
        found = extremes(data, columns)[0]
        plugin.check(found, columns)
        made = changed(data, ByMethod(plugin, columns, draw), types)
        return Masked(made.with_cells({name: _described(plugin, found, made, name) for name in columns}))
    values = occurring(plugin, data, columns)
    plugin.check(values, columns)
    made = plugin.mask(values, columns, draw)
    table = changed(data, ByValue(value_tables(values, made, columns)), types)
    return Masked(table.with_cells({name: made.cells.get(name) for name in columns}))


def _described(plugin: Any, before: Microdata, made: SparkMicrodata, name: str) -> ColumnCells | None:
    """What intervals and units of time stand for; units of another zone than UTC are looked up label by label."""
    labels = pl.Series(name, [], dtype=pl.String)
    if plugin.unit is not None and getattr(before.schema[name], "time_zone", None) not in (None, "UTC"):
        labels = dictionaries(made, [name])[0][name].values
    found: ColumnCells | None = plugin.described(before, name, labels)
    return found


def rounding(plugin: Any, data: SparkMicrodata, columns: Names, draw: KeyedDraw) -> Masked:
    """Each value by itself, to the nearest multiple or at random."""
    found, _ = extremes(data, columns)
    plugin.check(found, columns)
    made = plugin.mask(found, columns, draw).frame
    return Masked(changed(data, ByMethod(plugin, columns, draw), {name: made.schema[name] for name in columns}))


def pseudonymization(plugin: Any, data: SparkMicrodata, columns: Names, draw: KeyedDraw) -> Masked:
    """The key is made here and sent to the workers, so that all use one; that no two values get one word is counted."""
    from pyspark.sql import functions as f

    found, _ = extremes(data, columns)
    plugin.check(found, columns)
    made = changed(data, _Pseudonyms(plugin, columns, plugin.hash_key(found, draw)), dict.fromkeys(columns, pl.String()))
    with told(data.source):
        before, after = (
            one.frame.agg(*[f.count_distinct(f.col(quoted(name))) for name in columns]).collect()[0] for one in (data, made)
        )
    for name, old, new in zip(columns, before, after, strict=True):
        if old != new:
            raise plugin.too_short(name)
    return Masked(made.with_cells({name: ColumnCells(kind="text") for name in columns}))


@dataclass(frozen=True)
class _Pseudonyms:
    method: Any
    columns: Names
    key: bytes

    def __call__(self, data: Microdata) -> Mapping[str, pl.Series]:
        return {name: self.method.replaced(data, name, self.key) for name in self.columns}


def occurring(plugin: Any, data: SparkMicrodata, columns: Names) -> Microdata:
    """The values of some columns as a table, each once; so many that they cannot come here are refused."""
    for name in columns:
        spec = data.attribute(name).hierarchy
        if spec is not None and spec.quantiles:
            QUANTILES.refuse(plugin, data.engine)
    found, _ = dictionaries(data, columns)
    if any(one.wide for one in found.values()):
        MANY_CATEGORIES.refuse(plugin, data.engine)
    return local(data, {name: found[name].values for name in columns})


def value_tables(values: Microdata, made: Microdata, columns: Names) -> dict[str, pl.DataFrame]:
    """What each value became, column by column."""
    tables = {name: pl.DataFrame({"old": values.frame[name], "new": made.frame[name]}) for name in columns}
    return {name: table.filter(pl.col("old").is_not_null()) for name, table in tables.items()}
