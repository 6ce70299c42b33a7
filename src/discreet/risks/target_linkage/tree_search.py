"""Searching sorted groups of records like a tree, following only the branches that agree.

The walk keeps its own stack: compiled functions that call themselves do not survive numba's cache on disk.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.runtime.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray


@compiled
def _place(table: NDArray[np.int64], level: int, low: int, high: int, code: int) -> int:
    """The first row in [low, high) whose code at this level is not less than ``code``."""
    while low < high:
        middle = (low + high) >> 1
        if table[middle, level] < code:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def search(
    table: NDArray[np.int64], sizes: NDArray[np.int64], leaders: NDArray[np.int64], asked: NDArray[np.int64],
    offsets: NDArray[np.int64], first: NDArray[np.int64], last: NDArray[np.int64], starts: NDArray[np.int64],
    ends: NDArray[np.int64], members: NDArray[np.int64], blanks: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:  # fmt: skip
    """For each asked row of codes the records in agreeing rows of the sorted table, and the first of their leaders.

    At each level of a walk, ``low`` and ``high`` bound the rows of the branch, ``run`` is the next row of the run of
    agreeing codes, and ``turn`` the next of the listed agreeing codes, the blank one last.
    """
    depth = asked.shape[1]
    counts = np.zeros(len(asked), dtype=np.int64)
    leader = np.full(len(asked), -1, dtype=np.int64)
    low, high = np.zeros(depth, dtype=np.int64), np.zeros(depth, dtype=np.int64)
    run, turn = np.zeros(depth, dtype=np.int64), np.zeros(depth, dtype=np.int64)
    for question in range(len(asked)):
        level = 0
        low[0], high[0], entered = 0, len(table), True
        while level >= 0:
            at = offsets[level] + asked[question, level]
            if entered:
                run[level] = _place(table, level, low[level], high[level], first[at]) if last[at] > first[at] else high[level]
                turn[level] = starts[at]
                entered = False
            row, end = int(run[level]), -1
            if row < high[level] and table[row, level] < last[at]:
                end = _place(table, level, row, high[level], table[row, level] + 1)
                run[level] = end
            while end < 0 and turn[level] <= ends[at]:
                code = blanks[level] if turn[level] == ends[at] else members[turn[level]]
                turn[level] += 1
                row = _place(table, level, low[level], high[level], code)
                if row < high[level] and table[row, level] == code and not first[at] <= code < last[at]:
                    end = _place(table, level, row, high[level], code + 1)
            if end < 0:
                level -= 1
            elif level == depth - 1:
                counts[question] += sizes[row]
                if leader[question] < 0 or leaders[row] < leader[question]:
                    leader[question] = leaders[row]
            else:
                level += 1
                low[level], high[level], entered = row, end, True
    return counts, leader
