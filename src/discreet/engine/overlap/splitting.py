"""Counting a known set with one attribute more, where cells agree by overlap.

The groups of records are split by their cells as usual: a group of the larger set is a group of the smaller set and a cell. But a
query no longer belongs to one group: it agrees with every cell that overlaps its own, and its count is a sum over several groups.
All queries with the same cells have the same counts, so they are treated as one *class*, *linked* to each group of records that
agrees with it. Cells that agree with a query are neighbours in the order of places (:mod:`discreet.engine.overlap.relations`), so
a sum over them is one difference of running totals per run. Empty groups are never linked, so a class has at most as many links
as there are records that agree with it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.known_sets.kernels import count, sort_by_group
from discreet.engine.overlap import kernels
from discreet.errors import DataError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.engine.overlap.relations import Relation

MOST_LINKS = 200_000_000
"""Links of one set, 4 bytes each, beyond which a table is refused."""
MOST_LOOKUPS = 20_000_000_000
"""(class, group) pairs that one count may visit, beyond which a table is refused: about a minute on one core."""
_TABLE_LEAST, _TABLE_PER_MEMBER = 1 << 16, 4
_ADVICE = "generalize to fewer cells that nest, such as the levels of a hierarchy, or measure fewer attributes"


class TooManyStepsError(Exception):
    """A set takes more steps than its caller allows: of so many, for so many classes of queries."""

    def __init__(self, steps: int, classes: int) -> None:
        super().__init__(f"{steps:,} steps for {classes:,} classes")
        self.steps, self.classes = steps, classes


Parallel = Callable[[Callable[[int, int], object], int], None]
"""Runs a function of (start, stop) over the slices of a list of the given length."""


@dataclass(frozen=True)
class Links:
    """The groups of records that agree with each class of queries: those of class c from ``starts[c]`` to ``starts[c + 1]``."""

    starts: NDArray[np.int64]
    groups: NDArray[np.uint32]

    @classmethod
    def one_to_one(cls, groups: int) -> Links:
        """Each class agrees with the group of the same number, as long as every attribute was compared by equal codes."""
        return cls(np.arange(groups + 1), np.arange(groups, dtype=np.uint32))

    @property
    def arrays(self) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
        return self.starts, self.groups


@dataclass(frozen=True)
class Classes:
    """The classes of queries in a set with one more attribute: parent class and code of each class, and each query's class."""

    parent: NDArray[np.int64]
    code: NDArray[np.int64]
    of: NDArray[np.uint32]

    @classmethod
    def split(
        cls, queries: NDArray[np.uint32], query_classes: NDArray[np.uint32], number: int, codes: NDArray[Any], cardinality: int,
        parallel: Parallel,
    ) -> Classes:  # fmt: skip
        """Split classes by one more attribute: ``query_classes`` are the ``number`` classes of the queries before the split."""
        key_count, size = number * cardinality, len(queries)
        if key_count > max(_TABLE_LEAST, _TABLE_PER_MEMBER * size):
            new, first, code, _ = number_cells(queries, query_classes, number, codes, cardinality)
            return cls(np.repeat(np.arange(number), np.diff(first)), code, new)
        table = np.zeros(key_count, dtype=np.int32)
        count(queries, query_classes, codes, cardinality, table, 0, size)
        most = min(key_count, size)
        parent, code = np.empty(most, np.int64), np.empty(most, np.int64)
        number_of_classes = kernels.list_classes(table, cardinality, parent, code)
        new = np.empty(size, np.uint32)
        parallel(lambda start, stop: kernels.class_of(queries, query_classes, codes, cardinality, table, new, start, stop), size)
        return cls(parent[:number_of_classes], code[:number_of_classes], new)

    def __len__(self) -> int:
        return len(self.parent)


