"""Counting over a tree of known sets: the engine of the record-level risk.

The sets of a family share prefixes, so a set's groups are its parent's groups split by one attribute. Only *queries* (records
with something to learn) ask for counts; all other records are merely counted. Three things leave as the walk goes down: a query
that is alone (its count stays 1 in every larger set, so its whole subtree is added at once), records in groups where no query is
left, and whole subtrees where nobody asks. Group numbers stay dense, so that a table of counts stays small; where it would not,
the records are sorted by group and counted with a table of one group.

The records counted may be of several *classes*, each with its own codes: records that lack an attribute (a null that agrees with
anything) or tell it coarsely are another class. A query's count is the sum over classes. Where cells agree by
overlap, a query is in several groups at once (:mod:`discreet.engine.overlap.splitting`).

The answer is the same to the last bit for any number of threads: counts are integers, and each query's sum runs over the sets in
the order of the tree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.encoding.columns import threads
from discreet.engine.known_sets import kernels
from discreet.engine.known_sets.family import Family
from discreet.engine.known_sets.terms import Pattern, Terms
from discreet.engine.overlap import kernels as related
from discreet.engine.overlap.splitting import Cells, Classes, Links, number_cells
from discreet.engine.runtime.progress import tell

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.engine.overlap.relations import Relation

_SMALL = 1 << 16
_TABLE_PER_RECORD = 2


@dataclass(frozen=True)
class RecordClass:
    """Records that tell the same attributes: their rows (all where None), and codes of rows and queries by attribute.

    ``relations`` says which codes of each attribute agree; where it is empty, equal codes do.
    """

    rows: NDArray[np.uint32] | None
    size: int
    codes: Sequence[NDArray[Any]]
    asked: Sequence[NDArray[Any]]
    cardinalities: Sequence[int]
    relations: Sequence[Relation] = ()

    def asked_by(self, some: NDArray[np.int64]) -> RecordClass:
        """The same records, asked for by some of the queries."""
        return replace(self, asked=[one[some] for one in self.asked])


@dataclass(frozen=True)
class Queries:
    """Who asks: weights (C, the rest's D and P, the c of the singles and their places), and the pattern of each."""

    weight: NDArray[np.float64]
    rest: NDArray[np.float64]
    spread: NDArray[np.float64]
    single: NDArray[np.float64]
    singles: list[int]
    pattern: NDArray[np.int32]
    patterns: list[Pattern]

    def __len__(self) -> int:
        return len(self.weight)

    @property
    def plain(self) -> bool:
        """Whether no sensitive attribute occurs in a kept set, so that every set finds the same consequence."""
        return not self.singles

    @cached_property
    def _blocked(self) -> dict[int, NDArray[np.bool_]]:
        """For each attribute that some pattern does not ask by, which patterns those are."""
        made: dict[int, NDArray[np.bool_]] = {}
        for at, shape in enumerate(self.patterns):
            for place in shape.unknown | shape.lost:
                made.setdefault(place, np.zeros(len(self.patterns), dtype=np.bool_))[at] = True
        return made

    def silent(self, place: int) -> NDArray[np.bool_] | None:
        """Which queries do not ask by an attribute, or None where all do."""
        blocked = self._blocked.get(place)
        return None if blocked is None else blocked[self.pattern]

    def of_patterns(self, begin: int, end: int) -> tuple[NDArray[np.int64], Queries]:
        """The queries with patterns from one number up to another, and which those are."""
        own = np.flatnonzero((self.pattern >= begin) & (self.pattern < end))
        return own, Queries(
            self.weight[own], self.rest[own], self.spread[own], self.single[own], self.singles,
            self.pattern[own] - np.int32(begin), self.patterns[begin:end],
        )  # fmt: skip


@dataclass
class _List:
    """Records and queries of one class, each with its group of the set at hand.

    Where cells agree by overlap, ``asked`` are classes of queries instead, and ``links`` the groups that agree with each.
    """

    who: NDArray[np.uint32] | None
    group: NDArray[np.uint32]
    asking: NDArray[np.uint32]
    asked: NDArray[np.uint32]
    groups: int
    links: Links | None = None


@dataclass
class _Split:
    """One class's records counted by a set with one attribute more.

    A record's key is ``group * cardinality + code``; ``table`` holds the records of each key. ``asked`` are the queries' codes;
    where cells agree by overlap, ``cells`` knows the keys of each class of queries instead.
    """

    records: _List
    codes: NDArray[Any]
    asked: NDArray[Any]
    cardinality: int
    table: NDArray[np.int32]
    cells: Cells | None = None


@dataclass
class Found:
    """The sums of each query, before the consequence coefficient."""

    risk: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    top: NDArray[np.float64]
    top_node: NDArray[np.int32]
    likelihood: NDArray[np.float64]
    count_all: NDArray[np.int64]
    visited: int
    kept_mass: NDArray[np.float64]
    """The sum over the kept sets but the empty one with every count 1, and the same over all sets: exact, without a walk."""
    whole_mass: NDArray[np.float64]

    @classmethod
    def empty(cls, size: int) -> Found:
        """For so many queries, to be filled in."""
        risk, lower, upper, top, likelihood, kept, whole = (np.zeros(size) for _ in range(7))
        return cls(risk, lower, upper, top, np.zeros(size, np.int32), likelihood, np.zeros(size, np.int64), 0, kept, whole)

    def fill(self, some: NDArray[np.int64], found: Found) -> None:
        """Write what was found of some of the queries."""
        for name in ("risk", "lower", "upper", "top", "top_node", "likelihood", "count_all", "kept_mass", "whole_mass"):
            getattr(self, name)[some] = getattr(found, name)
        self.visited = max(self.visited, found.visited)

    def spread(self, kind: NDArray[np.int64]) -> Found:
        """The sums of records that ask as these did: ``kind`` names the one that each asks like."""
        return Found(
            self.risk[kind], self.lower[kind], self.upper[kind], self.top[kind], self.top_node[kind], self.likelihood[kind],
            self.count_all[kind], self.visited, self.kept_mass[kind], self.whole_mass[kind],
        )  # fmt: skip


@dataclass
class Sums:
    """What the walk adds up: parts of kept sets, parts with all that lies below them, and the largest part."""

    near: NDArray[np.float64]
    far: NDArray[np.float64]
    likelihood: NDArray[np.float64]
    top: NDArray[np.float64]
    top_node: NDArray[np.int32]


class Counter:
    """Walks a family and counts; holds the scratch arrays."""

    def __init__(self, classes: Sequence[RecordClass], queries: Queries) -> None:
        self.classes = classes
        self.queries = queries
        self.found = np.zeros(len(queries), dtype=np.int32)
        self.table = np.zeros(_SMALL, dtype=np.int32)
        self.workers = threads()
        self._pool: ThreadPoolExecutor | None = None

    def __enter__(self) -> Counter:
        if self.workers > 1:
            self._pool = ThreadPoolExecutor(self.workers)
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown()

    def walk(self, tree: Family, parts: Terms, count_all: NDArray[np.int64]) -> Found:
        """Visit every set of the family that still has queries, in the tree's order."""
        size, sums = len(self.queries), self.empty()
        self.found[:] = sum(one.size for one in self.classes)
        active = np.arange(size, dtype=np.uint32)
        self.add(tree, parts, 0, active, sums)
        visited = 1
        state = [self.begin()]
        actives = [active[self.found > 1]]
        node, total = 1, len(tree)
        while node < total:
            depth, place = int(tree.depth[node]), int(tree.last[node])
            del state[depth:], actives[depth:]
            silent = self.queries.silent(place)
            active = actives[-1] if silent is None else actives[-1][~silent[actives[-1]]]
            if not len(active):
                node = int(tree.end[node])
                continue
            tell("counting known sets", node, total)
            inner = int(tree.end[node]) > node + 1
            lists = self.split(state[-1], place, active, silent, inner)
            self.add(tree, parts, node, active, sums)
            visited += 1
            if inner:
                state.append([self.descend(one) for one in lists])
                stay = np.empty(len(active), dtype=np.uint32)
                actives.append(stay[: kernels.remain(active, self.found, stay)])
            node += 1
        return self.finish(parts, sums, count_all, visited)

    def count_all(self, width: int) -> NDArray[np.int64]:
        """How many records agree with each query on all attributes it asks by."""
        counted = np.ones(len(self.queries), dtype=np.int64)
        for shape, pattern in enumerate(self.queries.patterns):
            active = np.flatnonzero(self.queries.pattern == shape).astype(np.uint32)
            lists = self.begin(active)
            self.found[active] = sum(one.size for one in self.classes)
            for place in range(width):
                active = active[self.found[active] > 1]
                if place in pattern.unknown or place in pattern.lost or not len(active):
                    continue
                lists = [self.descend(one) for one in self.split(lists, place, active, None, True)]
            counted[self.queries.pattern == shape] = self.found[self.queries.pattern == shape]
        return counted

    def begin(self, asking: NDArray[np.uint32] | None = None) -> list[_List]:
        """Everybody in one group; of a class without records nobody asks."""
        everyone = np.arange(len(self.queries), dtype=np.uint32) if asking is None else asking
        made = []
        for one in self.classes:
            who = everyone if one.size else everyone[:0]
            groups, links = min(1, one.size), Links.all_in_one() if one.relations else None
            made.append(_List(one.rows, np.zeros(one.size, np.uint32), who, np.zeros(len(who), np.uint32), groups, links))
        return made

    def split(
        self, lists: Sequence[_List], place: int, active: NDArray[np.uint32], silent: NDArray[np.bool_] | None, inner: bool
    ) -> list[_Split]:
        """Count the set with one attribute more: each active query's count is in ``found`` afterwards."""
        self.found[active] = 0
        made = []
        for one, own in zip(lists, self.classes, strict=True):
            if silent is not None:
                loud = ~silent[one.asking]
                one = replace(one, asking=one.asking[loud], asked=one.asked[loud])  # noqa: PLW2901 - a narrower view
            codes, asked, cardinality = own.codes[place], own.asked[place], own.cardinalities[place]
            if one.links is not None:
                copied = inner and len(self.classes) > 1
                made.append(self._split_related(one, one.links, codes, asked, own.relations[place], copied=copied))
                continue
            room = one.groups * cardinality
            if room > max(_SMALL, _TABLE_PER_RECORD * len(one.group)):
                one, room = _sorted(one, codes, asked, cardinality)  # noqa: PLW2901 - the same list with its own groups
                codes = asked = _Zeros.like(codes, asked)
                cardinality = 1
            table = self._count(one, codes, cardinality, room)
            self.each(kernels.look, len(one.asking), one.asking, one.asked, asked, cardinality, table, self.found)
            made.append(_Split(one, codes, asked, cardinality, table.copy() if inner and len(self.classes) > 1 else table))
        return made

    def _split_related(
        self, one: _List, links: Links, codes: NDArray[Any], asked: NDArray[Any], relation: Relation, *, copied: bool
    ) -> _Split:
        """The same where cells agree by overlap: classes of queries look at every cell of their groups that agrees."""
        number, cardinality = len(links.starts) - 1, len(relation.place)
        classes = Classes.split(one.asking, one.asked, number, asked, len(relation.starts) - 1, self._in_parts)
        if one.groups * cardinality > max(_SMALL, _TABLE_PER_RECORD * len(one.group)):
            new, first, cell_code, table = number_cells(one.who, one.group, one.groups, codes, cardinality)
            cells = Cells(links, classes, cardinality, relation, table, first, cell_code)
            one, codes, cardinality = replace(one, group=new), _Zeros.like(codes), 1
        else:
            table = self._count(one, codes, cardinality, one.groups * cardinality)
            table = table.copy() if copied else table  # the next class is counted in the same memory
            cells = Cells(links, classes, cardinality, relation, table)
        counts = cells.look(self._in_parts)
        self.each(related.spread, len(one.asking), one.asking, classes.of, counts, self.found)
        return _Split(one, codes, asked, cardinality, table, cells)

    def _in_parts(self, job: Callable[[int, int], object], size: int) -> None:
        """Run a function of a start and a stop over a list, on all threads where it is long."""
        workers = self.workers if size > _SMALL else 1
        bounds = _slices(size, workers)
        self._together([lambda at=at: job(bounds[at], bounds[at + 1]) for at in range(workers)])  # type: ignore[misc]

    def _count(self, one: _List, codes: NDArray[Any], cardinality: int, room: int) -> NDArray[np.int32]:
        size = len(one.group)
        workers = self.workers if size > _SMALL and room * self.workers <= size // 4 else 1
        if len(self.table) < room * workers:
            self.table = np.zeros(room * workers, dtype=np.int32)
        tables: list[NDArray[np.int32]] = list(self.table[: room * workers].reshape(workers, room))
        self.table[: room * workers] = 0
        if workers == 1:
            kernels.count(one.who, one.group, codes, cardinality, tables[0], 0, size)
            return tables[0]
        bounds = _slices(size, workers)
        self._together(
            [
                lambda at=at: kernels.count(one.who, one.group, codes, cardinality, tables[at], bounds[at], bounds[at + 1])  # type: ignore[misc]
                for at in range(workers)
            ]
        )
        for other in tables[1:]:
            tables[0] += other
        return tables[0]

    def descend(self, split: _Split) -> _List:
        """The lists of the set just counted: groups where a query is not alone, numbered anew."""
        one, codes, asked, cardinality, table = split.records, split.codes, split.asked, split.cardinality, split.table
        links = None
        if split.cells is not None:
            new_asking, new_asked, links, groups, staying = self._descend_related(one, split.cells, table)
        else:
            marked = np.zeros(len(table), dtype=np.uint8)
            asking = kernels.mark(one.asking, one.asked, asked, cardinality, table, self.found, marked)
            groups, staying = kernels.number(table, marked)
            new_asking, new_asked = np.empty(asking, np.uint32), np.empty(asking, np.uint32)
            kernels.keep_queries(one.asking, one.asked, asked, cardinality, table, self.found, new_asking, new_asked)
        size = len(one.group)
        workers = self.workers if size > _SMALL else 1
        bounds = _slices(size, workers)
        stay = [0] * (workers + 1)

        def measure(at: int) -> None:
            stay[at + 1] = kernels.staying(one.who, one.group, codes, cardinality, table, bounds[at], bounds[at + 1])

        if staying == size:
            stay = [0, *(bounds[at + 1] - bounds[at] for at in range(workers))]
        else:
            self._together([lambda at=at: measure(at) for at in range(workers)])  # type: ignore[misc]
        begin = list(accumulate(stay))
        all_stay = begin[-1] == size
        new_who = None if all_stay else np.empty(begin[-1], np.uint32)
        group = np.empty(begin[-1], np.uint32)
        self._together(
            [
                lambda at=at: kernels.keep(  # type: ignore[misc]
                    one.who, one.group, codes, cardinality, table, new_who, group, bounds[at], bounds[at + 1], begin[at]
                )
                for at in range(workers)
            ]
        )
        return _List(one.who if all_stay else new_who, group, new_asking, new_asked, groups, links)

    def _descend_related(
        self, one: _List, cells: Cells, table: NDArray[np.int32]
    ) -> tuple[NDArray[np.uint32], NDArray[np.uint32], Links, int, int]:
        """The queries that are not alone with their classes, the groups linked to these, and how many groups and records stay."""
        of = cells.classes.of
        asks = np.zeros(len(cells.classes), dtype=np.bool_)
        asks[of[self.found[one.asking] > 1]] = True
        staying = np.flatnonzero(asks)
        starts, into = cells.link(staying, self._in_parts)
        marked = np.zeros(len(table), dtype=np.uint8)
        related.mark_cells(into, marked)
        groups, records = kernels.number(table, marked)
        self._in_parts(lambda start, stop: related.rename_cells(into, table, start, stop), len(into))
        rank = np.full(len(asks), -1, dtype=np.int64)
        rank[staying] = np.arange(len(staying))
        new_asking, new_asked = np.empty(len(of), np.uint32), np.empty(len(of), np.uint32)
        kept = related.keep_classes(one.asking, of, rank, self.found, new_asking, new_asked)
        return new_asking[:kept].copy(), new_asked[:kept].copy(), Links(starts, into), groups, records

    def empty(self) -> Sums:
        """Nothing added up yet."""
        size = len(self.queries)
        return Sums(np.zeros(size), np.zeros(size), np.zeros(size), np.zeros(size), np.zeros(size, np.int32))

    def add(self, tree: Family, parts: Terms, node: int, active: NDArray[np.uint32], sums: Sums) -> None:
        """Add one set, by what was found of it, to those who ask."""
        ask, chance = self.queries, float(tree.chance[node])
        rows = (parts.kept[node], parts.whole[node], parts.kept_below[node], parts.whole_below[node])
        if ask.plain:
            self.each(
                kernels.add_plain,
                len(active),
                active,
                self.found,
                ask.pattern,
                *rows,
                chance,
                node,
                tree.rank,
                sums.near,
                sums.far,
                sums.likelihood,
                sums.top_node,
            )
        else:
            self.each(
                kernels.add,
                len(active),
                active,
                self.found,
                ask.pattern,
                ask.weight,
                ask.rest,
                ask.single,
                *rows,
                parts.member[node],
                chance,
                node,
                tree.rank,
                sums.near,
                sums.far,
                sums.likelihood,
                sums.top,
                sums.top_node,
            )

    def finish(self, parts: Terms, sums: Sums, count_all: NDArray[np.int64], visited: int) -> Found:
        """Sums into risks: what epsilon dropped is at most its whole mass at the smallest count there is."""
        ask = self.queries
        near, far, top = sums.near, sums.far, sums.top
        if ask.plain:
            near, far, top = near * ask.weight, far * (ask.weight - ask.rest), sums.likelihood * ask.weight
        kept, whole = parts.kept_below[0][ask.pattern], parts.whole_below[0][ask.pattern]
        kept_mass = kept[:, 0] * ask.weight + (kept[:, 1:] * ask.single).sum(axis=1)
        whole_mass = whole[:, 0] * (ask.weight - ask.rest) + (whole[:, 1:] * ask.single).sum(axis=1)
        lower = np.maximum(far * ask.spread, near)  # equal but for rounding where nothing was dropped
        upper = np.maximum(near + (whole_mass * ask.spread - kept_mass) / np.maximum(count_all, 1), lower)
        masses = kept_mass - ask.weight, whole_mass * ask.spread - ask.weight
        return Found(near, lower, upper, top, sums.top_node, sums.likelihood, count_all, visited, *masses)

    def each(self, kernel: Callable[..., Any], size: int, *arguments: Any, least: int = _SMALL) -> None:
        """Run a kernel over slices of a list, on all threads where the list is long."""
        if size <= least or self.workers == 1:
            kernel(*arguments, 0, size)
            return
        bounds = _slices(size, self.workers)
        self._together([lambda at=at: kernel(*arguments, bounds[at], bounds[at + 1]) for at in range(self.workers)])  # type: ignore[misc]

    def _together(self, jobs: Sequence[Callable[[], Any]]) -> None:
        if self._pool is None or len(jobs) == 1:
            for job in jobs:
                job()
            return
        for future in [self._pool.submit(job) for job in jobs]:
            future.result()


def _slices(size: int, workers: int) -> list[int]:
    """Where the equal parts of a list begin and end."""
    return [size * at // workers for at in range(workers + 1)]


class _Zeros:
    """Codes that say nothing: every record and query has the code 0."""

    @staticmethod
    def like(*codes: NDArray[Any]) -> NDArray[Any]:
        """One array of zeros as long as the longest, without memory of its own."""
        return np.broadcast_to(np.zeros(1, np.uint8), max(len(one) for one in codes))


def _sorted(one: _List, codes: NDArray[Any], asked: NDArray[Any], cardinality: int) -> tuple[_List, int]:
    """The list with the groups of the larger set numbered one by one, for sets that are not worth a table."""
    order, begin = kernels.by_group(one.group, one.groups)
    q_order, q_begin = kernels.by_group(one.asked, one.groups)
    new, q_new = np.empty(len(one.group), np.uint32), np.full(len(one.asked), -1, np.int64)
    keys = kernels.split(one.who, codes, order, begin, one.asking, asked, q_order, q_begin, cardinality, new, q_new)
    q_new[q_new < 0] = keys
    return _List(one.who, new, one.asking, q_new.astype(np.uint32), one.groups), keys + 1
