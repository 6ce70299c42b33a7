"""Sizes of population classes by a cross-fitted negative binomial regression.

The sample is split at random into two halves A and B. Given the intensity of a class its counts in A and B are independent, so
counts in A can predict those in B without predicting themselves. For classes that A does not have, the number of other records in
B is regressed on predictors from A: the product of the shares of the key values (the main-effects model), a tree of dependent
pairs, and the classes that agree in all keys but one or two. What the predictors do not explain is a gamma distribution, whose
shape is fitted too; a log-linear model (Skinner & Shlomo 2008) is the limit of an infinite shape. Several splits are averaged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.population.dispersed_counts import CountModel, fit_counts
from discreet.engine.population.posterior import chance_of_no_other, expected_inverse
from discreet.engine.population.predictors import ClassPredictors

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SPLITS = 4
_MANY_CLASSES = 200_000
_MOST_FITTED = 40_000
"""Classes that a regression is fitted to; more are thinned at random."""
_INTERCEPT, _SLOPE, _OTHER, _SHAPE, _SHAPE_SLOPE = 0.5, 4.0, 4.0, 4.0, 8.0
"""Precisions of the priors, with predictors in standard deviations: the mean starts from independence, the shape from 1.5."""
_FIRST_LOG_SHAPE = 0.4
_FOLDS_AGREE = 2.0
"""The two folds of a split use nearly the same records, so that their errors add up rather than cancel."""
_SEED = 20_180_917
"""The splits are the same in every run; they reveal nothing and depend on no order of the rows."""


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
    depend on theirs.
    """
    order = np.lexsort([np.asarray(column) for column in reversed(codes)])
    ordered = counts[order]
    predictors = ClassPredictors([np.asarray(column)[order] for column in codes], cardinalities, ordered)
    generator = np.random.default_rng(_SEED)
    splits = _SPLITS if len(counts) <= _MANY_CLASSES else 1
    alone, inverse = _larger_classes(ordered, fraction)
    unique = ordered == 1
    alone[unique], inverse[unique] = 0.0, 0.0
    variances, sums = np.zeros(2), []
    for _ in range(splits):
        first = generator.binomial(ordered, 0.5)
        total = np.zeros(2)
        for learned in (first, ordered - first):
            fold = _Fold(predictors, ordered, learned, fraction, generator)
            rows = np.flatnonzero(unique & (learned == 0))
            fold_alone, fold_inverse = fold.predict(fold.model.parameters, rows)
            alone[rows] += fold_alone / splits
            inverse[rows] += fold_inverse / splits
            variances += fold.parameter_variance(rows) / splits
            total += (fold_alone.sum(), fold_inverse.sum())
        sums.append(total)
    spread = np.var(np.array(sums), axis=0) / len(sums)
    chance = (alone * (1 - alone))[unique].sum()
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    errors = np.sqrt(_FOLDS_AGREE * variances + spread + np.array([chance, chance / 2]))
    return PopulationSizes(alone[back], inverse[back], float(errors[0]), float(errors[1]))


def _larger_classes(counts: NDArray[np.int64], fraction: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """P(F = f) and E(1/F) under one gamma distribution for all classes: from two records on, a class's own count tells most."""
    ones = np.ones((len(counts), 1))
    offset = np.zeros(len(counts))
    sizes, numbers = np.unique(counts, return_counts=True)
    model = fit_counts(
        sizes - 1, (sizes * numbers).astype(np.float64), ones[: len(sizes)], ones[: len(sizes)], offset[: len(sizes)],
        np.zeros(2), np.full(2, 0.1),
    )  # fmt: skip
    mean, shape = model.predict(ones, ones, offset)
    miss = _miss(shape * fraction / mean + fraction, fraction)
    later = shape + counts - 1
    return chance_of_no_other(later, miss), expected_inverse(counts.astype(np.float64), later, miss)


def _miss(rate: NDArray[np.float64], fraction: float) -> NDArray[np.float64]:
    """The success probability of the negative binomial F - f, where the intensity has this rate given the sample."""
    return rate / (rate + 1 - fraction)


class _Fold:
    """One regression: predictors from the counts ``learned``, outcomes from the rest."""

    def __init__(
        self,
        predictors: ClassPredictors,
        counts: NDArray[np.int64],
        learned: NDArray[np.int64],
        fraction: float,
        generator: np.random.Generator,
    ) -> None:
        self.counts, self.fraction = counts.astype(np.float64), fraction
        self.offset, others = predictors.compute(learned.astype(np.float64))
        rest = counts - learned
        rows = np.flatnonzero((rest > 0) & (learned == 0))
        weights = rest[rows].astype(np.float64)
        raw = np.column_stack([self.offset, others])
        center = np.average(raw[rows], axis=0, weights=weights) if len(rows) else np.zeros(raw.shape[1])
        spread = np.sqrt(np.average((raw[rows] - center) ** 2, axis=0, weights=weights)) if len(rows) else np.ones(raw.shape[1])
        scaled = (raw - center) / np.where(spread > 1e-9, spread, 1.0)
        self.design = np.column_stack([np.ones(len(raw)), scaled])
        self.shape_design = self.design[:, :2]
        columns = self.design.shape[1]
        prior = np.zeros(columns + 2)
        prior[columns] = _FIRST_LOG_SHAPE
        precision = np.array([_INTERCEPT, _SLOPE, *[_OTHER] * (columns - 2), _SHAPE, _SHAPE_SLOPE])
        if len(rows) > _MOST_FITTED:
            rows = np.sort(generator.choice(rows, _MOST_FITTED, replace=False))
        self.model: CountModel = fit_counts(
            (rest[rows] - 1), rest[rows].astype(np.float64), self.design[rows], self.shape_design[rows], self.offset[rows],
            prior, precision,
        )  # fmt: skip

    def predict(
        self, parameters: NDArray[np.float64], rows: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """P(F = f) and E(1/F) of these classes, which ``learned`` does not have.

        That it does not have them is part of what the regression was fitted to. The rest has half of the sample, so that the mean
        of its counts is intensity x fraction / 2, and it adds as much exposure.
        """
        mean, shape = CountModel(parameters, self.model.covariance).predict(
            self.design[rows], self.shape_design[rows], self.offset[rows]
        )
        half = self.fraction / 2
        miss = _miss(shape * half / mean + half, self.fraction)
        later = shape + self.counts[rows] - 1
        return chance_of_no_other(later, miss), expected_inverse(self.counts[rows], later, miss)

    def parameter_variance(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Variance of both sums over the rows from the uncertainty of the parameters (delta method)."""
        deviations = np.sqrt(np.maximum(np.diag(self.model.covariance), 1e-18))
        slopes = []
        for place, deviation in enumerate(deviations):
            moved = [self.model.parameters.copy() for _ in range(2)]
            moved[0][place] += deviation / 2
            moved[1][place] -= deviation / 2
            up, down = (self.predict(parameters, rows) for parameters in moved)
            slopes.append([(high.sum() - low.sum()) / deviation for high, low in zip(up, down, strict=True)])
        gradient = np.array(slopes)
        return np.asarray(np.einsum("pk,pq,qk->k", gradient, self.model.covariance, gradient))
