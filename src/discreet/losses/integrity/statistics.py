"""Statistics of a table that may carry survey weights and missing values.

Missing values are left out where they are missing: a mean uses the values there are, a correlation the records that have
both, a regression the records that have all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def mean_and_variance(values: NDArray[np.float64], weights: NDArray[np.float64]) -> tuple[float, float]:
    """The weighted mean and the variance n/(n-1) sum w (x - mean)^2 / sum w; NaN where there are no values.

    >>> mean_and_variance(np.array([1.0, 2.0, np.nan, 3.0]), np.ones(4))
    (2.0, 1.0)
    """
    known = ~np.isnan(values)
    x, w = values[known], weights[known]
    total = w.sum()
    if total <= 0:
        return float("nan"), float("nan")
    mean = float((w * x).sum() / total)
    spread = float((w * (x - mean) ** 2).sum() / total)
    return mean, spread * len(x) / (len(x) - 1) if len(x) > 1 else 0.0


def quantiles(values: NDArray[np.float64], weights: NDArray[np.float64], shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """The least values whose weighted share of values not above them reaches each share.

    >>> quantiles(np.array([4.0, 1.0, 2.0, 3.0]), np.ones(4), np.array([0.25, 0.5])).tolist()
    [1.0, 2.0]
    """
    known = ~np.isnan(values)
    order = np.argsort(values[known], kind="stable")
    x, upto = values[known][order], np.cumsum(weights[known][order])
    if not len(x) or upto[-1] <= 0:
        return np.full(len(shares), np.nan)
    places = np.searchsorted(upto, shares * upto[-1] * (1 - 1e-12), side="left")
    return np.asarray(x[np.minimum(places, len(x) - 1)])


def correlations(table: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weighted correlations of the columns, pair by pair on the records that have both; NaN where one does not vary."""
    known = ~np.isnan(table)
    if known.all():
        return _correlation(table, weights)
    size = table.shape[1]
    made = np.full((size, size), np.nan)
    for one in range(size):
        for other in range(one + 1):
            both = known[:, one] & known[:, other]
            pair = _correlation(table[both][:, [one, other]], weights[both])
            made[one, other] = made[other, one] = pair[0, 1]
    return made


def _correlation(table: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    size, total = table.shape[1], weights.sum()
    if total <= 0 or not len(table):
        return np.full((size, size), np.nan)
    middle = (weights @ table) / total
    away = table - middle
    moment = (away * weights[:, None]).T @ away / total
    spread = np.sqrt(np.diag(moment))
    # a column that does not vary keeps rounding noise: relative to its size that is nothing
    flat = spread <= 1e-12 * np.maximum(np.abs(middle), 1e-300)
    scale = np.where(flat, np.nan, spread)
    return np.asarray(np.clip(moment / np.outer(scale, scale), -1.0, 1.0))


def regression(
    response: NDArray[np.float64], predictors: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Weighted least squares of a response on predictors and a constant, on records that have all; the slopes.

    Predictors that do not vary, or follow from others, get the shortest solution's slope.
    """
    whole = ~np.isnan(response) & ~np.isnan(predictors).any(axis=1)
    y, x, w = response[whole], predictors[whole], weights[whole]
    if len(y) <= x.shape[1] or w.sum() <= 0:
        return np.full(x.shape[1], np.nan)
    middle = (w @ x) / w.sum()
    x = x - middle
    y = y - (w @ y) / w.sum()
    spread = np.sqrt((w @ x**2) / w.sum())
    flat = spread <= 1e-12 * np.maximum(np.abs(middle), 1e-300)
    scale = np.where(flat, np.inf, spread)
    root = np.sqrt(w)
    if not (np.isfinite(x / scale).all() and np.isfinite(y).all()):
        return np.full(x.shape[1], np.nan)
    slopes = np.linalg.lstsq((x / scale) * root[:, None], y * root, rcond=1e-10)[0]
    return np.asarray(slopes / scale)


class Side(Protocol):
    """Statistics of the numeric columns of one of two tables, wherever they are computed."""

    def mean_and_variance(self, name: str) -> tuple[float, float]: ...

    def quantiles(self, name: str, shares: NDArray[np.float64]) -> NDArray[np.float64]: ...

    def correlations(self, names: Sequence[str]) -> NDArray[np.float64]: ...

    def regression(self, response: str, predictors: Sequence[str]) -> NDArray[np.float64]: ...


@dataclass(frozen=True)
class ColumnSide:
    """Those of columns that are here."""

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
