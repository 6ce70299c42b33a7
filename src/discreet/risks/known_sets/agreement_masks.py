"""On which attributes every record agrees with one record, as bit masks: all that the record's sum over known sets depends on.

The number of records that agree with a record on a set of attributes is the number of masks that contain the set. Records with
the same mask are counted together, so a table has at most as many masks as records, and far fewer where values are common.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.known_sets.queries import RecordClass
from discreet.engine.runtime.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_ATTRIBUTES = 62
"""Bits of a mask that can be used without its sign."""


@dataclass(frozen=True)
class AgreementMasks:
    """The distinct masks, how many records have each, and the place of the attribute that each bit stands for."""

    masks: NDArray[np.int64]
    times: NDArray[np.int64]
    places: NDArray[np.int64]


class MaskTable:
    """Makes the masks of queries about the records of some classes; the counts of values are taken once."""

    def __init__(self, classes: Sequence[RecordClass]) -> None:
        self.classes = [records for records in classes if records.size]
        self.size = sum(records.size for records in self.classes)
        self._counts = [
            [
                np.bincount(codes if records.rows is None else codes[records.rows], minlength=self._span(records, place))
                for place, codes in enumerate(records.codes)
            ]
            for records in self.classes
        ]

    @staticmethod
    def _span(records: RecordClass, place: int) -> int:
        return len(records.relations[place].place) if records.relations else records.cardinalities[place]

    def masks_of(self, query: int, places: NDArray[np.int64]) -> AgreementMasks:
        """The masks for one query. The attribute on which the fewest records agree has the lowest bit."""
        numbers = range(len(self.classes))
        flags = [{place: self._agreeing_codes(at, place, query) for place in places.tolist()} for at in numbers]
        agreeing = [sum(int(self._counts[at][place][flags[at][place]].sum()) for at in numbers) for place in places.tolist()]
        ordered = places[np.argsort(np.array(agreeing, dtype=np.int64), kind="stable")]
        masks = np.zeros(self.size, dtype=np.int64)
        begin = 0
        for at, records in enumerate(self.classes):
            part = masks[begin : begin + records.size]
            for bit, place in enumerate(ordered.tolist()):
                _set_bits(records.rows, records.codes[place], flags[at][place].view(np.uint8), bit, part)
            begin += records.size
        distinct, times = np.empty(self.size, np.int64), np.empty(self.size, np.int64)
        number = merge_masks(masks, np.ones(self.size, np.int64), distinct, times)
        return AgreementMasks(distinct[:number], times[:number], ordered)

    def _agreeing_codes(self, at: int, place: int, query: int) -> NDArray[np.bool_]:
        """Which codes of an attribute agree with the query's."""
        records = self.classes[at]
        own = int(records.query_codes[place][query])
        flags = np.zeros(len(self._counts[at][place]), dtype=np.bool_)
        if records.relations:
            relation = records.relations[place]
            for run in range(relation.starts[own], relation.starts[own + 1]):
                flags[relation.begin[run] : relation.end[run]] = True
        elif own < len(flags):
            flags[own] = True
        return flags


# rows[i]: row of the i-th record, or None for all in order. agrees[code]: 1 where the code agrees with the query. O(records).
@compiled
def _set_bits(rows: Any, codes: Any, agrees: Any, bit: int, masks: Any) -> None:
    for at in range(len(masks)):
        row = at if rows is None else np.int64(rows[at])
        masks[at] |= np.int64(agrees[codes[row]]) << bit


# distinct, times: receive the masks and their multiplicities, and may be longer than needed. A hash table with open addressing,
# at most half full, so O(masks) on average.
@compiled
def merge_masks(masks: Any, multiplicities: Any, distinct: Any, times: Any) -> int:
    """Write each distinct mask once, in the order of first occurrence, with its summed multiplicity; returns how many."""
    bits = 3
    while (1 << bits) < 2 * len(masks):
        bits += 1
    table = np.full(1 << bits, -1, np.int32)
    number = 0
    for at in range(len(masks)):
        # Fibonacci hashing: the high bits of the product depend on all bits of the mask
        place = np.int64((np.uint64(masks[at]) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(64 - bits))
        while table[place] >= 0 and distinct[table[place]] != masks[at]:
            place = (place + 1) & ((1 << bits) - 1)
        if table[place] < 0:
            table[place] = number
            distinct[number], times[number] = masks[at], multiplicities[at]
            number += 1
        else:
            times[table[place]] += multiplicities[at]
    return number
