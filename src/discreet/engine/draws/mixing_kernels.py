"""The keyed sums of engine/draws/mixing.py, compiled: one pass over a column, O(bytes).

The arrays: ``words[row]`` (uint64) or ``text_bytes`` (uint8) with ``offsets[row]``, ``nulls[row]`` (empty if there are none),
``records[row]`` (int64), ``key`` (four words of uint64: k0 to k3). Sums wrap modulo 2^64, as they must.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.engine.runtime.compiled import compiled


@compiled
def _mix(state: Any) -> Any:
    """The finalizer of SplitMix64 (Steele, Lea & Flood 2014): every bit of the result depends on every bit of the state."""
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))


@compiled
def _load_word(text_bytes: Any, begin: int, end: int) -> Any:
    """The bytes from ``begin`` to ``end``, at most eight, as a word: one load of eight bytes unless at the end of the buffer."""
    word = np.uint64(0)
    if begin + 8 > len(text_bytes):
        for position in range(begin, end):
            word |= np.uint64(text_bytes[position]) << np.uint64(8 * (position - begin))
        return word
    for position in range(8):
        word |= np.uint64(text_bytes[begin + position]) << np.uint64(8 * position)
    if end - begin < 8:
        word &= (np.uint64(1) << np.uint64(8 * (end - begin))) - np.uint64(1)
    return word


@compiled
def sum_words(words: Any, nulls: Any, records: Any, key: Any) -> Any:
    """The sum over a column of 64-bit words. O(rows)."""
    total = np.uint64(0)
    for row in range(len(records)):
        cell = key[2] if len(nulls) and nulls[row] else words[row] + key[1]
        total += _mix(_mix(np.uint64(records[row]) * np.uint64(0x9E3779B97F4A7C15) ^ key[0]) ^ cell)
    return total


@compiled
def sum_texts(offsets: Any, text_bytes: Any, nulls: Any, records: Any, key: Any) -> Any:
    """The sum over a column of texts. O(rows + bytes)."""
    total = np.uint64(0)
    for row in range(len(records)):
        cell = key[2]
        if not (len(nulls) and nulls[row]):
            begin, end = offsets[row], offsets[row + 1]
            folded = key[3] ^ np.uint64(end - begin) * np.uint64(0x9E3779B97F4A7C15)
            while begin < end:
                folded = _mix(folded ^ _load_word(text_bytes, begin, end))
                begin += 8
            cell = folded + key[1]
        total += _mix(_mix(np.uint64(records[row]) * np.uint64(0x9E3779B97F4A7C15) ^ key[0]) ^ cell)
    return total
