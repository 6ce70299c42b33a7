"""Keyed sums over the cells of a column, in NumPy for small tables and compiled for large ones, with the same results.

A cell is mixed with its record number: t = mix(record * G xor k0), then mix(t xor (word + k1)), or mix(t xor k2) for a null.
``mix`` is the finalizer of SplitMix64 (Steele, Lea & Flood 2014), a bijection of 64-bit words. A text is first folded into a
word: h = k3 xor length * G, then h = mix(h xor w) for each eight bytes w (little endian, the last ones padded with zeros).
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_KERNELS = "discreet.engine.draws.mixing_kernels"
_MIN_COMPILED = 1 << 16


def sum_mixed_words(
    words: NDArray[np.uint64], nulls: NDArray[np.bool_], records: NDArray[np.int64], key: NDArray[np.uint64]
) -> int:
    """The sum over the cells of a column of 64-bit words; ``nulls`` is empty if no cell is null."""
    if len(records) >= _MIN_COMPILED or _KERNELS in sys.modules:
        from discreet.engine.draws.mixing_kernels import sum_words

        return int(sum_words(words, nulls, records, key))
    return _sum_cells(words, nulls, records, key)


def sum_mixed_texts(
    offsets: NDArray[np.int64], text_bytes: NDArray[np.uint8], nulls: NDArray[np.bool_], records: NDArray[np.int64],
    key: NDArray[np.uint64],
) -> int:  # fmt: skip
    """The sum over the cells of a column of texts: text i is ``text_bytes[offsets[i]:offsets[i + 1]]``."""
    if len(records) >= _MIN_COMPILED or _KERNELS in sys.modules:
        from discreet.engine.draws.mixing_kernels import sum_texts

        return int(sum_texts(offsets, text_bytes, nulls, records, key))
    return _sum_cells(_fold_texts(offsets, text_bytes, key), nulls, records, key)


def _sum_cells(words: NDArray[np.uint64], nulls: NDArray[np.bool_], records: NDArray[np.int64], key: NDArray[np.uint64]) -> int:
    cells = words + key[1]
    if len(nulls):
        cells[nulls] = key[2]
    return int(_mix(_mix(records.view(np.uint64) * _GOLDEN ^ key[0]) ^ cells).sum(dtype=np.uint64))


def _fold_texts(offsets: NDArray[np.int64], text_bytes: NDArray[np.uint8], key: NDArray[np.uint64]) -> NDArray[np.uint64]:
    lengths = np.diff(offsets)
    folded: NDArray[np.uint64] = key[3] ^ lengths.astype(np.uint64) * _GOLDEN
    padded = np.concatenate([text_bytes, np.zeros(8, dtype=np.uint8)]).astype(np.uint64)
    active, begin = np.flatnonzero(lengths), 0
    while len(active):
        word = np.zeros(len(active), dtype=np.uint64)
        for offset in range(8):
            is_inside = lengths[active] > begin + offset
            byte = padded[np.where(is_inside, offsets[:-1][active] + begin + offset, 0)]
            word |= np.where(is_inside, byte, np.uint64(0)) << np.uint64(8 * offset)
        folded[active] = _mix(folded[active] ^ word)
        begin += 8
        active = active[lengths[active] > begin]
    return folded


def _mix(state: NDArray[np.uint64]) -> NDArray[np.uint64]:
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: NDArray[np.uint64] = state ^ (state >> np.uint64(31))
    return mixed
