"""Texts of one width as whole numbers in the same order: numbers of persons, postal codes and other codes of fixed form.

A dictionary of a million texts does not fit the processor's cache, and grows faster than the records. Where every text has
the same number of bytes, and few bytes occur at each place, the texts are numbers in a mixed base that is small enough for
a table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BLOCK = 1 << 15
_WIDEST = 32
_LOOK = 1_000


def fixed_width_keys(texts: pl.Series, most: int) -> tuple[NDArray[np.uint32], int] | None:
    """A key for each text, in the order of the texts, and how many keys there could be; none if the form is another.

    With b_j the byte at place j, l_j the least of its kind and r_j = max b_j - l_j + 1, the key is the number whose digits
    are b_j - l_j in the bases r_j. The product of the bases must be at most ``most``. The series must not hold nulls.

    >>> keys, span = fixed_width_keys(pl.Series(["P07", "P12", "P09"]), 100)
    >>> keys.tolist(), span
    ([5, 8, 7], 16)
    >>> fixed_width_keys(pl.Series(["P7", "P12"]), 100) is None
    True
    """
    width = _width_of(texts.head(_LOOK))
    if not 0 < width <= _WIDEST or _width_of(texts) != width:
        return None
    made = texts.cast(pl.Binary).bin.reinterpret(dtype=pl.Array(pl.UInt8, width)).to_numpy()
    blocks = range(0, len(made), _BLOCK)
    # the places of a block lie one behind the other, so that each is read at once
    least, largest = np.full(width, 255, dtype=np.uint8), np.zeros(width, dtype=np.uint8)
    for begin in blocks:
        places = np.ascontiguousarray(made[begin : begin + _BLOCK].T)
        np.minimum(least, places.min(axis=1), out=least)
        np.maximum(largest, places.max(axis=1), out=largest)
        if _product(bases := largest.astype(np.int64) - least + 1) > most:
            return None
    keys = np.zeros(len(made), dtype=np.uint32)
    varying = np.flatnonzero(bases > 1)
    for begin in blocks:
        block = keys[begin : begin + _BLOCK]
        places = np.ascontiguousarray(made[begin : begin + _BLOCK].T)
        for at in varying:
            block *= np.uint32(bases[at])
            block += places[at] - least[at]
    return keys, _product(bases)


def _width_of(texts: pl.Series) -> int:
    """The bytes of every text, or -1 where they differ."""
    lengths = texts.str.len_bytes()
    least, largest = lengths.min(), lengths.max()
    return int(least) if least is not None and least == largest else -1  # type: ignore[arg-type]


def _product(bases: NDArray[np.int64]) -> int:
    found = 1
    for base in bases.tolist():
        found *= base
    return found
