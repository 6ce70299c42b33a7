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

_MODEL_ERROR = 0.04
"""Standard error of the logarithm of a sum of 1/F or of P(F = 1) because the model is not exact, for each unit of the logarithm
of its largest possible value over its value: the rarer population uniques are among sample uniques, the farther the model
extrapolates; and more where the sizes in the sample deviate from the model already. Calibrated, not derived
(docs/benchmarks.md)."""
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
    misfit: float = 1.0


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
    deviation = 1.0
    if is_small.any():
        in_order = [np.asarray(column)[order] for column in codes]
        models = _describe_small(in_order, cardinalities, ordered, np.flatnonzero(is_small), fraction)
        alone[is_small] = sum(weight * model.alone for weight, model in models)
        inverse[is_small] = sum(weight * model.inverse for weight, model in models)
        of_small = sum((weight * model.sums for weight, model in models), np.zeros(3))
        variances = variances + sum(weight * (model.variances + (model.sums - of_small) ** 2) for weight, model in models)
        sums = sums + of_small
        deviation = sum(weight * model.misfit for weight, model in models)
    single = int((counts == 1).sum())
    most = np.array([single, single, len(counts)])
    beyond = _MODEL_ERROR * deviation * sums * np.log(np.maximum(most / np.maximum(sums, 1e-300), 1.0))
    errors = np.sqrt(variances + beyond**2)
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
    if weight < 1 - _NEGLIGIBLE:
        mean, shape = regression.mean_and_shape(small)
        by_mean, by_shape = (_slopes(own, mean, shape, fraction, *step) for step in ((_STEP, 0.0), (0.0, _STEP)))
        described = _describe(own, *posterior_parameters(own, mean, shape, fraction))
        by_fit = regression.variance(by_mean, by_shape, small) + independent.variance(by_mean, small)
        fits = misfit(counts[small], mean, shape)
        models.append((1 - weight, described._replace(variances=described.variances + by_fit, misfit=fits)))
    if weight > _NEGLIGIBLE:
        mean, shape = independent.mean[small], independent.shape[small]
        described = _describe(own, *posterior_parameters(own, mean, shape, fraction))
        by_fit = independent.variance(_slopes(own, mean, shape, fraction, _STEP, 0.0), small)
        fits = misfit(counts[small], mean, shape)
        models.append((weight, described._replace(variances=described.variances + by_fit, misfit=fits)))
    total = sum(share for share, _ in models)
    return [(share / total, model) for share, model in models]


def _describe(own: NDArray[np.float64], shape: NDArray[np.float64], miss: NDArray[np.float64]) -> _Described:
    """Classes of ``own`` records whose F - f is negative binomial with ``shape`` and success probability ``miss``."""
    single = own == 1
    alone, inverse = chance_of_no_other(shape, miss), expected_inverse(own, shape, miss)
    of_uniques = float(inverse_variance(shape[single], miss[single]).sum())
    larger = own[~single]
    of_larger = float((larger**2 * inverse_variance_of_larger(larger, shape[~single], miss[~single])).sum())
    chance = np.array([(alone * (1 - alone))[single].sum(), of_uniques, of_uniques + of_larger])
    return _Described(alone, inverse, np.array([alone[single].sum(), inverse[single].sum(), (own * inverse).sum()]), chance)


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