@dataclass
class Cells:
    """The groups of a set with one attribute more: a dense table ``group x cardinality + place``, or numbered cells.

    ``table`` holds the number of records of each cell. ``first`` and ``cell_code`` belong to numbered cells and are else None.
    """

    links: Links
    classes: Classes
    cardinality: int
    relation: Relation
    table: NDArray[np.int32]
    first: NDArray[np.int64] | None = None
    cell_code: NDArray[np.int64] | None = None

    def count_classes(self, parallel: Parallel, most_steps: int | None = None) -> NDArray[np.int32]:
        """The number of records that agree with each class."""
        classes, size = self.classes, len(self.classes)
        pairs, steps, cells = kernels.measure_work(
            classes.parent, classes.code, self.links.arrays, self.relation.runs, self.relation.spans
        )
        if most_steps is not None and steps > most_steps:
            raise TooManyStepsError(steps, size)
        if pairs > MOST_LOOKUPS:
            raise DataError(
                f"known_sets: the coarse cells overlap in {pairs:,} ways in one known set, too many to count; {_ADVICE}"
            )
        self._short = cells < len(self.table) // 2
        counts, self._groups = np.zeros(size, np.int32), np.zeros(size, np.int32)
        start = (classes.parent, classes.code, self.links.arrays)
        if self.first is None and self._short:
            rest = (*start, self.cardinality, self.relation.runs, self.table, counts)
            parallel(lambda low, high: kernels.count_in_cells(*rest, low, high), size)
            return counts
        sums = np.empty(len(self.table) + 1, dtype=np.int32)
        kernels.sum_counts(self.table, sums)
        if self.first is None:
            more = (*start, self.cardinality, self.relation.runs, sums, counts)
            parallel(lambda low, high: kernels.count_by_running_totals(*more, low, high), size)
        else:
            most = (*start, self.first, self.cell_code, self.relation.runs, sums, counts, self._groups)
            parallel(lambda low, high: kernels.count_in_numbered_cells(*most, low, high), size)
        return counts

    def link(self, staying: NDArray[np.int64], parallel: Parallel) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
        """The non-empty cells that agree with the classes ``staying``: the start of each class in a list, and the list."""
        parent, code, size = self.classes.parent[staying], self.classes.code[staying], len(staying)
        start = (parent, code, self.links.arrays)
        numbers = self._groups[staying]
        ranks = cells = np.zeros(0, np.int32)
        if self.first is None and self._short:
            rest = (*start, self.cardinality, self.relation.runs, self.table, numbers)
            parallel(lambda low, high: kernels.count_cells(*rest, low, high), size)
        elif self.first is None:
            ranks, cells = np.empty(len(self.table) + 1, np.int32), np.empty(len(self.table), np.int32)
            kernels.list_cells(self.table, ranks, cells)
            more = (*start, self.cardinality, self.relation.runs, ranks, numbers)
            parallel(lambda low, high: kernels.count_by_running_totals(*more, low, high), size)
        begin = np.concatenate(([0], np.cumsum(numbers, dtype=np.int64)))
        if begin[-1] > MOST_LINKS:
            raise DataError(
                f"known_sets: the coarse cells overlap in {begin[-1]:,} ways in one known set, and at most {MOST_LINKS:,} fit "
                f"into memory; {_ADVICE}"
            )
        into = np.empty(begin[-1], np.uint32)
        write: Callable[..., None]
        most: tuple[Any, ...]
        if self.first is not None:
            write, most = kernels.write_numbered, (*start, self.first, self.cell_code, self.relation.runs, begin, into)
        elif self._short:
            write, most = kernels.write_cells, (*start, self.cardinality, self.relation.runs, self.table, begin, into)
        else:
            write, most = kernels.write_ranks, (*start, self.cardinality, self.relation.runs, ranks, cells, begin, into)
        job: Callable[..., None] = partial(write, *most)
        parallel(job, size)
        return begin, into


def number_cells(
    members: NDArray[np.uint32] | None, group: NDArray[np.uint32], groups: int, codes: NDArray[Any], cardinality: int
) -> tuple[NDArray[np.uint32], NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]:
    """Number the occupied cells, for sets too sparse for a dense table.

    Returns the cell of each member, the first cell of each group, and the code and the number of members of each cell.
    """
    order, begin = sort_by_group(group, groups)
    size = len(group)
    new, first = np.empty(size, np.uint32), np.empty(groups + 1, np.int64)
    cell_code, table = np.empty(size, np.int64), np.empty(size, np.int32)
    cells = kernels.number_cells(members, codes, order, begin, cardinality, new, first, cell_code, table)
    return new, first, cell_code[:cells], table[:cells]


def agreeing_groups(
    links: Links, queries: NDArray[np.uint32], query_classes: NDArray[np.uint32]
) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """The queries, each repeated for every group that agrees with it, and these groups."""
    begin, lengths = links.starts[query_classes], links.starts[query_classes.astype(np.int64) + 1] - links.starts[query_classes]
    steps = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return np.repeat(queries, lengths), links.groups[np.repeat(begin, lengths) + steps]
