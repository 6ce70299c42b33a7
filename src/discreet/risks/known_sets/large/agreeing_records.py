"""How many records agree with each record on all attributes: the smallest count that any known set can have.

Nearly every record of a large table is a row of its own, so one hash table of all rows would be far longer than the processor's
cache. The rows are therefore distributed by their hash to parts whose tables fit into it, and each part is counted by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.classes.distinct import number_rows
from discreet.engine.classes.distinct_kernels import append_code
from discreet.engine.encoding.columns import Column, thread_count
from discreet.engine.known_sets import threads
from discreet.engine.runtime.compiled import compiled
from discreet.engine.runtime.worker_threads import WorkerThreads

if TYPE_CHECKING:
    from numpy.typing import NDArray

_WORD = 64
_BLOCK = 1 << 13
"""Records that are packed at once: their keys stay in the processor's cache."""
_PART_BITS = 6
"""There are 2 ** 6 parts: of a million records about 16,000 in each, whose keys and slots take 300 kB."""


def count_agreeing_records(columns: Sequence[Column], size: int) -> NDArray[np.int32]:
    """For each record how many records, itself included, have the same codes in all columns. Expected O(size x columns)."""
    bits = [max(column.cardinality - 1, 0).bit_length() for column in columns]
    if sum(bits) > _WORD:
        rows = number_rows([(column.codes, column.cardinality) for column in columns], size)
        assert rows is not None
        return rows.counts[rows.of]
    keys = np.zeros(size, dtype=np.uint64)
    part_keys, records = np.empty(size, dtype=np.uint64), np.empty(size, dtype=np.uint32)
    counts = np.empty(size, dtype=np.int32)
    workers = thread_count() if size > threads.SMALL else 1
    parts = 1 << _PART_BITS
    bounds = [size * at // workers for at in range(workers + 1)]
    numbers = np.zeros((workers, parts), dtype=np.int64)

    def pack(at: int) -> None:
        for start in range(bounds[at], bounds[at + 1], _BLOCK):
            own = slice(start, min(start + _BLOCK, bounds[at + 1]))
            block = keys[own]
            for column, width in zip(columns, bits, strict=True):
                if width:
                    append_code(block, column.codes[own], width)
            _count_by_part(block, numbers[at])

    with WorkerThreads(workers) as pool:
        list(pool.map(pack, range(workers)))
        begin = np.concatenate(([0], np.cumsum(numbers.sum(axis=0))))
        fill = begin[:-1] + np.cumsum(numbers, axis=0) - numbers  # each slice writes behind those before it, in every part
        list(pool.map(lambda at: _distribute(keys, fill[at], part_keys, records, bounds[at], bounds[at + 1]), range(workers)))
        shares = [parts * at // workers for at in range(workers + 1)]
        list(pool.map(lambda at: _count_parts(part_keys, records, begin, shares[at], shares[at + 1], counts), range(workers)))
    return counts


@compiled
def _hash(key: Any) -> Any:
    """A product whose high bits depend on all bits of the key; packed codes differ mostly in some of them."""
    return (key ^ (key >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)


# numbers[part]: receives how many keys are in each part, which the first bits of the hash name. O(keys).
@compiled
def _count_by_part(keys: Any, numbers: Any) -> None:
    shift = np.uint64(_WORD - _PART_BITS)
    for at in range(len(keys)):
        numbers[np.int64(_hash(keys[at]) >> shift)] += 1


# fill[part]: where the next key of a part is put; it is written over. part_keys, records: receive the keys of a slice by part and
# the record of each, in the order of the records: a counting sort, O(slice).
@compiled
def _distribute(keys: Any, fill: Any, part_keys: Any, records: Any, start: int, stop: int) -> None:
    shift = np.uint64(_WORD - _PART_BITS)
    for at in range(start, stop):
        own = np.int64(_hash(keys[at]) >> shift)
        part_keys[fill[own]], records[fill[own]] = keys[at], at
        fill[own] += 1


# slots: an open-addressed table, at most half full, of places of the part (plus 1) where a key occurs first. total[place]: the
# records with the key that occurs first there. owner[place]: that first place of each record's key. Expected O(records).
@compiled
def _count_parts(part_keys: Any, records: Any, begin: Any, first: int, last: int, counts: Any) -> None:
    """Write the number of records with the same key to each record of the parts from ``first`` up to ``last``, that excluded."""
    longest = 0
    for part in range(first, last):
        longest = max(longest, begin[part + 1] - begin[part])
    bits = 1
    while (1 << bits) < 2 * longest:
        bits += 1
    slots = np.zeros(1 << bits, np.int32)
    total, owner = np.zeros(longest, np.int32), np.zeros(longest, np.int32)
    # the first bits of the hash are the same for a whole part
    shift, mask = np.uint64(_WORD - _PART_BITS - bits), np.int64((1 << bits) - 1)
    for part in range(first, last):
        start, size = begin[part], begin[part + 1] - begin[part]
        slots[:] = 0
        for at in range(size):
            key = part_keys[start + at]
            slot = np.int64(_hash(key) >> shift) & mask
            while slots[slot] != 0 and part_keys[start + slots[slot] - 1] != key:
                slot = (slot + 1) & mask
            if slots[slot] == 0:
                slots[slot] = at + 1
                total[at] = 0
            owner[at] = slots[slot] - 1
            total[owner[at]] += 1
        for at in range(size):
            counts[records[start + at]] = total[owner[at]]
