"""Statistics that do not depend on the order of the rows, to the last bit.

A sum of floats depends on the order of its terms. Whatever a masking method computes from many records is therefore computed in
the order of the record numbers, and with additions whose order does not depend on the number of threads (no BLAS).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def is_ordered(records: NDArray[np.int64]) -> bool:
    """Whether the records are already in the order of their numbers."""
    return len(records) < 2 or bool((records[1:] > records[:-1]).all())


def rows_by_record_number(records: NDArray[np.int64]) -> NDArray[np.int64]:
    """Row positions in the order of the record numbers."""
    if is_ordered(records):
        return np.arange(len(records))
    return np.argsort(records, kind="stable")


def mean_and_covariance(columns: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Means and unbiased covariance matrix of complete columns (one attribute per row of the array, at least two records)."""
    number = columns.shape[1]
    means = np.array([column.sum() / number for column in columns])
    centred = columns - means[:, None]
    covariance = np.empty((len(columns), len(columns)))
    for row in range(len(columns)):
        for column in range(row + 1):
            covariance[row, column] = covariance[column, row] = (centred[row] * centred[column]).sum() / (number - 1)

    return means, covariance


def cholesky_root(covariance: NDArray[np.float64]) -> NDArray[np.float64]:
    """A lower triangular L with L L' = covariance, which may be singular (dependent or constant columns)."""
    size = len(covariance)
    lower = np.zeros_like(covariance)
    for column in range(size):
        remaining = covariance[column, column] - (lower[column, :column] ** 2).sum()
        # for a column that depends linearly on the others, what remains is rounding error
        if remaining <= 1e-12 * covariance[column, column]:
            continue
        lower[column, column] = np.sqrt(remaining)
        for row in range(column + 1, size):
            lower[row, column] = (covariance[row, column] - (lower[row, :column] * lower[column, :column]).sum()) / lower[
                column, column
            ]
    return lower


def multiply_in_order(matrix: NDArray[np.float64], columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Matrix @ columns, added in a fixed order."""
    product = np.zeros((len(matrix), columns.shape[1]))
    for index, row in enumerate(matrix):
        for factor, column in zip(row, columns, strict=True):
            if factor:
                product[index] += factor * column
    return product


def solve_semidefinite(matrix: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
    """X with matrix X = right for a positive semidefinite matrix; zero in directions that the matrix does not span."""
    values, vectors = np.linalg.eigh(matrix)
    keep = values > 1e-10 * max(values.max(initial=0.0), 1e-300)
    along = np.einsum("ij,ik->jk", vectors[:, keep], right) / values[keep][:, None]
    return np.asarray(np.einsum("ij,jk->ik", vectors[:, keep], along))
