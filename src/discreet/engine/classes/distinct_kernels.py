"""Compiled loops that number equal integer keys by a hash table with open addressing.

``slots[hash]`` holds the number of a distinct key plus 1, or 0; ``keys[number]`` the key, ``first[number]`` the first record that
has it and ``counts[number]`` how many have it; ``of[record]`` is written with the number of its key. Slots are a power of two,
at least twice as many as there is space for keys, so a search passes about two of them and each loop is linear in its keys.
Trap: keys, shifts and masks are unsigned, because a signed and an unsigned integer together become a float.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.engine.runtime.compiled import compiled

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)
_ONE = np.uint64(1)


@compiled
def append_code(keys: Any, codes: Any, bits: int) -> None:
    """Shift each key by ``bits`` and put the record's code into them. O(records)."""
    width = np.uint64(bits)
    for at in range(len(keys)):
        keys[at] = (keys[at] << width) | np.uint64(codes[at])


@compiled
def _first_slot(key: Any, mask: Any) -> Any:
    """Where the search for a key begins: the upper bits of a product that depends on all bits of the key."""
    return (((key ^ (key >> _HALF)) * _GOLDEN) >> _HALF) & mask


@compiled
def _enter_key(slot: int, record: int, slots: Any, first: Any, counts: Any, number: int) -> int:
    """Give the key of a record the next number, at a free slot; returns how many distinct keys there are now."""
    first[number] = record
    counts[number] = 0
    slots[slot] = number + 1
    return number + 1


@compiled
def number_block(block: Any, start: int, slots: Any, keys: Any, first: Any, counts: Any, number: int, of: Any) -> tuple[int, int]:
    """Number the keys of a block of records from record ``start`` on; expected O(block).

    Returns how many records of the block were numbered and how many distinct keys there are now: fewer than the block where no
    space is left for a further key.
    """
    mask = np.uint64(len(slots) - 1)
    for at in range(len(block)):
        key = block[at]
        slot = _first_slot(key, mask)
        owner = slots[slot]
        while owner != 0 and keys[owner - 1] != key:
            slot = (slot + _ONE) & mask
            owner = slots[slot]
        if owner == 0:
            if number == len(keys):
                return at, number
            keys[number] = key
            number = _enter_key(slot, start + at, slots, first, counts, number)
            owner = slots[slot]
        counts[owner - 1] += 1
        of[at] = owner - 1
    return len(block), number


@compiled
def number_short_keys(block: Any, start: int, slots: Any, first: Any, counts: Any, number: int, of: Any) -> tuple[int, int]:
    """The same for keys so short that each has a slot of its own, ``slots[key]``: nothing is looked for."""
    for at in range(len(block)):
        slot = block[at]
        owner = slots[slot]
        if owner == 0:
            if number == len(first):
                return at, number
            number = _enter_key(slot, start + at, slots, first, counts, number)
            owner = slots[slot]
        counts[owner - 1] += 1
        of[at] = owner - 1
    return len(block), number


@compiled
def fill_slots(keys: Any, number: int, slots: Any) -> None:
    """Enter distinct keys into empty slots."""
    mask = np.uint64(len(slots) - 1)
    for at in range(number):
        key = keys[at]
        slot = _first_slot(key, mask)
        while slots[slot] != 0:
            slot = (slot + _ONE) & mask
        slots[slot] = at + 1
