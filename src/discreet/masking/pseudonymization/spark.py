"""Pseudonymization on Spark: one key for all workers; distinct values are counted before and after to detect collisions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from discreet.engine.spark.batches import Masked, change_columns, collect_extremes
from discreet.engine.spark.errors import translate_errors
from discreet.engine.spark.joins import col
from discreet.model.cells import ColumnCells
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from discreet.engine.draws.draw import KeyedDraw
    from discreet.engine.spark.microdata import SparkMicrodata


def pseudonymization(plugin: Any, data: SparkMicrodata, columns: tuple[str, ...], draw: KeyedDraw) -> Masked:
    """Replace each value by a keyed hash; the key is drawn on the driver and sent to the workers, so that all use the same."""
    extremes, _ = collect_extremes(data, columns)
    plugin.check(extremes, columns)
    replace = _ReplaceByPseudonym(plugin, columns, plugin.derive_hash_key(extremes, draw))
    masked = change_columns(data, replace, dict.fromkeys(columns, pl.String()))
    before, after = _count_distinct(data, columns), _count_distinct(masked, columns)
    for name, values, pseudonyms in zip(columns, before, after, strict=True):
        if values != pseudonyms:
            raise plugin.collision_error(name)
    return Masked(masked.with_cells({name: ColumnCells(kind="text") for name in columns}))


def _count_distinct(data: SparkMicrodata, columns: tuple[str, ...]) -> tuple[int, ...]:
    from pyspark.sql import functions as f

    with translate_errors(data.source):
        return tuple(data.frame.agg(*[f.count_distinct(col(name)) for name in columns]).collect()[0])


@dataclass(frozen=True)
class _ReplaceByPseudonym:
    method: Any
    columns: tuple[str, ...]
    key: bytes = field(repr=False)

    def __call__(self, data: Microdata) -> Mapping[str, pl.Series]:
        return {name: self.method.pseudonymize_column(data, name, self.key) for name in self.columns}
