"""One split of a set of records in two: the compiled inside of the balanced partition (seed 003, Table 3, steps 1 and 2).

Records are rows of one integer matrix, ``person, index, keys…, sensitive attributes…``, sorted by person; a set of records is
a run of rows. A split moves the left part before the right one and keeps the order inside, so the records of a person
always lie side by side and every count is one pass over neighbouring rows, without a table of persons.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from discreet.engine.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

PERSON, INDEX, KEYS = 0, 1, 2
TIES = 1e-9  # ratios this close are equal, and the first attribute is taken

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
    _find_cuts(rows, low, high, rules, scratch, cuts)
    if rules.by_balance or rules.least_persons > 1:
        _weigh_cuts(rows, low, high, cuts)
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
def _find_cuts(rows: NDArray[np.int32], low: int, high: int, rules: Rules, scratch: Scratch, cuts: Cuts) -> None:
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
def _weigh_cuts(rows: NDArray[np.int32], low: int, high: int, cuts: Cuts) -> None:
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
