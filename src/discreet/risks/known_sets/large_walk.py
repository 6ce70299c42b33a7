"""The walk over known sets that keeps little of each record; see :mod:`discreet.risks.known_sets.large`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.encoding.columns import threads
from discreet.engine.known_sets.counter import Queries
from discreet.engine.known_sets.family import Family
from discreet.engine.known_sets.kernels import number, split
from discreet.engine.known_sets.terms import terms
from discreet.engine.runtime.progress import tell
from discreet.risks.known_sets import large_kernels as kernels

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SMALL = 1 << 16


@dataclass
class _Level:
    """Records and queries, each with its group of the set at hand; the same arrays where everyone asks."""

    who: NDArray[np.uint32] | None
    group: NDArray[np.uint32]
    asking: NDArray[np.uint32] | None
    asked: NDArray[np.uint32]
    groups: int


class Walk:
    """Counts sets along the tree for one class of records."""

    def __init__(
        self,
        size: int,
        codes: Sequence[NDArray[Any]],
        asked: Sequence[NDArray[Any]],
        cardinalities: Sequence[int],
        kind: NDArray[Any],
        *,
        everyone: bool,
    ) -> None:
        self.codes, self.asked, self.cardinalities, self.kind, self.everyone = codes, asked, cardinalities, kind, everyone
        self.size = size
        self.table = np.zeros(_SMALL, dtype=np.int32)
        self.workers = threads()
        self.pool = ThreadPoolExecutor(self.workers)

    def __enter__(self) -> Walk:
        return self

    def __exit__(self, *_: object) -> None:
        self.pool.shutdown()

    def begin(self) -> _Level:
        """Everybody in one group."""
        group = np.zeros(self.size, dtype=np.uint32)
        if self.everyone:
            return _Level(None, group, None, group, 1)
        return _Level(None, group, None, np.zeros(len(self.kind), dtype=np.uint32), 1)

    def count_all(self) -> NDArray[np.int32]:
        """How many records agree with each query on all attributes."""
        counts = np.full(len(self.kind), self.size, dtype=np.int32)
        level = self.begin()
        for place in range(len(self.codes)):
            if not level.groups:
                break
            tell("counting all attributes", place, len(self.codes))
            level, table, marked, codes, asked, cardinality = self._counted(level, place, inner=True)
            rest = (asked, cardinality, table, marked, counts)
            self._each(kernels.look, len(level.asked), level.asking, level.asked, *rest)
            level = self._next(level, codes, asked, cardinality, table, marked)
        return counts

    def sums(self, tree: Family, ask: Queries) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The sums of the kept sets, and with all that lies below them, of each query."""
        parts = terms(tree, ask.singles, ask.patterns)
        weights = np.column_stack((ask.weight, ask.single))
        left = np.column_stack((ask.weight - ask.rest, ask.single))
        near, far = np.empty(len(self.kind)), np.empty(len(self.kind))
        alone = self.size == 1
        near[:] = (weights @ (parts.kept_below if alone else parts.kept)[0, 0] / self.size)[self.kind]
        far[:] = (left @ (parts.whole_below if alone else parts.whole)[0, 0] / self.size)[self.kind]
        levels = [self.begin()]
        node, total = 1, 1 if alone else len(tree)
        while node < total:
            depth, place = int(tree.depth[node]), int(tree.last[node])
            del levels[depth:]
            if not levels[-1].groups:
                node = int(tree.end[node])
                continue
            tell("counting known sets", node, total)
            inner = int(tree.end[node]) > node + 1
            level, table, marked, codes, asked, cardinality = self._counted(levels[-1], place, inner=inner)
            values = (
                weights @ parts.kept[node, 0],
                left @ parts.whole[node, 0],
                weights @ parts.kept_below[node, 0],
                left @ parts.whole_below[node, 0],
            )
            rest = (asked, cardinality, table, marked, self.kind, *values, near, far)
            self._each(kernels.add, len(level.asked), level.asking, level.asked, *rest)
            if inner:
                levels.append(self._next(level, codes, asked, cardinality, table, marked))
            node += 1
        return near, far

    def _counted(self, level: _Level, place: int, *, inner: bool) -> tuple[Any, ...]:
        """The level (its groups the keys, without codes, where a table of all keys would be long), the counts, and the codes."""
        codes: NDArray[Any] | None = self.codes[place]
        asked: NDArray[Any] | None = self.asked[place]
        cardinality = self.cardinalities[place]
        room = level.groups * cardinality
        if room > max(_SMALL, len(level.group)):
            level = self._numbered(level, place)
            codes, asked, cardinality, room = None, None, 1, level.groups
        size = len(level.group)
        workers = self.workers if size > _SMALL and room * self.workers <= size // 4 else 1
        if len(self.table) < room * workers:
            self.table = np.zeros(0, dtype=np.int32)
            self.table = np.zeros(room * workers, dtype=np.int32)
        self.table[: room * workers] = 0
        tables = self.table[: room * workers].reshape(workers, room)
        bounds = _slices(size, workers)

        def count(at: int) -> None:
            kernels.count(level.who, level.group, codes, cardinality, tables[at], bounds[at], bounds[at + 1])

        self._together(count, workers)
        for other in tables[1:]:
            tables[0] += other
        return level, tables[0], np.zeros(room, dtype=np.uint8) if inner else None, codes, asked, cardinality

    def _numbered(self, level: _Level, place: int) -> _Level:
        """The level with the keys of the larger set as groups, found by sorting."""
        order, begin = kernels.by_group(level.group, level.groups)
        new = np.full(len(level.group), kernels.NOBODY, dtype=np.uint32)
        none = np.zeros(0, dtype=np.uint32)
        if self.everyone:
            q_order, q_begin, asking, q_new = none, np.zeros(len(begin), dtype=np.uint32), none, none
        else:
            q_order, q_begin = kernels.by_group(level.asked, level.groups)
            asking = np.arange(len(self.kind), dtype=np.uint32) if level.asking is None else level.asking
            q_new = np.full(len(level.asked), kernels.NOBODY, dtype=np.uint32)
        keys = split(
            level.who, self.codes[place], order, begin, asking, self.asked[place], q_order, q_begin,
            self.cardinalities[place], new, q_new,
        )  # fmt: skip
        return _Level(level.who, new, level.asking, new if self.everyone else q_new, int(keys))

    def _next(
        self,
        level: _Level,
        codes: NDArray[Any] | None,
        asked: NDArray[Any] | None,
        cardinality: int,
        table: NDArray[np.int32],
        marked: NDArray[np.uint8],
    ) -> _Level:
        """The groups where somebody asks who is not alone, numbered anew."""
        groups, _ = number(table, marked)
        who, group = self._stay(level.who, level.group, codes, cardinality, table)
        if self.everyone:
            return _Level(who, group, who, group, groups)
        asking, own = self._stay(level.asking, level.asked, asked, cardinality, table)
        return _Level(who, group, asking, own, groups)

    def _stay(
        self,
        who: NDArray[np.uint32] | None,
        group: NDArray[np.uint32],
        codes: NDArray[Any] | None,
        cardinality: int,
        table: NDArray[np.int32],
    ) -> tuple[NDArray[np.uint32] | None, NDArray[np.uint32]]:
        """A list with its new groups: in place, or packed where half of it or more left."""
        size = len(group)
        workers = self.workers if size > _SMALL else 1
        bounds = _slices(size, workers)
        stay = [0] * (workers + 1)

        def measure(at: int) -> None:
            stay[at + 1] = kernels.staying(who, group, codes, cardinality, table, bounds[at], bounds[at + 1])

        self._together(measure, workers)
        begin = list(accumulate(stay))
        packed = 2 * begin[-1] <= size
        new = np.empty(begin[-1] if packed else size, dtype=np.uint32)
        new_who = np.empty(begin[-1], dtype=np.uint32) if packed else who

        def write(at: int) -> None:
            if packed:
                kernels.keep(who, group, codes, cardinality, table, new_who, new, bounds[at], bounds[at + 1], begin[at])
            else:
                kernels.regroup(who, group, codes, cardinality, table, new, bounds[at], bounds[at + 1])

        self._together(write, workers)
        return new_who, new

    def _each(self, kernel: Callable[..., Any], size: int, *arguments: Any) -> None:
        workers = self.workers if size > _SMALL else 1
        bounds = _slices(size, workers)
        self._together(lambda at: kernel(*arguments, bounds[at], bounds[at + 1]), workers)

    def _together(self, job: Callable[[int], None], workers: int) -> None:
        if workers == 1:
            job(0)
            return
        for future in [self.pool.submit(job, at) for at in range(workers)]:
            future.result()


def _slices(size: int, workers: int) -> list[int]:
    """Where the equal parts of a list begin and end."""
    return [size * at // workers for at in range(workers + 1)]
