"""Negative binomial regression of the sizes of small classes, with a shape that depends on a predictor, by Fisher scoring.

As seen from a record, the number of other records of its class is negative binomial with mean m and shape s. A class of f records
is seen from f of them, so that among the classes of up to ``LARGEST`` records

    P(f) = w_f / (w_1 + ... + w_LARGEST),      w_f = NB(f - 1; m, s) / f.

Larger classes are left out: the model need only be right for the small classes, whose records are at risk, and not for the
classes of thousands that a table also has. Conditioning on the small size makes this exact, not an approximation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

LARGEST = 5
_GROUPS = 8
_STEPS = 80
_TOLERANCE = 1e-7
_LOG_MEAN = (-25.0, 12.0)
_LOG_SHAPE = (-5.0, 6.0)
_LEAST_RATIO = 1e-60


@dataclass(frozen=True)
class SizeModel:
    """log m = offset + X b; log s = Z c; ``parameters`` holds b and then c, ``covariance`` their sandwich estimate."""

    parameters: NDArray[np.float64]
    covariance: NDArray[np.float64]
    evidence: float
    """The logarithm of the likelihood averaged over the prior, by Laplace's approximation."""


def mean_and_shape(
    parameters: NDArray[np.float64],
    design: NDArray[np.float64],
    shape_design: NDArray[np.float64],
    offset: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The mean m and the shape s of each row."""
    split = design.shape[1]
    mean = np.exp(np.clip(offset + design @ parameters[:split], *_LOG_MEAN))
    shape = np.exp(np.clip(shape_design @ parameters[split:], *_LOG_SHAPE))
    return mean, shape


def fit_sizes(
    sizes: NDArray[np.int64],
    design: NDArray[np.float64],
    shape_design: NDArray[np.float64],
    offset: NDArray[np.float64],
    prior: NDArray[np.float64],
    precision: NDArray[np.float64],
    start: NDArray[np.float64] | None = None,
) -> SizeModel:
    """The mode of the posterior of classes of 1 to ``LARGEST`` records under independent normal priors.

    Fisher scoring from ``start`` (default: the prior's means), damped where a step does not improve (Levenberg & Marquardt). Each
    step costs O(rows x (LARGEST + columns^2)).
    """
    parameters, damping = (prior if start is None else start).copy(), 0.0
    value, score, information = evaluate_sizes(parameters, sizes, design, shape_design, offset)
    penalized = value - 0.5 * float(precision @ (parameters - prior) ** 2)
    for _ in range(_STEPS):
        gradient = score.sum(axis=0) - precision * (parameters - prior)
        curvature = information + np.diag(precision)
        for _attempt in range(25):
            step = np.linalg.solve(curvature + damping * np.diag(np.diag(curvature)), gradient)
            tried = parameters + step
            value, tried_score, tried_information = evaluate_sizes(tried, sizes, design, shape_design, offset)
            tried_penalized = value - 0.5 * float(precision @ (tried - prior) ** 2)
            if tried_penalized >= penalized - 1e-9:
                break
            damping = max(1e-3, 4 * damping)
        else:
            break
        damping = damping / 3 if damping > 3e-4 else 0.0
        gain = tried_penalized - penalized
        parameters, penalized, score, information = tried, tried_penalized, tried_score, tried_information
        if gain < _TOLERANCE * (1 + abs(penalized)):
            break
    curvature = information + np.diag(precision)
    bread = np.linalg.inv(curvature)
    evidence = penalized + 0.5 * (float(np.log(precision).sum()) - float(np.linalg.slogdet(curvature)[1]))
    return SizeModel(parameters, bread @ (score.T @ score + np.diag(precision)) @ bread, evidence)


def evaluate_sizes(
    parameters: NDArray[np.float64],
    sizes: NDArray[np.int64],
    design: NDArray[np.float64],
    shape_design: NDArray[np.float64],
    offset: NDArray[np.float64],
) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
    """Log-likelihood, the score of each row, and the expected information.

    With k = f - 1, log NB(k) = sum over i < k of log((s + i) / (i + 1)) + s log(s / (s + m)) + k log(m / (s + m)); with e = log m
    and l = log s its derivatives are d/de = k - m (k + s) / (s + m) and d/dl = s (sum over i < k of 1 / (s + i) +
    log(s / (s + m)) + 1 - (k + s) / (s + m)). Those of log P(f) are these less their expected values under P, and the information
    is their covariance. Arrays of LARGEST rows, one per size, and one column per class.
    """
    mean, shape = mean_and_shape(parameters, design, shape_design, offset)
    total = shape + mean
    chance, log_zero = _chances(mean, shape), np.log(shape / total)
    by_mean, by_shape = (np.empty((LARGEST, len(mean))) for _ in range(2))
    inverses = np.zeros_like(mean)
    for k in range(LARGEST):
        if k:
            inverses = inverses + 1 / (shape + k - 1)
        by_mean[k] = k - mean * (k + shape) / total
        by_shape[k] = shape * (inverses + log_zero + 1 - (k + shape) / total)
    by_mean -= (chance * by_mean).sum(axis=0)
    by_shape -= (chance * by_shape).sum(axis=0)
    rows = np.arange(len(mean))
    value = float(np.log(chance[sizes - 1, rows]).sum())
    score = np.hstack([design * by_mean[sizes - 1, rows][:, None], shape_design * by_shape[sizes - 1, rows][:, None]])
    both, of_mean, of_shape = ((chance * product).sum(axis=0) for product in (by_mean * by_shape, by_mean**2, by_shape**2))
    cross = design.T @ (shape_design * both[:, None])
    information = np.block(
        [[design.T @ (design * of_mean[:, None]), cross], [cross.T, shape_design.T @ (shape_design * of_shape[:, None])]]
    )
    return value, score, information


def log_likelihood(sizes: NDArray[np.int64], mean: NDArray[np.float64], shape: NDArray[np.float64]) -> float:
    """Of classes of 1 to ``LARGEST`` records with these means and shapes."""
    return float(np.log(_chances(mean, shape)[sizes - 1, np.arange(len(sizes))]).sum())


def misfit(sizes: NDArray[np.int64], mean: NDArray[np.float64], shape: NDArray[np.float64]) -> float:
    """The factor, at least 1, by which the sizes deviate more from the model than by chance: the root of chi-square / freedom.

    Classes are put into eight groups of about equally many by their mean, and each size of each group is counted. Cells whose
    variance is below 1 are taken to have 1, because a single class there says nothing.
    """
    groups = np.searchsorted(np.quantile(mean, np.arange(1, _GROUPS) / _GROUPS), mean)
    chances = _chances(mean, shape)
    square = 0.0
    for place, chance in enumerate(chances):
        expected = np.bincount(groups, weights=chance, minlength=_GROUPS)
        variance = np.bincount(groups, weights=chance * (1 - chance), minlength=_GROUPS)
        observed = np.bincount(groups[sizes == place + 1], minlength=_GROUPS)
        square += float(((observed - expected) ** 2 / np.maximum(variance, 1.0)).sum())
    return float(np.sqrt(max(1.0, square / (_GROUPS * (LARGEST - 1)))))


def _chances(mean: NDArray[np.float64], shape: NDArray[np.float64]) -> NDArray[np.float64]:
    """P(f), one row per size f and one column per class.

    From size to size w_(f+1) / w_f = (s + f - 1) / (f + 1) m / (s + m): products need no logarithms. A ratio below 1e-60, of many
    keys with rare values, counts as that, so that its powers do not vanish.
    """
    ratio = np.maximum(mean / (shape + mean), _LEAST_RATIO)
    chances = np.empty((LARGEST, len(mean)))
    chances[0] = 1.0
    for k in range(1, LARGEST):
        chances[k] = chances[k - 1] * ((shape + k - 1) / (k + 1)) * ratio
    return np.asarray(chances / chances.sum(axis=0))
