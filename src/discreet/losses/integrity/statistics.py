"""Statistics of a table that may have sampling weights and missing values.

Missing values are left out: a mean uses the values that are present, a correlation the records in which both are, a regression
the records in which all are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def mean_and_variance(values: NDArray[np.float64], weights: NDArray[np.float64]) -> tuple[float, float]:
    """The weighted mean and the variance n/(n-1) sum w (x - mean)^2 / sum w; NaN if there are no values.

    >>> mean_and_variance(np.array([1.0, 2.0, np.nan, 3.0]), np.ones(4))
    (2.0, 1.0)
    """
    known = ~np.isnan(values)
    x, w = values[known], weights[known]
    total = w.sum()
    if total <= 0:
        return float("nan"), float("nan")
    mean = float((w * x).sum() / total)
    moment = float((w * (x - mean) ** 2).sum() / total)
    return mean, moment * len(x) / (len(x) - 1) if len(x) > 1 else 0.0


def quantiles(values: NDArray[np.float64], weights: NDArray[np.float64], shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """For each share the smallest value such that the values up to it have at least this share of the weight.

    >>> quantiles(np.array([4.0, 1.0, 2.0, 3.0]), np.ones(4), np.array([0.25, 0.5])).tolist()
    [1.0, 2.0]
    """
    known = ~np.isnan(values)
    order = np.argsort(values[known], kind="stable")
    x, cumulated = values[known][order], np.cumsum(weights[known][order])
    if not len(x) or cumulated[-1] <= 0:
        return np.full(len(shares), np.nan)
    positions = np.searchsorted(cumulated, shares * cumulated[-1] * (1 - 1e-12), side="left")
    return np.asarray(x[np.minimum(positions, len(x) - 1)])


def correlations(table: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weighted correlations of the columns, each over the records in which both values are present; NaN if one is constant."""
    known = ~np.isnan(table)
    if known.all():
        return _correlation(table, weights)
    size = table.shape[1]
    matrix = np.full((size, size), np.nan)
    for row in range(size):
        for column in range(row + 1):
            both = known[:, row] & known[:, column]
            pair = _correlation(table[both][:, [row, column]], weights[both])
            matrix[row, column] = matrix[column, row] = pair[0, 1]
    return matrix


def _correlation(table: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    size, total = table.shape[1], weights.sum()
    if total <= 0 or not len(table):
        return np.full((size, size), np.nan)
    means = (weights @ table) / total
    centred = table - means
    moment = (centred * weights[:, None]).T @ centred / total
    spread = np.sqrt(np.diag(moment))
    # rounding leaves a constant column with a tiny spread, relative to its mean
    constant = spread <= 1e-12 * np.maximum(np.abs(means), 1e-300)
    scale = np.where(constant, np.nan, spread)
    return np.asarray(np.clip(moment / np.outer(scale, scale), -1.0, 1.0))


def regression(
    response: NDArray[np.float64], predictors: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The slopes of a weighted least squares regression with intercept, over the records in which all values are present.

    If predictors are constant or linearly dependent, the solution with the smallest norm is taken.
    """
    complete = ~np.isnan(response) & ~np.isnan(predictors).any(axis=1)
    y, x, w = response[complete], predictors[complete], weights[complete]
    if len(y) <= x.shape[1] or w.sum() <= 0:
        return np.full(x.shape[1], np.nan)
    means = (w @ x) / w.sum()
    x = x - means
    y = y - (w @ y) / w.sum()
    spread = np.sqrt((w @ x**2) / w.sum())
    constant = spread <= 1e-12 * np.maximum(np.abs(means), 1e-300)
    scale = np.where(constant, np.inf, spread)
    root = np.sqrt(w)
    if not (np.isfinite(x / scale).all() and np.isfinite(y).all()):
        return np.full(x.shape[1], np.nan)
    slopes = np.linalg.lstsq((x / scale) * root[:, None], y * root, rcond=1e-10)[0]
    return np.asarray(slopes / scale)


class TableStatistics(Protocol):
    """Statistics of the numeric columns of a table, on any engine."""

    def mean_and_variance(self, name: str) -> tuple[float, float]: ...

    def quantiles(self, name: str, shares: NDArray[np.float64]) -> NDArray[np.float64]: ...

    def correlations(self, names: Sequence[str]) -> NDArray[np.float64]: ...

    def regression(self, response: str, predictors: Sequence[str]) -> NDArray[np.float64]: ...


@dataclass(frozen=True)
class LocalStatistics:
    """Statistics of columns in memory."""

    columns: Mapping[str, NDArray[np.float64]]
    weights: NDArray[np.float64]

    def mean_and_variance(self, name: str) -> tuple[float, float]:
        return mean_and_variance(self.columns[name], self.weights)

    def quantiles(self, name: str, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        return quantiles(self.columns[name], self.weights, shares)

    def correlations(self, names: Sequence[str]) -> NDArray[np.float64]:
        return correlations(self._table(names), self.weights)

    def regression(self, response: str, predictors: Sequence[str]) -> NDArray[np.float64]:
        return regression(self.columns[response], self._table(predictors), self.weights)

    def _table(self, names: Sequence[str]) -> NDArray[np.float64]:
        return np.stack([self.columns[name] for name in names], axis=1)
