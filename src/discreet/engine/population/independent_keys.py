"""Expected class sizes where the keys are independent, with a prior for the shares of each key that is fitted to its values.

The records n of a value are Poisson with an intensity that is Gamma(a, b) from value to value; only values with records are
seen, so that n has the zero-truncated negative binomial distribution

    P(n) = Gamma(n + a) q^n / (n! Gamma(a) ((1 - q)^-a - 1)),      q = 1 / (1 + b),

which for a = 0 is the logarithmic series and for -1 < a < 0 has a heavier tail still (Engen 1974). As seen from one of its
records a value has the intensity Gamma(n + a, b + 1), where n counts that record and the other classes: values that are about
equally frequent are shrunk towards each other, and those of a heavy tail are discounted. Main effects of a log-linear model are
the limit of many records per value.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import expm1, gamma, lgamma, log
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SHAPES = (-0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
_LARGEST_SHAPE = 400.0


class IndependentKeys(NamedTuple):
    """What independent keys say about the size of each class, as seen from one of its records."""

    mean: NDArray[np.float64]
    """Of the number of other records of the class in the sample."""
    shape: NDArray[np.float64]
    """Of the gamma distribution that has the relative variance of the uncertain shares."""
    values: list[NDArray[Any]]
    """For each key the code of each class's value."""
    precisions: list[NDArray[np.float64]]
    """For each key and value the inverse of the relative variance of its share."""

    def variance(self, slopes: NDArray[np.float64], rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Of sums over the classes ``rows`` with these derivatives by the logarithm of the mean: classes share their values."""
        total = np.zeros(slopes.shape[1])
        for values, precision in zip(self.values, self.precisions, strict=True):
            for place in range(slopes.shape[1]):
                by_value = np.bincount(values[rows], weights=slopes[:, place], minlength=len(precision))
                total[place] += float((by_value**2 / precision).sum())
        return total


def describe_independent_keys(
    codes: Sequence[NDArray[Any]], cardinalities: Sequence[int], counts: NDArray[np.int64]
) -> IndependentKeys:
    """Means and shapes from the records of the other classes and one of the class; O(keys x (classes + sizes of values))."""
    total = max(float(counts.sum()), 1.0)
    log_mean, variance = np.full(len(counts), np.log(total)), np.zeros(len(counts))
    precisions = []
    for column, cardinality in zip(codes, cardinalities, strict=True):
        records = np.bincount(column, weights=counts, minlength=cardinality)
        shape, chance = fit_values(records[records > 0].astype(np.int64))
        others = records[column] - counts + 1 + shape
        log_mean += np.log(chance * others / total)
        variance += np.log1p(1 / others)
        precisions.append(np.maximum(records, 1.0) + shape)
    shapes = np.minimum(1 / np.maximum(np.expm1(variance), 1e-12), _LARGEST_SHAPE)
    return IndependentKeys(np.exp(log_mean), shapes, [np.asarray(column) for column in codes], precisions)


def fit_values(records: NDArray[np.int64]) -> tuple[float, float]:
    """The a of the grid with the largest likelihood of the records of each value, and its q, at which the mean is that observed.

    One record more than observed is taken to be a repeated value, so that a key whose values are all different in the sample is
    not taken to be different for everybody.
    """
    if not len(records):
        return 0.0, 1.0
    sizes, numbers = np.unique(records, return_counts=True)
    values, total = int(numbers.sum()), int(records.sum())
    best = (-np.inf, 0.0, 1.0)
    for shape in _SHAPES:
        log_rest = _solve_mean(shape, (total + 1) / values)
        log_weights = np.array([lgamma(size + shape) - lgamma(size + 1) for size in sizes.tolist()])
        norm = log(-log_rest) if shape == 0 else log(abs(gamma(shape))) + log(abs(expm1(-shape * log_rest)))
        value = float(numbers @ log_weights) + total * log(-expm1(log_rest)) - values * norm
        best = max(best, (value, shape, -expm1(log_rest)))
    return best[1], best[2]


def _solve_mean(shape: float, mean: float) -> float:
    """The log(1 - q) at which the zero-truncated distribution has this mean, above 1; by bisection."""
    low, high = -50.0, -1e-12
    for _ in range(60):
        middle = (low + high) / 2
        odds = expm1(-middle)
        expected = odds / -middle if shape == 0 else shape * odds / -expm1(shape * middle)
        low, high = (middle, high) if expected > mean else (low, middle)
    return (low + high) / 2
