"""ChaCha20 compiled: the same key stream as engine/draws/chacha.py, sixteen blocks at a time.

A kernel goes over the records once. The next sixteen different blocks that the records need (128 records if their numbers are
contiguous; at least 16 in any order) are computed side by side, one block per lane, so that each step of the cipher is one
vector instruction. Complexity: O(records), with one block of 20 rounds per run of records that share a block.

The arrays: ``records[index]`` (int64), ``key`` (10 words of uint32: eight of key, two of nonce), ``counters[lane]`` (int64),
``words[lane, 8]`` (uint64), and the output per record. Trap: a negative record number is its two's complement, so counters are
shifted and masked, never divided.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.engine.runtime.compiled import compiled

_LANES = 16
_RECORDS_PER_ROUND = 8 * _LANES


@compiled
def _compute_blocks(key: Any, counters: Any, words: Any) -> None:
    """Compute ``words[lane, 8]`` from ``counters[lane]``.

    ``state[word, lane]`` is allocated here, so that the compiler knows that nothing else points to it and can vectorise.
    """
    state = np.empty((16, _LANES), np.uint32)
    for lane in range(_LANES):
        state[0, lane] = np.uint32(0x61707865)
        state[1, lane] = np.uint32(0x3320646E)
        state[2, lane] = np.uint32(0x79622D32)
        state[3, lane] = np.uint32(0x6B206574)
        for word in range(8):
            state[4 + word, lane] = key[word]
        state[12, lane] = np.uint32(counters[lane] & 0xFFFFFFFF)
        state[13, lane] = np.uint32((counters[lane] >> 32) & 0xFFFFFFFF)
        state[14, lane] = key[8]
        state[15, lane] = key[9]
    for _ in range(10):
        for quarter in range(8):  # four columns, then four diagonals
            column, is_diagonal = quarter & 3, quarter >> 2
            row_a, row_b = column, 4 + ((column + is_diagonal) & 3)
            row_c, row_d = 8 + ((column + 2 * is_diagonal) & 3), 12 + ((column + 3 * is_diagonal) & 3)
            for lane in range(_LANES):
                a, b, c, d = state[row_a, lane], state[row_b, lane], state[row_c, lane], state[row_d, lane]
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
                state[row_a, lane], state[row_b, lane], state[row_c, lane], state[row_d, lane] = a, b, c, d
    # the state before the rounds is added to that after them, which is what makes the block function one-way
    for lane in range(_LANES):
        low, high = np.uint32(counters[lane] & 0xFFFFFFFF), np.uint32((counters[lane] >> 32) & 0xFFFFFFFF)
        words[lane, 0] = _join_words(state[0, lane] + np.uint32(0x61707865), state[1, lane] + np.uint32(0x3320646E))
        words[lane, 1] = _join_words(state[2, lane] + np.uint32(0x79622D32), state[3, lane] + np.uint32(0x6B206574))
        for column in range(4):
            first, second = 2 * column, 2 * column + 1
            words[lane, 2 + column] = _join_words(state[4 + first, lane] + key[first], state[4 + second, lane] + key[second])
        words[lane, 6] = _join_words(state[12, lane] + low, state[13, lane] + high)
        words[lane, 7] = _join_words(state[14, lane] + key[8], state[15, lane] + key[9])


@compiled
def _join_words(low: Any, high: Any) -> Any:
    """Two words of 32 bits as one of 64. Trap: without the unsigned casts the sign of ``low`` would fill the upper half."""
    return np.uint64(np.uint32(low)) | (np.uint64(np.uint32(high)) << np.uint64(32))


@compiled
def _next_blocks(records: Any, begin: int, counters: Any) -> tuple[int, bool]:
    """Write the counters of the next different blocks; returns the end of the records that they cover, and a flag.

    The flag says that these records are numbered without gaps, as usual: the words of the blocks are then their draws, in order.
    """
    first, end = records[begin], begin + _RECORDS_PER_ROUND
    if first & 7 == 0 and end <= len(records):
        differences = np.int64(0)
        for offset in range(_RECORDS_PER_ROUND):
            differences |= (records[begin + offset] - offset) ^ first
        if differences == 0:
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
def fill_bits(records: Any, key: Any, output: Any) -> None:
    """Write 64 bits per record to ``output``."""
    counters, words, begin = np.zeros(_LANES, np.int64), np.empty((_LANES, 8), np.uint64), 0
    flat = words.reshape(_RECORDS_PER_ROUND)
    while begin < len(records):
        end, is_contiguous = _next_blocks(records, begin, counters)
        _compute_blocks(key, counters, words)
        if is_contiguous:
            for index in range(_RECORDS_PER_ROUND):
                output[begin + index] = flat[index]
        else:
            lane = 0
            for index in range(begin, end):
                if counters[lane] != records[index] >> 3:
                    lane += 1
                output[index] = words[lane, records[index] & 7]
        begin = end


@compiled
def fill_uniform(records: Any, key: Any, output: Any) -> None:
    """Write a number in [0, 1) per record to ``output``, from the upper 53 of its 64 bits."""
    counters, words, begin = np.zeros(_LANES, np.int64), np.empty((_LANES, 8), np.uint64), 0
    flat = words.reshape(_RECORDS_PER_ROUND)
    while begin < len(records):
        end, is_contiguous = _next_blocks(records, begin, counters)
        _compute_blocks(key, counters, words)
        # 53 bits fit into a signed integer, which is faster to convert
        if is_contiguous:
            for index in range(_RECORDS_PER_ROUND):
                output[begin + index] = np.int64(flat[index] >> np.uint64(11)) * 2.0**-53
        else:
            lane = 0
            for index in range(begin, end):
                if counters[lane] != records[index] >> 3:
                    lane += 1
                output[index] = np.int64(words[lane, records[index] & 7] >> np.uint64(11)) * 2.0**-53
        begin = end
