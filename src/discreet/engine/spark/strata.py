"""Strata on Spark: the distinct combinations go to the driver with their sizes, and each batch looks up its records' strata."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from discreet.engine.classes.groups import group_columns
from discreet.engine.encoding.columns import encode
from discreet.engine.spark.batches import build_local_table, look_up_values
from discreet.engine.spark.errors import translate_errors
from discreet.engine.spark.gaps import MANY_STRATA, MOST_STRATA
from discreet.engine.spark.joins import COUNT, count_distinct_rows
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.engine.spark.microdata import SparkMicrodata


@dataclass(frozen=True)
class Strata:
    """The strata of the local engine, with the same numbers; ``table`` has one row per combination, with its stratum as ``id``.

    ``rows`` are the combinations as a local table, ``ids`` their strata, ``sizes`` the number of records of each stratum.
    """

    names: tuple[str, ...]
    rows: Microdata
    ids: NDArray[np.int64]
    sizes: NDArray[np.int64]
    table: pl.DataFrame

    @classmethod
    def of(cls, plugin: Any, data: SparkMicrodata, names: Sequence[str]) -> Strata:
        """Counted by one GROUP BY; more than MOST_STRATA are refused."""
        if not names:
            size = len(data)
            return cls((), build_local_table(data, {}), np.zeros(1, dtype=np.int64), np.array([size]), pl.DataFrame())
        with translate_errors(data.source):
            combinations = pl.DataFrame(count_distinct_rows(data.frame, names).limit(MOST_STRATA + 1).toArrow())
        if len(combinations) > MOST_STRATA:
            MANY_STRATA.refuse(plugin, data.engine)
        rows = build_local_table(data, {name: combinations[name] for name in names})
        ids, number = group_columns(encode(rows, names), len(rows))
        sizes = np.zeros(number, dtype=np.int64)
        np.add.at(sizes, ids, combinations[COUNT].to_numpy())
        table = rows.frame.select(names).with_columns(id=pl.Series(ids))
        return cls(tuple(names), rows, ids, sizes, table)

    def title(self, _: Microdata, stratum: int) -> str:
        """A stratum in words."""
        row = self.table.row(int(np.argmax(self.ids == stratum)), named=True)
        return ", ".join(f"{name} = {row[name]}" for name in self.names)

    def of_rows(self, frame: pl.DataFrame) -> NDArray[np.int64]:
        """The strata of some records."""
        if not self.names:
            return np.zeros(len(frame), dtype=np.int64)
        return look_up_values(frame.select(self.names), self.table)["id"].to_numpy()
