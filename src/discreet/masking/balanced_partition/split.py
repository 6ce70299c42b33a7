"""The split of a set of records in two (Kartal & Li 2016, Table 3, step 2), compiled.

A split moves the left part before the right one and keeps the order within both, so rows stay sorted by person. The arrays are
described in ``cuts``. With n rows in the set, finding and judging the cuts is O(n x keys), each rule that is checked is one more
pass over the rows, and a whole recursion O(n x keys x depth). Trap: ``scratch`` is shared by all calls, so a loop clears the
counters that it touched, also where it stops early.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.runtime.compiled import compiled
from discreet.masking.balanced_partition.cuts import KEYS, PERSON, CandidateCuts, Scratch, SplitRules, find_cuts, weigh_cuts

if TYPE_CHECKING:
    from numpy.typing import NDArray

RATIO_TOLERANCE = 1e-9  # ratios this close are equal, and the first key is taken


@compiled
def split_once(
    rows: NDArray[np.int32], spare: NDArray[np.int32], low: int, high: int, rules: SplitRules, scratch: Scratch
) -> int:
    """Split the rows from ``low`` to ``high`` in place; returns where the right part begins, or -1 if no split is allowed."""
    keys = len(rules.weights)
    if high - low < 2 * rules.min_records:
        return -1
    cuts = CandidateCuts(
        np.full(keys, -1, dtype=np.int64),
        np.zeros(keys, dtype=np.int64),
        np.zeros(keys, dtype=np.float64),
        np.ones(keys, dtype=np.float64),
        np.zeros((keys, 2), dtype=np.int64),
        np.zeros((keys, 2), dtype=np.int64),
    )
    find_cuts(rows, low, high, rules, scratch, cuts)
    if rules.by_balance or rules.min_persons > 1:
        weigh_cuts(rows, low, high, cuts)
    ratio = np.empty(keys, dtype=np.float64)
    for key in range(keys):
        weighted_variance = rules.weights[key] * cuts.variance[key]
        reduction = cuts.reduction[key] if rules.by_balance else 1.0
        ratio[key] = reduction / weighted_variance if weighted_variance > 0 else np.inf
    for _ in range(keys):
        chosen = _find_least_ratio(ratio, cuts.code)
        if chosen < 0:
            return -1
        if _satisfies_rules(rows, low, high, chosen, cuts, rules, scratch):
            return _move_left_part(rows, spare, low, high, KEYS + chosen, cuts.code[chosen])
        cuts.code[chosen] = -1
    return -1


@compiled
def _find_least_ratio(ratio: NDArray[np.float64], cut_codes: NDArray[np.int64]) -> int:
    """The first key that can be cut and has the least ratio, or -1."""
    least = np.inf
    for key in range(len(ratio)):
        if cut_codes[key] >= 0:
            least = min(least, ratio[key])
    for key in range(len(ratio)):
        if cut_codes[key] >= 0 and (ratio[key] <= least * (1.0 + RATIO_TOLERANCE)):
            return key
    return -1


@compiled
def _satisfies_rules(
    rows: NDArray[np.int32], low: int, high: int, key: int, cuts: CandidateCuts, rules: SplitRules, scratch: Scratch
) -> bool:
    """Whether both parts of a cut satisfy every rule."""
    sizes = (cuts.left_records[key], high - low - cuts.left_records[key])
    for side in range(2):
        if sizes[side] < rules.min_records:
            return False
        if rules.min_persons > 1 and cuts.persons[key, side] < rules.min_persons:
            return False
        if rules.by_balance and 1.0 - cuts.squares[key, side] / (sizes[side] * sizes[side]) < rules.min_g:
            return False
    first = KEYS + len(rules.weights)
    for attribute in range(len(rules.max_h)):
        begin, end = rules.sensitive_offsets[attribute], rules.sensitive_offsets[attribute + 1]
        limits_affiliation = rules.by_balance and rules.max_h[attribute] < 1.0
        if limits_affiliation and not _satisfies_affiliation(
            rows, low, high, key, first + attribute, begin, end, rules.max_h[attribute], cuts, scratch
        ):
            return False
        limits_diversity = rules.min_values > 1
        if limits_diversity and not _satisfies_diversity(
            rows, low, high, key, first + attribute, begin, end, rules.min_values, cuts, scratch
        ):
            return False
    return True


@compiled
def _satisfies_affiliation(
    rows: NDArray[np.int32], low: int, high: int, key: int, column: int, begin: int, end: int, max_h: float, cuts: CandidateCuts,
    scratch: Scratch,
) -> bool:  # fmt: skip
    """Whether the h-affiliation of both parts is at most ``max_h``: the largest share of persons with one sensitive value.

    A person counts once per value, which the adjacency of its records makes cheap. Stops at the first value with too many.
    """
    width = end - begin
    touched, satisfied, person_start = 0, True, low
    for row in range(low, high):
        if row > low and rows[row, PERSON] != rows[row - 1, PERSON]:
            person_start = row
        side = 0 if rows[row, KEYS + key] <= cuts.code[key] else 1
        value = 2 * begin + side * width + rows[row, column]
        if scratch.value_counts[value] == 0:
            scratch.touched[touched] = value
            touched += 1
        elif scratch.last_person[value] == person_start:
            continue
        scratch.last_person[value] = person_start
        scratch.value_counts[value] += 1
        if scratch.value_counts[value] / cuts.persons[key, side] > max_h:
            satisfied = False
            break
    for index in range(touched):
        scratch.value_counts[scratch.touched[index]] = 0
    return satisfied


@compiled
def _satisfies_diversity(
    rows: NDArray[np.int32], low: int, high: int, key: int, column: int, begin: int, end: int, min_values: int,
    cuts: CandidateCuts, scratch: Scratch,
) -> bool:  # fmt: skip
    """Whether both parts have at least ``min_values`` distinct values of a sensitive attribute."""
    width, touched = end - begin, 0
    distinct = np.zeros(2, dtype=np.int64)
    for row in range(low, high):
        side = 0 if rows[row, KEYS + key] <= cuts.code[key] else 1
        value = 2 * begin + side * width + rows[row, column]
        if scratch.value_counts[value] == 0:
            scratch.value_counts[value] = 1
            scratch.touched[touched] = value
            touched += 1
            distinct[side] += 1
            if distinct.min() >= min_values:
                break
    for index in range(touched):
        scratch.value_counts[scratch.touched[index]] = 0
    return bool(distinct.min() >= min_values)


@compiled
def _move_left_part(rows: NDArray[np.int32], spare: NDArray[np.int32], low: int, high: int, column: int, cut: int) -> int:
    """Move the rows up to the cut before the others, keeping the order within both; returns where the right part begins."""
    left, right, width = low, 0, rows.shape[1]
    for row in range(low, high):
        if rows[row, column] <= cut:
            if left != row:
                for field in range(width):
                    rows[left, field] = rows[row, field]
            left += 1
        else:
            for field in range(width):
                spare[low + right, field] = rows[row, field]
            right += 1
    for row in range(right):
        for field in range(width):
            rows[left + row, field] = spare[low + row, field]
    return left


@compiled
def split_recursively(
    rows: NDArray[np.int32], spare: NDArray[np.int32], low: int, high: int, rules: SplitRules, scratch: Scratch,
    starts: NDArray[np.bool_],
) -> None:  # fmt: skip
    """Split until no part can be split, and mark in ``starts`` the first row of each final group."""
    stack = [(low, high)]
    while stack:
        begin, end = stack.pop()
        middle = split_once(rows, spare, begin, end, rules, scratch)
        if middle < 0:
            starts[begin] = True
        else:
            stack.append((begin, middle))
            stack.append((middle, end))
