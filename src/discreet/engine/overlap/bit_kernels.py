"""Compiled loops for counting by bits; see :mod:`discreet.engine.overlap.bits`.

Bit ``at % 64`` of word ``at // 64`` stands for a kind of records. ``masks[code]`` has the kinds whose cell agrees with a query
code, and ``above[class]`` those that agree with a class of the smaller set. The kinds of some words have the same number of
records, so that counting their bits is enough; for the words from ``mixed`` on ``digits[d]`` has the kinds with a 1 at binary
digit d of their number of records.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.engine.runtime.compiled import compiled


# starts, begin, end: the runs of places that agree with each query code. kinds: the bits of all kinds, by place; those of place p
# from first[p]. masks: zero before. O(agreeing pairs of a code and a kind).
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


# parent, code: the class in the smaller set and the code of the new attribute, of each class. ends, sizes: where the words of
# kinds of one size end, and this size. digits: of the words from mixed on. bits[class]: the kinds that agree, written where it
# has rows. counts[class]: the records that agree. O(words + mixed words x digits) per class. Trap: the rows are named once,
# because the compiler does not combine and count several words at once where it has to look up their row again.
@compiled
def narrow(
    above: Any, parent: Any, code: Any, masks: Any, ends: Any, sizes: Any, mixed: int, digits: Any, bits: Any, counts: Any,
    start: int, stop: int,
) -> None:  # fmt: skip
    """The kinds that agree with each class of the larger set, and the number of their records."""
    words = masks.shape[1]
    spare = np.empty(words, dtype=np.uint64)
    for class_id in range(start, stop):
        larger, added = above[parent[class_id]], masks[code[class_id]]
        agreeing = bits[class_id] if len(bits) > 0 else spare
        for word in range(words):
            agreeing[word] = larger[word] & added[word]
        total, begin = 0, 0
        for segment in range(len(ends)):
            kinds = np.uint64(0)
            for word in range(begin, ends[segment]):
                kinds += _count_bits(agreeing[word])
            total += int(kinds) * sizes[segment]
            begin = ends[segment]
        for digit in range(len(digits)):
            row = digits[digit]
            kinds = np.uint64(0)
            for word in range(mixed, words):
                kinds += _count_bits(agreeing[word] & row[word - mixed])
            total += int(kinds) << digit
        counts[class_id] = total
