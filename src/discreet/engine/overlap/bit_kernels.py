"""Compiled loops for counting by bits; see :mod:`discreet.engine.overlap.bits`.

Bit ``kind % 64`` of word ``kind // 64`` stands for a kind of records. ``masks[code]`` has the kinds whose cell agrees with a
query code, ``above[class]`` those that agree with a class of the smaller set, and ``digits[d]`` those with a 1 at binary digit d
of their number of records.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.engine.runtime.compiled import compiled


# starts, begin, end: the runs of places that agree with each query code. kinds: all kinds, by place; those of place p from
# first[p]. masks: zero before. O(agreeing pairs of a code and a kind).
@compiled
def set_bits(starts: Any, begin: Any, end: Any, first: Any, kinds: Any, masks: Any) -> None:
    """Set the bits of the kinds that agree with each query code."""
    for code in range(len(starts) - 1):
        for run in range(starts[code], starts[code + 1]):
            for at in range(first[begin[run]], first[end[run]]):
                kind = kinds[at]
                masks[code, kind // 64] |= np.uint64(1) << np.uint64(kind % 64)


# The sum of the bits of pairs, of fours and of bytes in place, then of all bytes by a product. Trap: every constant must be
# unsigned, because a signed one would make the product a float.
@compiled
def _count_bits(word: Any) -> Any:
    """The number of bits that are set in a word."""
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (word * np.uint64(0x0101010101010101)) >> np.uint64(56)


# parent, code: the class in the smaller set and the code of the new attribute, of each class. bits[class]: the kinds that agree,
# written where it has rows. counts[class]: the records that agree. O(words x digits) per class.
@compiled
def narrow(above: Any, parent: Any, code: Any, masks: Any, digits: Any, bits: Any, counts: Any, start: int, stop: int) -> None:
    """The kinds that agree with each class of the larger set, and the number of their records."""
    words = masks.shape[1]
    agreeing = np.empty(words, dtype=np.uint64)
    for class_id in range(start, stop):
        for word in range(words):
            agreeing[word] = above[parent[class_id], word] & masks[code[class_id], word]
        total = 0
        for digit in range(len(digits)):
            with_digit = np.uint64(0)
            for word in range(words):
                with_digit += _count_bits(agreeing[word] & digits[digit, word])
            total += int(with_digit) << digit
        counts[class_id] = total
        if len(bits) > 0:
            bits[class_id] = agreeing
