"""Statistics that do not depend on the order of the rows, to the last bit.

A sum of floats depends on its order. Whatever a masking method computes from many records is therefore computed in the
order of the records' numbers, and by additions whose order does not depend on the number of threads (no BLAS).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def in_order(records: NDArray[np.int64]) -> bool:
    """Whether the records already lie in the order of their numbers."""
    return len(records) < 2 or bool((records[1:] > records[:-1]).all())


def by_record(records: NDArray[np.int64]) -> NDArray[np.int64]:
    """Positions in the order of the records' numbers."""
    if in_order(records):
        return np.arange(len(records))
    return np.argsort(records, kind="stable")


def mean_and_covariance(columns: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Means and the unbiased covariance matrix of complete columns (an attribute a row of the array, at least two records)."""
    number = columns.shape[1]
    means = np.array([column.sum() / number for column in columns])
    centred = columns - means[:, None]
    covariance = np.empty((len(columns), len(columns)))
    for one in range(len(columns)):
        for other in range(one + 1):
            covariance[one, other] = covariance[other, one] = (centred[one] * centred[other]).sum() / (number - 1)
    return means, covariance


def root(covariance: NDArray[np.float64]) -> NDArray[np.float64]:
    """A lower triangular L with L L' = covariance, which may be singular (dependent or constant columns)."""
    size = len(covariance)
    made = np.zeros_like(covariance)
    for at in range(size):
        rest = covariance[at, at] - (made[at, :at] ** 2).sum()
        # what is left of a column that the others determine is rounding error
        if rest <= 1e-12 * covariance[at, at]:
            continue
        made[at, at] = np.sqrt(rest)
        for below in range(at + 1, size):
            made[below, at] = (covariance[below, at] - (made[below, :at] * made[at, :at]).sum()) / made[at, at]
    return made


def combine(matrix: NDArray[np.float64], columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Matrix @ columns, added in a fixed order."""
    made = np.zeros((len(matrix), columns.shape[1]))
    for at, row in enumerate(matrix):
        for factor, column in zip(row, columns, strict=True):
            if factor:
                made[at] += factor * column
    return made


def solve(matrix: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
    """X of matrix X = right for a positive semidefinite matrix; directions that it does not span get nothing."""
    values, vectors = np.linalg.eigh(matrix)
    keep = values > 1e-10 * max(values.max(initial=0.0), 1e-300)
    along = np.einsum("ij,ik->jk", vectors[:, keep], right) / values[keep][:, None]
    return np.asarray(np.einsum("ij,jk->ik", vectors[:, keep], along))
