"""Compiled loops of the lookups and of the tree; every array is dense codes of the sampled records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.runtime.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray


@compiled
def mode_of_cells(
    cells: NDArray[np.int64], truth: NDArray[np.int64], number: int, values: int
) -> NDArray[np.int64]:  # pragma: no cover - compiled
    """For each cell (0 to ``number`` - 1) the value that most of its rows hold, the smallest on ties; -1 for an empty cell.

    ``cells`` and ``truth`` hold one entry per row. Rows are ordered by cell (counting sort), then counted cell by cell in one
    scratch array of ``values`` entries that is cleared by the rows themselves: O(rows + number) time, O(rows + values) room.
    """
    starts = np.zeros(number + 1, dtype=np.int64)
    for row in range(len(cells)):
        starts[cells[row] + 1] += 1
    for cell in range(number):
        starts[cell + 1] += starts[cell]
    fill = starts[:-1].copy()
    ordered = np.empty(len(cells), dtype=np.int64)
    for row in range(len(cells)):
        ordered[fill[cells[row]]] = truth[row]
        fill[cells[row]] += 1
    counts = np.zeros(values, dtype=np.int64)
    modes = np.full(number, -1, dtype=np.int64)
    for cell in range(number):
        best, most = -1, 0
        for at in range(starts[cell], starts[cell + 1]):
            value = ordered[at]
            counts[value] += 1
            if counts[value] > most or (counts[value] == most and value < best):
                best, most = value, counts[value]
        for at in range(starts[cell], starts[cell + 1]):
            counts[ordered[at]] = 0
        modes[cell] = best
    return modes


@compiled
def score_pairs(
    codes: NDArray[np.int64], sizes: NDArray[np.int64], truth: NDArray[np.int64], judged: NDArray[np.bool_]
) -> NDArray[np.float64]:  # pragma: no cover - compiled
    """For each pair of columns the share of judged rows whose value an earlier row with the same two codes had.

    ``codes`` is [columns, rows] with codes below ``sizes``; the value that counts is that of the last such row, so each row is
    predicted from others only (a row without a predecessor counts as not predicted). O(columns^2 x rows) time, one table of
    the largest product of two sizes, stamped instead of cleared.
    """
    number, rows = codes.shape
    largest = 0
    for first in range(number):
        for second in range(first + 1, number):
            largest = max(largest, sizes[first] * sizes[second])
    last = np.zeros(max(largest, 1), dtype=np.int64)
    stamp = np.full(max(largest, 1), -1, dtype=np.int64)
    shares = np.zeros((number, number), dtype=np.float64)
    total = 0
    for row in range(rows):
        total += judged[row]
    at = 0
    for first in range(number):
        for second in range(first + 1, number):
            right = 0
            for row in range(rows):
                cell = codes[first, row] * sizes[second] + codes[second, row]
                if judged[row] and stamp[cell] == at and last[cell] == truth[row]:
                    right += 1
                stamp[cell] = at
                last[cell] = truth[row]
            shares[first, second] = right / max(total, 1)
            at += 1
    return shares


@compiled
def _best_split(
    codes: NDArray[Any], rows: NDArray[np.int64], truth: NDArray[np.int64], bins: int, values: int, least: int
) -> tuple[float, int, int]:  # pragma: no cover - compiled
    """The column and bin that split some rows best by the Gini index: (gain in sum of squares, column, last bin on the left).

    ``codes`` is [columns, rows] with codes below ``bins``, ``truth[row]`` below ``values``. O(columns x (rows + bins x
    values)). Trap: a gain must exceed rounding (1e-9), or a column without information would split.
    """
    total = np.zeros(values, dtype=np.float64)
    for row in rows:
        total[truth[row]] += 1.0
    size = float(len(rows))
    whole = 0.0
    for value in range(values):
        whole += total[value] * total[value]
    whole /= size
    best, column, cut = 1e-9, -1, -1
    table = np.zeros((bins, values), dtype=np.float64)
    left = np.zeros(values, dtype=np.float64)
    for at in range(codes.shape[0]):
        table[:] = 0.0
        high = 0
        for row in rows:
            code = codes[at, row]
            table[code, truth[row]] += 1.0
            high = max(high, code)
        left[:] = 0.0
        on_left = 0.0
        for code in range(high):
            for value in range(values):
                left[value] += table[code, value]
                on_left += table[code, value]
            if on_left < least or size - on_left < least:
                continue
            inside, outside = 0.0, 0.0
            for value in range(values):
                inside += left[value] * left[value]
                other = total[value] - left[value]
                outside += other * other
            gain = inside / on_left + outside / (size - on_left) - whole
            if gain > best:
                best, column, cut = gain, at, code
    return best, column, cut


@compiled
def grow_tree(
    codes: NDArray[Any], truth: NDArray[np.int64], bins: int, values: int, depth: int, least: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:  # pragma: no cover - compiled
    """A classification tree over binned codes [columns, rows]: per node column (-1 for a leaf), cut, left child, majority value.

    The right child follows the left one. Each level looks at every row and column once: O(depth x rows x columns) time, plus
    bins x values per node and column.
    """
    most = 2 ** (depth + 1)
    column = np.full(most, -1, dtype=np.int64)
    cut = np.zeros(most, dtype=np.int64)
    child = np.zeros(most, dtype=np.int64)
    majority = np.zeros(most, dtype=np.int64)
    begin = np.zeros(most, dtype=np.int64)
    end = np.zeros(most, dtype=np.int64)
    level = np.zeros(most, dtype=np.int64)
    order = np.arange(codes.shape[1])
    end[0] = codes.shape[1]
    number, node = 1, 0
    counts = np.zeros(values, dtype=np.int64)
    while node < number:
        rows = order[begin[node] : end[node]].copy()
        counts[:] = 0
        for row in rows:
            counts[truth[row]] += 1
        majority[node] = np.argmax(counts)
        if level[node] < depth and len(rows) >= 2 * least and counts[majority[node]] < len(rows):
            _, at, bound = _best_split(codes, rows, truth, bins, values, least)
            if at >= 0:
                low, high = begin[node], end[node]
                for row in rows:
                    if codes[at, row] <= bound:
                        order[low] = row
                        low += 1
                for row in rows:
                    if codes[at, row] > bound:
                        high -= 1
                        order[high] = row
                column[node], cut[node], child[node] = at, bound, number
                begin[number], end[number], level[number] = begin[node], low, level[node] + 1
                begin[number + 1], end[number + 1], level[number + 1] = low, end[node], level[node] + 1
                number += 2
        node += 1
    return column[:number], cut[:number], child[:number], majority[:number]


@compiled
def follow_tree(
    codes: NDArray[Any],
    column: NDArray[np.int64],
    cut: NDArray[np.int64],
    child: NDArray[np.int64],
    majority: NDArray[np.int64],
) -> NDArray[np.int64]:  # pragma: no cover - compiled
    """The value that a tree gives for each row of codes [columns, rows]; children of a node are neighbours. O(rows x depth)."""
    guesses = np.empty(codes.shape[1], dtype=np.int64)
    for row in range(codes.shape[1]):
        node = 0
        while column[node] >= 0:
            node = child[node] + (1 if codes[column[node], row] > cut[node] else 0)
        guesses[row] = majority[node]
    return guesses
