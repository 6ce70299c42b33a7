"""The lattice of generalizations: every combination of one hierarchy level per attribute, searched for the least loss.

A node is admissible if at most a given number of records lie in equivalence classes that violate the privacy model; those
records are suppressed. The loss of a node combines the costs of its attributes, generalization and suppression together. It is
never below the loss of the same node without suppression, which only grows from finer to coarser nodes. The search (after
Kohlmayer et al. 2012) bisects paths from the open node of the lowest bound to the top, and stops when the lower bound of every
open node exceeds the best loss so far: the optimum is proven.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.classes.tables import ClassTable
from discreet.engine.encoding.columns import thread_count
from discreet.engine.runtime.progress import report_progress
from discreet.engine.runtime.worker_threads import WorkerThreads
from discreet.errors import DataError

if TYPE_CHECKING:
    from numpy.typing import NDArray

Node = tuple[int, ...]
BrokenRows = Callable[[ClassTable, "NDArray[Any]", int], tuple["NDArray[np.bool_]", "NDArray[np.bool_]"]]
"""From rows, their classes and the number of classes: the rows that violate the model, and those that do in every finer node."""

_MAX_NODES = 20_000_000
_CACHED_COPIES = 4  # regrouped tables are cached up to this multiple of the rows of the first table
_RECOUNTED = 0.9  # the open nodes below each node are counted again when so many are left; older counts still show the way
_CANDIDATES = 64  # open nodes of the lowest bounds from which the starts of paths are taken, per thread
_TOLERANCE = 1e-12  # losses that differ by less are rounding errors of one number


@dataclass(frozen=True)
class AttributeLevels:
    """The hierarchy of one attribute by code of its values.

    ``labels[level][code]`` is the dense number of a value's label, ``costs[level][code]`` the loss of releasing that label, and
    ``suppressed[code]`` the loss of suppressing the value.
    """

    labels: tuple[NDArray[np.int32], ...]
    costs: tuple[NDArray[np.float64], ...]
    suppressed: NDArray[np.float64]

    @property
    def height(self) -> int:
        return len(self.labels)

    def count_labels(self, level: int) -> int:
        return int(self.labels[level].max()) + 1 if len(self.labels[level]) else 1

    def map_labels(self, below: int, above: int) -> NDArray[np.int32]:
        """The label on the higher level of each label on the lower one."""
        targets = np.zeros(self.count_labels(below), dtype=np.int32)
        targets[self.labels[below]] = self.labels[above]
        return targets

    def numbers_by_label(self, level: int, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        """One number per label from one number per value; values under one label must have equal numbers."""
        label_numbers = np.zeros(self.count_labels(level))
        label_numbers[self.labels[level]] = numbers
        return label_numbers


@dataclass(frozen=True)
class CheckedNode:
    """A node that was evaluated: the records it suppresses, and its loss."""

    node: Node
    suppressed: int
    loss: float


@dataclass
class Lattice:
    """The search over one table, whose first columns are the attributes and whose last are the sensitive attributes.

    ``open`` marks nodes that may still be the optimum, ``bound`` is a lower bound of the loss of every node.
    """

    table: ClassTable
    attributes: Sequence[AttributeLevels]
    model: BrokenRows
    limit: int
    combine: Callable[[Sequence[NDArray[np.float64]]], NDArray[np.float64]]
    checked: dict[Node, CheckedNode] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.shape = tuple(attribute.height for attribute in self.attributes)
        nodes = int(np.prod([float(height) for height in self.shape]))
        if nodes > _MAX_NODES:
            raise DataError(
                f"the hierarchies of {len(self.shape)} keys make {nodes:,} combinations, more than the {_MAX_NODES:,} that "
                "full_domain searches; use algorithm: partition, fewer keys or fewer levels"
            )
        self.records = int(self.table.counts.sum())
        self.base = [self._column_costs(index) for index in range(len(self.attributes))]
        # the least cost of an attribute on this level or any coarser one, because a cost may fall from one level to the next
        self.floor = [np.minimum.accumulate(costs[::-1])[::-1] for costs in self.base]
        self.monotone = all(
            bool((np.diff(np.array(attribute.costs), axis=0) >= -_TOLERANCE).all())
            and bool((attribute.costs[-1] <= attribute.suppressed + _TOLERANCE).all())
            for attribute in self.attributes
        )
        self.bound = self._bound([0.0] * len(self.attributes), tuple(height - 1 for height in self.shape))
        self.open = np.ones(self.shape, dtype=np.bool_)
        self.best: CheckedNode | None = None
        self.open_below: NDArray[np.int32] | None = None
        self.counted_open = 0
        self.cached: dict[Node, ClassTable] = {(0,) * len(self.shape): self.table}

    def _column_costs(self, index: int) -> NDArray[np.float64]:
        """The cost of one attribute over all records on each level, with nothing suppressed."""
        value_counts = np.bincount(self.table.codes[:, index], weights=self.table.counts, minlength=self.table.cards[index])
        return np.array([float(value_counts[: len(costs)] @ costs) for costs in self.attributes[index].costs])

    def _bound(self, extra: Sequence[float], top: Node) -> NDArray[np.float64]:
        """A lower bound of the loss of every node up to ``top``, if suppression adds ``extra`` to the costs of the attributes."""
        size = max(self.records, 1)
        parts = []
        for index, (costs, added_cost) in enumerate(zip(self.floor, extra, strict=True)):
            shape = [1] * len(self.shape)
            shape[index] = top[index] + 1
            parts.append(((costs[: top[index] + 1] + added_cost) / size).reshape(shape))
        return self.combine(parts)

    def search(self, seconds: float | None = None) -> CheckedNode:
        """The admissible node of least loss; of equal losses the one with fewer levels, then with finer earlier attributes.

        After ``seconds`` (default: no limit) the best node so far, if there is one; ``lowest_loss`` bounds the optimum then.
        """
        started = monotonic()
        with WorkerThreads(thread_count()) as pool:
            while (paths := self._choose_paths(thread_count())) != []:
                self._bisect(paths, pool)
                if seconds is not None and self.best is not None and monotonic() - started > seconds:
                    break
        if self.best is None:
            raise DataError(self._explain_no_solution())
        return self.best

    @property
    def lowest_loss(self) -> float:
        """A proven lower bound of the loss of every admissible node: that of the best node, once the search has ended."""
        best = np.inf if self.best is None else self.best.loss
        return float(min(best, self.bound[self.open].min(initial=np.inf)))

    def _choose_paths(self, number: int) -> list[list[Node]]:
        """Paths to the top of the lattice, from the open nodes with the lowest bounds; none, if no node is open.

        Each step goes to the node above that has the most open nodes at or below it. The coarser a node that is not admissible,
        the more open nodes it closes, and the smaller its table. So it does not matter whether the nodes of a path are open.
        """
        open_nodes = np.flatnonzero(self.open)
        if not len(open_nodes):
            return []
        if self.open_below is None or len(open_nodes) < _RECOUNTED * self.counted_open:
            self.open_below, self.counted_open = _count_at_or_below(self.open), len(open_nodes)
        by_bound = open_nodes[np.argsort(self.bound.ravel()[open_nodes], kind="stable")[: _CANDIDATES * number]]
        starts = [tuple(int(level) for level in np.unravel_index(flat_index, self.shape)) for flat_index in by_bound]
        paths: list[list[Node]] = []
        for start in starts:
            # a start below the middle of another path is probably closed by it
            if len(paths) < number and not any(_is_at_or_below(start, path[len(path) // 2]) for path in paths):
                paths.append(self._path_to_top(start))
        return paths

    def _path_to_top(self, start: Node) -> list[Node]:
        assert self.open_below is not None
        path = [start]
        while above := [
            (*path[-1][:index], path[-1][index] + 1, *path[-1][index + 1 :])
            for index, height in enumerate(self.shape)
            if path[-1][index] + 1 < height
        ]:
            path.append(max(above, key=lambda node: int(self.open_below[node])))  # type: ignore[index]
        return path

    def _is_admissible(self, node: Node) -> bool:
        """Whether a node was evaluated and suppresses no more records than allowed."""
        return node in self.checked and self.checked[node].suppressed <= self.limit

    def _bisect(self, paths: Sequence[list[Node]], pool: WorkerThreads) -> None:
        """Evaluate nodes of the paths, from their middles towards the first admissible ones, until their starts are closed."""
        ranges = [(0, len(path) - 1) for path in paths]
        while any(low <= high for low, high in ranges):
            middles = [path[(low + high) // 2] if low <= high else None for path, (low, high) in zip(paths, ranges, strict=True)]
            self._evaluate_all(middles, pool)
            for index, node in enumerate(middles):
                low, high = ranges[index]
                if node is not None:
                    middle = (low + high) // 2
                    ranges[index] = (low, middle - 1) if self._is_admissible(node) else (middle + 1, high)
        self._evaluate_all([path[0] if self.open[path[0]] else None for path in paths], pool)

    def _evaluate_all(self, nodes: Sequence[Node | None], pool: WorkerThreads) -> None:
        """Evaluate nodes that were not evaluated yet, and close what they rule out."""
        new = list(dict.fromkeys(node for node in nodes if node is not None and node not in self.checked))
        for node, outcome in zip(new, pool.map(self._evaluate, new), strict=True):
            self._record(node, *outcome)

    def _smallest_cached(self, node: Node) -> tuple[Node, ClassTable]:
        """The smallest cached table of a node that is finer than this one or equal to it."""
        below = [(cached_node, table) for cached_node, table in list(self.cached.items()) if _is_at_or_below(cached_node, node)]
        return min(below, key=lambda pair: len(pair[1]))

    def _evaluate(self, node: Node) -> tuple[CheckedNode, NDArray[np.float64], int]:
        """Evaluate a node: the node with its loss, and the cost added and records suppressed at least in every finer node.

        Takes time proportional to the rows of the smallest cached table that is at least as fine.
        """
        from discreet.engine.classes.kernels import sum_flagged_rows

        source, table = self._smallest_cached(node)
        width = len(self.attributes)
        cards = [attribute.count_labels(level) for attribute, level in zip(self.attributes, node, strict=True)]
        maps = [attribute.map_labels(low, high) for attribute, low, high in zip(self.attributes, source, node, strict=True)]
        identity_maps = [np.arange(card, dtype=np.int32) for card in table.cards[width:]]
        rows = table.regroup([*maps, *identity_maps], [*cards, *table.cards[width:]])
        self._cache(node, rows, len(table))
        ids, classes = np.arange(len(rows), dtype=np.int32), len(rows)
        if identity_maps:
            ids, first, _ = rows.classes([np.arange(card, dtype=np.int32) for card in cards], rows.cards)
            classes = len(first)
        broken, always_broken = self.model(rows, ids, classes)
        cost_of_suppressing = np.zeros((width, max(cards)))
        for index, (attribute, level) in enumerate(zip(self.attributes, node, strict=True)):
            cost_of_suppressing[index, : cards[index]] = attribute.numbers_by_label(
                level, attribute.suppressed - attribute.costs[level]
            )
        suppressed, extra = sum_flagged_rows(rows.codes, rows.counts, broken, cost_of_suppressing)
        suppressed_below, extra_below = suppressed, extra
        if not (always_broken == broken).all():
            suppressed_below, extra_below = sum_flagged_rows(rows.codes, rows.counts, always_broken, cost_of_suppressing)
        costs = [
            (base[level] + added_cost) / max(self.records, 1)
            for base, level, added_cost in zip(self.base, node, extra, strict=True)
        ]
        loss = float(self.combine([np.array(cost) for cost in costs]))
        if self.limit == 0 and suppressed:
            suppressed_below = suppressed  # without suppression every model is monotone: finer nodes violate it too
        return CheckedNode(node, suppressed, loss), extra_below, suppressed_below

    def _cache(self, node: Node, table: ClassTable, source: int) -> None:
        """Cache a table that is at most half of its source, while all cached rows are at most a few copies of the first table."""
        room = _CACHED_COPIES * len(self.table) + (1 << 16) - sum(map(len, list(self.cached.values())[1:]))
        if len(table) <= min(room, source // 2):
            self.cached[node] = table

    def _record(self, node: Node, checked: CheckedNode, extra_below: NDArray[np.float64], suppressed_below: int) -> None:
        """Close the nodes that an evaluated node rules out."""
        report_progress("searching the lattice", len(self.checked), 0)
        self.checked[node] = checked
        self.open[node] = False
        at_or_below = tuple(slice(0, level + 1) for level in node)
        if suppressed_below > self.limit:
            self.open[at_or_below] = False
        elif self.monotone and suppressed_below:
            self.bound[at_or_below] = np.maximum(self.bound[at_or_below], self._bound(list(extra_below), node))
        if checked.suppressed <= self.limit and (self.best is None or _preference(checked) < _preference(self.best)):
            self.best = checked
        if self.best is not None:
            self.open &= self.bound <= self.best.loss + _TOLERANCE

    def _explain_no_solution(self) -> str:
        fewest = min((node.suppressed for node in self.checked.values()), default=0)
        return (
            f"no generalization of these keys satisfies the model with at most {self.limit:,} of {self.records:,} records "
            f"suppressed; the closest would suppress {fewest:,}; raise suppression_limit, or require less"
        )


def _is_at_or_below(node: Node, other: Node) -> bool:
    """Whether a node is finer than another one in every attribute, or equal."""
    return all(low <= high for low, high in zip(node, other, strict=True))


def _count_at_or_below(flags: NDArray[np.bool_]) -> NDArray[np.int32]:
    """For each node, the flagged nodes that are at or below it."""
    counts = flags.astype(np.int32)
    for axis in range(counts.ndim):
        np.cumsum(counts, axis=axis, out=counts)
    return counts


def _preference(checked: CheckedNode) -> tuple[float, int, Node]:
    """Sort key: losses that differ only by rounding are equal, so that the choice does not depend on the order of summation."""
    return float(f"{checked.loss:.11e}"), sum(checked.node), checked.node
