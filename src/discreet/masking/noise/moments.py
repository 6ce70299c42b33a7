"""The moments of the whole table that scale the noise: standard deviations, means and covariances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.runtime.order_free_sums import mean_and_covariance

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Moments:
    """Standard deviations (or means and covariances of the complete records), minima and maxima, each in the order of columns.

    Arrays that the type of noise does not need are empty.
    """

    deviations: NDArray[np.float64]
    means: NDArray[np.float64]
    covariance: NDArray[np.float64]
    minima: NDArray[np.float64]
    maxima: NDArray[np.float64]

    @classmethod
    def of(cls, values: NDArray[np.float64], order: NDArray[np.int64], *, covariance: bool, deviations: bool) -> Moments:
        """Compute the requested moments of ``values[column, record]``, NaN for null.

        ``order`` sorts the records by their numbers. Sums are taken in this order, because floating-point sums depend on the
        order, and a release must not depend on the order of the rows.
        """
        minima, maxima = np.fmin.reduce(values, axis=1, initial=np.inf), np.fmax.reduce(values, axis=1, initial=-np.inf)
        spread = np.array([_deviation(column[order]) for column in values]) if deviations else np.zeros(0)
        means, matrix = np.zeros(0), np.zeros((0, 0))
        if covariance:
            ordered = values if (np.diff(order) == 1).all() else values[:, order]
            incomplete = np.isnan(ordered).any(axis=0)
            means, matrix = mean_and_covariance(ordered[:, ~incomplete] if incomplete.any() else ordered)
        return cls(spread, means, matrix, minima, maxima)


def _deviation(values: NDArray[np.float64]) -> float:
    missing = np.isnan(values)
    return float(np.std(values[~missing] if missing.any() else values, ddof=1))
