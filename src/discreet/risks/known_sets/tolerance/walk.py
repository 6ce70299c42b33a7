r"""Sums over the likely sets of main attributes, each with up to one or two minor attributes, on distinct rows.

With the probability p of a set T of main attributes, p_N of a set N of minor ones and the number n of records that agree on both,
the sum over N is linear in what would be learnt of a record: C A - B, where

    A = \sum_T \sum_N p p_N / n        B = \sum_T \sum_N p p_N (c_T + c_N) / n

What N adds depends on the minor values of the record. So a row of T has the sums of A and B for records with the base value of
every minor attribute, and *cells*: what each further entry changes. Where a row has one record, all sets with further attributes
have the count 1 and are summed in closed form later, from U = \sum p and V = \sum p c_T over these sets.

A record that has the base value of two or three minor attributes shares these with at least m of the n records of its row, where
n - m is the number of other values of the three attributes with the most of them. H = \sum p / m bounds what such sets add.

The rows of a set are counted on those of a larger set, as in :mod:`discreet.risks.known_sets.large.row_sums`, and those of the
largest sets on the records. A step costs two passes over the rows of the larger set, whose cells are needed only where a row has
several records.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.classes.distinct import DistinctRows, number_rows
from discreet.engine.encoding.columns import thread_count
from discreet.engine.runtime.progress import report_progress
from discreet.engine.runtime.worker_threads import WorkerThreads
from discreet.risks.known_sets.large.row_sums import CoverTable, Memory, RowSums
from discreet.risks.known_sets.tolerance import kernels
from discreet.risks.known_sets.tolerance.minor import MinorAttributes

if TYPE_CHECKING:
    from numpy.typing import NDArray

_PARTS = 2
"""Sets are summed in so many parts, each on a thread, so that results do not depend on the number of threads."""
_SAMPLE = 20_000
_ALL = -1
"""Stands for the records themselves, each a row of its own."""


@dataclass(frozen=True)
class MainSets:
    """Sets of main attributes (as places among these) and their probabilities."""

    sets: Sequence[tuple[int, ...]]
    chance: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.sets)

    def part(self, chosen: NDArray[np.int64]) -> MainSets:
        """Some of the sets."""
        return MainSets([self.sets[node] for node in chosen], self.chance[chosen])


@dataclass(frozen=True)
class RowTerms:
    """A, B, U, H and V of each record, and which sets were counted before the time was up.

    ``rows`` are the distinct rows of each set, ``several`` those of them with several records.
    """

    sums: NDArray[np.float64]
    counted: NDArray[np.bool_]
    rows: NDArray[np.int64]
    several: NDArray[np.int64]


@dataclass(frozen=True)
class _Level:
    """The rows of a set; see :mod:`discreet.risks.known_sets.tolerance.kernels`."""

    keys: NDArray[np.uint64]
    counts: NDArray[np.int32]
    place: NDArray[np.int32]
    tallies: NDArray[np.int32]
    sums: NDArray[np.float64]
    cells: NDArray[np.float64]


class SetSums:
    """Sums sets of main attributes with up to one (``order`` 1) or exactly two (2) minor attributes more."""

    def __init__(
        self, table: CoverTable, main: MainSets, minor: MinorAttributes, order: int, is_past: Callable[[], bool]
    ) -> None:
        self.table, self.main, self.minor, self.order, self.is_past = table, main, minor, order, is_past
        self.begin, self.entries = minor.entries(order)
        self.width = minor.width(order)
        self.columns = 5 if table.weights else 4
        self.inverse = np.concatenate([[0.0], 1.0 / np.arange(1, table.size + 1)])  # dividing takes longer than looking up
        self.counted = np.zeros(len(main), dtype=np.bool_)
        self.rows, self.several = np.zeros(len(main), dtype=np.int64), np.zeros(len(main), dtype=np.int64)
        each = np.arange(table.size, dtype=np.uint32)
        self.layout = RowSums(table, DistinctRows(each, each, np.ones(table.size, np.int32)), range(len(table.codes)))

    def sum(self) -> RowTerms:
        """The sums of every record; sets that are left when the time is up are not counted."""
        order, patterns = self.layout.order, self.minor.patterns.of.astype(np.int32)
        records = _Level(
            self.layout.keys, self.layout.counts, patterns if order is None else patterns[order],
            np.zeros((0, self.width), np.int32), np.zeros((self.table.size, self.columns)), np.zeros((0, 2 * self.width)),
        )  # fmt: skip
        below = self._sets_below()
        with WorkerThreads(min(_PARTS, thread_count())) as pool:
            parts = pool.map(lambda part: self._sum_part(records, part, below), self._parts(below.get(_ALL, []), below))
            total: NDArray[np.float64] = sum(parts, records.sums)
        if order is not None:
            records.sums[order] = total
            total = records.sums
        return RowTerms(total, self.counted, self.rows, self.several)

    def _sum_part(self, records: _Level, children: Sequence[int], below: dict[int, list[int]]) -> NDArray[np.float64]:
        """The sums of every record over some sets and all sets below them."""
        part = replace(records, sums=np.zeros_like(records.sums))
        self._add_below(part, children, below, [Memory() for _ in range(len(self.table.codes) + 1)])
        return part.sums

    def _add_below(self, level: _Level, children: Sequence[int], below: dict[int, list[int]], memories: Sequence[Memory]) -> None:
        """Sum some sets on the rows of a larger one, and all below them; there is a memory for each step down."""
        for child in children:
            if self.is_past():
                return
            of, keys, counts = self.layout.project(level.keys, level.counts, self.main.sets[child], memories[0])
            smaller = self._open(level, of, keys, counts, memories[0])
            self._add_own(child, smaller)
            self._add_below(smaller, below.get(child, ()), below, memories[1:])
            self._carry(of, smaller, level)

    def _open(
        self, level: _Level, of: NDArray[np.uint32], keys: NDArray[np.uint64], counts: NDArray[np.int32], memory: Memory
    ) -> _Level:
        """The level of a smaller set: where its rows stand, and their tallies; its own terms are yet to be written."""
        place = memory.array("place", np.int32, len(counts))
        several = kernels.place_rows(of, level.place, counts, place)
        tallies = memory.array("tallies", np.int32, several, self.width)
        tallies[:] = 0
        kernels.add_tallies(of, level.counts, level.place, level.tallies, self.begin, self.entries, counts, place, tallies)
        sums = memory.array("sums", np.float64, len(counts), self.columns)
        return _Level(keys, counts, place, tallies, sums, memory.array("cells", np.float64, several, 2 * self.width))

    def _add_own(self, node: int, level: _Level) -> None:
        minor, chance = self.minor, float(self.main.chance[node])
        weights = (minor.chances, minor.base_weights, minor.entry_weights)
        rows = (level.keys, level.counts, level.place, level.tallies, chance, *self.layout.singles(self.main.sets[node]))
        terms = (self.inverse, level.sums, level.cells)
        if self.order == 1 and minor.is_binary:
            kernels.add_binary_singles(*rows, *weights, *terms)
        elif self.order == 1:
            kernels.add_singles(*rows, minor.first, *weights, *terms)
        elif minor.is_binary:
            kernels.add_binary_pairs(*rows, *weights, *terms)
        else:
            kernels.add_pairs(*rows, minor.first, *weights, minor.pair, *terms)
        self.counted[node], self.rows[node], self.several[node] = True, len(level.keys), len(level.tallies)
        report_progress("narrowing intervals", int(self.counted.sum()), len(self.main))

    def _carry(self, of: NDArray[np.uint32], smaller: _Level, level: _Level) -> None:
        kernels.carry(
            of, level.counts, level.place, self.begin, self.entries, smaller.counts, smaller.place, smaller.sums, smaller.cells,
            level.sums, level.cells,
        )  # fmt: skip

    def _sets_below(self) -> dict[int, list[int]]:
        """The sets that are counted on the rows of each set: of the sets with one attribute more, that with the fewest rows."""
        members = {frozenset(own): node for node, own in enumerate(self.main.sets)}
        self.more = self._more_rows()
        below: dict[int, list[int]] = {}
        places = range(len(self.table.codes))
        for own, node in members.items():
            larger = [(self._more(own, place), members[own | {place}]) for place in places if own | {place} in members]
            larger = [entry for entry in larger if entry[1] != node]
            below.setdefault(min(larger)[1] if larger else _ALL, []).append(node)
        return below

    def _more_rows(self) -> NDArray[np.float64]:
        """By how much the logarithm of the rows of one attribute grows with another, in a sample of the records."""
        step = max(1, self.table.size // _SAMPLE)
        codes = [(own[::step], most) for own, most in zip(self.table.codes, self.table.cardinalities, strict=True)]
        size, width = len(codes[0][0]) if codes else 0, len(codes)
        more = np.zeros((width, width))
        own = [len(number_rows([column], size) or ()) for column in codes]
        for place in range(width):
            for other in range(width):
                both = own[other] if place == other else len(number_rows([codes[place], codes[other]], size) or ())
                more[place, other] = math.log(both / own[place])
        return more

    def _more(self, own: frozenset[int], place: int) -> float:
        most = math.log(max(self.table.cardinalities[place], 1))
        return min((float(self.more[attribute, place]) for attribute in own), default=most)

    def _parts(self, children: Sequence[int], below: dict[int, list[int]]) -> list[list[int]]:
        """The children of the top in parts of about the same work, in rows."""

        def work(node: int) -> float:
            log_rows, before = 0.0, frozenset[int]()
            for place in sorted(self.main.sets[node], key=lambda at: -self.table.cardinalities[at]):
                log_rows, before = log_rows + self._more(before, place), before | {place}
            rows = min(math.exp(min(log_rows, 50.0)), float(self.table.size))
            return rows * max(len(below.get(node, ())), 1) + sum(work(child) for child in below.get(node, ()))

        parts: list[list[int]] = [[] for _ in range(_PARTS)]
        total = [0.0] * _PARTS
        for own, child in sorted(((work(child), child) for child in children), reverse=True):
            least = total.index(min(total))
            parts[least].append(child)
            total[least] += own + self.table.size
        return parts
