"""Counting known sets by bits, where coarse cells agree with so many others that lists of agreeing groups grow too long.

Groups of near records that publish ranges are such a case: nearly every cell overlaps a large part of its column, and a set of
two attributes has nearly as many agreeing pairs as there are pairs of groups. Here a class of queries (equal cells in the set at
hand) has one bit for each *kind* of records, that is, for each combination of cells that occurs. The bits of a set are those of
its parent and of the attribute that it adds. Kinds have several records. Those of a frequent number of records have words of
their own, so that their bits are counted once; for the others the number of records is a sum over binary digits: the bits of the
kinds whose number of records has that digit, times its power of two.

The counts are those of :class:`discreet.engine.known_sets.counter.Counter`. Time: O(classes x kinds / 64) per set, times the
digits for kinds of rare numbers of records.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.classes.groups import group_ids
from discreet.engine.known_sets.family import SetTree
from discreet.engine.known_sets.queries import Queries, RecordClass
from discreet.engine.known_sets.threads import KernelThreads
from discreet.engine.known_sets.walk import walk_sets
from discreet.engine.overlap import bit_kernels
from discreet.engine.overlap.splitting import Classes
from discreet.engine.runtime.progress import report_progress

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

_MOST_BYTES = 600_000_000
"""Bytes of the bits of all cells of all attributes beyond which lists are kept."""
_BYTES_PER_LEVEL = 128_000_000
"""Bytes of the bits of the queries that are counted at once, in one set on the path of the walk."""
_WORDS_PER_STEP = 8
"""Words of bits that take as long as one step through the lists: two binary searches, or two reads far apart."""
_LEAST_KINDS = 64
"""Kinds with the same number of records from which they have words of their own: a word of them."""
_FEW_CLASSES = 256
"""Classes up to which one thread counts them."""


@dataclass
class _Level:
    """A set on the path to the one at hand: the queries that are not alone in it, the class of each, and the bits of the classes.

    ``bits`` is None where all kinds agree with everybody.
    """

    queries: NDArray[np.uint32]
    class_of: NDArray[np.uint32]
    classes: int
    bits: NDArray[np.uint64] | None


class BitCounter:
    """Counts the records that agree with each query, by bits; ``counts`` holds those of the set counted last."""

    def __init__(self, records: RecordClass, queries: Queries) -> None:
        self.records, self.queries = records, queries
        self.counts = np.zeros(len(queries), dtype=np.int32)
        self.threads = KernelThreads()
        self._masks: dict[int, NDArray[np.uint64]] = {}
        sides = list(zip(records.codes, records.cardinalities, strict=True))
        kind, self.kinds = group_ids(sides, records.size)
        self._row_of_kind = np.empty(self.kinds, dtype=np.int64)
        self._row_of_kind[kind] = np.arange(records.size)
        numbers = np.bincount(kind, minlength=self.kinds)
        self._bit_of_kind, ends, sizes = _place_kinds(numbers)
        mixed = int(ends[-1]) if len(ends) else 0
        self.words = int(self._bit_of_kind.max(initial=-1)) // 64 + 1
        in_mixed = np.zeros(64 * (self.words - mixed), dtype=np.int64)
        rare = self._bit_of_kind >= 64 * mixed
        in_mixed[self._bit_of_kind[rare] - 64 * mixed] = numbers[rare]
        self._numbers = (ends, sizes, mixed, _pack_digits(in_mixed, self.words - mixed))

    def __enter__(self) -> BitCounter:
        self.threads.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self.threads.__exit__()

    def is_quicker(self, steps: int, classes: int) -> bool:
        """Whether a set of so many classes, which takes so many steps by lists, takes less time by bits that fit in memory."""
        cells = sum(len(relation.starts) - 1 for relation in self.records.relations)
        fits = 8 * self.words * cells <= _MOST_BYTES
        _, _, mixed, digits = self._numbers
        words = 2 * self.words + (self.words - mixed) * len(digits)
        return fits and classes * words <= _WORDS_PER_STEP * steps

    def walk(self, tree: SetTree, visit: Callable[[int, NDArray[np.uint32], NDArray[np.int32]], None]) -> None:
        """Count every set of the tree that still has active queries, in the tree's order, and hand it to a visitor.

        Queries whose bits do not fit into memory at once are counted in turns.
        """

        def count_set(node: int, above: _Level) -> _Level | None:
            place = int(tree.last[node])
            silent = self.queries.silent(place)
            if silent is not None:
                asks = ~silent[above.queries]
                above = _Level(above.queries[asks], above.class_of[asks], above.classes, above.bits)
            if not len(above.queries):
                return None
            report_progress("counting known sets", node, len(tree))
            level = self._narrow(above, place, inner=tree.has_children(node))
            visit(node, above.queries, self.counts)
            return level

        for everyone in self._turns():
            self.counts[everyone] = self.records.size
            visit(0, everyone, self.counts)
            walk_sets(tree.children, self._top(everyone), count_set)

    def count_all(self, width: int) -> NDArray[np.int64]:
        """How many records agree with each query on all attributes it asks by."""
        counted = np.ones(len(self.queries), dtype=np.int64)
        for everyone in self._turns():
            for shape in np.unique(self.queries.pattern[everyone]):
                pattern = self.queries.patterns[shape]
                members = everyone[self.queries.pattern[everyone] == shape]
                places = [place for place in range(width) if place not in pattern.unknown and place not in pattern.lost]
                counted[members] = self._count_together(places, members)
        return counted

    def _count_together(self, places: Iterable[int], queries: NDArray[np.uint32]) -> NDArray[np.int32]:
        """How many records agree with these queries on all of some attributes."""
        self.counts[queries] = self.records.size
        level = self._top(queries)
        for place in places:
            level = None if level is None else self._narrow(level, place, inner=True)
        return self.counts[queries]

    def _turns(self) -> Iterable[NDArray[np.uint32]]:
        turn = max(1, _BYTES_PER_LEVEL // (8 * max(1, self.words)))
        return (np.arange(begin, min(begin + turn, len(self.queries)), dtype=np.uint32)
                for begin in range(0, len(self.queries), turn))  # fmt: skip

    def _top(self, queries: NDArray[np.uint32]) -> _Level | None:
        """Everybody in one class, with which all records agree; None where nobody could be alone in a larger set."""
        return _Level(queries, np.zeros(len(queries), np.uint32), 1, None) if self.records.size > 1 and len(queries) else None

    def _narrow(self, above: _Level, place: int, *, inner: bool) -> _Level | None:
        """Count the set with one attribute more; its level with the queries that are not alone, None where it is of no use."""
        masks = self._masks_of(place)
        classes = Classes.split(
            above.queries, above.class_of, above.classes, self.records.query_codes[place], len(masks), self.threads.run_slices
        )
        counts = np.empty(len(classes), dtype=np.int32)
        bits = np.empty((len(classes) if inner else 0, self.words), dtype=np.uint64)
        if above.bits is None:
            work = (masks, classes.code, classes.code, masks, *self._numbers, bits, counts)
        else:
            work = (above.bits, classes.parent, classes.code, masks, *self._numbers, bits, counts)
        self.threads.run_slices(bit_kernels.narrow, len(classes), *work, least=_FEW_CLASSES)
        self.counts[above.queries] = counts[classes.of]
        if not inner:
            return None
        stay = counts[classes.of] > 1
        if not stay.any():
            return None
        if (counts > 1).all():
            return _Level(above.queries, classes.of, len(classes), bits)
        staying = np.flatnonzero(counts > 1)
        rank = np.zeros(len(classes), dtype=np.uint32)
        rank[staying] = np.arange(len(staying))
        return _Level(above.queries[stay], rank[classes.of[stay]], len(staying), bits[staying])

    def _masks_of(self, place: int) -> NDArray[np.uint64]:
        """[query code, word] The kinds whose cell of an attribute agrees with each code, as bits."""
        if place not in self._masks:
            relation = self.records.relations[place]
            places = self.records.codes[place][self._row_of_kind]
            kinds = np.argsort(places, kind="stable")
            first = np.searchsorted(places[kinds], np.arange(self.records.cardinalities[place] + 1))
            masks = np.zeros((len(relation.starts) - 1, self.words), dtype=np.uint64)
            bit_kernels.set_bits(*relation.runs, first, self._bit_of_kind[kinds], masks)
            self._masks[place] = masks
        return self._masks[place]


def _place_kinds(numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The bit of each kind, and of the words of kinds with one number of records where they end and this number.

    Numbers of records that many kinds have come first, each from a new word on; all other kinds follow them.
    """
    order = np.argsort(numbers, kind="stable")
    sizes, counts = np.unique(numbers, return_counts=True)
    frequent = counts >= _LEAST_KINDS
    words = np.where(frequent, (counts + 63) // 64, 0)
    ends = np.cumsum(words)
    first_bit = 64 * (ends - words)
    within_size = np.arange(len(numbers)) - np.repeat(np.cumsum(counts) - counts, counts)
    is_rare = np.repeat(~frequent, counts)
    bits = np.repeat(first_bit, counts) + within_size
    bits[is_rare] = 64 * int(ends[-1] if len(ends) else 0) + np.arange(int(is_rare.sum()))
    bit_of_kind = np.empty(len(numbers), dtype=np.int64)
    bit_of_kind[order] = bits
    return bit_of_kind, ends[frequent], sizes[frequent]


def _pack_digits(numbers: NDArray[np.int64], words: int) -> NDArray[np.uint64]:
    """[digit, word] The numbers that have a 1 at each binary digit, as bits."""
    digits = int(numbers.max(initial=0)).bit_length()
    has_digit = np.zeros((digits, 64 * words), dtype=np.bool_)
    has_digit[:, : len(numbers)] = numbers >> np.arange(digits)[:, None] & 1
    return np.packbits(has_digit, axis=1, bitorder="little").view("<u8").astype(np.uint64, copy=False)
