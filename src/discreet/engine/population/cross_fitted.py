"""Sizes of population classes by a negative binomial regression in which each class is predicted by the other classes.

Given their intensities the sizes of different classes are independent Poisson numbers, so that the records of the other classes
can predict a class without the class predicting itself. The size of the small classes of the sample is regressed on such
predictors: a Bayesian network of the keys, independent keys, and the classes that agree in all keys but one or two. What the
predictors do not explain is a gamma distribution, whose shape is fitted too; a log-linear model (Skinner & Shlomo 2008) is the
limit of an infinite shape. The product of the conditional likelihoods is a pseudo-likelihood (Besag 1975), whose errors are those
of the sandwich.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.population.dispersed_counts import LARGEST, SizeModel, fit_sizes, mean_and_shape
from discreet.engine.population.posterior import (
    chance_of_no_other,
    expected_inverse,
    inverse_variance,
    inverse_variance_of_larger,
)
from discreet.engine.population.predictors import compute_predictors

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST_FITTED = 100_000
"""Classes that the regression is fitted to; more are thinned at random."""
_INTERCEPT, _LOG_SHAPE, _SHAPE_SLOPE = (0.0, 2.0), (1.4, 2.0), (0.0, 6.0)
"""Means and precisions of the priors, with predictors in standard deviations, for samples with too few classes of two records to
tell: the network is right up to a factor, with a coefficient of variation of one half around it."""
_SLOPE_PRECISIONS = (64.0, 256.0, 1024.0)
"""Of the priors of the other coefficients, with mean 0; that with the largest evidence is used."""
_MODEL_ERROR = 0.04
"""Standard error of the logarithm of a sum of 1/F or of P(F = 1) because the model is not exact, for each unit of the logarithm
of its largest possible value over its value: the rarer population uniques are among sample uniques, the farther the model
extrapolates. Calibrated, not derived (docs/benchmarks.md)."""
_LEAST_SPREAD = 0.3
"""A predictor that hardly varies is not stretched to a standard deviation of one."""
_FARTHEST = 6.0
_STEP = 1e-3
"""Of the differences that stand for derivatives by the logarithm of a mean or a shape."""
_SEED = 20_180_917
"""The thinning is the same in every run; it reveals nothing and depends on no order of the rows."""


@dataclass(frozen=True)
class PopulationSizes:
    """What is known about the population class of each class of the sample."""

    alone: NDArray[np.float64]
    """P(F = f), which for a sample unique is the probability that it is unique in the population."""
    inverse: NDArray[np.float64]
    """E(1/F)."""
    alone_error: float
    """Standard error of the sum of ``alone`` over the sample uniques."""
    inverse_error: float
    """Standard error of the sum of ``inverse`` over the sample uniques."""
    total_error: float
    """Standard error of the sum of 1/F over all records, those of larger classes included."""


def estimate_sizes(
    codes: Sequence[NDArray[Any]], cardinalities: Sequence[int], counts: NDArray[np.int64], fraction: float
) -> PopulationSizes:
    """Population class sizes behind the distinct classes of a sample of the share ``fraction`` of the population.

    ``codes`` holds for each key the code of each class; the classes are taken in lexicographic order, so that the result does not
    depend on theirs. The regression is about classes of up to 5 records; those with more have F - f negative binomial with shape
    f and success probability ``fraction`` (Benedetti & Franconi 1998), because from there on a class's own count says most.
    """
    order = np.lexsort([np.asarray(column) for column in reversed(codes)])
    ordered = counts[order]
    small = np.flatnonzero(ordered <= LARGEST)
    own, shape = ordered.astype(np.float64), ordered.astype(np.float64)
    miss = np.full(len(own), fraction)
    by_fit = np.zeros(3)
    if len(small):
        regression = _Regression([np.asarray(column)[order] for column in codes], cardinalities, ordered, small, fraction)
        shape[small], miss[small] = regression.posterior(*regression.mean_and_shape(small), small)
        by_fit = regression.variances_by_fit(small)
    alone, inverse = chance_of_no_other(shape, miss), expected_inverse(own, shape, miss)
    errors = _standard_errors(own, shape, miss, alone, inverse, by_fit)
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    return PopulationSizes(alone[back], inverse[back], *errors)


def _standard_errors(
    own: NDArray[np.float64],
    shape: NDArray[np.float64],
    miss: NDArray[np.float64],
    alone: NDArray[np.float64],
    inverse: NDArray[np.float64],
    by_fit: NDArray[np.float64],
) -> tuple[float, float, float]:
    """Of the population uniques, and of the sum of 1/F over the sample uniques and over all records.

    Each has three parts: chance given the model, the uncertain coefficients (``by_fit``), and a model that is not exact.
    """
    single = own == 1
    of_uniques = float(inverse_variance(shape[single], miss[single]).sum())
    larger = own[~single]
    of_larger = float((larger**2 * inverse_variance_of_larger(larger, shape[~single], miss[~single])).sum())
    chance = np.array([(alone * (1 - alone))[single].sum(), of_uniques, of_uniques + of_larger])
    sums = np.array([alone[single].sum(), inverse[single].sum(), (own * inverse).sum()])
    most = np.array([single.sum(), single.sum(), len(own)])
    beyond = _MODEL_ERROR * sums * np.log(np.maximum(most / np.maximum(sums, 1e-300), 1.0))
    errors = np.sqrt(chance + by_fit + beyond**2)
    return float(errors[0]), float(errors[1]), float(errors[2])


class _Regression:
    """The regression of the sizes of the classes ``small`` on predictors from the other classes."""

    def __init__(
        self,
        codes: Sequence[NDArray[Any]],
        cardinalities: Sequence[int],
        counts: NDArray[np.int64],
        small: NDArray[np.int64],
        fraction: float,
    ) -> None:
        self.counts, self.fraction = counts.astype(np.float64), fraction
        self.offset, columns, precision = compute_predictors(codes, cardinalities, counts, LARGEST)
        ones = np.ones((len(counts), 1))
        self.design = np.hstack([ones, _standardize(columns, small)])
        self.shape_design = np.hstack([ones, _standardize(precision[:, None], small)])
        rows = small
        if len(rows) > _MOST_FITTED:
            rows = np.sort(np.random.default_rng(_SEED).choice(rows, _MOST_FITTED, replace=False))
        fitted = (counts[rows], self.design[rows], self.shape_design[rows], self.offset[rows])
        candidates: list[SizeModel] = []
        for precision_of_slopes in _SLOPE_PRECISIONS:
            priors = np.array([_INTERCEPT, *[(0.0, precision_of_slopes)] * columns.shape[1], _LOG_SHAPE, _SHAPE_SLOPE])
            start = candidates[-1].parameters if candidates else priors[:, 0]
            candidates.append(fit_sizes(*fitted, priors[:, 0], priors[:, 1], start))
        self.model = max(candidates, key=lambda model: model.evidence)

    def mean_and_shape(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return mean_and_shape(self.model.parameters, self.design[rows], self.shape_design[rows], self.offset[rows])

    def posterior(
        self, mean: NDArray[np.float64], shape: NDArray[np.float64], rows: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Shape and success probability of the negative binomial F - f of these classes, given the f of the sample.

        As seen from a record the class's intensity is gamma with shape s and rate s pi / m before its other records are counted.
        """
        rate = shape * self.fraction / mean + self.fraction
        return shape + self.counts[rows] - 1, rate / (rate + (1 - self.fraction))

    def variances_by_fit(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Of the population uniques and both sums of 1/F, because the coefficients are estimated (delta method).

        The derivatives by log m and log s of each class are differences; the designs carry them over to the coefficients.
        """
        mean, shape = self.mean_and_shape(rows)
        own = self.counts[rows]
        up, down = np.exp(_STEP / 2), np.exp(-_STEP / 2)

        def slopes(
            higher: tuple[NDArray[np.float64], NDArray[np.float64]], lower: tuple[NDArray[np.float64], NDArray[np.float64]]
        ) -> NDArray[np.float64]:
            """One column for each of the three sums."""
            ends = [self.posterior(*values, rows) for values in (higher, lower)]
            alone = chance_of_no_other(*ends[0]) - chance_of_no_other(*ends[1])
            inverse = expected_inverse(own, *ends[0]) - expected_inverse(own, *ends[1])
            return np.column_stack([np.where(own == 1, alone, 0.0), np.where(own == 1, inverse, 0.0), own * inverse]) / _STEP

        by_mean = self.design[rows].T @ slopes((mean * up, shape), (mean * down, shape))
        by_shape = self.shape_design[rows].T @ slopes((mean, shape * up), (mean, shape * down))
        gradient = np.vstack([by_mean, by_shape])
        return np.asarray(np.einsum("pk,pq,qk->k", gradient, self.model.covariance, gradient))


def _standardize(columns: NDArray[np.float64], rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """Columns in standard deviations of the classes ``rows``."""
    center, spread = columns[rows].mean(axis=0), columns[rows].std(axis=0)
    return np.asarray(np.clip((columns - center) / np.maximum(spread, _LEAST_SPREAD), -_FARTHEST, _FARTHEST))
