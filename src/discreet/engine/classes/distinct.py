"""The distinct rows of encoded columns, in one pass over the records: which row each record has, and how many have it.

The codes of a record are packed into one integer of 64 bits, and the integers are numbered by a hash table. Where they need more
bits, the rows of the first columns are numbered first and their numbers packed with the next columns, so no two different rows
ever share an integer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from discreet.engine.classes import distinct_kernels as kernels

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BLOCK = 1 << 14
"""Records that are packed at once: their keys stay in the processor's cache."""
_WORD = 64
_SLOTS_PER_RECORD, _LEAST_SLOTS = 2, 1 << 16
"""Keys so short that they need at most so many slots have one each; others go into a hash table."""
_FIRST_SPACE = 1 << 13


@dataclass(frozen=True)
class DistinctRows:
    """``of[record]`` is the number of a record's row, in the order in which rows first occur; ``first`` and ``counts`` by row."""

    of: NDArray[np.uint32]
    first: NDArray[np.uint32]
    counts: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.first)


@dataclass(frozen=True)
class Recoded:
    """Codes under other numbers, ``table[code]``, computed for one block of records at a time."""

    codes: NDArray[Any]
    table: NDArray[Any]

    def __getitem__(self, part: slice) -> NDArray[Any]:
        recoded: NDArray[Any] = self.table[self.codes[part]]
        return recoded


Codes = Union["NDArray[Any]", Recoded]


def number_rows(
    columns: Sequence[tuple[Codes, int]], size: int, *, most: int | None = None, of: NDArray[np.uint32] | None = None
) -> DistinctRows | None:
    """The distinct rows of ``(codes, cardinality)`` columns of so many records; None where there are more than ``most``.

    ``of`` is memory for the numbers of the records, to be used again. Expected O(size x columns).
    """
    numbers = np.empty(size, dtype=np.uint32) if of is None else of
    limit = size if most is None else min(most, size)
    short = max(_LEAST_SLOTS, _SLOTS_PER_RECORD * size).bit_length() - 1
    pending = sorted(((_bits(cardinality), codes) for codes, cardinality in columns), key=lambda column: -column[0])
    rows: DistinctRows | None = None
    while pending or rows is None:
        used = 0 if rows is None else _bits(len(rows))
        chosen: list[tuple[int, Codes]] = [] if rows is None else [(used, rows.of)]
        left = sum(bits for bits, _ in pending)
        while pending and used + pending[0][0] <= _WORD:
            if rows is None and len(chosen) == 2 and used <= short < used + left <= _WORD:
                break  # the widest columns often depend on each other: their pairs are few and need fewer bits
            used += pending[0][0]
            chosen.append(pending.pop(0))
        rows = _number_packed(chosen, _ShortKeys(1 << used) if used <= short else _HashedKeys(), size, limit, numbers)
        if rows is None:
            return None
    return rows


def _bits(cardinality: int) -> int:
    return max(cardinality - 1, 0).bit_length()


def _number_packed(
    columns: Sequence[tuple[int, Codes]], table: _ShortKeys, size: int, limit: int, of: NDArray[np.uint32]
) -> DistinctRows | None:
    """The rows of columns that fit into one word."""
    block = np.empty(min(_BLOCK, size), dtype=np.uint64)
    for start in range(0, size, _BLOCK):
        part = block[: min(_BLOCK, size - start)]
        part[:] = 0
        for bits, codes in columns:
            if bits:
                kernels.append_code(part, codes[start : start + len(part)], bits)
        done = table.number(part, start, of[start : start + len(part)])
        while done < len(part):
            if len(table.first) >= limit:
                return None
            table.extend(limit)
            done += table.number(part[done:], start + done, of[start + done : start + len(part)])
    if table.rows > limit:
        return None
    return DistinctRows(of, table.first[: table.rows].copy(), table.counts[: table.rows].copy())


class _ShortKeys:
    """Rows by keys that have slots of their own."""

    def __init__(self, keys: int) -> None:
        self.slots = np.zeros(keys, dtype=np.int32)
        self.first, self.counts, self.rows = np.empty(_FIRST_SPACE, np.uint32), np.empty(_FIRST_SPACE, np.int32), 0

    def number(self, block: NDArray[np.uint64], start: int, of: NDArray[np.uint32]) -> int:
        """Number the keys of a block; how many of them, which are fewer than all where space has to be made."""
        done, self.rows = kernels.number_short_keys(block, start, self.slots, self.first, self.counts, self.rows, of)
        return int(done)

    def extend(self, limit: int) -> None:
        """Make space for further rows."""
        space = min(2 * len(self.first), max(limit, 1))
        self.first, self.counts = _extended(self.first, space), _extended(self.counts, space)


class _HashedKeys(_ShortKeys):
    """Rows by keys in a hash table."""

    def __init__(self) -> None:
        super().__init__(_slots_for(_FIRST_SPACE))
        self.keys = np.empty(len(self.first), dtype=np.uint64)

    def number(self, block: NDArray[np.uint64], start: int, of: NDArray[np.uint32]) -> int:
        done, self.rows = kernels.number_block(block, start, self.slots, self.keys, self.first, self.counts, self.rows, of)
        return int(done)

    def extend(self, limit: int) -> None:
        super().extend(limit)
        self.slots = self.slots[:0]  # never two tables at once
        self.keys = _extended(self.keys, len(self.first))
        self.slots = np.zeros(_slots_for(len(self.first)), dtype=np.int32)
        kernels.fill_slots(self.keys, self.rows, self.slots)


def _slots_for(space: int) -> int:
    return 1 << (2 * space - 1).bit_length()


def _extended(array: NDArray[Any], space: int) -> NDArray[Any]:
    longer = np.empty(max(space, len(array)), dtype=array.dtype)
    longer[: len(array)] = array
    return longer
