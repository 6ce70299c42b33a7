"""Sampling on Spark: in each stratum the records with the lowest keyed bits, selected exactly and without a sort."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pyarrow as pa

from discreet.engine.spark.arrow import numbers
from discreet.engine.spark.batches import Masked, change_columns, collect_extremes, leave_unchanged
from discreet.engine.spark.hidden_columns import RECORD
from discreet.engine.spark.joins import col
from discreet.engine.spark.rank_selection import select_ranks
from discreet.engine.spark.strata import Strata
from discreet.engine.spark.value_counts import series_of
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.engine.draws.draw import KeyedDraw
    from discreet.engine.spark.microdata import SparkMicrodata


def sampling(plugin: Any, data: SparkMicrodata, columns: tuple[str, ...], draw: KeyedDraw) -> Masked:
    """Keep a sample of each stratum, and correct the weights of the records in it."""
    plugin.check_columns(collect_extremes(data, columns)[0], columns)
    if not len(data):
        return Masked(change_columns(data, leave_unchanged))
    strata = Strata.of(plugin, data, plugin.strata)
    plugin.check_sizes(strata.rows, strata, strata.sizes)
    sizes = plugin.allocate(strata.sizes)
    frame = data.numbered.select(*[col(name) for name in (*strata.names, RECORD)])
    highest = select_ranks(frame, _RecordBits(strata, draw), strata.sizes, sizes - 1, data.source)
    sample = _Sample(strata, draw, highest, strata.sizes / np.maximum(sizes, 1), columns)
    table = change_columns(data, sample, dict.fromkeys(columns, pl.Float64()), sample.keep)
    return Masked(table, int(strata.sizes.sum() - sizes.sum()))


@dataclass(frozen=True)
class _RecordBits:
    """The stratum of each record and its keyed bits, which differ between records, so that ranks have no ties."""

    strata: Strata
    draw: Any

    def __call__(self, table: pa.Table) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
        records = numbers(table, RECORD)
        frame = pl.DataFrame({name: series_of(table, name) for name in self.strata.names})
        strata = self.strata.of_rows(frame) if self.strata.names else np.zeros(len(records), dtype=np.int64)
        return strata, self.draw.bits(records)


@dataclass(frozen=True)
class _Sample:
    """Whether a record is in the sample, and the corrected weights of the records that are.

    ``highest`` holds for each stratum the highest bits in the sample, ``factor`` the factor of its weights.
    """

    strata: Strata
    draw: Any
    highest: NDArray[np.uint64]
    factor: NDArray[np.float64]
    columns: tuple[str, ...]

    def keep(self, data: Microdata) -> NDArray[np.bool_]:
        return np.asarray(self.draw.bits(data.records) <= self.highest[self.strata.of_rows(data.frame)])

    def __call__(self, data: Microdata) -> Mapping[str, pl.Series]:
        factor = pl.Series(self.factor[self.strata.of_rows(data.frame)])
        return {name: data.frame[name].cast(pl.Float64) * factor for name in self.columns}
