"""Rounding on Spark: batch by batch, because each value is rounded by itself; controlled rounding is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from discreet.engine.spark.batches import ApplyMethod, Masked, change_columns, collect_extremes

if TYPE_CHECKING:
    from discreet.engine.draws.draw import KeyedDraw
    from discreet.engine.spark.microdata import SparkMicrodata


def rounding(plugin: Any, data: SparkMicrodata, columns: tuple[str, ...], draw: KeyedDraw) -> Masked:
    """Round each value to the nearest multiple, or at random; the extremes decide the type of the new column."""
    extremes, _ = collect_extremes(data, columns)
    plugin.check(extremes, columns)
    rounded = plugin.mask(extremes, columns, draw).frame
    types = {name: rounded.schema[name] for name in columns}
    return Masked(change_columns(data, ApplyMethod(plugin, columns, draw), types))
