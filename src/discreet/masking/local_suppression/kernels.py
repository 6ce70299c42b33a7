"""Compiled: the rows that still need suppression when blanks of earlier rows agree with any value.

A *pattern* is a set of attributes that are blank in a row; pattern 0 has none. A row with a pattern agrees with every row that
has the same combination of values in the other attributes. So the records of blanked rows are counted in a hash table by
pattern and remaining combination, and a complete row looks its combination up once per pattern in use: O(attributes) each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from discreet.engine.runtime.compiled import FEW_ROWS, compiled, compiled_unless_small

if TYPE_CHECKING:
    from numpy.typing import NDArray


class RowPatterns(NamedTuple):
    """The combination of values of every row, and the patterns.

    ``parts[row, attribute]`` are summands of the number of a row's combination, which has several words if there are many;
    ``word[attribute]`` is the word to which an attribute belongs. ``blanks[pattern, attribute]`` are the blank attributes of a
    pattern.
    """

    parts: NDArray[np.uint64]
    word: NDArray[np.int64]
    blanks: NDArray[np.bool_]


class BlankedRecords(NamedTuple):
    """An open hash table of the records of blanked rows.

    ``slots`` holds the entry of a slot, or -1. Of an entry: ``combination[entry, word]``, its ``pattern`` and its ``records``.
    ``in_use`` lists the patterns that have entries, ``is_in_use`` marks them. ``sizes`` are the numbers of entries and of
    patterns in use.
    """

    slots: NDArray[np.int64]
    combination: NDArray[np.uint64]
    pattern: NDArray[np.int64]
    records: NDArray[np.int64]
    in_use: NDArray[np.int64]
    is_in_use: NDArray[np.bool_]
    sizes: NDArray[np.int64]


ENTRIES, PATTERNS = 0, 1  # places in sizes


@compiled
def _combine(rows: RowPatterns, row: int, pattern: int, words: NDArray[np.uint64]) -> np.uint64:
    """Write the number of a row's combination without the blanks of a pattern to ``words``; returns a mixture of their bits."""
    for index in range(len(words)):
        words[index] = 0
    for attribute in range(len(rows.word)):
        if not rows.blanks[pattern, attribute]:
            words[rows.word[attribute]] += rows.parts[row, attribute]
    state = np.uint64(0)
    for index in range(len(words)):
        state = (state ^ words[index]) * np.uint64(0xBF58476D1CE4E5B9)
        state ^= state >> np.uint64(29)
    return state


@compiled
def _find_slot(rows: RowPatterns, blanked: BlankedRecords, row: int, pattern: int, words: NDArray[np.uint64]) -> np.int64:
    """The slot of a row's combination under a pattern, or the empty slot for it; ``words`` becomes the combination."""
    state = _combine(rows, row, pattern, words)
    mask = np.int64(len(blanked.slots) - 1)
    slot = np.int64((state + np.uint64(pattern)) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(1)) & mask
    while blanked.slots[slot] >= 0:
        entry = blanked.slots[slot]
        same = blanked.pattern[entry] == pattern
        for index in range(len(words)):
            same = same and blanked.combination[entry, index] == words[index]
        if same:
            break
        slot = (slot + 1) & mask
    return slot


@compiled
def _add_records(
    rows: RowPatterns, blanked: BlankedRecords, row: int, pattern: int, records: int, words: NDArray[np.uint64]
) -> None:
    """Add records (or take them away) to the entry of a row under a pattern; pattern 0, a complete row, has no entry."""
    if pattern == 0:
        return
    slot = _find_slot(rows, blanked, row, pattern, words)
    if blanked.slots[slot] < 0:
        entry = blanked.sizes[ENTRIES]
        blanked.slots[slot] = entry
        blanked.pattern[entry] = pattern
        blanked.combination[entry] = words
        blanked.sizes[ENTRIES] += 1
    blanked.records[blanked.slots[slot]] += records
    if not blanked.is_in_use[pattern]:
        blanked.is_in_use[pattern] = True
        blanked.in_use[blanked.sizes[PATTERNS]] = pattern
        blanked.sizes[PATTERNS] += 1


