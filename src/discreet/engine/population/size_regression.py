"""The regression of the sizes of small classes on predictors from the other classes: its priors, and the best of its fits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.population.dispersed_counts import LARGEST, SizeModel, fit_sizes, mean_and_shape
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
_LEAST_SPREAD = 0.3
"""A predictor that hardly varies is not stretched to a standard deviation of one."""
_FARTHEST = 6.0
_SEED = 20_180_917
"""The thinning is the same in every run; it reveals nothing and depends on no order of the rows."""


class SizeRegression:
    """The regression of the sizes of the classes ``small`` on predictors from the other classes."""

    def __init__(
        self,
        codes: Sequence[NDArray[Any]],
        cardinalities: Sequence[int],
        counts: NDArray[np.int64],
        small: NDArray[np.int64],
    ) -> None:
        self.offset, columns, precision = compute_predictors(codes, cardinalities, counts, LARGEST)
        ones = np.ones((len(counts), 1))
        self.design = np.hstack([ones, _standardize(columns, small)])
        self.shape_design = np.hstack([ones, _standardize(precision[:, None], small)])
        rows = small
        if len(rows) > _MOST_FITTED:
            rows = np.sort(np.random.default_rng(_SEED).choice(rows, _MOST_FITTED, replace=False))
        self.fitted_rows = rows
        fitted = (counts[rows], self.design[rows], self.shape_design[rows], self.offset[rows])
        candidates: list[SizeModel] = []
        for precision_of_slopes in _SLOPE_PRECISIONS:
            priors = np.array([_INTERCEPT, *[(0.0, precision_of_slopes)] * columns.shape[1], _LOG_SHAPE, _SHAPE_SLOPE])
            start = candidates[-1].parameters if candidates else priors[:, 0]
            candidates.append(fit_sizes(*fitted, priors[:, 0], priors[:, 1], start))
        self.model = max(candidates, key=lambda model: model.evidence)

    def mean_and_shape(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return mean_and_shape(self.model.parameters, self.design[rows], self.shape_design[rows], self.offset[rows])

    def variance(
        self, by_mean: NDArray[np.float64], by_shape: NDArray[np.float64], rows: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Of sums over the classes ``rows`` because the coefficients are estimated (delta method).

        The designs carry the derivatives by log m and log s of each class over to the coefficients.
        """
        gradient = np.vstack([self.design[rows].T @ by_mean, self.shape_design[rows].T @ by_shape])
        return np.asarray(np.einsum("pk,pq,qk->k", gradient, self.model.covariance, gradient))


def _standardize(columns: NDArray[np.float64], rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """Columns in standard deviations of the classes ``rows``."""
    center, spread = columns[rows].mean(axis=0), columns[rows].std(axis=0)
    return np.asarray(np.clip((columns - center) / np.maximum(spread, _LEAST_SPREAD), -_FARTHEST, _FARTHEST))
