"""Texts of equal length as integers in the same order: person numbers, postal codes and other codes of a fixed form.

A hash table of a million texts does not fit into the processor's cache. Where all texts have the same number of bytes, and few
different bytes occur at each position, the texts are numbers in a mixed radix that is small enough for a lookup table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BLOCK = 1 << 15
_WIDEST = 32
_PROBED = 1_000


def fixed_width_keys(texts: pl.Series, most: int) -> tuple[NDArray[np.uint32], int] | None:
    """An integer key per text, in the order of the texts, and the number of possible keys; None where the texts lack that form.

    With b_j the byte at position j, l_j the smallest byte there and r_j = max b_j - l_j + 1, the key is the number whose digits
    are b_j - l_j in the mixed radix r_j. The product of the radices must be at most ``most``. The series must not hold nulls.

    >>> keys, span = fixed_width_keys(pl.Series(["P07", "P12", "P09"]), 100)
    >>> keys.tolist(), span
    ([5, 8, 7], 16)
    >>> fixed_width_keys(pl.Series(["P7", "P12"]), 100) is None
    True
    """
    width = _width_of(texts.head(_PROBED))
    if not 0 < width <= _WIDEST or _width_of(texts) != width:
        return None
    texts_as_bytes = texts.cast(pl.Binary).bin.reinterpret(dtype=pl.Array(pl.UInt8, width)).to_numpy()
    blocks = range(0, len(texts_as_bytes), _BLOCK)
    # transposed, so that the bytes at one position are contiguous in memory
    least, largest = np.full(width, 255, dtype=np.uint8), np.zeros(width, dtype=np.uint8)
    for begin in blocks:
        positions = np.ascontiguousarray(texts_as_bytes[begin : begin + _BLOCK].T)
        np.minimum(least, positions.min(axis=1), out=least)
        np.maximum(largest, positions.max(axis=1), out=largest)
        if _product(bases := largest.astype(np.int64) - least + 1) > most:
            return None
    keys = np.zeros(len(texts_as_bytes), dtype=np.uint32)
    varying = np.flatnonzero(bases > 1)
    for begin in blocks:
        block = keys[begin : begin + _BLOCK]
        positions = np.ascontiguousarray(texts_as_bytes[begin : begin + _BLOCK].T)
        for position in varying:
            block *= np.uint32(bases[position])
            block += positions[position] - least[position]
    return keys, _product(bases)


def _width_of(texts: pl.Series) -> int:
    """The length in bytes of all texts, or -1 where they differ."""
    lengths = texts.str.len_bytes()
    least, largest = lengths.min(), lengths.max()
    return int(least) if least is not None and least == largest else -1  # type: ignore[arg-type]


def _product(bases: NDArray[np.int64]) -> int:
    product = 1
    for base in bases.tolist():
        product *= base
    return product
