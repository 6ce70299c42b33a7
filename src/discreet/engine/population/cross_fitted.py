"""Sizes of population classes by a negative binomial regression in which each class is predicted by the other classes.

Given their intensities the sizes of different classes are independent Poisson numbers, so that the records of the other classes
can predict a class without the class predicting itself. The size of the small classes of the sample is regressed on such
predictors: a Bayesian network of the keys, independent keys, and the classes that agree in all keys but one or two. What the
predictors do not explain is a gamma distribution, whose shape is fitted too; a log-linear model (Skinner & Shlomo 2008) is the
limit of an infinite shape. The product of the conditional likelihoods is a pseudo-likelihood (Besag 1975), whose errors are those
of the sandwich.

Keys that are independent need no regression: a second model says just that, and the two are averaged by the likelihood that each
gives to the sizes of the small classes (Bayesian model averaging with even odds; Hoeting et al. 1999).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from discreet.engine.population.dispersed_counts import LARGEST, log_likelihood, misfit
from discreet.engine.population.independent_keys import describe_independent_keys
from discreet.engine.population.posterior import (
    chance_of_no_other,
    expected_inverse,
    inverse_variance,
    inverse_variance_of_larger,
    posterior_parameters,
)
from discreet.engine.population.size_regression import SizeRegression

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MEAN_ERROR, _SHAPE_ERROR = 0.03, 0.15
"""Standard errors, common to all classes, of the logarithms of the mean and of the shape because the model is not exact, for each
unit of log(1 / sampling fraction): the smaller the sample, the farther it is continued. More where the sizes in the sample
deviate from the model already. Calibrated, not derived (docs/benchmarks.md)."""
_NEGLIGIBLE = 1e-6
"""A model with less weight is left out."""
_STEP = 1e-3
"""Of the differences that stand for derivatives by the logarithm of a mean or a shape."""


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


class _Described(NamedTuple):
    """What one model says about some classes."""

    alone: NDArray[np.float64]
    inverse: NDArray[np.float64]
    sums: NDArray[np.float64]
    """Of ``alone`` and ``inverse`` over the sample uniques, and of 1/F over all records."""
    variances: NDArray[np.float64]
    """Of the three sums, by chance and by the fit."""
    model_errors: NDArray[np.float64]
    """Standard errors of the three sums because the model is not exact."""


def estimate_sizes(
    codes: Sequence[NDArray[Any]], cardinalities: Sequence[int], counts: NDArray[np.int64], fraction: float
) -> PopulationSizes:
    """Population class sizes behind the distinct classes of a sample of the share ``fraction`` of the population.

    ``codes`` holds for each key the code of each class; the classes are taken in lexicographic order, so that the result does not
    depend on theirs. The models are about classes of up to 5 records; those with more have F - f negative binomial with shape
    f and success probability ``fraction`` (Benedetti & Franconi 1998), because from there on a class's own count says most.
    """
    order = np.lexsort([np.asarray(column) for column in reversed(codes)])
    ordered = counts[order]
    is_small = ordered <= LARGEST
    larger = ordered[~is_small].astype(np.float64)
    of_larger = _describe(larger, larger, np.full(len(larger), fraction))
    sums, variances = of_larger.sums, of_larger.variances
    alone, inverse = np.empty(len(counts)), np.empty(len(counts))
    alone[~is_small], inverse[~is_small] = of_larger.alone, of_larger.inverse
    model_errors = np.zeros(3)
    if is_small.any():
        in_order = [np.asarray(column)[order] for column in codes]
        models = _describe_small(in_order, cardinalities, ordered, np.flatnonzero(is_small), fraction)
        alone[is_small] = sum(weight * model.alone for weight, model in models)
        inverse[is_small] = sum(weight * model.inverse for weight, model in models)
        of_small = sum((weight * model.sums for weight, model in models), np.zeros(3))
        variances = variances + sum(weight * (model.variances + (model.sums - of_small) ** 2) for weight, model in models)
        sums = sums + of_small
        model_errors = sum((weight * model.model_errors for weight, model in models), model_errors)
    errors = np.sqrt(variances + model_errors**2)
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    return PopulationSizes(alone[back], inverse[back], float(errors[0]), float(errors[1]), float(errors[2]))


def _describe_small(
    codes: Sequence[NDArray[Any]],
    cardinalities: Sequence[int],
    counts: NDArray[np.int64],
    small: NDArray[np.int64],
    fraction: float,
) -> list[tuple[float, _Described]]:
    """The regression and the model of independent keys with their weights; one alone where the other is out of the question."""
    regression = SizeRegression(codes, cardinalities, counts, small)
    independent = describe_independent_keys(codes, cardinalities, counts)
    rows = regression.fitted_rows
    evidence = log_likelihood(counts[rows], independent.mean[rows], independent.shape[rows])
    weight = 1 / (1 + np.exp(np.clip(regression.model.evidence - evidence, -50, 50)))
    own = counts[small].astype(np.float64)
    models = []
    for share, is_regression in ((1 - weight, True), (weight, False)):
        if share <= _NEGLIGIBLE:
            continue
        mean, shape = regression.mean_and_shape(small) if is_regression else (independent.mean[small], independent.shape[small])
        by_mean, by_shape = (_slopes(own, mean, shape, fraction, *step) for step in ((_STEP, 0.0), (0.0, _STEP)))
        described = _describe(own, *posterior_parameters(own, mean, shape, fraction))
        variances = described.variances + independent.variance(by_mean, small)
        if is_regression:
            variances = variances + regression.variance(by_mean, by_shape, small)
        errors = misfit(counts[small], mean, shape) * _model_errors(by_mean, by_shape, fraction)
        models.append((share, described._replace(variances=variances, model_errors=errors)))
    total = sum(share for share, _ in models)
    return [(share / total, model) for share, model in models]


def _model_errors(by_mean: NDArray[np.float64], by_shape: NDArray[np.float64], fraction: float) -> NDArray[np.float64]:
    """Standard errors of the three sums if the means and the shapes of all classes err together (delta method)."""
    errors = np.hypot(_MEAN_ERROR * by_mean.sum(axis=0), _SHAPE_ERROR * by_shape.sum(axis=0))
    return np.asarray(np.log(1 / fraction) * errors)


def _describe(own: NDArray[np.float64], shape: NDArray[np.float64], miss: NDArray[np.float64]) -> _Described:
    """Classes of ``own`` records whose F - f is negative binomial with ``shape`` and success probability ``miss``."""
    single = own == 1
    alone, inverse = chance_of_no_other(shape, miss), expected_inverse(own, shape, miss)
    of_uniques = float(inverse_variance(shape[single], miss[single]).sum())
    larger = own[~single]
    of_larger = float((larger**2 * inverse_variance_of_larger(larger, shape[~single], miss[~single])).sum())
    chance = np.array([(alone * (1 - alone))[single].sum(), of_uniques, of_uniques + of_larger])
    sums = np.array([alone[single].sum(), inverse[single].sum(), (own * inverse).sum()])
    return _Described(alone, inverse, sums, chance, np.zeros(3))


def _slopes(
    own: NDArray[np.float64],
    mean: NDArray[np.float64],
    shape: NDArray[np.float64],
    fraction: float,
    by_mean: float,
    by_shape: float,
) -> NDArray[np.float64]:
    """Derivatives by the logarithm of the mean or the shape, whichever is moved; one column for each of the three sums."""
    up, down = (
        posterior_parameters(own, mean * np.exp(side * by_mean), shape * np.exp(side * by_shape), fraction)
        for side in (0.5, -0.5)
    )
    alone = chance_of_no_other(*up) - chance_of_no_other(*down)
    inverse = expected_inverse(own, *up) - expected_inverse(own, *down)
    columns = [np.where(own == 1, alone, 0.0), np.where(own == 1, inverse, 0.0), own * inverse]
    return np.asarray(np.column_stack(columns) / (by_mean + by_shape))
