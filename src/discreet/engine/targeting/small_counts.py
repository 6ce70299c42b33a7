"""How many records agree with each of some records on every known set, for tables of few records: by bits, without the compiler.

A record agrees with others on an attribute where a row of bits, one for each record of the table, is set. The bits of a set are
those of its parent and of the attribute that it adds, and their number is the count.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.encoding.columns import Column
from discreet.engine.known_sets.family import Family
from discreet.engine.known_sets.walk import walk_sets

if TYPE_CHECKING:
    from numpy.typing import NDArray

FEW_RECORDS = 2000
"""Records of a table up to which bits are faster than lists of groups."""


def count_by_bits(columns: Sequence[Column], rows: NDArray[np.int64], tree: Family) -> NDArray[np.int32]:
    """``[record, set]``: the records whose codes equal those of each of these rows; O(rows x records / 64) per set."""
    size = len(columns[0].codes) if columns else 0
    counts = np.ones((len(tree), len(rows)), dtype=np.int32)
    counts[0] = size
    agreeing = [_agreeing_bits(column, rows) for column in columns]

    def count_set(node: int, above: NDArray[np.uint64]) -> NDArray[np.uint64] | None:
        bits = above & agreeing[tree.last[node]]
        np.add.reduce(np.bitwise_count(bits), axis=1, dtype=np.int32, out=counts[node])
        return bits if tree.has_children(node) and (counts[node] > 1).any() else None  # alone in a set is alone in larger ones

    if len(rows):
        everybody = np.full((len(rows), _words(size)), np.iinfo(np.uint64).max, dtype=np.uint64)
        walk_sets(tree.children, everybody, count_set)
    return np.ascontiguousarray(counts.T)


def _agreeing_bits(column: Column, rows: NDArray[np.int64]) -> NDArray[np.uint64]:
    """``[row, word]``: the records that have the same code as each row, as bits."""
    size = len(column.codes)
    has_code = np.zeros((column.cardinality, 64 * _words(size)), dtype=np.bool_)
    has_code[column.codes, np.arange(size)] = True
    bits: NDArray[np.uint64] = np.packbits(has_code, axis=1).view(np.uint64)[column.codes[rows]]
    return bits


def _words(size: int) -> int:
    return (size + 63) // 64
