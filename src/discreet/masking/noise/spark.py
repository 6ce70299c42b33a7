"""Noise on Spark: the moments of the columns by one aggregation, then batch by batch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from discreet.engine.spark.batches import Masked, change_columns, collect_extremes
from discreet.engine.spark.errors import translate_errors
from discreet.engine.spark.joins import col
from discreet.masking.noise.moments import Moments
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from discreet.engine.draws.draw import KeyedDraw
    from discreet.engine.spark.microdata import SparkMicrodata


def noise(plugin: Any, data: SparkMicrodata, columns: tuple[str, ...], draw: KeyedDraw) -> Masked:
    """Add or multiply noise whose scale comes from the whole table."""
    extremes, _ = collect_extremes(data, columns)
    plugin.check(extremes, columns)
    moments = _collect_moments(plugin, data, columns, extremes)
    return Masked(change_columns(data, _AddNoise(plugin, columns, draw, moments)))


def _collect_moments(plugin: Any, data: SparkMicrodata, columns: tuple[str, ...], extremes: Microdata) -> Moments:
    """Standard deviations per column, or means and covariances over the complete records, as the kind of noise needs."""
    from pyspark.sql import functions as f

    numbers = [col(name).cast("double") for name in columns]
    size = len(columns)
    pairs = [(row, column) for row in range(size) for column in range(row + 1)]
    deviations, means, covariance = np.zeros(0), np.zeros(0), np.zeros((size, size))
    with translate_errors(data.source):
        if plugin.how == "additive":
            aggregate = data.frame.agg(*[f.stddev_samp(number) for number in numbers]).collect()[0]
            deviations = np.array(aggregate, dtype=np.float64)
        elif plugin.how != "multiplicative":
            averages = [f.avg(number) for number in numbers]
            covariances = [f.covar_samp(numbers[row], numbers[column]) for row, column in pairs]
            complete = data.frame.dropna(subset=list(columns))
            aggregate = complete.agg(f.count(f.lit(1)), *averages, *covariances).collect()[0]
            plugin.check_complete_records(aggregate[0], columns)
            means = np.array(aggregate[1 : size + 1], dtype=np.float64)
            for (row, column), value in zip(pairs, aggregate[size + 1 :], strict=True):
                covariance[row, column] = covariance[column, row] = value
    minima = np.array([float(extremes.frame[name].min()) for name in columns])  # type: ignore[arg-type]
    maxima = np.array([float(extremes.frame[name].max()) for name in columns])  # type: ignore[arg-type]
    return Moments(deviations, means, covariance, minima, maxima)


@dataclass(frozen=True)
class _AddNoise:
    method: Any
    columns: tuple[str, ...]
    draw: Any
    moments: Moments

    def __call__(self, data: Microdata) -> Mapping[str, pl.Series]:
        masked = self.method.add_noise(data, self.columns, self.draw, self.moments)
        return {name: masked.frame[name] for name in self.columns}
