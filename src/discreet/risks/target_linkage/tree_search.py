"""Searching sorted groups of records like a tree, following only the branches that agree.

The search has its own stack: recursive compiled functions crash when they are loaded from numba's cache on disk.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.runtime.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray


@compiled
def _lower_bound(table: NDArray[np.int64], level: int, low: int, high: int, code: int) -> int:
    """The first row in [low, high) whose code at this level is not less than ``code``; binary search."""
    while low < high:
        middle = (low + high) >> 1
        if table[middle, level] < code:
            low = middle + 1
        else:
            high = middle
    return low


# table[row, level]: codes of the distinct masked rows, sorted lexicographically. sizes[row]: records of the row.
# first_records[row]: its first record. queries[query, level]: target codes. value = offsets[level] + target code indexes
# first/last (half-open run of agreeing codes) and starts/ends (range in members, further agreeing codes). blanks[level]: code of
# blank cells, which agree with everything. Cost per query: O(visited branches x log rows). Trap: a listed code inside the run
# must be skipped, or its rows are counted twice.
@compiled
def search_tree(
    table: NDArray[np.int64], sizes: NDArray[np.int64], first_records: NDArray[np.int64], queries: NDArray[np.int64],
    offsets: NDArray[np.int64], first: NDArray[np.int64], last: NDArray[np.int64], starts: NDArray[np.int64],
    ends: NDArray[np.int64], members: NDArray[np.int64], blanks: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:  # fmt: skip
    """For each query the number of records in agreeing rows of the sorted table, and the first of these records.

    At each level of the search, ``low`` and ``high`` bound the rows of the branch, ``next_row`` is the next row of the run of
    agreeing codes, and ``next_member`` the next of the listed agreeing codes, the blank one last.
    """
    depth = queries.shape[1]
    counts = np.zeros(len(queries), dtype=np.int64)
    first_agreeing = np.full(len(queries), -1, dtype=np.int64)
    low, high = np.zeros(depth, dtype=np.int64), np.zeros(depth, dtype=np.int64)
    next_row, next_member = np.zeros(depth, dtype=np.int64), np.zeros(depth, dtype=np.int64)
    for query in range(len(queries)):
        level = 0
        low[0], high[0], entered = 0, len(table), True
        while level >= 0:
            value = offsets[level] + queries[query, level]
            if entered:
                next_row[level] = (
                    _lower_bound(table, level, low[level], high[level], first[value])
                    if last[value] > first[value]
                    else high[level]
                )
                next_member[level] = starts[value]
                entered = False
            row, end = int(next_row[level]), -1
            if row < high[level] and table[row, level] < last[value]:
                end = _lower_bound(table, level, row, high[level], table[row, level] + 1)
                next_row[level] = end
            while end < 0 and next_member[level] <= ends[value]:
                code = blanks[level] if next_member[level] == ends[value] else members[next_member[level]]
                next_member[level] += 1
                row = _lower_bound(table, level, low[level], high[level], code)
                if row < high[level] and table[row, level] == code and not first[value] <= code < last[value]:
                    end = _lower_bound(table, level, row, high[level], code + 1)
            if end < 0:
                level -= 1
            elif level == depth - 1:
                counts[query] += sizes[row]
                if first_agreeing[query] < 0 or first_records[row] < first_agreeing[query]:
                    first_agreeing[query] = first_records[row]
            else:
                level += 1
                low[level], high[level], entered = row, end, True
    return counts, first_agreeing
