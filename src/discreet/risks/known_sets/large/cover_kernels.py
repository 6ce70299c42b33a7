"""Compiled loops that sum known sets over the rows of a cover; see :mod:`discreet.risks.known_sets.large.row_sums`.

``keys[row]`` are the packed codes of a row and ``counts[row]`` the number of its records. ``sums[row]`` are the coefficient of
near, those of far by step, and, where the cover has sensitive attributes, what is taken off near and far. All loops are linear in
the rows, or the records.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.engine.runtime.compiled import compiled

_GOLDEN, _HALF, _ONE = np.uint64(0x9E3779B97F4A7C15), np.uint64(32), np.uint64(1)


@compiled
def put_codes(keys: Any, codes: Any, first: Any, shift: int) -> None:
    """Put the code of each row, that of its first record, into its key from bit ``shift`` on."""
    width = np.uint64(shift)
    for row in range(len(keys)):
        keys[row] |= np.uint64(codes[first[row]]) << width


@compiled
def project(keys: Any, counts: Any, mask: Any, block_mask: Any, slots: Any, new_keys: Any, new_counts: Any, of: Any) -> int:
    """Number the rows that are left when only the bits of ``mask`` count, and add up their records; returns how many there are.

    ``of[row]`` receives the new row of each row. Rows with the same bits of ``block_mask`` stand together and are numbered by
    themselves. ``slots`` is a hash table with open addressing: the number of a new row plus 1; what was entered before the block
    at hand is as good as empty. Its length is a power of two, at least twice the new rows of a block. Expected O(rows).
    """
    last = np.uint64(len(slots) - 1)
    number, before, block = 0, 0, keys[0] & block_mask if len(keys) else np.uint64(0)
    for row in range(len(keys)):
        key = keys[row] & mask
        if key & block_mask != block:
            block, before = key & block_mask, number
        slot = (((key ^ (key >> _HALF)) * _GOLDEN) >> _HALF) & last
        owner = slots[slot]
        while owner > before and new_keys[owner - 1] != key:
            slot = (slot + _ONE) & last
            owner = slots[slot]
        if owner <= before:
            new_keys[number], new_counts[number] = key, 0
            number += 1
            slots[slot] = owner = number
        new_counts[owner - 1] += counts[row]
        of[row] = owner - 1
    return number


@compiled
def add_set(
    keys: Any, counts: Any, near: float, far: float, column: int, shift: Any, mask: Any, begin: Any, weights: Any, sums: Any
) -> None:
    """Add one known set, whose rows these are, to its sums: ``near`` and, at its step, ``far``, divided by the counts.

    Sensitive attribute k of the set has the code ``keys >> shift[k] & mask[k]`` and the weight ``weights[begin[k] + code]``: it
    is known already, and so taken off.
    """
    width = sums.shape[1]
    for row in range(len(keys)):
        inverse = 1.0 / counts[row]
        sums[row, 0] += near * inverse
        sums[row, column] += far * inverse
        if len(shift):
            known = 0.0
            for k in range(len(shift)):
                known += weights[begin[k] + np.int64((keys[row] >> shift[k]) & mask[k])]
            sums[row, width - 2] -= near * known * inverse
            sums[row, width - 1] -= far * known * inverse


@compiled
def carry(of: Any, smaller: Any, sums: Any) -> None:
    """Add the sums of the rows of a smaller set, ``of[row]``, to those of a larger one."""
    width = sums.shape[1]
    for row in range(len(of)):
        own = of[row]
        for part in range(width):
            sums[row, part] += smaller[own, part]


@compiled
def spread(slots: Any, of: Any, kind: Any, weight: Any, left: Any, sums: Any, near: Any, far: Any, start: int, stop: int) -> None:
    """Add the sums of the rows to the queries of a slice that have them (query ``at`` is record ``slots[at]``; None: ``at``).

    ``sums[row]`` are the coefficients of C (``weight[kind]``), those of what is left at each step (``left[kind, step]``), and,
    where the sets have sensitive attributes, what these take off near and far.
    """
    steps = left.shape[1]
    has_singles = sums.shape[1] > 1 + steps
    for at in range(np.uint64(start), np.uint64(stop)):
        row = of[at if slots is None else np.uint64(slots[at])]
        own = kind[at]
        value, total = weight[own] * sums[row, 0], 0.0
        for number in range(steps):
            total += left[own, number] * sums[row, 1 + number]
        if has_singles:
            value += sums[row, 1 + steps]
            total += sums[row, 2 + steps]
        near[at] += value
        far[at] += total
