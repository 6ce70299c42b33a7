"""A join of two columns of integers that counts instead of listing its pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.runtime.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SPREAD = np.uint64(0x9E3779B97F4A7C15)


def count_keys(asked: NDArray[np.int64], held: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each asked key how often it is held, and where first (-1 where it is not).

    >>> [found.tolist() for found in count_keys(np.array([7, 9]), np.array([5, 7, 7]))]
    [[2, 0], [1, -1]]
    """
    bits = max(4, int(2 * len(held) - 1).bit_length() if len(held) else 4)
    return _count(asked.astype(np.int64), held.astype(np.int64), bits)


@compiled
def _count(asked: NDArray[np.int64], held: NDArray[np.int64], bits: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    room = 1 << bits
    mask = np.int64(room - 1)
    shift = np.uint64(64 - bits)
    keys = np.empty(room, dtype=np.int64)
    times = np.zeros(room, dtype=np.int32)
    places = np.empty(room, dtype=np.int32)
    for row in range(len(held)):
        key = held[row]
        at = np.int64((np.uint64(key) * _SPREAD) >> shift)
        while times[at] and keys[at] != key:
            at = (at + 1) & mask
        if not times[at]:
            keys[at] = key
            places[at] = row
        times[at] += 1
    counts = np.zeros(len(asked), dtype=np.int64)
    first = np.full(len(asked), -1, dtype=np.int64)
    for row in range(len(asked)):
        key = asked[row]
        at = np.int64((np.uint64(key) * _SPREAD) >> shift)
        while times[at] and keys[at] != key:
            at = (at + 1) & mask
        if times[at]:
            counts[row] = times[at]
            first[row] = places[at]
    return counts, first
