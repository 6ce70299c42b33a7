"""The classes of every known set, with E(1/F) of each, on the distinct rows of few covers.

A set's classes are its parent's split by one attribute more, as in :mod:`discreet.engine.known_sets.counter`, but every class is
needed here and not only those of the queries: the model looks at the sizes of all of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.classes.distinct import number_rows
from discreet.engine.classes.groups import group_ids, refine_groups
from discreet.engine.known_sets.family import Family
from discreet.engine.known_sets.walk import walk_sets
from discreet.engine.runtime.progress import report_progress
from discreet.risks.known_sets.large.covers import Cover, choose_covers, partial_tree
from discreet.risks.known_sets.population.class_growth import InverseSizes
from discreet.risks.known_sets.population.class_sizes import SizeEstimate

if TYPE_CHECKING:
    from numpy.typing import NDArray

_COMPILED_LEAST = 50_000
"""Rows from which on they are numbered by compiled code."""


@dataclass(frozen=True)
class CountedTable:
    """Who is counted: the records of the sample come first, then the persons of a population table, if there is one.

    ``codes`` and ``cardinalities`` are by place in the family's order; ``weights`` holds the sampling weight of each record.
    ``least`` are sizes that no class of a record falls below, whatever is known; None: those of all places together.
    """

    records: int
    codes: Sequence[NDArray[Any]]
    cardinalities: Sequence[int]
    weights: NDArray[np.float64] | None
    sizes: SizeEstimate
    people: int = 0
    least: NDArray[np.int64] | None = None

    @property
    def rows(self) -> int:
        return self.records + self.people

    def count_rows(self, of: NDArray[np.int64], number: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """For each of ``number`` groups its records, and the sum of their weights, or its persons."""
        counts = np.bincount(of[: self.records], minlength=number)
        if self.sizes.exact:
            return counts, np.bincount(of[self.records :], minlength=number).astype(np.float64)
        if self.weights is None:
            return counts, counts.astype(np.float64)
        return counts, np.asarray(np.bincount(of[: self.records], weights=self.weights, minlength=number), np.float64)

    def distinct_rows(self, places: Sequence[int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The row number of each record (and person) by the attributes at these places, and an example of each row."""
        columns = [(self.codes[place], self.cardinalities[place]) for place in places]
        if self.rows >= _COMPILED_LEAST:
            rows = number_rows(columns, self.rows)
            assert rows is not None
            return rows.of.astype(np.int64), rows.first.astype(np.int64)
        of, number = group_ids(columns, self.rows)
        first = np.zeros(number, dtype=np.int64)
        first[of[::-1]] = np.arange(self.rows - 1, -1, -1)
        return of, first


@dataclass(frozen=True)
class SetClasses:
    """One known set on the rows of a cover: ``ids[row]`` is the class of a row, ``inverse`` E(1/F) of each class."""

    node: int
    ids: NDArray[np.int64]
    sizes: NDArray[np.int64]
    inverse: InverseSizes


Visit = Callable[[SetClasses], None]
Begin = Callable[["NDArray[np.int64]", int], Visit]
"""Called for each cover with the row of each record and the number of rows; returns what is done at each of its sets."""


def walk_classes(table: CountedTable, tree: Family, begin: Begin, end: Callable[[], None] | None = None) -> None:
    """Visit every kept set but the empty one, cover by cover; ``end`` is called after each cover. O(sets x rows of its cover)."""
    covers = choose_covers(tree, [math.log(max(one, 1)) for one in table.cardinalities])
    for done, cover in enumerate(covers):
        report_progress("estimating class sizes", done, len(covers))
        _walk_cover(table, tree, cover, begin)
        if end is not None:
            end()


def _walk_cover(table: CountedTable, tree: Family, cover: Cover, begin: Begin) -> None:
    of, first = table.distinct_rows(cover.places)
    number = len(first)
    records, weighted = table.count_rows(of, number)
    codes = {place: table.codes[place][first] for place in cover.places}
    sets = partial_tree(tree, cover.nodes)
    visit = begin(of, number)

    def count_set(node: int, above: tuple[NDArray[np.int64], int]) -> tuple[NDArray[np.int64], int]:
        place = int(sets.last[node])
        ids, classes = refine_groups(*above, codes[place], table.cardinalities[place])
        if sets.node[node] >= 0:
            sizes = np.bincount(ids, weights=records, minlength=classes).astype(np.int64)
            sums = np.asarray(np.bincount(ids, weights=weighted, minlength=classes), np.float64)
            visit(SetClasses(int(sets.node[node]), ids, sizes, table.sizes.of_classes(sizes, sums)))
        return ids, classes

    walk_sets(sets.children, (np.zeros(number, dtype=np.int64), min(number, 1)), count_set)


def bound_inverse_sizes(table: CountedTable, records: NDArray[np.int64]) -> NDArray[np.float64]:
    """For these records what no E(1/F) of a set is above, whatever is known, at the low end, the estimate and the high end."""
    if not len(records):
        return np.zeros((3, 0))
    if table.least is not None:
        return np.broadcast_to(1 / table.least[records], (3, len(records)))
    of, first = table.distinct_rows(range(len(table.codes)))
    together = table.sizes.of_classes(*table.count_rows(of, len(first)))
    return np.stack([ends[of[records]] for ends in together])
