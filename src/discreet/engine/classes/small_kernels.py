"""The kernels of class tables with NumPy alone, for tables too small for the compiler; the same results to the last bit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def class_ids(
    codes: NDArray[np.int32], counts: NDArray[np.int64], attributes: NDArray[np.int64], table: NDArray[np.int64], _key_count: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
    """As the kernel: classes of rows with equal keys, numbered as they first occur. O(rows x log(rows))."""
    keys = np.zeros(len(codes), dtype=np.int64)
    for index, attribute in enumerate(attributes):
        keys += table[index, codes[:, attribute]]
    _, first, ids = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)
    number_of_key = np.empty(len(first), dtype=np.int32)
    number_of_key[order] = np.arange(len(first), dtype=np.int32)
    numbered: NDArray[np.int32] = number_of_key[ids]
    totals = np.zeros(len(first), dtype=np.int64)
    np.add.at(totals, numbered, counts)  # not by bincount, whose sums are floats
    return numbered, first[order].astype(np.int32), totals


def relabel(
    codes: NDArray[np.int32], rows: NDArray[np.int32], attributes: NDArray[np.int64], maps: NDArray[np.int32]
) -> NDArray[np.int32]:
    """As the kernel: the new codes of some rows in some attributes."""
    new_codes = np.empty((len(rows), len(attributes)), dtype=np.int32)
    for column, attribute in enumerate(attributes):
        new_codes[:, column] = maps[column, codes[rows, attribute]]
    return new_codes


def sum_flagged_rows(
    codes: NDArray[np.int32], counts: NDArray[np.int64], flags: NDArray[np.bool_], values: NDArray[np.float64]
) -> tuple[int, NDArray[np.float64]]:
    """As the kernel: records in flagged rows, and sums over them by attribute, added in the order of the rows."""
    flagged = np.flatnonzero(flags)
    sums = np.zeros(len(values))
    for attribute in range(len(values)):
        terms = values[attribute, codes[flagged, attribute]] * counts[flagged]
        if len(terms):
            sums[attribute] = np.cumsum(terms)[-1]  # one after the other; np.sum adds in pairs, which rounds otherwise
    return int(counts[flagged].sum()), sums
