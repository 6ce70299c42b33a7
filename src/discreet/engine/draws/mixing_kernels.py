"""The keyed sums of engine/draws/mixing.py, compiled: one pass over a column, O(bytes)."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.engine.runtime.compiled import compiled


@compiled
def _mix(state: Any) -> Any:
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))


@compiled
def _load(letters: Any, begin: int, end: int) -> Any:
    """Up to eight bytes from ``begin`` as a word: one load where the buffer has eight, and the rest is masked away."""
    word = np.uint64(0)
    if begin + 8 > len(letters):
        for place in range(begin, end):
            word |= np.uint64(letters[place]) << np.uint64(8 * (place - begin))
        return word
    for place in range(8):
        word |= np.uint64(letters[begin + place]) << np.uint64(8 * place)
    if end - begin < 8:
        word &= (np.uint64(1) << np.uint64(8 * (end - begin))) - np.uint64(1)
    return word


@compiled
def sum_words(words: Any, nulls: Any, records: Any, key: Any) -> Any:
    total = np.uint64(0)
    for at in range(len(records)):
        cell = key[2] if len(nulls) and nulls[at] else words[at] + key[1]
        total += _mix(_mix(np.uint64(records[at]) * np.uint64(0x9E3779B97F4A7C15) ^ key[0]) ^ cell)
    return total


@compiled
def sum_texts(offsets: Any, letters: Any, nulls: Any, records: Any, key: Any) -> Any:
    total = np.uint64(0)
    for at in range(len(records)):
        cell = key[2]
        if not (len(nulls) and nulls[at]):
            begin, end = offsets[at], offsets[at + 1]
            folded = key[3] ^ np.uint64(end - begin) * np.uint64(0x9E3779B97F4A7C15)
            while begin < end:
                folded = _mix(folded ^ _load(letters, begin, end))
                begin += 8
            cell = folded + key[1]
        total += _mix(_mix(np.uint64(records[at]) * np.uint64(0x9E3779B97F4A7C15) ^ key[0]) ^ cell)
    return total
