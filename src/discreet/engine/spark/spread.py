"""Masking on Spark by what the whole column says: its spread, its extremes, its categories."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from discreet.engine.spark.batches import Masked, changed, extremes
from discreet.engine.spark.errors import told
from discreet.engine.spark.joins import col
from discreet.engine.spark.microdata import SparkMicrodata
from discreet.engine.spark.rank_selection import Ordered
from discreet.masking.noise.moments import Moments
from discreet.model.cells import ColumnCells
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from discreet.engine.draws.draw import KeyedDraw

Names = tuple[str, ...]
Limits = tuple[float, float]


def noise(plugin: Any, data: SparkMicrodata, columns: Names, draw: KeyedDraw) -> Masked:
    """Standard deviations or covariances by one aggregation, then batch by batch."""
    found, _ = extremes(data, columns)
    plugin.check(found, columns)
    return Masked(changed(data, _Noisy(plugin, columns, draw, _moments(plugin, data, columns, found))))


def _moments(plugin: Any, data: SparkMicrodata, columns: Names, found: Microdata) -> Moments:
    from pyspark.sql import functions as f

    numbers = [col(name).cast("double") for name in columns]
    size = len(columns)
    complete = data.frame.dropna(subset=list(columns))
    pairs = [(one, other) for one in range(size) for other in range(one + 1)]
    deviations, means, covariance = np.zeros(0), np.zeros(0), np.zeros((size, size))
    with told(data.source):
        if plugin.how == "additive":
            row = data.frame.agg(*[f.stddev_samp(one) for one in numbers]).collect()[0]
            deviations = np.array(row, dtype=np.float64)
        elif plugin.how != "multiplicative":
            middles = [f.avg(one) for one in numbers]
            together = [f.covar_samp(numbers[one], numbers[other]) for one, other in pairs]
            row = complete.agg(f.count(f.lit(1)), *middles, *together).collect()[0]
            plugin.need_complete(row[0], columns)
            means = np.array(row[1 : size + 1], dtype=np.float64)
            for (one, other), value in zip(pairs, row[size + 1 :], strict=True):
                covariance[one, other] = covariance[other, one] = value
    least = np.array([float(found.frame[name].min()) for name in columns])  # type: ignore[arg-type]
    most = np.array([float(found.frame[name].max()) for name in columns])  # type: ignore[arg-type]
    return Moments(deviations, means, covariance, least, most)


@dataclass(frozen=True)
class _Noisy:
    method: Any
    columns: Names
    draw: Any
    moments: Moments

    def __call__(self, data: Microdata) -> Mapping[str, pl.Series]:
        made = self.method.noisy(data, self.columns, self.draw, self.moments)
        return {name: made.frame[name] for name in self.columns}


def top_bottom_coding(plugin: Any, data: SparkMicrodata, columns: Names, _: KeyedDraw) -> Masked:
    """Limits by exact selection, means and medians of what lies beyond them by aggregation, then batch by batch."""
    found, counts = extremes(data, columns)
    need = type(plugin)(top=np.finfo(np.float64).max)  # the checks of names and types, whatever the limits
    need.check(found, columns)
    limits: dict[str, Limits] = {}
    said: dict[str, tuple[float, ...]] = {}
    types: dict[str, pl.DataType] = {}
    for name in columns:
        limits[name] = plugin.checked_limits(name, Ordered(data.frame, name, counts[name], data.source))
        said[name], used = _said(plugin, data, name, limits[name])
        if plugin.replace == "label":
            types[name] = pl.String()
        elif data.shape.schema[name].is_integer() and any(one % 1 for one in used):
            types[name] = pl.Float64()
    made = changed(data, _Coded(plugin, limits, said), types)
    return Masked(made.with_cells({name: ColumnCells(kind="number") for name, dtype in types.items() if dtype == pl.String}))


def _said(plugin: Any, data: SparkMicrodata, name: str, limits: Limits) -> tuple[tuple[float, ...], list[float]]:
    """What is said beyond each limit, and which of these are said at all."""
    from pyspark.sql import functions as f

    number = col(name).cast("double")
    sides = [number <= f.lit(limits[0]), number >= f.lit(limits[1])]
    with told(data.source):
        row = data.frame.agg(*[f.count(f.when(side, 1)) for side in sides], *[f.avg(f.when(side, number)) for side in sides])
        below, above, *means = row.collect()[0]
    made = []
    for side, limit, size, mean in zip(sides, limits, (below, above), means, strict=True):
        if not size or plugin.replace in ("limit", "label"):
            made.append(limit)
        elif plugin.replace == "mean":
            made.append(float(mean))
        else:
            ordered = Ordered(data.frame.where(side), name, size, data.source)
            middle = ordered[size // 2]
            made.append(middle if size % 2 else float(np.mean([ordered[size // 2 - 1], middle])))
    return tuple(made), [one for one, size in zip(made, (below, above), strict=True) if size]


@dataclass(frozen=True)
class _Coded:
    method: Any
    limits: Mapping[str, Limits]
    said: Mapping[str, tuple[float, ...]]

    def __call__(self, data: Microdata) -> Mapping[str, pl.Series]:
        return {name: self.method.coded(data.frame[name], limits, self.said[name]) for name, limits in self.limits.items()}
