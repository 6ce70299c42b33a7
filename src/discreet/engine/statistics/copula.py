"""The Gaussian copula: dependence between ranks, independent of the marginal distributions.

A column is a step function of a standard normal variable; the model consists of the correlations of these variables, and of the
values and frequencies of each column. Nelsen, R. B. (2006). An Introduction to Copulas, 2nd ed. Springer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.runtime.order_free_sums import cholesky_root, mean_and_covariance, multiply_in_order
from discreet.engine.statistics.normal import normal_probability, normal_quantile

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ROUNDS = 6


@dataclass(frozen=True)
class Margin:
    """The categories of a column in order: the cumulative share at which each ends, and its normal score."""

    ends: NDArray[np.float64]
    scores: NDArray[np.float64]

    @classmethod
    def of(cls, counts: NDArray[np.int64]) -> Margin:
        """The margin of a column with these counts; the score of a category is that of its middle rank (van der Waerden)."""
        upto = np.cumsum(counts)
        total = max(int(upto[-1]), 1) if len(upto) else 1
        middle = (upto - counts / 2) / total
        return cls(upto / total, normal_quantile(np.clip(middle, 1e-9, 1 - 1e-9)))

    def codes(self, normal: NDArray[np.float64]) -> NDArray[np.int64]:
        """The category of each value of the normal variable."""
        return np.asarray(np.minimum(np.searchsorted(self.ends, normal_probability(normal), side="right"), len(self.ends) - 1))

    def inside(self, codes: NDArray[Any], uniform: NDArray[np.float64]) -> NDArray[np.float64]:
        """A value of the normal variable within each category, at a uniformly drawn rank in it."""
        begins = np.concatenate((np.zeros(1), self.ends[:-1]))
        ranks = begins[codes] + (self.ends[codes] - begins[codes]) * uniform
        return normal_quantile(np.clip(ranks, 1e-12, 1 - 1e-12))


def correlation(columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """The correlation matrix of complete columns, one attribute per row; a constant column has correlation 0 with all others."""
    _, covariance = mean_and_covariance(columns)
    deviations = np.sqrt(np.diag(covariance))
    scale = np.outer(deviations, deviations)
    correlations = np.where(scale > 0, covariance / np.where(scale > 0, scale, 1), 0.0)
    np.fill_diagonal(correlations, 1.0)
    return np.asarray(np.clip(correlations, -1.0, 1.0))


def pairwise_correlation(columns: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """As ``correlation``, each pair on the records without NaN in either column; 0 where fewer than two remain."""
    present = [~np.isnan(column) for column in columns]
    if all(mask.all() for mask in present):
        return correlation(np.stack(columns))
    correlations = np.eye(len(columns))
    for row in range(len(columns)):
        for before in range(row):
            both = present[row] & present[before]
            if both.sum() > 1:
                pair = correlation(np.stack((columns[row][both], columns[before][both])))
                correlations[row, before] = correlations[before, row] = pair[0, 1]
    return correlations


def nearest_correlation(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """A valid correlation matrix near the given one: negative eigenvalues are cut off, and the diagonal is rescaled to 1."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    repaired = np.einsum("ij,kj->ik", vectors * np.maximum(values, 1e-9), vectors)
    scale = np.sqrt(np.diag(repaired))
    return np.asarray(repaired / np.outer(scale, scale))


def latent_correlation(
    margins: Sequence[Margin], target: NDArray[np.float64], normal: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The correlation of the normal variables for which the scores of the categories have the target correlation.

    Discretisation weakens correlations. The loss is estimated on the given independent normal draws (one attribute per row) and
    compensated, iteration by iteration.
    """
    latent = nearest_correlation(target)
    for _ in range(_ROUNDS):
        drawn = multiply_in_order(cholesky_root(latent), normal)
        scores = np.stack([margin.scores[margin.codes(column)] for margin, column in zip(margins, drawn, strict=True)])
        latent = nearest_correlation(np.clip(latent + target - correlation(scores), -0.999, 0.999) + np.diag(1 - np.diag(latent)))
    return latent
