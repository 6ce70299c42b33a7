"""Logistic regression by Newton's method over chunks of rows, so that the design matrix is never in memory as a whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Chunk = tuple["NDArray[np.float64]", "NDArray[np.float64]"]
_MOST_STEPS, _MOST_HALVINGS = 50, 30


def probability(score: NDArray[np.float64]) -> NDArray[np.float64]:
    """The logistic function, without overflow."""
    return np.asarray(0.5 * (1 + np.tanh(score / 2)))


def fit(chunks: Callable[[], Iterator[Chunk]], features: int, ridge: float = 1e-6) -> NDArray[np.float64]:
    """The coefficients that maximise the likelihood of y in {0, 1} given rows of features.

    A tiny ridge keeps them finite if the classes can be separated. Each step is halved until the penalised likelihood does not
    decrease, so the method always ends. ``chunks`` gives pairs of features and y; it is called once per evaluation.

    >>> x = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 1.0], [1.0, 1.0], [1.0, 1.0], [1.0, 1.0]])
    >>> y = np.array([0.0, 1.0, 0.0, 1.0, 1.0, 1.0])
    >>> fit(lambda: iter([(x, y)]), 2).round(3).tolist()
    [0.0, 1.099]
    """
    beta = np.zeros(features)
    best, gradient, curvature = _likelihood(chunks, beta, ridge)
    for _ in range(_MOST_STEPS):
        step = np.linalg.lstsq(curvature, gradient, rcond=1e-12)[0]
        if np.abs(step).max(initial=0.0) < 1e-10:
            break
        for _ in range(_MOST_HALVINGS):
            value, new_gradient, new_curvature = _likelihood(chunks, beta + step, ridge)
            if value >= best - 1e-12 * abs(best):
                break
            step = step / 2
        beta, best, gradient, curvature = beta + step, value, new_gradient, new_curvature
    return beta


# x: one row per record, one column per feature; y: 0 or 1 per record. O(records x features^2), in one pass over the chunks.
def _likelihood(
    chunks: Callable[[], Iterator[Chunk]], beta: NDArray[np.float64], ridge: float
) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
    """The penalised log-likelihood, its gradient, and its negative Hessian."""
    value = -ridge * float(beta @ beta) / 2
    gradient, curvature = -ridge * beta, ridge * np.eye(len(beta))
    for x, y in chunks():
        score = x @ beta
        p = probability(score)
        value += float((y * score - np.logaddexp(0.0, score)).sum())
        gradient = gradient + x.T @ (y - p)
        curvature = curvature + (x * (p * (1 - p))[:, None]).T @ x
    return value, gradient, curvature
