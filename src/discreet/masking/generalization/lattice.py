"""The lattice of generalizations: every combination of one hierarchy level per attribute, searched for the least loss.

A node is admissible if at most a given number of records lie in equivalence classes that violate the privacy model; those
records are suppressed. The loss of a node combines the costs of its attributes, generalization and suppression together. It is
never below the loss of the same node without suppression, which only grows from finer to coarser nodes. The search (after
Kohlmayer et al. 2012) bisects paths through the open nodes, and stops when the lower bound of every open node exceeds the best
loss so far: the optimum is proven.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.classes.tables import ClassTable
from discreet.engine.encoding.columns import thread_count
from discreet.engine.runtime.progress import report_progress
from discreet.errors import DataError

if TYPE_CHECKING:
    from numpy.typing import NDArray

Node = tuple[int, ...]
BrokenRows = Callable[[ClassTable, "NDArray[Any]", int], tuple["NDArray[np.bool_]", "NDArray[np.bool_]"]]
"""From rows, their classes and the number of classes: the rows that violate the model, and those that do in every finer node."""

_MAX_NODES = 20_000_000
_CACHED_COPIES = 4  # regrouped tables are cached up to this multiple of the rows of the first table
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

    def search(self) -> CheckedNode:
        """The admissible node of least loss; of equal losses the one with fewer levels, then with finer earlier attributes."""
        for path in self._paths():
            self._bisect(path)
        with ThreadPoolExecutor(thread_count()) as pool:
            while (batch := self._lowest_open(thread_count())) != []:
                for node, outcome in zip(batch, pool.map(self._evaluate, batch), strict=True):
                    self._record(node, *outcome)
        if self.best is None:
            raise DataError(self._explain_no_solution())
        return self.best

    def _lowest_open(self, number: int) -> list[Node]:
        """The open nodes with the lowest bounds."""
        open_nodes = np.flatnonzero(self.open)
        bounds = self.bound.ravel()[open_nodes]
        lowest = open_nodes[np.argsort(bounds, kind="stable")[:number]]
        return [tuple(int(level) for level in np.unravel_index(flat_index, self.shape)) for flat_index in lowest]

    def _paths(self) -> Iterator[list[Node]]:
        """Paths from the open node with the lowest bound to coarser ones, as long as bisecting them can still rule nodes out."""
        tried = np.zeros(self.shape, dtype=np.bool_)
        while True:
            untried = np.flatnonzero(self.open & ~tried)
            if not len(untried):
                return
            node = np.unravel_index(untried[np.argmin(self.bound.ravel()[untried])], self.shape)
            path = [tuple(int(level) for level in node)]
            while (above := self._best_above(path[-1])) is not None:
                path.append(above)
            yield path
            # nodes above the first admissible node of the path need no path of their own
            admissible = [step for step in path if self._is_admissible(step)]
            start = admissible[0] if admissible else path[-1]
            tried[tuple(slice(level, None) for level in start)] = True
            tried[path[0]] = True

    def _best_above(self, node: Node) -> Node | None:
        """The open node one level coarser in one attribute that has the lowest bound."""
        least_bound, best_node = np.inf, None
        for index, height in enumerate(self.shape):
            if node[index] + 1 < height:
                above = (*node[:index], node[index] + 1, *node[index + 1 :])
                if self.open[above] and self.bound[above] < least_bound:
                    least_bound, best_node = self.bound[above], above
        return best_node

    def _is_admissible(self, node: Node) -> bool:
        """Whether a node was evaluated and suppresses no more records than allowed."""
        return node in self.checked and self.checked[node].suppressed <= self.limit

    def _bisect(self, path: list[Node]) -> None:
        """Evaluate open nodes of a path, from its middle towards the first admissible one."""
        low, high = 0, len(path) - 1
        while low <= high:
            middle = (low + high) // 2
            node = path[middle]
            if self.open[node]:
                self._record(node, *self._evaluate(node))
            if self._is_admissible(node):
                high = middle - 1
            else:
                low = middle + 1

    def _smallest_cached(self, node: Node) -> tuple[Node, ClassTable]:
        """The smallest cached table of a node that is finer than this one or equal to it."""
        below = [
            (cached_node, table)
            for cached_node, table in list(self.cached.items())
            if all(low <= high for low, high in zip(cached_node, node, strict=True))
        ]
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


def _preference(checked: CheckedNode) -> tuple[float, int, Node]:
    """Sort key: losses that differ only by rounding are equal, so that the choice does not depend on the order of summation."""
    return float(f"{checked.loss:.11e}"), sum(checked.node), checked.node
