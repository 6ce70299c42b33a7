"""The nearest released rows of people, searched in a tree of the released cells; small tables are compared as a whole.

The tree has one level per column and one leaf per distinct released row. Both ways add the distances of the columns in the same
order and so agree to the last bit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.attacks.distances import ComparedColumn, add_distances, distinct_rows, threshold_of_nearest
from discreet.engine.attacks.nearest_kernels import find_near_rows
from discreet.engine.runtime.progress import report_progress

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST_COMPARED = 20_000_000
"""People times rows times columns up to which everybody is compared with every row: compiled code takes longer to load."""
_MOST_ENTRIES = 4_000_000
"""Distances in memory at once: of people to rows, or of the values of a column to its cells."""
_MOST_VISITS = 20_000_000
"""People times rows of one call of the compiled search, which cannot be stopped before its end."""


@dataclass(frozen=True)
class NearRows:
    """The nearest rows of the people ``start`` to ``stop``: those of each between two ``offsets``.

    ``limits`` is the distance of each person's last neighbour; ``tied`` rows are as far, the others nearer.
    """

    start: int
    stop: int
    limits: NDArray[np.float32]
    offsets: NDArray[np.int64]
    rows: NDArray[np.int64]
    tied: NDArray[np.bool_]

    @property
    def person(self) -> NDArray[np.int64]:
        """The person of each row, counted from ``start``."""
        return np.repeat(np.arange(self.stop - self.start), np.diff(self.offsets))

    def part(self, start: int, stop: int) -> NearRows:
        """The same of some of these people."""
        offsets = self.offsets[start - self.start : stop - self.start + 1]
        inside = slice(offsets[0], offsets[-1])
        limits = self.limits[start - self.start : stop - self.start]
        return NearRows(start, stop, limits, offsets - offsets[0], self.rows[inside], self.tied[inside])

    def split(self, sizes: NDArray[np.int64]) -> Iterator[NearRows]:
        """Parts in which ``sizes``, one number per row, sum up to no more than fits into memory, or one person is alone."""
        sums = np.concatenate(([0], np.cumsum(sizes)))[self.offsets]
        start = 0
        while start < self.stop - self.start:
            stop = max(start + 1, int(np.searchsorted(sums, sums[start] + _MOST_ENTRIES, side="right")) - 1)
            yield self.part(self.start + start, self.start + stop)
            start = stop


@dataclass(frozen=True)
class _Tree:
    """The distinct rows as a tree: children of each node from ``starts[node]`` on, ``cells`` on the way to it, first leaf."""

    starts: NDArray[np.int64]
    cells: NDArray[np.int64]
    leaves: int


@dataclass
class NearestSearch:
    """Finds the ``neighbours`` nearest released records of people; the rows that it names are distinct released rows.

    ``of`` is the row of each record, ``counts`` the records of each row.
    """

    columns: Sequence[ComparedColumn]
    records: int
    neighbours: int
    compiled: bool | None = None
    """Whether to search the tree; default: where comparing all would take longer."""
    of: NDArray[np.int64] = field(init=False)
    counts: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        distinct = distinct_rows(self.columns, self.records)
        self._people = len(self.columns[0].people.codes)
        if self.compiled is None:
            self.compiled = self._people * len(distinct.counts) * len(self.columns) > _MOST_COMPARED
        self._codes, self.of, self.counts = distinct.codes, distinct.of, distinct.counts
        self._tables: list[NDArray[np.float32] | None] = [None] * len(self.columns)
        if self.compiled:
            order = np.lexsort(self._codes[::-1])
            rank = np.empty(len(order), dtype=np.int64)
            rank[order] = np.arange(len(order))
            self._codes, self.of, self.counts = [codes[order] for codes in self._codes], rank[self.of], self.counts[order]
            self._tree = _build_tree(self._codes)

    def walk(self, what: str) -> Iterator[NearRows]:
        """The nearest rows of everybody, some people at a time."""
        start = 0
        while start < self._people and len(self.counts):
            report_progress(what, start, self._people)
            near = self.find(start, self._people)
            yield near
            start = near.stop

    def find(self, start: int, stop: int) -> NearRows:
        """The nearest rows of some people, of as many from the first on as fit into memory."""
        rows = len(self.counts)
        most = (_MOST_VISITS if self.compiled else _MOST_ENTRIES) // max(rows, 1)
        if not all(map(self._fits, self.columns)):
            most = min(most, _MOST_ENTRIES // max(column.released.cardinality for column in self.columns))
        stop = min(stop, start + max(1, most))
        people = np.arange(start, stop)
        return self._search(people) if self.compiled else self._compare(people)

    def _compare(self, people: NDArray[np.int64]) -> NearRows:
        distances = add_distances(self.columns, self._codes, people)
        limits = threshold_of_nearest(distances, self.counts, self.neighbours)
        person, rows = np.nonzero(distances <= limits[:, None])
        offsets = np.concatenate(([0], np.cumsum(np.bincount(person, minlength=len(people)))))
        tied = distances[person, rows] == limits[person]
        return NearRows(int(people[0]), int(people[-1]) + 1, limits, offsets, rows, tied)

    def _search(self, people: NDArray[np.int64]) -> NearRows:
        places = np.empty((len(people), len(self.columns)), dtype=np.int64)
        tables: list[NDArray[np.float32]] = []
        begin = 0
        for index, column in enumerate(self.columns):
            codes = column.people.codes[people].astype(np.int64)
            if self._fits(column):
                table = self._tables[index]
                if table is None:
                    table = self._tables[index] = column.distances(np.arange(column.people.cardinality))
            else:
                distinct, codes = np.unique(codes, return_inverse=True)
                table = column.distances(distinct)
            places[:, index] = begin + codes * column.released.cardinality
            tables.append(table.ravel())
            begin += table.size
        buffer = max(len(self.counts), min(len(people) * len(self.counts), _MOST_ENTRIES))
        rows, tied = np.empty(buffer, dtype=np.int64), np.empty(buffer, dtype=np.bool_)
        limits, offsets = np.empty(len(people), dtype=np.float32), np.zeros(len(people) + 1, dtype=np.int64)
        done = find_near_rows(
            self._tree.starts, self._tree.cells, self._tree.leaves, self.counts, np.concatenate(tables), places,
            min(self.neighbours, self.records), limits, offsets, rows, tied,
        )  # fmt: skip
        everything = NearRows(int(people[0]), int(people[-1]) + 1, limits, offsets, rows, tied)
        return everything.part(int(people[0]), int(people[0]) + done)

    def _fits(self, column: ComparedColumn) -> bool:
        """Whether the distances of all values of a column to all its cells fit into memory."""
        return column.people.cardinality * column.released.cardinality <= _MOST_ENTRIES // len(self.columns)


def _build_tree(codes: Sequence[NDArray[np.int64]]) -> _Tree:
    """The tree of sorted distinct rows; nodes are numbered level by level, so that the children of a node follow one another."""
    number = len(codes[0])
    begins = np.zeros(number, dtype=np.bool_)
    begins[:1] = True
    starts: list[NDArray[np.int64]] = []
    cells, before = [np.zeros(min(number, 1), dtype=np.int64)], min(number, 1)
    for column in codes:
        parents = np.flatnonzero(begins)
        begins = begins.copy()
        begins[1:] |= column[1:] != column[:-1]
        numbers = before + np.cumsum(begins) - 1
        starts.append(numbers[parents])
        cells.append(column[begins])
        before += int(begins.sum())
    starts.append(np.array([before], dtype=np.int64))
    return _Tree(np.concatenate(starts), np.concatenate(cells), before - number)
