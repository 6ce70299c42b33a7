"""Compiled kernels of class tables: group rows by integer keys, relabel codes, sum over flagged rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.classes import small_kernels
from discreet.engine.runtime.compiled import compiled_unless_small

if TYPE_CHECKING:
    from numpy.typing import NDArray


# codes[row, attribute]: code of each distinct row. counts[row]: records of the row. table[i, code]: contribution of a code of
# attribute attributes[i] to the row's key, scaled so that different combinations of new labels have different keys. One pass,
# O(rows x attributes). Trap: the arrays `first` and `totals` are allocated for the worst case, one class per row.
@compiled_unless_small(small_kernels.class_ids)
def class_ids(
    codes: NDArray[np.int32], counts: NDArray[np.int64], attributes: NDArray[np.int64], table: NDArray[np.int64], key_count: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
    """Classes of rows with equal key ``sum over i of table[i, codes[row, attributes[i]]]``, numbered as they first occur.

    Returns the class of each row, and the first row and the number of records of each class. Where ``key_count`` is positive, all
    keys are below it and are looked up directly; else in a hash table with open addressing.
    """
    size, width = len(codes), len(attributes)
    ids = np.empty(size, dtype=np.int32)
    first = np.empty(size, dtype=np.int32)
    totals = np.empty(size, dtype=np.int64)
    number = 0
    bits = 4
    while (1 << bits) < 2 * size:
        bits += 1
    mask = np.uint64((1 << bits) - 1)
    shift = np.uint64(64 - bits)
    slots = np.full(key_count if key_count > 0 else 1 << bits, -1, dtype=np.int32)
    keys = np.empty(size if key_count == 0 else 0, dtype=np.int64)
    for row in range(size):
        key = np.int64(0)
        for index in range(width):
            key += table[index, codes[row, attributes[index]]]
        if key_count > 0:
            slot = np.uint64(key)
            class_id = slots[slot]
        else:
            slot = (np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> shift
            class_id = slots[slot]
            while class_id >= 0 and keys[class_id] != key:
                slot = (slot + np.uint64(1)) & mask
                class_id = slots[slot]
        if class_id < 0:
            class_id = np.int32(number)
            slots[slot] = class_id
            if key_count == 0:
                keys[number] = key
            first[number] = row
            totals[number] = 0
            number += 1
        ids[row] = class_id
        totals[class_id] += counts[row]
    return ids, first[:number].copy(), totals[:number].copy()


@compiled_unless_small(small_kernels.relabel)
def relabel(
    codes: NDArray[np.int32], rows: NDArray[np.int32], attributes: NDArray[np.int64], maps: NDArray[np.int32]
) -> NDArray[np.int32]:
    """The new codes ``maps[i, code]`` of some rows in the attributes ``attributes[i]``. O(rows x attributes)."""
    new_codes = np.empty((len(rows), len(attributes)), dtype=np.int32)
    for index in range(len(rows)):
        for column in range(len(attributes)):
            new_codes[index, column] = maps[column, codes[rows[index], attributes[column]]]
    return new_codes


@compiled_unless_small(small_kernels.sum_flagged_rows)
def sum_flagged_rows(
    codes: NDArray[np.int32], counts: NDArray[np.int64], flags: NDArray[np.bool_], values: NDArray[np.float64]
) -> tuple[int, NDArray[np.float64]]:
    """The number of records in flagged rows, and for each attribute the sum of ``values[attribute, code]`` over these records.

    ``codes[row, attribute]`` and ``counts[row]`` as in :func:`class_ids`, ``flags[row]``. O(rows x attributes).
    """
    sums = np.zeros(len(values))
    number = 0
    for row in range(len(codes)):
        if flags[row]:
            number += counts[row]
            for attribute in range(len(values)):
                sums[attribute] += values[attribute, codes[row, attribute]] * counts[row]
    return number, sums
