"""The Gaussian copula: dependence by ranks, whatever the margins are.

A column is a step function of a standard normal variable; its correlations with the others, together with its own values and
their frequencies, say all that the model keeps. Nelsen, R. B. (2006). An Introduction to Copulas, 2nd ed. Springer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.runtime.order_free_sums import cholesky_root, mean_and_covariance, multiply_in_order

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ROUNDS = 6


@dataclass(frozen=True)
class Margin:
    """Categories in their order, by the cumulative shares at which they end; the mean normal score stands for each."""

    ends: NDArray[np.float64]
    scores: NDArray[np.float64]

    @classmethod
    def of(cls, counts: NDArray[np.int64]) -> Margin:
        """A category's score is that of its middle rank, as in van der Waerden's test."""
        from scipy.special import ndtri

        upto = np.cumsum(counts)
        total = max(int(upto[-1]), 1) if len(upto) else 1
        middle = (upto - counts / 2) / total
        return cls(upto / total, ndtri(np.clip(middle, 1e-9, 1 - 1e-9)))

    def codes(self, normal: NDArray[np.float64]) -> NDArray[np.int64]:
        """The category that each value of the normal variable falls on."""
        from scipy.special import ndtr

        return np.asarray(np.minimum(np.searchsorted(self.ends, ndtr(normal), side="right"), len(self.ends) - 1))

    def inside(self, codes: NDArray[Any], uniform: NDArray[np.float64]) -> NDArray[np.float64]:
        """A value of the normal variable that falls on the category, at a uniform place in it."""
        from scipy.special import ndtri

        begins = np.concatenate((np.zeros(1), self.ends[:-1]))
        places = begins[codes] + (self.ends[codes] - begins[codes]) * uniform
        return np.asarray(ndtri(np.clip(places, 1e-12, 1 - 1e-12)))


def correlation(columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of complete columns, an attribute a row; a constant one is correlated with nothing."""
    _, covariance = mean_and_covariance(columns)
    deviations = np.sqrt(np.diag(covariance))
    scale = np.outer(deviations, deviations)
    made = np.where(scale > 0, covariance / np.where(scale > 0, scale, 1), 0.0)
    np.fill_diagonal(made, 1.0)
    return np.asarray(np.clip(made, -1.0, 1.0))


def pairwise_correlation(columns: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """As ``correlation``, each pair on the records that have both (NaN lacks); 0 where fewer than two have."""
    present = [~np.isnan(column) for column in columns]
    if all(mask.all() for mask in present):
        return correlation(np.stack(columns))
    made = np.eye(len(columns))
    for one in range(len(columns)):
        for other in range(one):
            both = present[one] & present[other]
            if both.sum() > 1:
                pair = correlation(np.stack((columns[one][both], columns[other][both])))
                made[one, other] = made[other, one] = pair[0, 1]
    return made


def possible(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """The matrix as a correlation matrix: negative eigenvalues cut off, ones on the diagonal."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    made = np.einsum("ij,kj->ik", vectors * np.maximum(values, 1e-9), vectors)
    scale = np.sqrt(np.diag(made))
    return np.asarray(made / np.outer(scale, scale))


def latent_correlation(
    margins: Sequence[Margin], target: NDArray[np.float64], normal: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The correlation of the normal variables under which the categories' scores have the target's.

    Cutting into categories weakens correlations. How much is found on the given independent normal draws (an attribute a
    row), and made up for, round by round.
    """
    latent = possible(target)
    for _ in range(_ROUNDS):
        drawn = multiply_in_order(cholesky_root(latent), normal)
        scores = np.stack([margin.scores[margin.codes(column)] for margin, column in zip(margins, drawn, strict=True)])
        latent = possible(np.clip(latent + target - correlation(scores), -0.999, 0.999) + np.diag(1 - np.diag(latent)))
    return latent
