"""Searching sorted groups of records like a tree, following only the branches that agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NOBODY = 1 << 62


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
def _descend(
    table: NDArray[np.int64], sizes: NDArray[np.int64], leaders: NDArray[np.int64], asked: NDArray[np.int64],
    offsets: NDArray[np.int64], first: NDArray[np.int64], last: NDArray[np.int64], starts: NDArray[np.int64],
    ends: NDArray[np.int64], members: NDArray[np.int64], blanks: NDArray[np.int64], level: int, low: int, high: int,
) -> tuple[int, int]:  # fmt: skip
    if level == len(asked):
        return sizes[low], leaders[low]
    count, leader = 0, _NOBODY
    at = offsets[level] + asked[level]
    # the run of agreeing codes: walk the branches that exist in it
    row = _place(table, level, low, high, first[at]) if last[at] > first[at] else high
    while row < high and table[row, level] < last[at]:
        end = _place(table, level, row, high, table[row, level] + 1)
        more, who = _descend(
            table, sizes, leaders, asked, offsets, first, last, starts, ends, members, blanks, level + 1, row, end
        )
        count += more
        leader = min(leader, who)
        row = end
    for index in range(starts[at], ends[at] + 1):
        code = blanks[level] if index == ends[at] else members[index]
        row = _place(table, level, low, high, code)
        if row < high and table[row, level] == code and not first[at] <= code < last[at]:
            end = _place(table, level, row, high, code + 1)
            more, who = _descend(
                table, sizes, leaders, asked, offsets, first, last, starts, ends, members, blanks, level + 1, row, end
            )
            count += more
            leader = min(leader, who)
    return count, leader


@compiled
def search(
    table: NDArray[np.int64], sizes: NDArray[np.int64], leaders: NDArray[np.int64], asked: NDArray[np.int64],
    offsets: NDArray[np.int64], first: NDArray[np.int64], last: NDArray[np.int64], starts: NDArray[np.int64],
    ends: NDArray[np.int64], members: NDArray[np.int64], blanks: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:  # fmt: skip
    """For each asked row of codes the records in agreeing rows of the sorted table, and the first of their leaders."""
    counts = np.zeros(len(asked), dtype=np.int64)
    leader = np.full(len(asked), -1, dtype=np.int64)
    for row in range(len(asked)):
        count, who = _descend(
            table, sizes, leaders, asked[row], offsets, first, last, starts, ends, members, blanks, 0, 0, len(table)
        )
        counts[row] = count
        if count:
            leader[row] = who
    return counts, leader
