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
from discreet.engine.population.posterior import chance_of_no_other, expected_inverse, inverse_variance
from discreet.engine.population.predictors import compute_predictors

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST_FITTED = 100_000
"""Classes that the regression is fitted to; more are thinned at random."""
_INTERCEPT, _SLOPE, _LOG_SHAPE, _SHAPE_SLOPE = (0.4, 2.0), (0.0, 64.0), (1.4, 2.0), (0.0, 24.0)
"""Means and precisions of the priors, with predictors in standard deviations, for samples with too few classes of two records to
tell: the network is right up to a factor, with a coefficient of variation of one half around it."""
_MODEL_ERROR = 0.02
"""Standard error of log P(F = 1) because intensities are not exactly gamma, as a share of -log P(F = 1), for each unit of
log(1 / pi): the rarer population uniques are among sample uniques and the smaller the sample, the farther the
model extrapolates."""
_LEAST_SPREAD = 0.3
"""A predictor that hardly varies is not stretched to a standard deviation of one."""
_FARTHEST = 6.0
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
    errors = np.zeros(2)
    if len(small):
        regression = _Regression([np.asarray(column)[order] for column in codes], cardinalities, ordered, small, fraction)
        shape[small], miss[small] = regression.predict(regression.model.parameters, small)
        errors = regression.standard_errors(small[ordered[small] == 1])
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    alone, inverse = chance_of_no_other(shape, miss), expected_inverse(own, shape, miss)
    return PopulationSizes(alone[back], inverse[back], float(errors[0]), float(errors[1]))


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
        self.offset, others = compute_predictors(codes, cardinalities, counts, LARGEST)
        raw = np.column_stack([self.offset, others])
        center, spread = raw[small].mean(axis=0), raw[small].std(axis=0)
        scaled = np.clip((raw - center) / np.maximum(spread, _LEAST_SPREAD), -_FARTHEST, _FARTHEST)
        self.design = np.column_stack([np.ones(len(raw)), scaled])
        self.shape_design = self.design[:, :2]
        columns = self.design.shape[1]
        priors = np.array([_INTERCEPT, *[_SLOPE] * (columns - 1), _LOG_SHAPE, _SHAPE_SLOPE])
        rows = small
        if len(rows) > _MOST_FITTED:
            rows = np.sort(np.random.default_rng(_SEED).choice(rows, _MOST_FITTED, replace=False))
        self.model: SizeModel = fit_sizes(
            counts[rows], self.design[rows], self.shape_design[rows], self.offset[rows], priors[:, 0], priors[:, 1]
        )

    def predict(
        self, parameters: NDArray[np.float64], rows: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Shape and success probability of the negative binomial F - f of these classes, given the f of the sample.

        As seen from a record the class's intensity is gamma with shape s and rate s pi / m before its other records are counted.
        """
        mean, shape = mean_and_shape(parameters, self.design[rows], self.shape_design[rows], self.offset[rows])
        rate = shape * self.fraction / mean + self.fraction
        return shape + self.counts[rows] - 1, rate / (rate + 1 - self.fraction)

    def standard_errors(self, unique: NDArray[np.int64]) -> NDArray[np.float64]:
        """Of the sums of P(F = 1) and E(1/F) over the sample uniques: chance, uncertain parameters, and an inexact model."""

        def sums(parameters: NDArray[np.float64]) -> NDArray[np.float64]:
            shape, miss = self.predict(parameters, unique)
            return np.array([chance_of_no_other(shape, miss).sum(), expected_inverse(ones, shape, miss).sum()])

        if not len(unique):
            return np.zeros(2)
        ones = np.ones(len(unique))
        gradient = []
        for place, deviation in enumerate(np.sqrt(np.maximum(np.diag(self.model.covariance), 1e-18))):
            moved = np.zeros(len(self.model.parameters))
            moved[place] = deviation / 2
            gradient.append((sums(self.model.parameters + moved) - sums(self.model.parameters - moved)) / deviation)
        slopes = np.array(gradient)
        shape, miss = self.predict(self.model.parameters, unique)
        alone = chance_of_no_other(shape, miss)
        chance = np.array([(alone * (1 - alone)).sum(), inverse_variance(shape, miss).sum()])
        fitted = np.einsum("pk,pq,qk->k", slopes, self.model.covariance, slopes)
        total = np.maximum(sums(self.model.parameters), 1e-300)
        beyond = _MODEL_ERROR * -np.log(self.fraction) * total * np.log(np.maximum(len(unique) / total, 1.0))
        return np.asarray(np.sqrt(fitted + chance + beyond**2))
