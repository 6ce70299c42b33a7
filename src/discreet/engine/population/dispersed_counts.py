"""Negative binomial regression of small counts, with a shape that depends on a predictor, fitted by Fisher scoring.

Counts from ``CENSORED`` on are one outcome: the model need only be right for small classes, whose records are at risk, and not
for the classes of thousands that a table also has.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

CENSORED = 5
_STEPS = 60
_TOLERANCE = 1e-7
_LOG_MEAN = (-25.0, 12.0)
_LOG_SHAPE = (-5.0, 5.0)


@dataclass(frozen=True)
class CountModel:
    """log mean = offset + X b; log shape = Z c; ``parameters`` holds b and then c, ``covariance`` their sandwich estimate."""

    parameters: NDArray[np.float64]
    covariance: NDArray[np.float64]

    def predict(
        self, design: NDArray[np.float64], shape_design: NDArray[np.float64], offset: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The mean and the shape of each row."""
        return _mean_and_shape(self.parameters, design, shape_design, offset)


def _mean_and_shape(
    parameters: NDArray[np.float64],
    design: NDArray[np.float64],
    shape_design: NDArray[np.float64],
    offset: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    split = design.shape[1]
    mean = np.exp(np.clip(offset + design @ parameters[:split], *_LOG_MEAN))
    shape = np.exp(np.clip(shape_design @ parameters[split:], *_LOG_SHAPE))
    return mean, shape


def fit_counts(
    counts: NDArray[np.int64],
    weights: NDArray[np.float64],
    design: NDArray[np.float64],
    shape_design: NDArray[np.float64],
    offset: NDArray[np.float64],
    prior: NDArray[np.float64],
    precision: NDArray[np.float64],
) -> CountModel:
    """The mode of the posterior under independent normal priors, found by Fisher scoring with halved steps.

    Each step costs O(rows x (CENSORED + columns^2)).
    """
    parameters = prior.copy()
    value, score, information = _evaluate(parameters, counts, weights, design, shape_design, offset)
    penalized = value - 0.5 * float(precision @ (parameters - prior) ** 2)
    for _ in range(_STEPS):
        gradient = score.sum(axis=0) - precision * (parameters - prior)
        step = np.linalg.solve(information + np.diag(precision), gradient)
        for _halving in range(30):
            tried = parameters + step
            value, tried_score, tried_information = _evaluate(tried, counts, weights, design, shape_design, offset)
            tried_penalized = value - 0.5 * float(precision @ (tried - prior) ** 2)
            if tried_penalized >= penalized - 1e-9:
                break
            step = step / 2
        gain = tried_penalized - penalized
        parameters, penalized, score, information = tried, tried_penalized, tried_score, tried_information
        if abs(gain) < _TOLERANCE * (1 + abs(penalized)):
            break
    bread = np.linalg.inv(information + np.diag(precision))
    return CountModel(parameters, bread @ (score.T @ score + np.diag(precision)) @ bread)


def _evaluate(
    parameters: NDArray[np.float64],
    counts: NDArray[np.int64],
    weights: NDArray[np.float64],
    design: NDArray[np.float64],
    shape_design: NDArray[np.float64],
    offset: NDArray[np.float64],
) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
    """Log-likelihood, the score of each row, and the expected information.

    log P(k) = sum over i < k of log((r + i) / (i + 1)) + r log(r / (r + m)) + k log(m / (r + m)); with e = log m and l = log r
    its derivatives are d/de = k - m (k + r) / (r + m) and d/dl = r (sum over i < k of 1 / (r + i) + log(r / (r + m)) + 1 -
    (k + r) / (r + m)).
    """
    mean, shape = _mean_and_shape(parameters, design, shape_design, offset)
    total = shape + mean
    log_zero, log_ratio = np.log(shape / total), np.log(mean / total)
    rest = np.ones_like(mean)
    rest_mean, rest_shape = np.zeros_like(mean), np.zeros_like(mean)
    by_mean, by_both, by_shape = np.zeros_like(mean), np.zeros_like(mean), np.zeros_like(mean)
    log_likelihood = np.zeros_like(mean)
    own_mean, own_shape = np.zeros_like(mean), np.zeros_like(mean)
    log_p, inverse_sum = shape * log_zero, np.zeros_like(mean)
    for k in range(CENSORED):
        if k:
            log_p = log_p + np.log((shape + k - 1) / k) + log_ratio
            inverse_sum = inverse_sum + 1 / (shape + k - 1)
        p = np.exp(log_p)
        d_mean = k - mean * (k + shape) / total
        d_shape = shape * (inverse_sum + log_zero + 1 - (k + shape) / total)
        rest -= p
        rest_mean -= p * d_mean
        rest_shape -= p * d_shape
        by_mean += p * d_mean**2
        by_both += p * d_mean * d_shape
        by_shape += p * d_shape**2
        here = counts == k
        log_likelihood[here], own_mean[here], own_shape[here] = log_p[here], d_mean[here], d_shape[here]
    rest = np.maximum(rest, 1e-12)
    d_mean, d_shape = rest_mean / rest, rest_shape / rest
    by_mean, by_both, by_shape = by_mean + rest_mean * d_mean, by_both + rest_mean * d_shape, by_shape + rest_shape * d_shape
    here = counts >= CENSORED
    log_likelihood[here], own_mean[here], own_shape[here] = np.log(rest[here]), d_mean[here], d_shape[here]
    score = np.hstack([design * (weights * own_mean)[:, None], shape_design * (weights * own_shape)[:, None]])
    cross = design.T @ (shape_design * (weights * by_both)[:, None])
    information = np.block(
        [
            [design.T @ (design * (weights * by_mean)[:, None]), cross],
            [cross.T, shape_design.T @ (shape_design * (weights * by_shape)[:, None])],
        ]
    )
    return float(weights @ log_likelihood), score, information
