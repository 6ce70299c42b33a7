"""Means, variances, correlations and regressions of columns on Spark, as stable as on one machine.

For each requested set of columns (one, two, or a response with its predictors) a first pass gives the weighted means of
the records that have all values. A second one takes every batch, centred and weighted, to the triangle R of its QR decomposition;
the triangles of all batches, stacked, have the least squares solutions and the moments of the whole (Demmel et al. 2012, TSQR).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from discreet.engine.spark.arrow import chunks, in_arrow
from discreet.engine.spark.errors import translate_errors
from discreet.engine.spark.joins import col

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pyspark.sql import DataFrame

Columns = tuple[str, ...]


@dataclass(frozen=True)
class Fitted:
    """One set of columns: how many records have all, their weight, their means, and a triangle that has their moments."""

    number: int
    total: float
    means: NDArray[np.float64]
    triangle: NDArray[np.float64]

    @property
    def moment(self) -> NDArray[np.float64]:
        """Weighted second moments about the means."""
        return np.asarray(self.triangle.T @ self.triangle / self.total)

    @property
    def known(self) -> bool:
        return self.number > 0 and self.total > 0 and bool(np.isfinite(self.triangle).all())

    def mean_and_variance(self) -> tuple[float, float]:
        if not self.known:
            return float("nan"), float("nan")
        spread = float(self.moment[0, 0])
        return float(self.means[0]), spread * self.number / (self.number - 1) if self.number > 1 else 0.0

    def correlation(self) -> float:
        """The correlation of two columns; NaN where one of them does not vary."""
        if not self.known:
            return float("nan")
        scale = np.where(self._flat, np.nan, self._spread)
        return float(np.clip(self.moment[0, 1] / (scale[0] * scale[1]), -1.0, 1.0))

    def slopes(self) -> NDArray[np.float64]:
        """Of the first column on the others."""
        width = len(self.means) - 1
        if not self.known or self.number <= width:
            return np.full(width, np.nan)
        scale = np.where(self._flat, np.inf, self._spread)[1:]
        scaled_slopes = np.linalg.lstsq(self.triangle[:, 1:] / scale, self.triangle[:, 0], rcond=1e-10)[0]
        return np.asarray(scaled_slopes / scale)

    @property
    def _spread(self) -> NDArray[np.float64]:
        return np.sqrt(np.diag(self.moment))

    @property
    def _flat(self) -> NDArray[np.bool_]:
        return np.asarray(self._spread <= 1e-12 * np.maximum(np.abs(self.means), 1e-300))


def fitted(frame: DataFrame, sets: Sequence[Columns], weight: str, source: str) -> dict[Columns, Fitted]:
    """All sets of columns in two passes."""
    from pyspark.sql import functions as f

    aggregates: list[object] = []
    for columns in sets:
        complete = f.lit(True)
        for name in columns:
            complete = complete & col(name).isNotNull()
        parts = [f.count(f.when(complete, 1)), f.sum(f.when(complete, col(weight)))]
        aggregates += [*parts, *[f.sum(f.when(complete, col(weight) * col(name))) for name in columns]]
    with translate_errors(source):
        row = list(frame.agg(*aggregates).collect()[0])  # type: ignore[arg-type]
        sizes, means = [], []
        for columns in sets:
            number, total, *sums = (value or 0.0 for value in row[: 2 + len(columns)])
            row = row[2 + len(columns) :]
            sizes.append((int(number), float(total)))
            means.append(np.array(sums) / total if total > 0 else np.zeros(len(columns)))
        rows = in_arrow(frame, _Triangles(tuple(sets), tuple(means), weight), "at int, content binary").toArrow()
    stacked: list[list[NDArray[np.float64]]] = [[np.zeros((1, len(columns)))] for columns in sets]
    for at, content in zip(rows["at"].to_pylist(), rows["content"].to_pylist(), strict=True):
        stacked[at].append(np.frombuffer(content).reshape(-1, len(sets[at])))
    return {columns: Fitted(*sizes[at], means[at], np.concatenate(stacked[at])) for at, columns in enumerate(sets)}


@dataclass(frozen=True)
class _Triangles:
    sets: tuple[Columns, ...]
    means: tuple[NDArray[np.float64], ...]
    weight: str

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in chunks(batches):
            numbers = {name: _floats(table, name) for columns in self.sets for name in columns}
            root = np.sqrt(_floats(table, self.weight))
            triangles = []
            for columns, means in zip(self.sets, self.means, strict=True):
                away = np.stack([numbers[name] for name in columns], axis=1) - means
                rows = ~np.isnan(away).any(axis=1)
                triangles.append(np.asarray(np.linalg.qr(away[rows] * root[rows, None], mode="r")).tobytes())
            yield pa.RecordBatch.from_arrays(
                [pa.array(range(len(triangles)), pa.int32()), pa.array(triangles, pa.binary())], names=["at", "content"]
            )


def _floats(table: pa.Table, name: str) -> NDArray[np.float64]:
    return np.asarray(table.column(name).combine_chunks().to_numpy(zero_copy_only=False), dtype=np.float64)
