"""Rows that agree with a target on every attribute, from the bits of its values, 64 rows at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.runtime.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray


# rows: the masked rows in the order of their codes, those of code c at row_starts[c] to row_starts[c + 1]. first/last[value]:
# half-open run of agreeing codes; members[starts[value]:starts[value + 1]]: further ones. blank: the code of blank cells, which
# agree with everything. bits[place, word] of the values at values[place]. O(agreeing pairs of a value and a row).
@compiled
def set_agreeing_bits(
    rows: NDArray[np.int64], row_starts: NDArray[np.int64], values: NDArray[np.int64], first: NDArray[np.int64],
    last: NDArray[np.int64], starts: NDArray[np.int64], members: NDArray[np.int64], blank: int, bits: NDArray[np.uint64],
) -> None:  # fmt: skip
    """Set the bit of every row that agrees with a value."""
    for place in range(len(values)):
        value = values[place]
        # the run, then each of the listed codes, then the blank one
        for turn in range(starts[value], starts[value + 1] + 2):
            if turn == starts[value + 1]:
                begin, end = row_starts[first[value]], row_starts[max(first[value], last[value])]
            elif turn > starts[value + 1]:
                begin, end = row_starts[blank], row_starts[blank + 1]
            else:
                begin, end = row_starts[members[turn]], row_starts[members[turn] + 1]
            for at in range(begin, end):
                bits[place, rows[at] >> 6] |= np.uint64(1) << np.uint64(rows[at] & 63)


# rows, row_starts: as above. agreeing[value, word]: bit i of a word is the masked code 64 * word + i, set where it agrees. blank:
# the code of blank cells, which agree with everything and have no bit. bits[place, word] of the values at values[place].
# O(values x words + agreeing pairs of a value and a row).
@compiled
def spread_bits(
    rows: NDArray[np.int64], row_starts: NDArray[np.int64], agreeing: NDArray[np.uint64], values: NDArray[np.int64], blank: int,
    bits: NDArray[np.uint64],
) -> None:  # fmt: skip
    """Set the bit of every row whose code agrees with a value."""
    for place in range(len(values)):
        for at in range(row_starts[blank], row_starts[blank + 1]):
            bits[place, rows[at] >> 6] |= np.uint64(1) << np.uint64(rows[at] & 63)
        for word in range(agreeing.shape[1]):
            rest = agreeing[values[place], word]
            code = 64 * word
            while rest != 0:
                if rest & np.uint64(1):
                    for at in range(row_starts[code], row_starts[code + 1]):
                        bits[place, rows[at] >> 6] |= np.uint64(1) << np.uint64(rows[at] & 63)
                rest >>= np.uint64(1)
                code += 1


# bits[place, word]: bit i of a word is row 64 * word + i, set where the row agrees with the value at this place. places[query,
# level]: the place of each value of a query. sizes[row], first_records[row]: records of a row, and the first of them; rows are in
# the order of their first records. O(queries x words x levels), less where early levels agree with few rows. Trap: rows beyond
# the table have no bit set, or sizes would be read outside.
@compiled
def count_by_bits(
    bits: NDArray[np.uint64], places: NDArray[np.int64], sizes: NDArray[np.int64], first_records: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each query the number of records in agreeing rows, and the first of these records (-1 for none)."""
    queries, levels = places.shape
    words = bits.shape[1]
    counts = np.zeros(queries, dtype=np.int64)
    first = np.full(queries, -1, dtype=np.int64)
    for query in range(queries):
        for word in range(words):
            agreed = bits[places[query, 0], word]
            level = 1
            while level < levels and agreed != 0:
                agreed &= bits[places[query, level], word]
                level += 1
            row = 64 * word
            while agreed != 0:
                if agreed & np.uint64(1):
                    counts[query] += sizes[row]
                    if first[query] < 0:
                        first[query] = first_records[row]
                agreed >>= np.uint64(1)
                row += 1
    return counts, first
