"""Statistical integrity on Spark: the statistics of both tables are aggregated there, and compared by the local measure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pyarrow as pa

from discreet.engine.cells.midpoints import as_numbers
from discreet.engine.spark.arrow import chunks, in_arrow
from discreet.engine.spark.errors import translate_errors
from discreet.engine.spark.hidden_columns import HIDDEN
from discreet.engine.spark.joins import COUNT, col, count_distinct_rows, quote
from discreet.engine.spark.microdata import SparkMicrodata
from discreet.engine.spark.rank_selection import OrderedColumn
from discreet.engine.spark.value_counts import series_of
from discreet.losses.integrity.measure import WEIGHTED
from discreet.losses.integrity.spark_moments import Moments, compute_moments
from discreet.model.attribute import Role
from discreet.model.cells import ColumnCells

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pyspark.sql import DataFrame

    from discreet.model.score import Score

_WEIGHT, _UNREAD = f"{HIDDEN}weight", f"{HIDDEN}unread "


def integrity(plugin: Any, original: SparkMicrodata, masked: SparkMicrodata) -> Score:
    """The same score as the local measure; sampling weights are refused."""
    names, numbers = plugin.compared_attributes(original.shape, masked.shape)
    if original.named(Role.WEIGHT) or masked.named(Role.WEIGHT):
        WEIGHTED.refuse(plugin, original.engine)
    before = _SparkStatistics.compute(plugin, original, numbers, {})
    after = _SparkStatistics.compute(plugin, masked, numbers, before.ranges(), masked.cells)
    notes = [note for name, number in after.count_unread().items() for note in plugin.note_unread(name, number)]
    categorical: list[str] = []
    not_numeric = [name for name in names if name not in numbers]
    if not_numeric and plugin.compares("share", "contingency"):
        categorical, left_out_notes = plugin.choose_categorical(_count_distinct(original, not_numeric))
        notes += left_out_notes

    def distance(chosen: Sequence[str]) -> float:
        tables = [_count_cells(data, chosen) for data in (original, masked)]
        weights = tuple(table[COUNT].cast(pl.Float64).to_numpy() for table in tables)
        total_variation: float = plugin.distance(*tables, chosen, weights)
        return total_variation

    score: Score = plugin.score(names, numbers, before, after, categorical, distance, notes)
    return score


def _count_distinct(data: SparkMicrodata, names: Sequence[str]) -> dict[str, int]:
    from pyspark.sql import functions as f

    parts = [part for name in names for part in (f.count_distinct(col(name)), f.max(col(name).isNull().cast("int")))]
    with translate_errors(data.source):
        row = data.frame.agg(*parts).collect()[0]
    return {name: row[2 * index] + (row[2 * index + 1] or 0) for index, name in enumerate(names)}


def _count_cells(data: SparkMicrodata, names: Sequence[str]) -> pl.DataFrame:
    with translate_errors(data.source):
        return pl.DataFrame(count_distinct_rows(data.frame, names).toArrow())


@dataclass(frozen=True)
class _SparkStatistics:
    """The statistics of one table; ``fits`` has the moments of each column, pair of columns and regression."""

    frame: DataFrame
    numbers: tuple[str, ...]
    fits: Mapping[tuple[str, ...], Moments]
    source: str

    @classmethod
    def compute(
        cls,
        plugin: Any,
        data: SparkMicrodata,
        numbers: Sequence[str],
        ranges: Mapping[str, tuple[float, float]],
        cells: Mapping[str, ColumnCells] | None = None,
    ) -> _SparkStatistics:
        """The moments of a table; ``ranges`` are those of the original, which close open intervals."""
        names = tuple(numbers)
        fields = [f"{quote(name)} double" for name in names] + [f"{quote(_UNREAD + name)} boolean" for name in names]
        chosen = data.frame.select(*[col(name) for name in names])
        if not names:
            return cls(chosen, names, {}, data.source)
        frame = in_arrow(chosen, _AsNumbers(names, dict(ranges), dict(cells or {})), ", ".join([*fields, f"`{_WEIGHT}` double"]))
        pairs = combinations(names, 2) if plugin.compares("correlation") else ()
        sets = [
            *[(name,) for name in names],
            *pairs,
            *[(response, *others) for response, others in plugin.responses(names).items()],
        ]
        return cls(frame, names, compute_moments(frame, list(dict.fromkeys(sets)), _WEIGHT, data.source), data.source)

    def ranges(self) -> dict[str, tuple[float, float]]:
        """Minimum and maximum of each column."""
        from pyspark.sql import functions as f

        if not self.numbers:
            return {}
        with translate_errors(self.source):
            row = self.frame.agg(*[part for name in self.numbers for part in (f.min(col(name)), f.max(col(name)))]).collect()[0]
        ends = [(row[2 * index], row[2 * index + 1]) for index in range(len(self.numbers))]
        return {
            name: (-math.inf, math.inf) if low is None else (low, high)
            for name, (low, high) in zip(self.numbers, ends, strict=True)
        }

    def count_unread(self) -> dict[str, int]:
        """The number of values of each column that are not missing but cannot be read as a number."""
        from pyspark.sql import functions as f

        if not self.numbers:
            return {}
        with translate_errors(self.source):
            row = self.frame.agg(*[f.count(f.when(col(f"{_UNREAD}{name}"), 1)) for name in self.numbers]).collect()[0]
        return dict(zip(self.numbers, row, strict=True))

    def mean_and_variance(self, name: str) -> tuple[float, float]:
        return self.fits[(name,)].mean_and_variance()

    def quantiles(self, name: str, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        size = self.fits[(name,)].number
        if not size:
            return np.full(len(shares), np.nan)
        ordered = OrderedColumn(self.frame, name, size, self.source)
        ranks = np.clip(np.ceil(shares * size * (1 - 1e-12)).astype(np.int64) - 1, 0, size - 1)
        return np.array(ordered.at(ranks))

    def correlations(self, names: Sequence[str]) -> NDArray[np.float64]:
        matrix = np.ones((len(names), len(names)))
        for (row, first), (column, second) in combinations(enumerate(names), 2):
            matrix[row, column] = matrix[column, row] = self.fits[(first, second)].correlation()
        return matrix

    def regression(self, response: str, predictors: Sequence[str]) -> NDArray[np.float64]:
        return self.fits[(response, *predictors)].slopes()


@dataclass(frozen=True)
class _AsNumbers:
    """Per column the number that a cell stands for, and whether it cannot be read as one; and the weight 1 per record."""

    names: tuple[str, ...]
    ranges: Mapping[str, tuple[float, float]]
    cells: Mapping[str, ColumnCells]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in chunks(batches):
            values: dict[str, pa.Array] = {}
            flags: dict[str, pa.Array] = {}
            for name in self.names:
                series = series_of(table, name)
                numbers = as_numbers(series, *self.ranges.get(name, (-math.inf, math.inf)), cells=self.cells.get(name))
                values[name] = pa.array(numbers, from_pandas=True)
                flags[f"{_UNREAD}{name}"] = pa.array(np.isnan(numbers) & series.is_not_null().to_numpy())
            columns = {**values, **flags, _WEIGHT: pa.array(np.ones(table.num_rows))}
            yield pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))
