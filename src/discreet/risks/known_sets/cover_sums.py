"""The sums over known sets, cover by cover (:mod:`discreet.risks.known_sets.covers`).

For each cover the distinct rows are numbered, its sets are summed on the rows, and the sums are added to the records. Terms are
linear in what would be learnt: near = C a + b and far = (C - rest) a' + b', where a, a' are sums of coefficients over counts and
b, b' what is taken off for sensitive attributes that are known. So the rows need to differ in the weights of such attributes
only (the *single kind*), and in nothing where there are none.

Covers are summed at the same time on several threads, and added to the records in their order: results do not depend on the
number of threads.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from dataclasses import dataclass
from threading import Event
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.classes.distinct import DistinctRows, number_rows
from discreet.engine.encoding.columns import thread_count
from discreet.engine.known_sets import threads
from discreet.engine.known_sets.family import Family
from discreet.engine.known_sets.kernels import number
from discreet.engine.known_sets.terms import Terms
from discreet.engine.known_sets.walk import walk_sets
from discreet.engine.runtime.progress import report_progress
from discreet.risks.known_sets import cover_kernels as kernels
from discreet.risks.known_sets.covers import Cover, partial_tree

if TYPE_CHECKING:
    from numpy.typing import NDArray

_WORTH = 0.25
"""Share of the records up to which the distinct rows of a cover are worth being summed instead of the records."""
_TABLE_PER_ROW = 2


@dataclass
class _Level:
    """Rows on the path to a set, each with its group; None: all rows in order."""

    rows: NDArray[np.uint32] | None
    group: NDArray[np.uint32]
    groups: int


@dataclass(frozen=True)
class CoverTable:
    """What the rows of covers are made of: codes by place, and for each record its single kind, or none."""

    size: int
    codes: Sequence[NDArray[Any]]
    cardinalities: Sequence[int]
    single_kind: NDArray[Any] | None
    single: NDArray[np.float64]
    """The weights of the singles of each single kind."""


class RowSums:
    """The sums of one cover on its distinct rows."""

    def __init__(self, table: CoverTable, rows: DistinctRows, places: Sequence[int]) -> None:
        self.weight = rows.counts
        self.codes = {place: table.codes[place][rows.first] for place in places}
        self.cardinalities = table.cardinalities
        self.kind = None if table.single_kind is None else table.single_kind[rows.first]
        self.single = table.single
        self.sums = np.zeros((len(rows), 2 if self.kind is None else 4))

    def add_sets(self, tree: Family, terms: Terms, nodes: Sequence[int], stopped: Event) -> NDArray[np.float64]:
        """The coefficients of near and far for each row, summed over these sets of the family; raises where it is ``stopped``."""
        sets = partial_tree(tree, nodes)
        values = self._values(sets.terms(terms))

        def add_set(node: int, above: _Level) -> _Level | None:
            if stopped.is_set():
                raise CancelledError
            place, inner = int(sets.last[node]), sets.has_children(node)
            codes: NDArray[Any] = self.codes[place]
            cardinality = self.cardinalities[place]
            if above.groups * cardinality > max(threads.SMALL, _TABLE_PER_ROW * len(above.group)):
                above, codes, cardinality = self._numbered(above, place)
            keys = above.groups * cardinality
            counts = np.zeros(keys, dtype=np.int32)
            kernels.count_records(above.rows, above.group, codes, cardinality, self.weight, counts)
            marked = np.zeros(keys, dtype=np.uint8) if inner else None
            kernels.add_set(above.rows, above.group, codes, cardinality, counts, self.kind, values[node], self.sums, marked)
            if not inner:
                return None
            groups, _ = number(counts, marked)
            rows, group = np.empty(len(above.group), np.uint32), np.empty(len(above.group), np.uint32)
            kept = kernels.descend(above.rows, above.group, codes, cardinality, counts, rows, group)
            if kept == len(above.group):
                return _Level(above.rows, group, groups)
            return _Level(rows[:kept].copy(), group[:kept].copy(), groups) if kept else None

        walk_sets(sets.children, _Level(None, np.zeros(len(self.weight), np.uint32), 1), add_set)
        return self.sums

    def _values(self, terms: Terms) -> NDArray[np.float64]:
        """For each set and single kind the coefficients of near and far, at the set and then summed over its subtree."""
        parts = (terms.kept[:, 0], terms.whole[:, 0], terms.kept_below[:, 0], terms.whole_below[:, 0])
        if self.kind is None:
            return np.stack([part[:, 0] for part in parts], axis=1)[:, None, :]
        scalars = [np.repeat(part[:, :1], len(self.single), axis=1) for part in parts]
        taken = [part[:, 1:] @ self.single.T for part in parts]
        near, far, near_below, far_below = zip(scalars, taken, strict=True)
        return np.stack([near[0], far[0], near[1], far[1], near_below[0], far_below[0], near_below[1], far_below[1]], axis=2)

    def _numbered(self, level: _Level, place: int) -> tuple[_Level, NDArray[Any], int]:
        """The level split by an attribute of so many values that a table of all keys would be too long; it adds nothing then."""
        own = self.codes[place] if level.rows is None else self.codes[place][level.rows]
        pairs = number_rows([(level.group, level.groups), (own, self.cardinalities[place])], len(level.group))
        assert pairs is not None
        return _Level(level.rows, pairs.of, len(pairs)), np.broadcast_to(np.zeros(1, np.uint8), len(self.weight)), 1


def sum_covers(
    table: CoverTable, tree: Family, terms: Terms, covers: Sequence[Cover]
) -> Iterator[tuple[Cover, NDArray[np.uint32], NDArray[np.float64]] | tuple[Cover, None, None]]:
    """For each cover in turn the row of each record and the coefficients of each row; None where the rows are too many."""

    def sum_cover(cover: Cover, memory: NDArray[np.uint32]) -> tuple[NDArray[np.uint32], NDArray[np.float64]] | None:
        columns = [(table.codes[place], table.cardinalities[place]) for place in cover.places]
        if table.single_kind is not None:
            columns.append((table.single_kind, len(table.single)))
        rows = number_rows(columns, table.size, most=max(1, int(_WORTH * table.size)), of=memory)
        if rows is None:
            return None
        return rows.of, RowSums(table, rows, cover.places).add_sets(tree, terms, cover.nodes, stopped)

    stopped = Event()
    workers = thread_count()
    spare = [np.empty(table.size, dtype=np.uint32) for _ in range(min(workers + 1, len(covers)))]
    remaining = deque(covers)
    running: deque[tuple[Cover, NDArray[np.uint32], Future[Any]]] = deque()
    with ThreadPoolExecutor(workers) as pool:
        try:
            while remaining or running:
                while remaining and spare:
                    cover, memory = remaining.popleft(), spare.pop()
                    running.append((cover, memory, pool.submit(sum_cover, cover, memory)))
                cover, memory, future = running.popleft()
                report_progress("counting known sets", len(covers) - len(remaining) - len(running), len(covers))
                summed = future.result()
                yield (cover, None, None) if summed is None else (cover, *summed)
                spare.append(memory)
        finally:  # Ctrl-C reaches this thread only, and the pool would wait for the others to end by themselves
            stopped.set()
