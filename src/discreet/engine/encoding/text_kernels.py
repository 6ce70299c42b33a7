"""Compiled: number texts by a hash table of their bytes, :class:`TextArrays`; each loop is linear in the bytes of its texts.

Trap: the slots must stay at most half full, so :func:`number_rows` stops before a block that could fill them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from discreet.engine.runtime.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

BLOCK_ROWS = 512


class TextArrays(NamedTuple):
    """The texts that are numbered so far.

    ``slots`` is an open hash table: -1, or the upper half of a text's hash in the upper 32 bits and its number in the lower ones,
    so that a slot of another text is passed by without a look at its bytes. ``bytes`` are the texts one after the other, the text
    of a number from ``starts[number]`` to ``starts[number + 1]``. ``sizes[0]`` is the number of texts.
    """

    slots: NDArray[np.int64]
    bytes: NDArray[np.uint8]
    starts: NDArray[np.int64]
    sizes: NDArray[np.int64]


# FNV-1a, begun with a secret number, so that nobody can prepare texts that share a slot; then mixed, because its lower bits
# depend on the lower bits of the bytes only.
@compiled
def _hash_text(data: NDArray[np.uint8], begin: int, end: int, secret: np.uint64) -> np.uint64:
    state = secret
    for position in range(begin, end):
        state = (state ^ np.uint64(data[position])) * np.uint64(0x100000001B3)
    state = (state ^ (state >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
    return state ^ (state >> np.uint64(32))


# A text costs about three accesses outside the processor's caches: its slot, its place and its bytes. One after the other they
# take most of the time. So the rows are taken in blocks, and each kind of access is done for the whole block in a loop, in which
# the processor has many of them under way; the last loop finds everything in its cache.
# offsets[row], offsets[row + 1]: where the text of a row begins and ends in data. numbers[row]: written.
@compiled
def number_rows(
    data: NDArray[np.uint8],
    offsets: NDArray[np.int64],
    first: int,
    part: int,
    parts: int,
    numbers: NDArray[np.uint32],
    texts: TextArrays,
    secret: np.uint64,
) -> int:
    """Number the rows from ``first`` on whose hash belongs to this part: the place among its texts times ``parts``, + ``part``.

    Returns the first row of a block for which the arrays of the texts may be too short, to be continued with longer ones, or the
    number of rows.
    """
    slots, stored, starts, sizes = texts
    mask = np.int64(len(slots) - 1)
    rows = np.empty(BLOCK_ROWS, dtype=np.int64)
    states, entries = np.empty(BLOCK_ROWS, dtype=np.uint64), np.empty(BLOCK_ROWS, dtype=np.int64)
    places = np.empty(BLOCK_ROWS, dtype=np.int64)
    begin_block = first
    while begin_block < len(numbers):
        end_block = min(begin_block + BLOCK_ROWS, len(numbers))
        room = starts[sizes[0]] + offsets[end_block] - offsets[begin_block]
        if 2 * (sizes[0] + BLOCK_ROWS) >= len(slots) or sizes[0] + BLOCK_ROWS >= len(starts) or room > len(stored):
            return begin_block
        size = 0
        for row in range(begin_block, end_block):
            state = _hash_text(data, offsets[row], offsets[row + 1], secret)
            rows[size], states[size] = row, state
            size += np.int64(state % np.uint64(parts)) == part
        for index in range(size):
            entries[index] = slots[np.int64(states[index] >> np.uint64(8)) & mask]
        for index in range(size):
            places[index] = starts[entries[index] & np.int64(0xFFFFFFFF)] if entries[index] >= 0 else 0
        touched = np.uint8(0)
        for index in range(size):
            touched ^= stored[places[index]]
        for index in range(size):
            row, state = rows[index], states[index]
            begin, length = offsets[row], offsets[row + 1] - offsets[row]
            slot = np.int64(state >> np.uint64(8)) & mask
            tag = np.int64(state >> np.uint64(33)) << np.int64(32)
            while True:
                entry = slots[slot]
                if entry < 0:
                    number = sizes[0]
                    at = starts[number]
                    for position in range(length):
                        stored[at + position] = data[begin + position]
                    starts[number + 1] = at + length
                    slots[slot] = tag | number
                    sizes[0] = number + 1
                    break
                if (entry >> np.int64(32)) << np.int64(32) == tag:
                    number = entry & np.int64(0xFFFFFFFF)
                    at = starts[number]
                    same = starts[number + 1] - at == length
                    position = 0
                    while same and position < length:
                        same = stored[at + position] == data[begin + position]
                        position += 1
                    if same:
                        break
                slot = (slot + 1) & mask
            numbers[row] = number * parts + part
        sizes[1] += touched  # the loop of accesses must have a result, or it would be left out
        begin_block = end_block
    return len(numbers)


@compiled
def rebuild_slots(texts: TextArrays, secret: np.uint64) -> None:
    """Enter all texts into an empty table of slots."""
    slots, stored, starts, sizes = texts
    mask = np.int64(len(slots) - 1)
    for number in range(sizes[0]):
        state = _hash_text(stored, starts[number], starts[number + 1], secret)
        slot = np.int64(state >> np.uint64(8)) & mask
        while slots[slot] >= 0:
            slot = (slot + 1) & mask
        slots[slot] = (np.int64(state >> np.uint64(33)) << np.int64(32)) | number
