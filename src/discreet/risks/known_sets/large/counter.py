"""Counting over known sets with few bytes per record; see :mod:`discreet.risks.known_sets.large.sums`.

The sets are walked as by :class:`discreet.engine.known_sets.counter.Counter` (:func:`discreet.engine.known_sets.walk.walk_sets`).
The difference is how a level is stored: members that leave stay in the list, marked ``NO_GROUP``, until half of it has left;
records and queries share one list where every record is a query; and counts are added to the sums at once instead of being stored
per query.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.known_sets import threads
from discreet.engine.known_sets.family import SetTree
from discreet.engine.known_sets.kernels import number, number_keys
from discreet.engine.known_sets.terms import Terms
from discreet.engine.known_sets.threads import KernelThreads
from discreet.engine.known_sets.walk import walk_sets
from discreet.engine.runtime.progress import report_progress
from discreet.risks.known_sets.large import kernels

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass
class _Level:
    """Records and queries, each with its group in the current set; the same arrays where every record is a query."""

    rows: NDArray[np.uint32] | None
    group: NDArray[np.uint32]
    queries: NDArray[np.uint32] | None
    query_groups: NDArray[np.uint32]
    groups: int


@dataclass
class _Split:
    """A level split by one attribute more: ``table`` holds the records of each key ``group * cardinality + code``.

    ``marked`` flags the keys of queries that are not unique; None where the set has no children. Without codes the groups of the
    level are the keys.
    """

    level: _Level
    codes: NDArray[Any] | None
    query_codes: NDArray[Any] | None
    cardinality: int
    table: NDArray[np.int32]
    marked: NDArray[np.uint8] | None

    @property
    def queries(self) -> tuple[Any, ...]:
        """The queries and their keys, as arguments of the kernels."""
        return self.level.queries, self.level.query_groups, self.query_codes, self.cardinality, self.table, self.marked


class LargeCounter:
    """Counts the sets of the tree for one class of records."""

    def __init__(
        self,
        size: int,
        codes: Sequence[NDArray[Any]],
        query_codes: Sequence[NDArray[Any]],
        cardinalities: Sequence[int],
        kind: NDArray[Any],
        *,
        everyone: bool,
    ) -> None:
        self.codes, self.query_codes, self.cardinalities, self.kind, self.everyone = (
            codes,
            query_codes,
            cardinalities,
            kind,
            everyone,
        )
        self.size = size
        self.threads = KernelThreads()

    def __enter__(self) -> LargeCounter:
        self.threads.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self.threads.__exit__()

    def begin(self) -> _Level:
        """The level of the empty set: all records in one group."""
        group = np.zeros(self.size, dtype=np.uint32)
        return _Level(None, group, None, group if self.everyone else np.zeros(len(self.kind), dtype=np.uint32), 1)

    def add_sets(
        self,
        tree: SetTree,
        parts: Terms,
        weights: NDArray[np.float64],
        left: NDArray[np.float64],
        near: NDArray[np.float64],
        far: NDArray[np.float64],
    ) -> None:
        """Add to each query the sum over the sets of a tree below its root, and the sum that includes all larger sets.

        ``weights[kind]`` and ``left[kind]`` are the weights that the coefficients of near and of far are for.
        """

        def add_set(node: int, above: _Level) -> _Level | None:
            report_progress("counting known sets", node, len(tree))
            keys = self._split(above, int(tree.last[node]), inner=tree.has_children(node))
            values = (
                weights @ parts.kept[node, 0],
                left @ parts.whole[node, 0],
                weights @ parts.kept_below[node, 0],
                left @ parts.whole_below[node, 0],
            )
            self.threads.run_slices(kernels.add_set, len(keys.level.query_groups), *keys.queries, self.kind, *values, near, far)
            level = self._descend(keys) if tree.has_children(node) else None
            return level if level is not None and level.groups else None

        walk_sets(tree.children, self.begin(), add_set)

    def _split(self, level: _Level, place: int, *, inner: bool) -> _Split:
        """Count the set with one more attribute; its keys are numbered by sorting where a table of all keys would be too long."""
        codes: NDArray[Any] | None = self.codes[place]
        query_codes: NDArray[Any] | None = self.query_codes[place]
        cardinality = self.cardinalities[place]
        keys = level.groups * cardinality
        if keys > max(threads.SMALL, len(level.group)):
            level = self._numbered(level, place)
            codes, query_codes, cardinality, keys = None, None, 1, level.groups
        table = self.threads.count_keys(kernels.count, level.rows, level.group, codes, cardinality, keys)
        return _Split(level, codes, query_codes, cardinality, table, np.zeros(keys, dtype=np.uint8) if inner else None)

    def _numbered(self, level: _Level, place: int) -> _Level:
        """The level with the keys of the larger set as groups, numbered by sorting."""
        order, begin = kernels.sort_by_group(level.group, level.groups)
        new = np.full(len(level.group), kernels.NO_GROUP, dtype=np.uint32)
        none = np.zeros(0, dtype=np.uint32)
        if self.everyone:
            query_order, query_begin, queries, query_new = none, np.zeros(len(begin), dtype=np.uint32), none, none
        else:
            query_order, query_begin = kernels.sort_by_group(level.query_groups, level.groups)
            queries = np.arange(len(self.kind), dtype=np.uint32) if level.queries is None else level.queries
            query_new = np.full(len(level.query_groups), kernels.NO_GROUP, dtype=np.uint32)
        keys = number_keys(
            level.rows, self.codes[place], order, begin, queries, self.query_codes[place], query_order, query_begin,
            self.cardinalities[place], new, query_new,
        )  # fmt: skip
        return _Level(level.rows, new, level.queries, new if self.everyone else query_new, int(keys))

    def _descend(self, keys: _Split) -> _Level:
        """The level of the groups in which a query is not unique, renumbered."""
        groups, _ = number(keys.table, keys.marked)
        level, rest = keys.level, (keys.cardinality, keys.table)
        rows, group = self._stay(level.rows, level.group, keys.codes, *rest)
        if self.everyone:
            return _Level(rows, group, rows, group, groups)
        return _Level(rows, group, *self._stay(level.queries, level.query_groups, keys.query_codes, *rest), groups)

    def _stay(
        self, rows: NDArray[np.uint32] | None, group: NDArray[np.uint32], *keys: Any
    ) -> tuple[NDArray[np.uint32] | None, NDArray[np.uint32]]:
        """A list with its new groups: in place, or packed where at least half of it has left."""
        size = len(group)
        begin = self.threads.count_staying(kernels.count_staying, size, rows, group, *keys)
        if 2 * begin[-1] > size:
            new = np.empty(size, dtype=np.uint32)
            self.threads.run_slices(kernels.regroup, size, rows, group, *keys, new)
            return rows, new
        new_rows, new = np.empty(begin[-1], dtype=np.uint32), np.empty(begin[-1], dtype=np.uint32)
        self.threads.pack_slices(kernels.pack, size, begin, rows, group, *keys, new_rows, new)
        return new_rows, new
