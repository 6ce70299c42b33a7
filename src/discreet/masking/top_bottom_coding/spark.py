"""Top and bottom coding on Spark: limits by exact selection, replacements by aggregation, then batch by batch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from discreet.engine.spark.batches import Masked, change_columns, collect_extremes
from discreet.engine.spark.errors import translate_errors
from discreet.engine.spark.joins import col
from discreet.engine.spark.rank_selection import OrderedColumn
from discreet.model.cells import ColumnCells
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from discreet.engine.draws.draw import KeyedDraw
    from discreet.engine.spark.microdata import SparkMicrodata

Limits = tuple[float, float]


def top_bottom_coding(plugin: Any, data: SparkMicrodata, columns: tuple[str, ...], _: KeyedDraw) -> Masked:
    """Replace the values beyond the limits by the limit, a label, or their mean or median."""
    extremes, counts = collect_extremes(data, columns)
    without_limits = type(plugin)(top=np.finfo(np.float64).max)  # checks names and types, whatever the limits are
    without_limits.check(extremes, columns)
    limits: dict[str, Limits] = {}
    codes: dict[str, tuple[float, ...]] = {}
    types: dict[str, pl.DataType] = {}
    for name in columns:
        limits[name] = plugin.find_limits_or_raise(name, OrderedColumn(data.frame, name, counts[name], data.source))
        codes[name], used = _compute_codes(plugin, data, name, limits[name])
        if plugin.replace == "label":
            types[name] = pl.String()
        elif data.shape.schema[name].is_integer() and any(code % 1 for code in used):
            types[name] = pl.Float64()
    table = change_columns(data, _CodeExtremes(plugin, limits, codes), types)
    return Masked(table.with_cells({name: ColumnCells(kind="number") for name, dtype in types.items() if dtype == pl.String}))


def _compute_codes(plugin: Any, data: SparkMicrodata, name: str, limits: Limits) -> tuple[tuple[float, ...], list[float]]:
    """What replaces the values beyond each limit, and those of the two codes that replace a value at all."""
    from pyspark.sql import functions as f

    number = col(name).cast("double")
    sides = [number <= f.lit(limits[0]), number >= f.lit(limits[1])]
    counts_and_means = [f.count(f.when(side, 1)) for side in sides] + [f.avg(f.when(side, number)) for side in sides]
    with translate_errors(data.source):
        below, above, *means = data.frame.agg(*counts_and_means).collect()[0]
    sizes, codes = (below, above), []
    for side, limit, size, mean in zip(sides, limits, sizes, means, strict=True):
        if not size or plugin.replace in ("limit", "label"):
            codes.append(limit)
        elif plugin.replace == "mean":
            codes.append(float(mean))
        else:
            ordered = OrderedColumn(data.frame.where(side), name, size, data.source)
            middle = ordered[size // 2]
            codes.append(middle if size % 2 else float(np.mean([ordered[size // 2 - 1], middle])))
    return tuple(codes), [code for code, size in zip(codes, sizes, strict=True) if size]


@dataclass(frozen=True)
class _CodeExtremes:
    method: Any
    limits: Mapping[str, Limits]
    codes: Mapping[str, tuple[float, ...]]

    def __call__(self, data: Microdata) -> Mapping[str, pl.Series]:
        return {
            name: self.method.replace_extremes(data.frame[name], limits, self.codes[name]) for name, limits in self.limits.items()
        }
