"""A join of two columns of integers that counts instead of listing its pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.runtime.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SPREAD = np.uint64(0x9E3779B97F4A7C15)


def count_keys(queries: NDArray[np.int64], keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each query the number of rows with that key, and the first of them (-1 for none).

    >>> [result.tolist() for result in count_keys(np.array([7, 9]), np.array([5, 7, 7]))]
    [[2, 0], [1, -1]]
    """
    bits = max(4, int(2 * len(keys) - 1).bit_length() if len(keys) else 4)
    return _count_keys(queries.astype(np.int64), keys.astype(np.int64), bits)


# A hash table with open addressing: slot_keys, slot_counts and slot_rows hold the key, its number of rows and its first row; a
# slot with count 0 is empty. 2^bits slots, at least twice the number of keys, so probing is short. O(keys + queries).
@compiled
def _count_keys(queries: NDArray[np.int64], keys: NDArray[np.int64], bits: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    slots = 1 << bits
    mask = np.int64(slots - 1)
    shift = np.uint64(64 - bits)
    slot_keys = np.empty(slots, dtype=np.int64)
    slot_counts = np.zeros(slots, dtype=np.int32)
    slot_rows = np.empty(slots, dtype=np.int32)
    for row in range(len(keys)):
        key = keys[row]
        slot = np.int64((np.uint64(key) * _SPREAD) >> shift)
        while slot_counts[slot] and slot_keys[slot] != key:
            slot = (slot + 1) & mask
        if not slot_counts[slot]:
            slot_keys[slot] = key
            slot_rows[slot] = row
        slot_counts[slot] += 1
    counts = np.zeros(len(queries), dtype=np.int64)
    first = np.full(len(queries), -1, dtype=np.int64)
    for row in range(len(queries)):
        key = queries[row]
        slot = np.int64((np.uint64(key) * _SPREAD) >> shift)
        while slot_counts[slot] and slot_keys[slot] != key:
            slot = (slot + 1) & mask
        if slot_counts[slot]:
            counts[row] = slot_counts[slot]
            first[row] = slot_rows[slot]
    return counts, first
