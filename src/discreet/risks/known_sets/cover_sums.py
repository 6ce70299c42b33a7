"""The sums over known sets, cover by cover (:mod:`discreet.risks.known_sets.covers`).

For each cover the distinct rows are numbered, its sets are summed on the rows, and the sums are added to the records. Terms
(:mod:`discreet.engine.known_sets.terms`) are linear in what would be learnt of a record: with the count n of a set S

    near += p C / n - p c_S / n        far += p P_q (C - rest - D_q) / n - p P_q c_S / n

where c_S, what is known already, follows from the row, for S is a subset of the cover. C and D_q do not; they multiply sums of
p / n and of p P_q / n. D_q, what dropped sets would take off, depends on which sensitive attributes stand behind the last one
that a set keeps: the *step* of the set. So a row has one sum for C, one for each step that occurs in the cover, and two for c_S
where the cover has sensitive attributes. No row needs to be split by what else would be learnt of its records.

Covers are summed at the same time on several threads, and added to the records in their order: results do not depend on the
number of threads.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
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
from discreet.risks.known_sets.covers import Cover, PartialTree, partial_tree

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
    """What the rows of covers are made of: codes by place, and the weight of each code of a sensitive attribute, by place."""

    size: int
    codes: Sequence[NDArray[Any]]
    cardinalities: Sequence[int]
    weights: Mapping[int, NDArray[np.float64]]


@dataclass(frozen=True)
class CoverSums:
    """A cover's row of each record, and the sums of each row.

    ``sums[row]`` are the coefficient of C, those of C - rest - D of each of ``steps``, and, where the cover has sensitive
    attributes, what is taken off near and far. ``steps`` are numbers of sensitive attributes up to the last kept one.
    """

    of: NDArray[np.uint32]
    sums: NDArray[np.float64]
    steps: NDArray[np.int64]


class RowSums:
    """The sums of one cover on its distinct rows."""

    def __init__(self, table: CoverTable, rows: DistinctRows, places: Sequence[int]) -> None:
        self.weight = rows.counts
        self.codes = {place: table.codes[place][rows.first] for place in places}
        self.cardinalities = table.cardinalities
        self.singles = [place for place in places if place in table.weights]
        self.single = np.empty((len(rows), len(self.singles)))
        for at, place in enumerate(self.singles):
            self.single[:, at] = table.weights[place][self.codes[place]]
        self.places_of_weights = np.array(sorted(table.weights), dtype=np.int64)

    def add_sets(
        self, tree: Family, terms: Terms, nodes: Sequence[int], stopped: Event
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """The sums of each row over these sets of the family, and their steps; raises where it is ``stopped``."""
        sets = partial_tree(tree, nodes)
        step_of = np.searchsorted(self.places_of_weights, tree.reach[sets.node], side="right")
        steps, column = np.unique(step_of[sets.node >= 0], return_inverse=True)
        columns = np.zeros(len(sets), dtype=np.int64)
        columns[sets.node >= 0] = 1 + column
        own, below = self._values(tree, terms, sets, columns, len(steps))
        sums = np.zeros((len(self.weight), 1 + len(steps) + (2 if self.singles else 0)))

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
            kernels.add_set(
                above.rows, above.group, codes, cardinality, counts, self.single, own[node], below[node], columns[node], sums, marked
            )
            if not inner:
                return None
            groups, _ = number(counts, marked)
            rows, group = np.empty(len(above.group), np.uint32), np.empty(len(above.group), np.uint32)
            kept = kernels.descend(above.rows, above.group, codes, cardinality, counts, rows, group)
            if kept == len(above.group):
                return _Level(above.rows, group, groups)
            return _Level(rows[:kept].copy(), group[:kept].copy(), groups) if kept else None

        walk_sets(sets.children, _Level(None, np.zeros(len(self.weight), np.uint32), 1), add_set)
        return sums, steps

    def _values(
        self, tree: Family, terms: Terms, sets: PartialTree, columns: NDArray[np.int64], steps: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """For each set its coefficients, at the set and summed over its subtree: p, p P_q by step, and both less c by single."""
        mine, number = np.flatnonzero(sets.node >= 0), len(self.singles)
        nodes = sets.node[mine]
        own = np.zeros((len(sets), 1 + steps + 2 * number))
        near, far = terms.kept[nodes, 0, 0], terms.whole[nodes, 0, 0]
        own[mine, 0] = near
        own[mine, columns[mine]] = far
        for at, place in enumerate(self.singles):
            has_single = np.array([place in tree.sets[node] for node in nodes])
            own[mine, 1 + steps + at] = -near * has_single
            own[mine, 1 + steps + number + at] = -far * has_single
        below = own.copy()
        for node in range(len(sets) - 1, 0, -1):
            below[sets.parent[node]] += below[node]
        return own, below

    def _numbered(self, level: _Level, place: int) -> tuple[_Level, NDArray[Any], int]:
        """The level split by an attribute of so many values that a table of all keys would be too long; it adds nothing then."""
        own = self.codes[place] if level.rows is None else self.codes[place][level.rows]
        pairs = number_rows([(level.group, level.groups), (own, self.cardinalities[place])], len(level.group))
        assert pairs is not None
        return _Level(level.rows, pairs.of, len(pairs)), np.broadcast_to(np.zeros(1, np.uint8), len(self.weight)), 1


def sum_covers(
    table: CoverTable, tree: Family, terms: Terms, covers: Sequence[Cover]
) -> Iterator[tuple[Cover, CoverSums | None]]:
    """For each cover in turn the row of each record and the sums of each row; None where the rows are too many."""

    def sum_cover(cover: Cover, memory: NDArray[np.uint32]) -> CoverSums | None:
        columns = [(table.codes[place], table.cardinalities[place]) for place in cover.places]
        rows = number_rows(columns, table.size, most=max(1, int(_WORTH * table.size)), of=memory)
        if rows is None:
            return None
        return CoverSums(rows.of, *RowSums(table, rows, cover.places).add_sets(tree, terms, cover.nodes, stopped))

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
                yield cover, summed
                spare.append(memory)
        finally:  # Ctrl-C reaches this thread only, and the pool would wait for the others to end by themselves
            stopped.set()
