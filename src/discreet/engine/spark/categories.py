"""PRAM on Spark: the categories and their counts come here, the matrices go out, and each record draws by itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from discreet.engine.spark.batches import Masked, changed, local
from discreet.engine.spark.errors import told
from discreet.engine.spark.gaps import MANY_CATEGORIES, MANY_STRATA, MOST_STRATA
from discreet.engine.spark.joins import COUNT, distinct
from discreet.engine.spark.microdata import SparkMicrodata
from discreet.engine.spark.strata import Strata
from discreet.engine.spark.value_counts import Dictionary, dictionaries
from discreet.masking.pram.transitions import Tables, change_by, change_present
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.engine.draws.draw import KeyedDraw

Within = Mapping[int, tuple["NDArray[np.int64]", Tables]]


def pram(plugin: Any, data: SparkMicrodata, columns: tuple[str, ...], draw: KeyedDraw) -> Masked:
    """By dictionaries, which have the codes of the local engine."""
    found, _ = dictionaries(data, columns)
    if any(one.wide for one in found.values()):
        MANY_CATEGORIES.refuse(plugin, data.engine)
    plugin.check(local(data, {name: found[name].values for name in columns}), columns)
    if not plugin.strata:
        tables = {name: plugin.transitions(found[name].column, found[name].counts) for name in columns}
        return Masked(changed(data, _Changed(found, tables, draw)))
    strata = Strata.of(plugin, data, plugin.strata)
    within = {name: _within(plugin, data, strata, found[name]) for name in columns}
    return Masked(changed(data, _ChangedWithin(found, strata, within, draw)))


def _within(plugin: Any, data: SparkMicrodata, strata: Strata, values: Dictionary) -> Within:
    """Stratum by stratum the categories that it has, and what to draw from."""
    names, size = [*strata.names, values.name], len(values.values)
    with told(data.source):
        rows = pl.DataFrame(distinct(data.frame, names).limit(MOST_STRATA * 10 + 1).toArrow())
    if len(rows) > MOST_STRATA * 10:
        MANY_STRATA.refuse(plugin, data.engine)
    ids, codes = strata.of_rows(rows), values.codes(rows[values.name].to_arrow())
    base, times = plugin.probabilities(values.column), rows[COUNT].to_numpy()
    made = {}
    for stratum in np.unique(ids[codes < size]).tolist():
        here = (ids == stratum) & (codes < size)
        made[stratum] = plugin.within(base, np.bincount(codes[here], weights=times[here], minlength=size).astype(np.int64))
    return made


@dataclass(frozen=True)
class _Changed:
    values: Mapping[str, Dictionary]
    tables: Mapping[str, Tables]
    draw: Any

    def __call__(self, data: Microdata) -> Mapping[str, pl.Series]:
        return {name: self._one(data, self.values[name], tables) for name, tables in self.tables.items()}

    def _one(self, data: Microdata, values: Dictionary, tables: Tables) -> pl.Series:
        codes = values.codes(data.frame[values.name].to_arrow())
        return _decoded(
            data, values, change_present(codes, len(values.values), tables, self.draw.uniform(data.records, values.name))
        )


@dataclass(frozen=True)
class _ChangedWithin:
    values: Mapping[str, Dictionary]
    strata: Strata
    within: Mapping[str, Within]
    draw: Any

    def __call__(self, data: Microdata) -> Mapping[str, pl.Series]:
        ids = self.strata.of_rows(data.frame)
        return {name: self._one(data, ids, self.values[name]) for name in self.within}

    def _one(self, data: Microdata, ids: NDArray[np.int64], values: Dictionary) -> pl.Series:
        codes, uniform = values.codes(data.frame[values.name].to_arrow()), self.draw.uniform(data.records, values.name)
        made = codes.copy()
        present = codes < len(values.values)
        for stratum in np.unique(ids[present]).tolist():
            here, tables = self.within[values.name][stratum]
            rows = np.flatnonzero(present & (ids == stratum))
            made[rows] = here[change_by(np.searchsorted(here, codes[rows]), tables, uniform[rows])]
        return _decoded(data, values, made)


def _decoded(data: Microdata, values: Dictionary, codes: NDArray[Any]) -> pl.Series:
    table = values.values.extend_constant(None, 1)
    return table.gather(pl.Series(codes.astype(np.uint32))).cast(data.schema[values.name]).alias(values.name)
