"""What noise must know of the whole table: how far columns spread, alone and together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.runtime.order_free_sums import mean_and_covariance

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Moments:
    """Of some columns: standard deviations (or means and covariances of complete records), and the least and greatest values."""

    deviations: NDArray[np.float64]
    means: NDArray[np.float64]
    covariance: NDArray[np.float64]
    least: NDArray[np.float64]
    most: NDArray[np.float64]

    @classmethod
    def of(cls, values: NDArray[np.float64], order: NDArray[np.int64], *, together: bool, alone: bool) -> Moments:
        """Moments of an attribute a row, added up in the order of the records' numbers; only those that are asked for."""
        empty = np.zeros(0)
        deviations = np.array([_deviation(column[order]) for column in values]) if alone else empty
        means, covariance = empty, np.zeros((0, 0))
        if together:
            ordered = values if (np.diff(order) == 1).all() else values[:, order]
            lacking = np.isnan(ordered).any(axis=0)
            means, covariance = mean_and_covariance(ordered[:, ~lacking] if lacking.any() else ordered)
        least, most = np.fmin.reduce(values, axis=1, initial=np.inf), np.fmax.reduce(values, axis=1, initial=-np.inf)
        return cls(deviations, means, covariance, least, most)


def _deviation(values: NDArray[np.float64]) -> float:
    missing = np.isnan(values)
    return float(np.std(values[~missing] if missing.any() else values, ddof=1))
