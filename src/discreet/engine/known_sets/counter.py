"""Counting over a tree of known sets: the engine of the record-level risk.

The sets of a family share prefixes, so a set's groups are its parent's groups split by one attribute. Only *queries* (records
with a sensitive value that could be disclosed) need counts; all other records are merely counted. Three things leave as the walk
goes down: a query that is alone (its count stays 1 in every larger set, so its whole subtree is added at once), records in groups
where no query is left, and whole subtrees without queries. Group numbers stay dense, so that a table of counts stays small; where
it would not, the records are sorted by group and counted with a table of one group.

The records counted may be of several *classes*, each with its own codes: records with a missing value (a null that agrees with
anything) or with a generalized value form other classes. A query's count is the sum over classes. Where cells agree by overlap, a
query is in several groups at once (:mod:`discreet.engine.overlap.splitting`).

The result is the same to the last bit for any number of threads: counts are integers, and each query's sum runs over the sets in
the order of the tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.known_sets import kernels, threads
from discreet.engine.known_sets.family import SetTree
from discreet.engine.known_sets.queries import Queries, RecordClass
from discreet.engine.known_sets.threads import KernelThreads
from discreet.engine.known_sets.walk import walk_sets
from discreet.engine.overlap import kernels as related
from discreet.engine.overlap.splitting import Cells, Classes, Links, number_cells
from discreet.engine.runtime.progress import report_progress

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.engine.overlap.relations import Relation

_TABLE_PER_RECORD = 2
Visit = Callable[[int, "NDArray[np.uint32]", "NDArray[np.int32]"], None]
"""What is done at a set: its node, the queries that are still active, and the counts of all queries (theirs are of this set)."""


@dataclass
class _Members:
    """Records and queries of one class, each with its group of the set at hand.

    Where cells of an attribute of the set agree by overlap, ``query_groups`` are classes of queries instead, and ``links`` the
    groups that agree with each.
    """

    rows: NDArray[np.uint32] | None
    group: NDArray[np.uint32]
    queries: NDArray[np.uint32]
    query_groups: NDArray[np.uint32]
    groups: int
    links: Links | None = None


@dataclass
class _Split:
    """One class's records counted by a set with one attribute more.

    A record's key is ``group * cardinality + code``; ``table`` holds the number of records of each key. ``query_codes`` are the
    codes of the queries; where cells agree by overlap, ``cells`` knows the keys of each class of queries instead.
    """

    members: _Members
    codes: NDArray[Any]
    query_codes: NDArray[Any]
    cardinality: int
    table: NDArray[np.int32]
    cells: Cells | None = None


@dataclass
class _Level:
    """A set on the way to the one at hand: its lists, one per class of records, and the queries that are not alone in it."""

    lists: list[_Members]
    active: NDArray[np.uint32]


class Counter:
    """Counts the records that agree with each query; ``counts`` holds those of the set counted last."""

    def __init__(self, classes: Sequence[RecordClass], queries: Queries, *, most_steps: int | None = None) -> None:
        self.classes = classes
        self.queries = queries
        self.most_steps = most_steps
        """Steps of one set beyond which TooManyStepsError is raised, where cells agree by overlap."""
        self.records = sum(own.size for own in classes)
        self.counts = np.zeros(len(queries), dtype=np.int32)
        self.threads = KernelThreads()

    def __enter__(self) -> Counter:
        self.threads.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self.threads.__exit__()

    def walk(self, tree: SetTree, visit: Visit) -> None:
        """Count every set of the tree that still has active queries, in the tree's order, and hand it to a visitor."""

        def count_set(node: int, above: _Level) -> _Level | None:
            place = int(tree.last[node])
            silent = self.queries.silent(place)
            active = above.active if silent is None else above.active[~silent[above.active]]
            if not len(active):
                return None
            report_progress("counting known sets", node, len(tree))
            inner = tree.has_children(node)
            splits = self.split(above.lists, place, active, silent, inner)
            visit(node, active, self.counts)
            return self._descend_all(splits, active) if inner else None

        everyone = np.arange(len(self.queries), dtype=np.uint32)
        self.counts[:] = self.records
        visit(0, everyone, self.counts)
        walk_sets(tree.children, _Level(self.begin(), self._not_alone(everyone)), count_set)

    def _descend_all(self, splits: Sequence[_Split], active: NDArray[np.uint32]) -> _Level | None:
        """The level of the set just counted, or None where every query is alone in it."""
        active = self._not_alone(active)
        return _Level([self.descend(split) for split in splits], active) if len(active) else None

    def _not_alone(self, active: NDArray[np.uint32]) -> NDArray[np.uint32]:
        stay = np.empty(len(active), dtype=np.uint32)
        return stay[: kernels.keep_not_alone(active, self.counts, stay)]

    def count_all(self, width: int) -> NDArray[np.int64]:
        """How many records agree with each query on all attributes it asks by."""
        counted = np.ones(len(self.queries), dtype=np.int64)
        for shape, pattern in enumerate(self.queries.patterns):
            members = np.flatnonzero(self.queries.pattern == shape).astype(np.uint32)
            places = [place for place in range(width) if place not in pattern.unknown and place not in pattern.lost]
            counted[members] = self.count_together(places, members)
        return counted

    def count_together(self, places: Iterable[int], queries: NDArray[np.uint32]) -> NDArray[np.int32]:
        """How many records agree with these queries on all of some attributes: one path, so there is no tree to walk."""
        lists, active = self.begin(queries), queries
        self.counts[queries] = self.records
        for place in places:
            active = self._not_alone(active)
            if not len(active):
                break
            lists = [self.descend(split) for split in self.split(lists, place, active, None, True)]
        return self.counts[queries]

    def begin(self, queries: NDArray[np.uint32] | None = None) -> list[_Members]:
        """Everybody in one group; of a class without records nobody asks."""
        everyone = np.arange(len(self.queries), dtype=np.uint32) if queries is None else queries
        lists = []
        for records in self.classes:
            asking = everyone if records.size else everyone[:0]
            groups = min(1, records.size)
            lists.append(
                _Members(records.rows, np.zeros(records.size, np.uint32), asking, np.zeros(len(asking), np.uint32), groups)
            )
        return lists

    def split(
        self, lists: Sequence[_Members], place: int, active: NDArray[np.uint32], silent: NDArray[np.bool_] | None, inner: bool
    ) -> list[_Split]:
        """Count the set with one attribute more: each active query's count is in ``counts`` afterwards."""
        self.counts[active] = 0
        splits = []
        for members, own in zip(lists, self.classes, strict=True):
            if silent is not None:
                loud = ~silent[members.queries]
                members = replace(  # noqa: PLW2901 - a narrower view
                    members, queries=members.queries[loud], query_groups=members.query_groups[loud]
                )
            codes, query_codes, cardinality = own.codes[place], own.query_codes[place], own.cardinalities[place]
            if own.relations and (members.links is not None or not own.relations[place].is_equal):
                # a set without overlapping attributes is counted by equal codes; from the first such attribute on by overlap
                links = Links.one_to_one(members.groups) if members.links is None else members.links
                splits.append(self._split_related(members, links, codes, query_codes, own.relations[place]))
                continue
            keys = members.groups * cardinality
            if keys > max(threads.SMALL, _TABLE_PER_RECORD * len(members.group)):
                numbered = _number_keys(members, codes, query_codes, cardinality)
                members, keys = numbered  # noqa: PLW2901 - the same list, its groups the keys
                codes = query_codes = _Zeros.like(codes, query_codes)
                cardinality = 1
            table = self.threads.count_keys(kernels.count, members.rows, members.group, codes, cardinality, keys)
            lookup = (members.queries, members.query_groups, query_codes, cardinality, table, self.counts)
            self.threads.run_slices(kernels.read_counts, len(members.queries), *lookup)
            table = table.copy() if inner and len(self.classes) > 1 else table  # the next class is counted in the same memory
            splits.append(_Split(members, codes, query_codes, cardinality, table))
        return splits

    def _split_related(
        self, members: _Members, links: Links, codes: NDArray[Any], query_codes: NDArray[Any], relation: Relation
    ) -> _Split:
        """The same where cells agree by overlap: classes of queries look at every cell of their groups that agrees.

        Trap: the table is not copied, because cells only agree by overlap where all records are one class.
        """
        number, cardinality = len(links.starts) - 1, len(relation.place)
        classes = Classes.split(
            members.queries, members.query_groups, number, query_codes, len(relation.starts) - 1, self.threads.run_slices
        )
        if members.groups * cardinality > max(threads.SMALL, _TABLE_PER_RECORD * len(members.group)):
            new, first, cell_code, table = number_cells(members.rows, members.group, members.groups, codes, cardinality)
            cells = Cells(links, classes, cardinality, relation, table, first, cell_code)
            members, codes, cardinality = replace(members, group=new), _Zeros.like(codes), 1
        else:
            table = self.threads.count_keys(
                kernels.count, members.rows, members.group, codes, cardinality, members.groups * cardinality
            )
            cells = Cells(links, classes, cardinality, relation, table)
        counts = cells.count_classes(self.threads.run_slices, self.most_steps)
        self.threads.run_slices(related.add_class_counts, len(members.queries), members.queries, classes.of, counts, self.counts)
        return _Split(members, codes, query_codes, cardinality, table, cells)

    def descend(self, split: _Split) -> _Members:
        """The lists of the set just counted: groups where a query is not alone, numbered anew."""
        members, table, links = split.members, split.table, None
        if split.cells is not None:
            new_queries, new_groups, links, groups, staying = self._descend_related(members, split.cells, table)
        else:
            marked = np.zeros(len(table), dtype=np.uint8)
            lookup = (members.queries, members.query_groups, split.query_codes, split.cardinality, table, self.counts)
            remaining = kernels.mark(*lookup, marked)
            groups, staying = kernels.number(table, marked)
            new_queries, new_groups = np.empty(remaining, np.uint32), np.empty(remaining, np.uint32)
            kernels.keep_queries(*lookup, new_queries, new_groups)
        size, records = len(members.group), (members.rows, members.group, split.codes, split.cardinality, table)
        begin = None if staying == size else self.threads.count_staying(kernels.staying, size, *records)
        rows = members.rows if staying == size else np.empty(staying, np.uint32)
        group = np.empty(staying, np.uint32)
        self.threads.pack_slices(kernels.keep, size, begin, *records, None if staying == size else rows, group)
        return _Members(rows, group, new_queries, new_groups, groups, links)

    def _descend_related(
        self, members: _Members, cells: Cells, table: NDArray[np.int32]
    ) -> tuple[NDArray[np.uint32], NDArray[np.uint32], Links, int, int]:
        """The queries that are not alone with their classes, the groups linked to these, and how many groups and records stay."""
        of = cells.classes.of
        has_query = np.zeros(len(cells.classes), dtype=np.bool_)
        has_query[of[self.counts[members.queries] > 1]] = True
        staying = np.flatnonzero(has_query)
        starts, into = cells.link(staying, self.threads.run_slices)
        marked = np.zeros(len(table), dtype=np.uint8)
        related.mark_cells(into, marked)
        groups, records = kernels.number(table, marked)
        self.threads.run_slices(lambda start, stop: related.rename_cells(into, table, start, stop), len(into))
        rank = np.cumsum(has_query) - 1  # of the classes that stay; nobody asks for that of another
        new_queries, new_groups = np.empty(len(of), np.uint32), np.empty(len(of), np.uint32)
        kept = related.keep_classes(members.queries, of, rank, self.counts, new_queries, new_groups)
        return new_queries[:kept].copy(), new_groups[:kept].copy(), Links(starts, into), groups, records


class _Zeros:
    """Codes that say nothing: every record and query has the code 0."""

    @staticmethod
    def like(*codes: NDArray[Any]) -> NDArray[Any]:
        """One array of zeros as long as the longest, without memory of its own."""
        return np.broadcast_to(np.zeros(1, np.uint8), max(map(len, codes)))


def _number_keys(members: _Members, codes: NDArray[Any], query_codes: NDArray[Any], cardinality: int) -> tuple[_Members, int]:
    """The list with the groups of the larger set numbered one by one, for sets that are not worth a table."""
    order, begin = kernels.sort_by_group(members.group, members.groups)
    query_order, query_begin = kernels.sort_by_group(members.query_groups, members.groups)
    new, query_new = np.empty(len(members.group), np.uint32), np.full(len(members.query_groups), -1, np.int64)
    keys = kernels.number_keys(
        members.rows, codes, order, begin, members.queries, query_codes, query_order, query_begin, cardinality, new, query_new
    )
    query_new[query_new < 0] = keys
    return _Members(members.rows, new, members.queries, query_new.astype(np.uint32), members.groups), keys + 1
