"""Strata on Spark: the distinct combinations with their sizes come here, and each batch finds its records' strata again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pyarrow as pa

from discreet.engine.classes.groups import groups_of
from discreet.engine.encoding.columns import encode
from discreet.engine.spark.arrow import numbers
from discreet.engine.spark.batches import Masked, changed, extremes, local, mapped, unchanged
from discreet.engine.spark.errors import told
from discreet.engine.spark.gaps import MANY_STRATA, MOST_STRATA
from discreet.engine.spark.joins import COUNT, col, distinct
from discreet.engine.spark.microdata import RECORD, SparkMicrodata
from discreet.engine.spark.rank_selection import at_ranks
from discreet.engine.spark.value_counts import clean
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.engine.draws.draw import KeyedDraw


@dataclass(frozen=True)
class Strata:
    """As the local engine's strata, with the same numbers; ``table`` has a row a stratum, with its number as ``id``."""

    names: tuple[str, ...]
    rows: Microdata
    ids: NDArray[np.int64]
    sizes: NDArray[np.int64]
    table: pl.DataFrame

    @classmethod
    def of(cls, plugin: Any, data: SparkMicrodata, names: Sequence[str]) -> Strata:
        """Counted by one GROUP BY; more than can come here are refused."""
        if not names:
            size = len(data)
            return cls((), local(data, {}), np.zeros(1, dtype=np.int64), np.array([size]), pl.DataFrame())
        with told(data.source):
            found = pl.DataFrame(distinct(data.frame, names).limit(MOST_STRATA + 1).toArrow())
        if len(found) > MOST_STRATA:
            MANY_STRATA.refuse(plugin, data.engine)
        rows = local(data, {name: found[name] for name in names})
        ids, number = groups_of(encode(rows, names), len(rows))
        sizes = np.zeros(number, dtype=np.int64)
        np.add.at(sizes, ids, found[COUNT].to_numpy())
        table = rows.frame.select(names).with_columns(id=pl.Series(ids))
        return cls(tuple(names), rows, ids, sizes, table)

    def title(self, _: Microdata, stratum: int) -> str:
        """A stratum as a person would call it."""
        row = self.table.row(int(np.argmax(self.ids == stratum)), named=True)
        return ", ".join(f"{name} = {row[name]}" for name in self.names)

    def of_rows(self, frame: pl.DataFrame) -> NDArray[np.int64]:
        """The strata of some records."""
        if not self.names:
            return np.zeros(len(frame), dtype=np.int64)
        return mapped(frame.select(self.names), self.table)["id"].to_numpy()


def sampling(plugin: Any, data: SparkMicrodata, columns: tuple[str, ...], draw: KeyedDraw) -> Masked:
    """The records of each stratum whose keyed bits are lowest: the bit patterns at the ranks wanted are found exactly."""
    plugin.check_columns(extremes(data, columns)[0], columns)
    if not len(data):
        return Masked(changed(data, unchanged))
    strata = Strata.of(plugin, data, plugin.strata)
    plugin.check_sizes(strata.rows, strata, strata.sizes)
    wanted = plugin.sizes(strata.sizes)
    chosen = _Bits(strata, draw)
    frame = data.numbered.select(*[col(name) for name in (*strata.names, RECORD)])
    highest = at_ranks(frame, chosen, strata.sizes, wanted - 1, data.source)
    sample = _Sample(strata, draw, highest, strata.sizes / np.maximum(wanted, 1), columns)
    table = changed(data, sample, dict.fromkeys(columns, pl.Float64()), sample.keep)
    return Masked(table, int(strata.sizes.sum() - wanted.sum()))


@dataclass(frozen=True)
class _Bits:
    """Each record's stratum and its keyed bits: other ones for every record, so ranks have no ties."""

    strata: Strata
    draw: Any

    def __call__(self, table: pa.Table) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
        frame = pl.DataFrame({name: pl.Series(clean(_one(table, name))) for name in self.strata.names})
        records = numbers(table, RECORD)
        parts = self.strata.of_rows(frame) if self.strata.names else np.zeros(len(records), dtype=np.int64)
        return parts, self.draw.bits(records)


def _one(table: pa.Table, name: str) -> pa.Array:
    return pa.concat_arrays(table.column(name).chunks)


@dataclass(frozen=True)
class _Sample:
    """Whether a record is in the sample, and the corrected weights of those that are."""

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
