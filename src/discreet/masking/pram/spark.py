"""PRAM on Spark: the driver collects the counts of the categories, the workers draw for each record from the alias tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from discreet.engine.spark.batches import Masked, change_columns
from discreet.engine.spark.distinct_values import collect_distinct_values
from discreet.engine.spark.errors import translate_errors
from discreet.engine.spark.gaps import MANY_STRATA, MOST_STRATA
from discreet.engine.spark.joins import COUNT, count_distinct_rows
from discreet.engine.spark.strata import Strata
from discreet.engine.spark.value_counts import Dictionary
from discreet.masking.pram.transitions import AliasTables, draw_categories, draw_present_categories
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.engine.draws.draw import KeyedDraw
    from discreet.engine.spark.microdata import SparkMicrodata

StratumTables = Mapping[int, tuple["NDArray[np.int64]", AliasTables]]
"""For each stratum the codes of the categories that occur in it, and the tables to draw from."""


def pram(plugin: Any, data: SparkMicrodata, columns: tuple[str, ...], draw: KeyedDraw) -> Masked:
    """Change categories by the transition matrix; dictionaries give them the codes of the local engine."""
    values, table = collect_distinct_values(plugin, data, columns)
    plugin.check(table, columns)
    if not plugin.strata:
        tables = {name: plugin.build_transitions(values[name].column, values[name].counts) for name in columns}
        return Masked(change_columns(data, _ChangeCategories(values, tables, draw)))
    strata = Strata.of(plugin, data, plugin.strata)
    by_stratum = {name: _collect_stratum_tables(plugin, data, strata, values[name]) for name in columns}
    return Masked(change_columns(data, _ChangeWithinStrata(values, strata, by_stratum, draw)))


def _collect_stratum_tables(plugin: Any, data: SparkMicrodata, strata: Strata, values: Dictionary) -> StratumTables:
    names, size = [*strata.names, values.name], len(values.values)
    most = MOST_STRATA * 10
    with translate_errors(data.source):
        rows = pl.DataFrame(count_distinct_rows(data.frame, names).limit(most + 1).toArrow())
    if len(rows) > most:
        MANY_STRATA.refuse(plugin, data.engine)
    ids, codes = strata.of_rows(rows), values.codes(rows[values.name].to_arrow())
    base, counts = plugin.transition_matrix(values.column), rows[COUNT].to_numpy()
    tables = {}
    for stratum in np.unique(ids[codes < size]).tolist():
        inside = (ids == stratum) & (codes < size)
        frequencies = np.bincount(codes[inside], weights=counts[inside], minlength=size).astype(np.int64)
        tables[stratum] = plugin.build_stratum_tables(base, frequencies)
    return tables


@dataclass(frozen=True)
class _ChangeCategories:
    values: Mapping[str, Dictionary]
    tables: Mapping[str, AliasTables]
    draw: Any

    def __call__(self, data: Microdata) -> Mapping[str, pl.Series]:
        return {name: self._change(data, self.values[name], tables) for name, tables in self.tables.items()}

    def _change(self, data: Microdata, values: Dictionary, tables: AliasTables) -> pl.Series:
        codes, uniform = values.codes(data.frame[values.name].to_arrow()), self.draw.uniform(data.records, values.name)
        return _decode(data, values, draw_present_categories(codes, len(values.values), tables, uniform))


@dataclass(frozen=True)
class _ChangeWithinStrata:
    values: Mapping[str, Dictionary]
    strata: Strata
    tables: Mapping[str, StratumTables]
    draw: Any

    def __call__(self, data: Microdata) -> Mapping[str, pl.Series]:
        ids = self.strata.of_rows(data.frame)
        return {name: self._change(data, ids, self.values[name]) for name in self.tables}

    def _change(self, data: Microdata, ids: NDArray[np.int64], values: Dictionary) -> pl.Series:
        codes, uniform = values.codes(data.frame[values.name].to_arrow()), self.draw.uniform(data.records, values.name)
        new_codes = codes.copy()
        present = codes < len(values.values)
        for stratum in np.unique(ids[present]).tolist():
            occurring, tables = self.tables[values.name][stratum]
            rows = np.flatnonzero(present & (ids == stratum))
            new_codes[rows] = occurring[draw_categories(np.searchsorted(occurring, codes[rows]), tables, uniform[rows])]
        return _decode(data, values, new_codes)


def _decode(data: Microdata, values: Dictionary, codes: NDArray[Any]) -> pl.Series:
    table = values.values.extend_constant(None, 1)
    return table.gather(pl.Series(codes.astype(np.uint32))).cast(data.schema[values.name]).alias(values.name)
