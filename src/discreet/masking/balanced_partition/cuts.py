"""Where each key of a set of records would be cut, and what that would do to its balance (seed 003, Table 3, step 1).

Records are rows of one integer matrix, ``person, index, keys…, sensitive attributes…``, sorted by person; a set of records is
a run of rows. The records of a person lie side by side, so every count is one pass over neighbouring rows, without a table
of persons.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from discreet.engine.runtime.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

PERSON, INDEX, KEYS = 0, 1, 2

_SPAN = 2  # values between least and most, for each record, up to which they are counted in a table


class Rules(NamedTuple):
    """What a split may do: values of the key codes, their weights, and what both parts must keep."""

    positions: NDArray[np.float64]
    offsets: NDArray[np.int64]
    weights: NDArray[np.float64]
    by_balance: bool
    least_g: float
    most_h: NDArray[np.float64]
    least_records: int
    least_persons: int
    least_values: int
    sensitive_offsets: NDArray[np.int64]


class Scratch(NamedTuple):
    """Room that one thread works in; what is counted in it is set back to zero after use."""

    table: NDArray[np.int64]
    codes: NDArray[np.int32]
    times: NDArray[np.int64]
    last: NDArray[np.int64]
    touched: NDArray[np.int64]


class Cuts(NamedTuple):
    """A row of numbers an attribute: where it would be cut and what the parts would be."""

    at: NDArray[np.int64]
    left: NDArray[np.int64]
    variance: NDArray[np.float64]
    reduction: NDArray[np.float64]
    squares: NDArray[np.int64]
    persons: NDArray[np.int64]


@compiled
def find_cuts(rows: NDArray[np.int32], low: int, high: int, rules: Rules, scratch: Scratch, cuts: Cuts) -> None:
    """The between-value point closest to the median of each attribute, and the attribute's variance."""
    size, keys = high - low, len(rules.weights)
    least, most = rows[low, KEYS : KEYS + keys].copy(), rows[low, KEYS : KEYS + keys].copy()
    for row in range(low, high):
        for key in range(keys):
            code = rows[row, KEYS + key]
            least[key] = min(least[key], code)
            most[key] = max(most[key], code)
    spans = most - least
    counted = np.flatnonzero((spans > 0) & (spans < _SPAN * size))
    for row in range(low, high):
        for at in counted:
            scratch.table[rules.offsets[at] + rows[row, KEYS + at]] += 1
    for key in range(keys):
        if spans[key] >= _SPAN * size:
            _cut_by_selection(rows, low, high, key, rules, scratch, cuts)
        elif spans[key] > 0:
            _cut_by_table(key, least[key], most[key], size, rules, scratch, cuts)


@compiled
def _cut_by_table(key: int, least: int, most: int, size: int, rules: Rules, scratch: Scratch, cuts: Cuts) -> None:
    """From how often each value occurs, which is counted already."""
    begin = rules.offsets[key]
    total, below, upto, middle = 0.0, 0, 0, least
    for code in range(least, most + 1):
        times = scratch.table[begin + code]
        if times:
            total += times * rules.positions[begin + code]
            if 2 * upto < size:
                below, upto, middle = upto, upto + times, code
    mean, spread = total / size, 0.0
    before = least
    for code in range(least, most + 1):
        times = scratch.table[begin + code]
        if times:
            away = rules.positions[begin + code] - mean
            spread += times * away * away
            if code < middle:
                before = code
            scratch.table[begin + code] = 0
    cuts.variance[key] = spread / size
    _choose(key, before, below, middle, upto, size, cuts)


@compiled
def _cut_by_selection(rows: NDArray[np.int32], low: int, high: int, key: int, rules: Rules, scratch: Scratch, cuts: Cuts) -> None:
    """From the values themselves, where few records lie on many possible values."""
    size, begin = high - low, rules.offsets[key]
    codes = scratch.codes
    total = 0.0
    for row in range(size):
        code = rows[low + row, KEYS + key]
        codes[row] = code
        total += rules.positions[begin + code]
    middle = _select(codes, size, (size - 1) // 2)
    mean, spread, below, upto, before = total / size, 0.0, 0, 0, -1
    for row in range(size):
        code = codes[row]
        away = rules.positions[begin + code] - mean
        spread += away * away
        if code < middle:
            below += 1
            before = max(before, code)
        if code <= middle:
            upto += 1
    cuts.variance[key] = spread / size
    _choose(key, before, below, middle, upto, size, cuts)


@compiled
def _choose(key: int, before: int, below: int, middle: int, upto: int, size: int, cuts: Cuts) -> None:
    """The cut below the median's value or above it, whichever leaves the left part closer to one half; above on a tie."""
    if upto == size or (below > 0 and size - 2 * below < 2 * upto - size):
        cuts.at[key], cuts.left[key] = before, below
    else:
        cuts.at[key], cuts.left[key] = middle, upto


@compiled
def _select(codes: NDArray[np.int32], size: int, rank: int) -> int:
    """The code of a rank: Hoare's selection, with the median of three as pivot."""
    first, last = 0, size - 1
    while first < last:
        one, two, three = codes[first], codes[(first + last) // 2], codes[last]
        pivot = max(min(one, two), min(max(one, two), three))
        left, right = first, last
        while left <= right:
            while codes[left] < pivot:
                left += 1
            while codes[right] > pivot:
                right -= 1
            if left <= right:
                codes[left], codes[right] = codes[right], codes[left]
                left += 1
                right -= 1
        if rank <= right:
            last = right
        elif rank >= left:
            first = left
        else:
            break
    return int(codes[rank])


@compiled
def weigh_cuts(rows: NDArray[np.int32], low: int, high: int, cuts: Cuts) -> None:
    """For each cut the sums of squared records a person and the persons of both parts, and the g-balance reduction (2).

    With c records of a person, d of them left, N records and M of them left, (2) is
    sum (d N - c M)^2 / (M (N - M) N^2): a sum of squares, so it is never negative and loses no digits.
    """
    keys, size = len(cuts.at), high - low
    left = np.zeros(keys, dtype=np.int64)
    sums = np.zeros(keys, dtype=np.float64)
    many = 0
    for row in range(low, high):
        many += 1
        for key in range(keys):
            left[key] += rows[row, KEYS + key] <= cuts.at[key]
        if row + 1 == high or rows[row + 1, PERSON] != rows[row, PERSON]:
            for key in range(keys):
                here = left[key]
                away = here * size - many * cuts.left[key]
                sums[key] += float(away) * float(away)
                cuts.squares[key, 0] += here * here
                cuts.squares[key, 1] += (many - here) * (many - here)
                cuts.persons[key, 0] += here > 0
                cuts.persons[key, 1] += here < many
                left[key] = 0
            many = 0
    for key in range(keys):
        if cuts.at[key] >= 0:
            parts = float(cuts.left[key]) * float(size - cuts.left[key])
            cuts.reduction[key] = sums[key] / (parts * float(size) * float(size))
