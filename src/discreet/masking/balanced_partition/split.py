"""One split of a set of records in two: the compiled inside of the balanced partition (seed 003, Table 3, step 2).

A split moves the left part before the right one and keeps the order inside, so rows stay sorted by person.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.runtime.compiled import compiled
from discreet.masking.balanced_partition.cuts import KEYS, PERSON, Cuts, Rules, Scratch, find_cuts, weigh_cuts

if TYPE_CHECKING:
    from numpy.typing import NDArray

TIES = 1e-9  # ratios this close are equal, and the first attribute is taken


@compiled
def split(rows: NDArray[np.int32], spare: NDArray[np.int32], low: int, high: int, rules: Rules, scratch: Scratch) -> int:
    """Split the rows from ``low`` to ``high`` in place; where the right part begins, or -1 where nothing may be split."""
    keys = len(rules.weights)
    if high - low < 2 * rules.least_records:
        return -1
    cuts = Cuts(
        np.full(keys, -1, dtype=np.int64),
        np.zeros(keys, dtype=np.int64),
        np.zeros(keys, dtype=np.float64),
        np.ones(keys, dtype=np.float64),
        np.zeros((keys, 2), dtype=np.int64),
        np.zeros((keys, 2), dtype=np.int64),
    )
    find_cuts(rows, low, high, rules, scratch, cuts)
    if rules.by_balance or rules.least_persons > 1:
        weigh_cuts(rows, low, high, cuts)
    ratio = np.empty(keys, dtype=np.float64)
    for key in range(keys):
        spread = rules.weights[key] * cuts.variance[key]
        gain = cuts.reduction[key] if rules.by_balance else 1.0
        ratio[key] = gain / spread if spread > 0 else np.inf
    for _ in range(keys):
        chosen = _least(ratio, cuts.at)
        if chosen < 0:
            return -1
        if _allowed(rows, low, high, chosen, cuts, rules, scratch):
            return _part(rows, spare, low, high, KEYS + chosen, cuts.at[chosen])
        cuts.at[chosen] = -1
    return -1


@compiled
def _least(ratio: NDArray[np.float64], at: NDArray[np.int64]) -> int:
    """The first attribute that can be cut and has the least ratio, or -1."""
    least = np.inf
    for key in range(len(ratio)):
        if at[key] >= 0:
            least = min(least, ratio[key])
    for key in range(len(ratio)):
        if at[key] >= 0 and (ratio[key] <= least * (1.0 + TIES)):
            return key
    return -1


@compiled
def _allowed(rows: NDArray[np.int32], low: int, high: int, key: int, cuts: Cuts, rules: Rules, scratch: Scratch) -> bool:
    """Whether both parts keep every rule."""
    sizes = (cuts.left[key], high - low - cuts.left[key])
    for side in range(2):
        if sizes[side] < rules.least_records:
            return False
        if rules.least_persons > 1 and cuts.persons[key, side] < rules.least_persons:
            return False
        if rules.by_balance and 1.0 - cuts.squares[key, side] / (sizes[side] * sizes[side]) < rules.least_g:
            return False
    first = KEYS + len(rules.weights)
    for at in range(len(rules.most_h)):
        begin, end = rules.sensitive_offsets[at], rules.sensitive_offsets[at + 1]
        limited = rules.by_balance and rules.most_h[at] < 1.0
        if limited and not _affiliated(rows, low, high, key, first + at, begin, end, rules.most_h[at], cuts, scratch):
            return False
        several = rules.least_values > 1
        if several and not _diverse(rows, low, high, key, first + at, begin, end, rules.least_values, cuts, scratch):
            return False
    return True


@compiled
def _affiliated(
    rows: NDArray[np.int32], low: int, high: int, key: int, column: int, begin: int, end: int, most: float, cuts: Cuts,
    scratch: Scratch,
) -> bool:  # fmt: skip
    """Whether h of both parts is at most ``most``; stops at the first value that has too many persons."""
    width = end - begin
    many, kept, run = 0, True, low
    for row in range(low, high):
        if row > low and rows[row, PERSON] != rows[row - 1, PERSON]:
            run = row
        side = 0 if rows[row, KEYS + key] <= cuts.at[key] else 1
        value = 2 * begin + side * width + rows[row, column]
        if scratch.times[value] == 0:
            scratch.touched[many] = value
            many += 1
        elif scratch.last[value] == run:
            continue
        scratch.last[value] = run
        scratch.times[value] += 1
        if scratch.times[value] / cuts.persons[key, side] > most:
            kept = False
            break
    for at in range(many):
        scratch.times[scratch.touched[at]] = 0
    return kept


@compiled
def _diverse(
    rows: NDArray[np.int32], low: int, high: int, key: int, column: int, begin: int, end: int, least: int, cuts: Cuts,
    scratch: Scratch,
) -> bool:  # fmt: skip
    """Whether both parts hold at least so many different values."""
    width, many = end - begin, 0
    found = np.zeros(2, dtype=np.int64)
    for row in range(low, high):
        side = 0 if rows[row, KEYS + key] <= cuts.at[key] else 1
        value = 2 * begin + side * width + rows[row, column]
        if scratch.times[value] == 0:
            scratch.times[value] = 1
            scratch.touched[many] = value
            many += 1
            found[side] += 1
            if found.min() >= least:
                break
    for at in range(many):
        scratch.times[scratch.touched[at]] = 0
    return bool(found.min() >= least)


@compiled
def _part(rows: NDArray[np.int32], spare: NDArray[np.int32], low: int, high: int, column: int, cut: int) -> int:
    """Move the rows up to the cut before the others; both keep their order."""
    left, right, width = low, 0, rows.shape[1]
    for row in range(low, high):
        if rows[row, column] <= cut:
            if left != row:
                for at in range(width):
                    rows[left, at] = rows[row, at]
            left += 1
        else:
            for at in range(width):
                spare[low + right, at] = rows[row, at]
            right += 1
    for row in range(right):
        for at in range(width):
            rows[left + row, at] = spare[low + row, at]
    return left


@compiled
def split_down(
    rows: NDArray[np.int32], spare: NDArray[np.int32], low: int, high: int, rules: Rules, scratch: Scratch,
    starts: NDArray[np.bool_],
) -> None:  # fmt: skip
    """Split until nothing splits any more, and mark where each final group starts."""
    stack = [(low, high)]
    while stack:
        begin, end = stack.pop()
        middle = split(rows, spare, begin, end, rules, scratch)
        if middle < 0:
            starts[begin] = True
        else:
            stack.append((begin, middle))
            stack.append((middle, end))
