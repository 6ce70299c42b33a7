"""The best cut of a set of records in each key, and the loss of balance that it causes (Kartal & Li 2016, Table 3, step 1).

Records are rows of one integer matrix with the columns ``person, index, keys..., sensitive attributes...``, sorted by person; a
set of records is a run of rows, ``low`` to ``high``. The records of a person are adjacent, so that every count per person is
one pass over the rows, without a table of persons.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from discreet.engine.runtime.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

PERSON, INDEX, KEYS = 0, 1, 2

_MAX_TABLE_CODES_PER_RECORD = 2  # codes between the lowest and the highest, per record, up to which a table of counts is used


class SplitRules(NamedTuple):
    """The positions and weights of the keys, and what both parts of a split must satisfy.

    ``positions[offsets[key] + code]`` is the scaled position of a value, ``weights[key]`` the importance of a key. ``by_balance``
    ranks keys by the balance-variance ratio, otherwise by variance. ``max_h[attribute]`` is the largest h-affiliation of a
    sensitive attribute, whose codes start at ``sensitive_offsets[attribute]``.
    """

    positions: NDArray[np.float64]
    offsets: NDArray[np.int64]
    weights: NDArray[np.float64]
    by_balance: bool
    min_g: float
    max_h: NDArray[np.float64]
    min_records: int
    min_persons: int
    min_values: int
    sensitive_offsets: NDArray[np.int64]


class Scratch(NamedTuple):
    """Arrays that one thread works in. Whatever is counted in ``table`` and ``value_counts`` must be set to zero again after use.

    ``table[offsets[key] + code]`` counts records per key value, ``codes`` are the codes of one key. ``value_counts`` and
    ``last_person`` have one entry per part (left, right) and sensitive value: the persons counted so far, and the first row of
    the last of them; ``touched`` lists the entries to set to zero.
    """

    table: NDArray[np.int64]
    codes: NDArray[np.int32]
    value_counts: NDArray[np.int64]
    last_person: NDArray[np.int64]
    touched: NDArray[np.int64]


class CandidateCuts(NamedTuple):
    """One entry per key: the best cut and what its parts would be.

    ``code`` is the highest code of the left part, -1 for a key that cannot be cut; ``left_records`` the size of that part,
    ``variance`` that of the key, ``reduction`` the loss of g-balance. ``squares[key, side]`` are the sums over persons of squared
    record counts of both parts, ``persons[key, side]`` the numbers of their persons.
    """

    code: NDArray[np.int64]
    left_records: NDArray[np.int64]
    variance: NDArray[np.float64]
    reduction: NDArray[np.float64]
    squares: NDArray[np.int64]
    persons: NDArray[np.int64]


# O(records * keys): one pass for the spans, then per key a table of counts or, for sparse codes, a quickselect.
@compiled
def find_cuts(rows: NDArray[np.int32], low: int, high: int, rules: SplitRules, scratch: Scratch, cuts: CandidateCuts) -> None:
    """Write for each key the cut between two values that is closest to the median, and the variance of the key."""
    size, keys = high - low, len(rules.weights)
    lowest, highest = rows[low, KEYS : KEYS + keys].copy(), rows[low, KEYS : KEYS + keys].copy()
    for row in range(low, high):
        for key in range(keys):
            code = rows[row, KEYS + key]
            lowest[key] = min(lowest[key], code)
            highest[key] = max(highest[key], code)
    spans = highest - lowest
    counted = np.flatnonzero((spans > 0) & (spans < _MAX_TABLE_CODES_PER_RECORD * size))
    for row in range(low, high):
        for counted_key in counted:
            scratch.table[rules.offsets[counted_key] + rows[row, KEYS + counted_key]] += 1
    for key in range(keys):
        if spans[key] >= _MAX_TABLE_CODES_PER_RECORD * size:
            _cut_by_selection(rows, low, high, key, rules, scratch, cuts)
        elif spans[key] > 0:
            _cut_by_table(key, lowest[key], highest[key], size, rules, scratch, cuts)


@compiled
def _cut_by_table(
    key: int, lowest: int, highest: int, size: int, rules: SplitRules, scratch: Scratch, cuts: CandidateCuts
) -> None:
    """The cut and variance of a key from the counts of its codes in ``scratch.table``, which are set to zero again."""
    begin = rules.offsets[key]
    total, below, upto, median = 0.0, 0, 0, lowest
    for code in range(lowest, highest + 1):
        count = scratch.table[begin + code]
        if count:
            total += count * rules.positions[begin + code]
            if 2 * upto < size:
                below, upto, median = upto, upto + count, code
    mean, squares = total / size, 0.0
    before = lowest
    for code in range(lowest, highest + 1):
        count = scratch.table[begin + code]
        if count:
            deviation = rules.positions[begin + code] - mean
            squares += count * deviation * deviation
            if code < median:
                before = code
            scratch.table[begin + code] = 0
    cuts.variance[key] = squares / size
    _choose_side_of_median(key, before, below, median, upto, size, cuts)


@compiled
def _cut_by_selection(
    rows: NDArray[np.int32], low: int, high: int, key: int, rules: SplitRules, scratch: Scratch, cuts: CandidateCuts
) -> None:
    """The cut and variance of a key with few records on many possible codes, from a copy of the codes."""
    size, begin = high - low, rules.offsets[key]
    codes = scratch.codes
    total = 0.0
    for row in range(size):
        code = rows[low + row, KEYS + key]
        codes[row] = code
        total += rules.positions[begin + code]
    median = _select_rank(codes, size, (size - 1) // 2)
    mean, squares, below, upto, before = total / size, 0.0, 0, 0, -1
    for row in range(size):
        code = codes[row]
        deviation = rules.positions[begin + code] - mean
        squares += deviation * deviation
        if code < median:
            below += 1
            before = max(before, code)
        if code <= median:
            upto += 1
    cuts.variance[key] = squares / size
    _choose_side_of_median(key, before, below, median, upto, size, cuts)


@compiled
def _choose_side_of_median(key: int, before: int, below: int, median: int, upto: int, size: int, cuts: CandidateCuts) -> None:
    """Cut below the median's value or above it, whichever makes the left part closer to one half; above on a tie.

    ``below`` records have values below the median, ``before`` being the largest of these; ``upto`` have values up to it.
    """
    if upto == size or (below > 0 and size - 2 * below < 2 * upto - size):
        cuts.code[key], cuts.left_records[key] = before, below
    else:
        cuts.code[key], cuts.left_records[key] = median, upto


@compiled
def _select_rank(codes: NDArray[np.int32], size: int, rank: int) -> int:
    """The code of a rank among the first ``size`` codes, which are rearranged: quickselect with the median of three as pivot.

    O(size) on average. It compares codes directly, unlike the quickselect of microaggregation, which rearranges row numbers.
    """
    first, last = 0, size - 1
    while first < last:
        low, middle, high = codes[first], codes[(first + last) // 2], codes[last]
        pivot = max(min(low, middle), min(max(low, middle), high))
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
def weigh_cuts(rows: NDArray[np.int32], low: int, high: int, cuts: CandidateCuts) -> None:
    """Write for each cut the squares and persons of both parts, and the reduction of g-balance (Kartal & Li 2016, eq. 2).

    With c records of a person, d of them in the left part, N records and M of them in the left part, eq. 2 is
    sum (d N - c M)^2 / (M (N - M) N^2): a sum of squares, so it is never negative and loses no digits. One pass over the
    rows, O(records * keys).
    """
    keys, size = len(cuts.code), high - low
    left = np.zeros(keys, dtype=np.int64)
    sums = np.zeros(keys, dtype=np.float64)
    person_records = 0
    for row in range(low, high):
        person_records += 1
        for key in range(keys):
            left[key] += rows[row, KEYS + key] <= cuts.code[key]
        if row + 1 == high or rows[row + 1, PERSON] != rows[row, PERSON]:
            for key in range(keys):
                person_left = left[key]
                difference = person_left * size - person_records * cuts.left_records[key]
                sums[key] += float(difference) * float(difference)
                cuts.squares[key, 0] += person_left * person_left
                cuts.squares[key, 1] += (person_records - person_left) * (person_records - person_left)
                cuts.persons[key, 0] += person_left > 0
                cuts.persons[key, 1] += person_left < person_records
                left[key] = 0
            person_records = 0
    for key in range(keys):
        if cuts.code[key] >= 0:
            parts = float(cuts.left_records[key]) * float(size - cuts.left_records[key])
            cuts.reduction[key] = sums[key] / (parts * float(size) * float(size))
