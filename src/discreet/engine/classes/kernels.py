"""Compiled grouping of rows by sums of table entries."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.runtime.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray


@compiled
def class_ids(
    codes: NDArray[np.int32], counts: NDArray[np.int64], kept: NDArray[np.int64], table: NDArray[np.int64], room: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
    """Classes of rows with equal key ``sum of table[place, codes[row, kept[place]]]``, numbered as they first occur.

    Returns the class of each row, the first row of each class and its records. Where ``room`` is given every key is below
    it and is looked up directly; else by an open hash table.
    """
    size, width = len(codes), len(kept)
    ids = np.empty(size, dtype=np.int32)
    first = np.empty(size, dtype=np.int32)
    totals = np.empty(size, dtype=np.int64)
    number = 0
    bits = 4
    while (1 << bits) < 2 * size:
        bits += 1
    mask = np.uint64((1 << bits) - 1)
    shift = np.uint64(64 - bits)
    slots = np.full(room if room > 0 else 1 << bits, -1, dtype=np.int32)
    keys = np.empty(size if room == 0 else 0, dtype=np.int64)
    for row in range(size):
        key = np.int64(0)
        for at in range(width):
            key += table[at, codes[row, kept[at]]]
        if room > 0:
            slot = np.uint64(key)
            found = slots[slot]
        else:
            slot = (np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> shift
            found = slots[slot]
            while found >= 0 and keys[found] != key:
                slot = (slot + np.uint64(1)) & mask
                found = slots[slot]
        if found < 0:
            found = np.int32(number)
            slots[slot] = found
            if room == 0:
                keys[number] = key
            first[number] = row
            totals[number] = 0
            number += 1
        ids[row] = found
        totals[found] += counts[row]
    return ids, first[:number].copy(), totals[:number].copy()


@compiled
def relabel(
    codes: NDArray[np.int32], rows: NDArray[np.int32], kept: NDArray[np.int64], maps: NDArray[np.int32]
) -> NDArray[np.int32]:
    """The new codes ``maps[place, code]`` of some rows."""
    made = np.empty((len(rows), len(kept)), dtype=np.int32)
    for at in range(len(rows)):
        for place in range(len(kept)):
            made[at, place] = maps[place, codes[rows[at], kept[place]]]
    return made


@compiled
def added(
    codes: NDArray[np.int32], counts: NDArray[np.int64], flags: NDArray[np.bool_], more: NDArray[np.float64]
) -> tuple[int, NDArray[np.float64]]:
    """Records of flagged rows, and for each attribute the sum of ``more[attribute, code]`` over them."""
    sums = np.zeros(len(more))
    number = 0
    for row in range(len(codes)):
        if flags[row]:
            number += counts[row]
            for at in range(len(more)):
                sums[at] += more[at, codes[row, at]] * counts[row]
    return number, sums
