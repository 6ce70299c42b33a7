"""Global recoding on Spark: intervals and dates batch by batch; groups and levels once for the values that occur."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from discreet.engine.spark.batches import ApplyMethod, Masked, ReplaceValues, change_columns, collect_extremes
from discreet.engine.spark.distinct_values import collect_distinct_values
from discreet.engine.spark.gaps import refuse_quantile_hierarchies
from discreet.engine.spark.value_counts import dictionaries
from discreet.model.cells import ColumnCells
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from discreet.engine.draws.draw import KeyedDraw
    from discreet.engine.spark.microdata import SparkMicrodata


def global_recoding(plugin: Any, data: SparkMicrodata, columns: tuple[str, ...], draw: KeyedDraw) -> Masked:
    """The same labels as on the local engine, with their meaning."""
    types = dict.fromkeys(columns, pl.String())
    if not (plugin.groups or plugin.level is not None):
        extremes, _ = collect_extremes(data, columns)
        plugin.check(extremes, columns)
        table = change_columns(data, ApplyMethod(plugin, columns, draw), types)
        return Masked(table.with_cells({name: _describe_labels(plugin, extremes, table, name) for name in columns}))
    refuse_quantile_hierarchies(plugin, data, columns)
    _, values = collect_distinct_values(plugin, data, columns)
    plugin.check(values, columns)
    recoded = plugin.mask(values, columns, draw)
    table = change_columns(data, ReplaceValues(_tabulate_replacements(values, recoded, columns)), types)
    return Masked(table.with_cells({name: recoded.cells.get(name) for name in columns}))


def _describe_labels(plugin: Any, before: Microdata, recoded: SparkMicrodata, name: str) -> ColumnCells | None:
    """The meaning of intervals and units of time; units in a time zone other than UTC are described label by label."""
    labels = pl.Series(name, [], dtype=pl.String)
    if plugin.unit is not None and getattr(before.schema[name], "time_zone", None) not in (None, "UTC"):
        labels = dictionaries(recoded, [name])[0][name].values
    cells: ColumnCells | None = plugin.describe_cells(before, name, labels)
    return cells


def _tabulate_replacements(values: Microdata, recoded: Microdata, columns: tuple[str, ...]) -> dict[str, pl.DataFrame]:
    """For each column the label (``new``) of each value (``old``)."""
    tables = {name: pl.DataFrame({"old": values.frame[name], "new": recoded.frame[name]}) for name in columns}
    return {name: table.filter(pl.col("old").is_not_null()) for name, table in tables.items()}
