"""Compiled loops for the agreement of cells by bits; see :mod:`discreet.engine.cells.agreement`.

Bit ``code % 64`` of word ``code // 64`` stands for a searched code. Each loop has a version in NumPy for small columns, for
which the compiler would take longer than the loop.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.runtime.compiled import compiled_unless_small

if TYPE_CHECKING:
    from numpy.typing import NDArray


def _mark_atoms_of_few(
    low: NDArray[np.int64], owner: NDArray[np.int64], high: NDArray[np.int64], owner_by_end: NDArray[np.int64],
    contains: NDArray[np.uint64],
) -> None:  # fmt: skip
    starts_at, ends_at = np.searchsorted(low, np.arange(len(contains) + 1)), np.searchsorted(high, np.arange(len(contains) + 1))
    inside = np.zeros(64 * contains.shape[1], dtype=np.bool_)
    for atom in range(len(contains)):
        inside[owner_by_end[ends_at[atom] : ends_at[atom + 1]]] = False
        inside[owner[starts_at[atom] : starts_at[atom + 1]]] = True
        contains[atom] = np.packbits(inside, bitorder="little").view(np.uint64)


# low[run]: first atom of each run of a searched cell, ascending, of the code owner[run]. high[run]: atom after its last one,
# ascending, of the code owner_by_end[run]. contains[atom, word]: zero before. O(atoms x words + runs). Trap: a cell may end where
# another run of it begins, so that ends come first.
@compiled_unless_small(_mark_atoms_of_few)
def mark_atoms(
    low: NDArray[np.int64], owner: NDArray[np.int64], high: NDArray[np.int64], owner_by_end: NDArray[np.int64],
    contains: NDArray[np.uint64],
) -> None:  # fmt: skip
    """Set the bits of the searched codes whose cells contain each atom."""
    atoms, words = contains.shape
    inside = np.zeros(words, dtype=np.uint64)
    started, ended = 0, 0
    for atom in range(atoms):
        while ended < len(high) and high[ended] == atom:
            code = owner_by_end[ended]
            inside[code >> 6] &= ~(np.uint64(1) << np.uint64(code & 63))
            ended += 1
        while started < len(low) and low[started] == atom:
            code = owner[started]
            inside[code >> 6] |= np.uint64(1) << np.uint64(code & 63)
            started += 1
        for word in range(words):
            contains[atom, word] = inside[word]


def _join_few_runs(
    queried: NDArray[np.int64], atom: NDArray[np.int64], after: NDArray[np.int64], before: NDArray[np.int64],
    owner: NDArray[np.int64], contains: NDArray[np.uint64], joined: NDArray[np.uint64],
) -> None:  # fmt: skip
    started = np.zeros(64 * joined.shape[1], dtype=np.bool_)
    for run in range(len(queried)):
        started[:] = False
        started[owner[after[run] : before[run]]] = True
        joined[queried[run]] |= contains[atom[run]] | np.packbits(started, bitorder="little").view(np.uint64)


# Each run of a queried cell belongs to the code queried[run] and begins at atom[run]; the runs of searched cells, sorted by their
# starts, that start later in it are those from after[run] to before[run], of the codes owner[run]. contains[atom, word]: the
# codes whose cells contain an atom. joined[queried code, word]: zero before. O(runs x words + pairs of overlapping runs).
@compiled_unless_small(_join_few_runs)
def join_runs(
    queried: NDArray[np.int64], atom: NDArray[np.int64], after: NDArray[np.int64], before: NDArray[np.int64],
    owner: NDArray[np.int64], contains: NDArray[np.uint64], joined: NDArray[np.uint64],
) -> None:  # fmt: skip
    """Set the bits of the searched codes that share an atom with each queried code."""
    for run in range(len(queried)):
        row = joined[queried[run]]
        for word in range(len(row)):
            row[word] |= contains[atom[run], word]
        for other in range(after[run], before[run]):
            code = owner[other]
            row[code >> 6] |= np.uint64(1) << np.uint64(code & 63)


def _sum_few_by_bits(bits: NDArray[np.uint64], weights: NDArray[np.int64]) -> NDArray[np.int64]:
    sums = np.zeros(len(bits), dtype=np.int64)
    for code, row in enumerate(bits):
        flags = np.unpackbits(row.view(np.uint8), count=len(weights), bitorder="little").view(np.bool_)
        sums[code] = weights[flags].sum()
    return sums


# bits[code, word]: as above; bits beyond the weights are not set. weights[searched code]. O(codes x words + bits that are set).
@compiled_unless_small(_sum_few_by_bits)
def sum_by_bits(bits: NDArray[np.uint64], weights: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each queried code the sum of the weights of the codes whose bits are set."""
    codes, words = bits.shape
    sums = np.zeros(codes, dtype=np.int64)
    for code in range(codes):
        total = 0
        for word in range(words):
            rest = bits[code, word]
            at = 64 * word
            while rest != 0:
                if rest & np.uint64(1):
                    total += weights[at]
                rest >>= np.uint64(1)
                at += 1
        sums[code] = total
    return sums
