"""Means, variances, correlations and regressions of columns on Spark, as numerically stable as on one machine.

For each requested set of columns (one, two, or a response with its predictors) a first pass computes the weighted means over the
records in which all values are present. A second pass reduces each batch, centred and weighted, to the triangle R of its QR
decomposition; the stacked triangles of all batches have the least squares solutions and the moments of the whole table (TSQR,
Demmel et al. 2012).
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
class Moments:
    """A set of columns, over the records in which all are present: their number, total weight, means, and stacked triangles."""

    number: int
    total: float
    means: NDArray[np.float64]
    triangle: NDArray[np.float64]

    @property
    def moment(self) -> NDArray[np.float64]:
        """Weighted second moments about the means."""
        return np.asarray(self.triangle.T @ self.triangle / self.total)

    @property
    def is_computable(self) -> bool:
        return self.number > 0 and self.total > 0 and bool(np.isfinite(self.triangle).all())

    def mean_and_variance(self) -> tuple[float, float]:
        if not self.is_computable:
            return float("nan"), float("nan")
        moment = float(self.moment[0, 0])
        return float(self.means[0]), moment * self.number / (self.number - 1) if self.number > 1 else 0.0

    def correlation(self) -> float:
        """The correlation of two columns; NaN if one of them is constant."""
        if not self.is_computable:
            return float("nan")
        scale = np.where(self._constant, np.nan, self._spread)
        return float(np.clip(self.moment[0, 1] / (scale[0] * scale[1]), -1.0, 1.0))

    def slopes(self) -> NDArray[np.float64]:
        """The slopes of the regression of the first column on the others."""
        width = len(self.means) - 1
        if not self.is_computable or self.number <= width:
            return np.full(width, np.nan)
        scale = np.where(self._constant, np.inf, self._spread)[1:]
        scaled_slopes = np.linalg.lstsq(self.triangle[:, 1:] / scale, self.triangle[:, 0], rcond=1e-10)[0]
        return np.asarray(scaled_slopes / scale)

    @property
    def _spread(self) -> NDArray[np.float64]:
        return np.sqrt(np.diag(self.moment))

    @property
    def _constant(self) -> NDArray[np.bool_]:
        return np.asarray(self._spread <= 1e-12 * np.maximum(np.abs(self.means), 1e-300))


def compute_moments(frame: DataFrame, sets: Sequence[Columns], weight: str, source: str) -> dict[Columns, Moments]:
    """The moments of all sets of columns, in two passes over the table."""
    from pyspark.sql import functions as f

    aggregates: list[object] = []
    for columns in sets:
        complete = f.lit(True)
        for name in columns:
            complete = complete & col(name).isNotNull()
        totals = [f.count(f.when(complete, 1)), f.sum(f.when(complete, col(weight)))]
        aggregates += [*totals, *[f.sum(f.when(complete, col(weight) * col(name))) for name in columns]]
    with translate_errors(source):
        row = list(frame.agg(*aggregates).collect()[0])  # type: ignore[arg-type]
        sizes, means = [], []
        for columns in sets:
            number, total, *sums = (value or 0.0 for value in row[: 2 + len(columns)])
            row = row[2 + len(columns) :]
            sizes.append((int(number), float(total)))
            means.append(np.array(sums) / total if total > 0 else np.zeros(len(columns)))
        rows = in_arrow(frame, _Triangles(tuple(sets), tuple(means), weight), "position int, content binary").toArrow()
    stacked: list[list[NDArray[np.float64]]] = [[np.zeros((1, len(columns)))] for columns in sets]
    for index, content in zip(rows["position"].to_pylist(), rows["content"].to_pylist(), strict=True):
        stacked[index].append(np.frombuffer(content).reshape(-1, len(sets[index])))
    return {columns: Moments(*sizes[index], means[index], np.concatenate(stacked[index])) for index, columns in enumerate(sets)}


@dataclass(frozen=True)
class _Triangles:
    """Reduces each batch to one triangle per set of columns, as bytes, with the position of the set."""

    sets: tuple[Columns, ...]
    means: tuple[NDArray[np.float64], ...]
    weight: str

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in chunks(batches):
            numbers = {name: _floats(table, name) for columns in self.sets for name in columns}
            root = np.sqrt(_floats(table, self.weight))
            triangles = []
            for columns, means in zip(self.sets, self.means, strict=True):
                centred = np.stack([numbers[name] for name in columns], axis=1) - means
                complete = ~np.isnan(centred).any(axis=1)
                triangles.append(np.asarray(np.linalg.qr(centred[complete] * root[complete, None], mode="r")).tobytes())
            yield pa.RecordBatch.from_arrays(
                [pa.array(range(len(triangles)), pa.int32()), pa.array(triangles, pa.binary())], names=["position", "content"]
            )


def _floats(table: pa.Table, name: str) -> NDArray[np.float64]:
    return np.asarray(table.column(name).combine_chunks().to_numpy(zero_copy_only=False), dtype=np.float64)
