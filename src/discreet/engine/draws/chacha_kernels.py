"""ChaCha20 compiled: the same key stream as engine/draws/chacha.py, sixteen blocks at a time.

A kernel walks over the records once. The next sixteen different blocks that the records need (128 records, where their numbers
are contiguous; at least 16 in any order) are computed side by side, one block per lane, so that each step of the cipher is one
vector instruction. Complexity: O(records), with one block of 20 rounds per run of records that share their block.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.engine.runtime.compiled import compiled

_LANES = 16
_SERVED = 8 * _LANES


@compiled
def _compute_blocks(key: Any, counters: Any, words: Any) -> None:
    """``words`` [lane, 8] from ``counters`` [lane]; ``state`` [word, lane] is made here so that nothing else can point to it."""
    state = np.empty((16, _LANES), np.uint32)
    for lane in range(_LANES):
        state[0, lane] = np.uint32(0x61707865)
        state[1, lane] = np.uint32(0x3320646E)
        state[2, lane] = np.uint32(0x79622D32)
        state[3, lane] = np.uint32(0x6B206574)
        for at in range(8):
            state[4 + at, lane] = key[at]
        state[12, lane] = np.uint32(counters[lane] & 0xFFFFFFFF)
        state[13, lane] = np.uint32((counters[lane] >> 32) & 0xFFFFFFFF)
        state[14, lane] = key[8]
        state[15, lane] = key[9]
    for _ in range(10):
        for quarter in range(8):  # four columns, then four diagonals
            at, slant = quarter & 3, quarter >> 2
            one, two = at, 4 + ((at + slant) & 3)
            three, four = 8 + ((at + 2 * slant) & 3), 12 + ((at + 3 * slant) & 3)
            for lane in range(_LANES):
                a, b, c, d = state[one, lane], state[two, lane], state[three, lane], state[four, lane]
                a = np.uint32(a + b)
                d = np.uint32(d ^ a)
                d = np.uint32((d << np.uint32(16)) | (d >> np.uint32(16)))
                c = np.uint32(c + d)
                b = np.uint32(b ^ c)
                b = np.uint32((b << np.uint32(12)) | (b >> np.uint32(20)))
                a = np.uint32(a + b)
                d = np.uint32(d ^ a)
                d = np.uint32((d << np.uint32(8)) | (d >> np.uint32(24)))
                c = np.uint32(c + d)
                b = np.uint32(b ^ c)
                b = np.uint32((b << np.uint32(7)) | (b >> np.uint32(25)))
                state[one, lane], state[two, lane], state[three, lane], state[four, lane] = a, b, c, d
    # the state before the rounds is added to that after them, which is what makes the block function one-way
    for lane in range(_LANES):
        low, high = np.uint32(counters[lane] & 0xFFFFFFFF), np.uint32((counters[lane] >> 32) & 0xFFFFFFFF)
        words[lane, 0] = _word(state[0, lane] + np.uint32(0x61707865), state[1, lane] + np.uint32(0x3320646E))
        words[lane, 1] = _word(state[2, lane] + np.uint32(0x79622D32), state[3, lane] + np.uint32(0x6B206574))
        for at in range(4):
            words[lane, 2 + at] = _word(state[4 + 2 * at, lane] + key[2 * at], state[5 + 2 * at, lane] + key[2 * at + 1])
        words[lane, 6] = _word(state[12, lane] + low, state[13, lane] + high)
        words[lane, 7] = _word(state[14, lane] + key[8], state[15, lane] + key[9])


@compiled
def _word(low: Any, high: Any) -> Any:
    return np.uint64(np.uint32(low)) | (np.uint64(np.uint32(high)) << np.uint64(32))


@compiled
def _next_blocks(records: Any, begin: int, counters: Any) -> tuple[int, bool]:
    """The next different blocks into ``counters``; the end of the records that they serve, and whether these are all of theirs.

    The latter (records numbered without gaps, which is usual) makes the words of the blocks the draws of the records, in order.
    """
    first, end = records[begin], begin + _SERVED
    if first & 7 == 0 and end <= len(records):
        apart = np.int64(0)
        for at in range(_SERVED):
            apart |= (records[begin + at] - at) ^ first
        if apart == 0:
            for lane in range(_LANES):
                counters[lane] = (first >> 3) + lane
            return end, True
    lane, last, end = 0, first >> 3, begin
    counters[0] = last
    while end < len(records):
        block = records[end] >> 3
        if block != last:
            lane += 1
            if lane == _LANES:
                break
            last = block
            counters[lane] = block
        end += 1
    return end, False


@compiled
def fill_bits(records: Any, key: Any, made: Any) -> None:
    """64 bits per record into ``made``."""
    counters, words, begin = np.zeros(_LANES, np.int64), np.empty((_LANES, 8), np.uint64), 0
    flat = words.reshape(_SERVED)
    while begin < len(records):
        end, whole = _next_blocks(records, begin, counters)
        _compute_blocks(key, counters, words)
        if whole:
            for at in range(_SERVED):
                made[begin + at] = flat[at]
        else:
            lane = 0
            for at in range(begin, end):
                if counters[lane] != records[at] >> 3:
                    lane += 1
                made[at] = words[lane, records[at] & 7]
        begin = end


@compiled
def fill_uniform(records: Any, key: Any, made: Any) -> None:
    """A number in [0, 1) per record into ``made``, of the upper 53 of its 64 bits."""
    counters, words, begin = np.zeros(_LANES, np.int64), np.empty((_LANES, 8), np.uint64), 0
    flat = words.reshape(_SERVED)
    while begin < len(records):
        end, whole = _next_blocks(records, begin, counters)
        _compute_blocks(key, counters, words)
        # 53 bits fit a signed number, which is faster to convert
        if whole:
            for at in range(_SERVED):
                made[begin + at] = np.int64(flat[at] >> np.uint64(11)) * 2.0**-53
        else:
            lane = 0
            for at in range(begin, end):
                if counters[lane] != records[at] >> 3:
                    lane += 1
                made[at] = np.int64(words[lane, records[at] & 7] >> np.uint64(11)) * 2.0**-53
        begin = end