def _find_unsafe_in_python(
    rows: RowPatterns,
    number: int,
    before: NDArray[np.int64],
    after: NDArray[np.int64],
    order: NDArray[np.int64],
    counts: NDArray[np.int64],
    agreeing: NDArray[np.int64],
    k: int,
) -> NDArray[np.bool_]:
    """As ``find_unsafe_rows``, with a dictionary per pattern instead of the hash table."""
    combinations: dict[int, list[tuple[int, ...]]] = {}

    def combinations_of(pattern: int) -> list[tuple[int, ...]]:
        if pattern not in combinations:
            words = np.zeros((len(before), number), dtype=np.uint64)
            for attribute in np.flatnonzero(~rows.blanks[pattern]):
                words[:, rows.word[attribute]] += rows.parts[:, attribute]
            combinations[pattern] = list(map(tuple, words.tolist()))
        return combinations[pattern]

    blanked: dict[int, dict[tuple[int, ...], int]] = {}

    def add_records(row: int, pattern: int, records: int) -> None:
        if pattern:
            by_combination, combination = blanked.setdefault(pattern, {}), combinations_of(pattern)[row]
            by_combination[combination] = by_combination.get(combination, 0) + records

    for row, pattern in enumerate(before.tolist()):
        add_records(row, pattern, int(counts[row]))
    unsafe = np.zeros(len(before), dtype=np.bool_)
    for row in order.tolist():
        records = int(agreeing[row])
        if before[row] == 0:
            for pattern, by_combination in blanked.items():
                if records >= k:
                    break
                records += by_combination.get(combinations_of(pattern)[row], 0)
        if records >= k:
            continue
        unsafe[row] = True
        add_records(row, int(after[row]), int(counts[row]))
        add_records(row, int(before[row]), -int(counts[row]))
    return unsafe


# before[row], after[row]: the pattern of a row now, and once it is suppressed. order: the rows to check, in this order.
# counts[row]: records of a row. agreeing[row]: records that share the values of a row.
# Each row of the order costs one look-up per pattern in use, O(attributes) each, and stops at k agreeing records.
# The table never runs full: a row adds at most two entries, and there are four slots per row.
@compiled_unless_small(_find_unsafe_in_python, FEW_ROWS)
def find_unsafe_rows(
    rows: RowPatterns,
    number: int,
    before: NDArray[np.int64],
    after: NDArray[np.int64],
    order: NDArray[np.int64],
    counts: NDArray[np.int64],
    agreeing: NDArray[np.int64],
    k: int,
) -> NDArray[np.bool_]:
    """Go through the rows in ``order`` and suppress those that still have fewer than k agreeing records; returns their flags.

    ``number`` is the number of words of a combination. Rows that have blanks from the start agree with others from the start.
    """
    size = len(before)
    bits = 4
    while (1 << bits) < 4 * size + 4:
        bits += 1
    entries, patterns = 2 * size + 2, len(rows.blanks)
    blanked = BlankedRecords(
        np.full(1 << bits, -1, dtype=np.int64),
        np.empty((entries, number), dtype=np.uint64),
        np.empty(entries, dtype=np.int64),
        np.zeros(entries, dtype=np.int64),
        np.empty(patterns, dtype=np.int64),
        np.zeros(patterns, dtype=np.bool_),
        np.zeros(2, dtype=np.int64),
    )
    words = np.zeros(number, dtype=np.uint64)
    for row in range(size):
        _add_records(rows, blanked, row, before[row], counts[row], words)
    unsafe = np.zeros(size, dtype=np.bool_)
    for row in order:
        records, index = agreeing[row], 0
        while before[row] == 0 and records < k and index < blanked.sizes[PATTERNS]:
            slot = _find_slot(rows, blanked, row, blanked.in_use[index], words)
            if blanked.slots[slot] >= 0:
                records += blanked.records[blanked.slots[slot]]
            index += 1
        if records >= k:
            continue
        unsafe[row] = True
        # a row that had blanks of its own moves from its old pattern to the new one
        _add_records(rows, blanked, row, after[row], counts[row], words)
        _add_records(rows, blanked, row, before[row], -counts[row], words)
    return unsafe
