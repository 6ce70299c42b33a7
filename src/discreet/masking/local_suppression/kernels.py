"""Compiled: which rows still need their values suppressed when blanks of earlier rows agree with anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.runtime.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray


@compiled
def _combination(
    parts: NDArray[np.uint64], word: NDArray[np.int64], left_out: NDArray[np.bool_], words: NDArray[np.uint64]
) -> np.uint64:
    """Put the number of a row's combination without some attributes into ``words``; returns a mixture of their bits."""
    for at in range(len(words)):
        words[at] = 0
    for at in range(len(parts)):
        if not left_out[at]:
            words[word[at]] += parts[at]
    state = np.uint64(0)
    for at in range(len(words)):
        state = (state ^ words[at]) * np.uint64(0xBF58476D1CE4E5B9)
        state ^= state >> np.uint64(29)
    return state


@compiled
def _find(
    words: NDArray[np.uint64],
    state: np.uint64,
    pattern: int,
    slots: NDArray[np.int64],
    held: NDArray[np.uint64],
    owner: NDArray[np.int64],
) -> np.int64:
    """The slot of a pattern's combination, or the empty one where it would stand."""
    mask = np.int64(len(slots) - 1)
    slot = np.int64((state + np.uint64(pattern)) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(1)) & mask
    while slots[slot] >= 0:
        entry = slots[slot]
        same = owner[entry] == pattern
        for at in range(len(words)):
            same = same and held[entry, at] == words[at]
        if same:
            break
        slot = (slot + 1) & mask
    return slot


@compiled
def still_unsafe(
    parts: NDArray[np.uint64],
    word: NDArray[np.int64],
    number: int,
    blanks: NDArray[np.bool_],
    before: NDArray[np.int64],
    after: NDArray[np.int64],
    order: NDArray[np.int64],
    counts: NDArray[np.int64],
    safe: NDArray[np.int64],
    k: int,
) -> NDArray[np.bool_]:
    """Go through the rows in ``order`` and suppress those that fewer than k records agree with by then.

    ``parts[row, attribute]`` add up, word by word, to a number for the row's combination; ``blanks[pattern, attribute]`` are the
    attributes that a pattern leaves out; ``before`` and ``after`` the pattern of a row now and once it is suppressed (pattern 0
    leaves out nothing); ``safe`` the records that agree with a row by their values alone. Rows that have blanks already count
    for others from the start.
    """
    size = len(parts)
    bits = 4
    while (1 << bits) < 4 * size + 4:
        bits += 1
    slots = np.full(1 << bits, -1, dtype=np.int64)
    held = np.empty((2 * size + 2, number), dtype=np.uint64)
    owner = np.empty(2 * size + 2, dtype=np.int64)
    weight = np.zeros(2 * size + 2, dtype=np.int64)
    in_use, seen = np.empty(len(blanks), dtype=np.int64), np.zeros(len(blanks), dtype=np.bool_)
    entries, active = 0, 0
    gone = np.zeros(size, dtype=np.bool_)
    words = np.zeros(number, dtype=np.uint64)
    for turn in range(size + len(order)):
        first = turn < size
        row = turn if first else order[turn - size]
        if first and before[row] == 0:
            continue
        if not first:
            alike, place = safe[row], 0
            while before[row] == 0 and alike < k and place < active:
                pattern = in_use[place]
                state = _combination(parts[row], word, blanks[pattern], words)
                slot = _find(words, state, pattern, slots, held, owner)
                if slots[slot] >= 0:
                    alike += weight[slots[slot]]
                place += 1
            if alike >= k:
                continue
            gone[row] = True
        # a row that had blanks of its own moves from its old pattern to the new one
        for way in range(1 if first else 2):
            pattern = after[row] if not first and way == 0 else before[row]
            if pattern == 0:
                continue
            state = _combination(parts[row], word, blanks[pattern], words)
            slot = _find(words, state, pattern, slots, held, owner)
            if slots[slot] < 0:
                slots[slot] = entries
                owner[entries] = pattern
                held[entries] = words
                entries += 1
            weight[slots[slot]] += counts[row] if first or way == 0 else -counts[row]
            if not seen[pattern]:
                seen[pattern] = True
                in_use[active] = pattern
                active += 1
    return gone
