"""The lattice of generalizations: every combination of one hierarchy level an attribute, searched for the least loss.

A node is allowed where at most a given number of records lie in classes that break the model; those are suppressed. Its loss
is told by what each attribute costs, records and suppression together, so it never lies below the loss of the same node
with nothing suppressed, which only grows on the way up. The search (after Kohlmayer et al. 2012) bisects paths through
what is still possible, and stops when every node left has a lower bound above the best loss found: the optimum is proven.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.classes.tables import ClassTable
from discreet.engine.encoding.columns import threads
from discreet.errors import DataError

if TYPE_CHECKING:
    from numpy.typing import NDArray

Node = tuple[int, ...]
Model = Callable[[ClassTable, "NDArray[Any]", int], tuple["NDArray[np.bool_]", "NDArray[np.bool_]"]]
"""Of rows, their class and the number of classes: which rows break the model, and which of them would in every finer node."""

_MOST_NODES = 20_000_000
_ROWS_KEPT = 4
_EQUAL = 1e-12


@dataclass(frozen=True)
class Ladder:
    """One attribute's levels: ``labels[level][code]`` are dense label numbers, ``costs[level][code]`` what a value costs."""

    labels: tuple[NDArray[np.int32], ...]
    costs: tuple[NDArray[np.float64], ...]
    suppressed: NDArray[np.float64]

    @property
    def height(self) -> int:
        return len(self.labels)

    def cards(self, level: int) -> int:
        return int(self.labels[level].max()) + 1 if len(self.labels[level]) else 1

    def step(self, below: int, above: int) -> NDArray[np.int32]:
        """The label on a higher level of each label on a lower one."""
        made = np.zeros(self.cards(below), dtype=np.int32)
        made[self.labels[below]] = self.labels[above]
        return made

    def by_label(self, level: int, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        """Numbers of values as numbers of labels; values under one label share theirs on this level."""
        made = np.zeros(self.cards(level))
        made[self.labels[level]] = numbers
        return made


@dataclass(frozen=True)
class Checked:
    """A node that was counted: records suppressed, and the cost of each attribute."""

    node: Node
    suppressed: int
    loss: float


@dataclass
class Lattice:
    """The search over one table. ``table`` has a column a ladder, then the sensitive attributes."""

    table: ClassTable
    ladders: Sequence[Ladder]
    model: Model
    limit: int
    combine: Callable[[Sequence[NDArray[np.float64]]], NDArray[np.float64]]
    checked: dict[Node, Checked] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.shape = tuple(ladder.height for ladder in self.ladders)
        nodes = int(np.prod([float(height) for height in self.shape]))
        if nodes > _MOST_NODES:
            raise DataError(
                f"the hierarchies of {len(self.shape)} keys make {nodes:,} combinations, more than the {_MOST_NODES:,} that "
                "full_domain searches; use algorithm: partition, fewer keys or fewer levels"
            )
        self.records = int(self.table.counts.sum())
        self.base = [self._column_costs(at) for at in range(len(self.ladders))]
        # what an attribute costs at least on this level or any higher one, should a cost ever fall on the way up
        self.floor = [np.minimum.accumulate(costs[::-1])[::-1] for costs in self.base]
        self.monotone = all(
            bool((np.diff(np.array(ladder.costs), axis=0) >= -_EQUAL).all())
            and bool((ladder.costs[-1] <= ladder.suppressed + _EQUAL).all())
            for ladder in self.ladders
        )
        self.bound = self._bound([0.0] * len(self.ladders), tuple(height - 1 for height in self.shape))
        self.open = np.ones(self.shape, dtype=np.bool_)
        self.best: Checked | None = None
        self.kept: dict[Node, ClassTable] = {(0,) * len(self.shape): self.table}

    def _column_costs(self, at: int) -> NDArray[np.float64]:
        times = np.bincount(self.table.codes[:, at], weights=self.table.counts, minlength=self.table.cards[at])
        return np.array([float(times[: len(costs)] @ costs) for costs in self.ladders[at].costs])

    def _bound(self, extra: Sequence[float], top: Node) -> NDArray[np.float64]:
        """The least loss of every node up to ``top`` when each attribute costs this much more than without suppression."""
        size = max(self.records, 1)
        parts = []
        for at, (costs, more) in enumerate(zip(self.floor, extra, strict=True)):
            shape = [1] * len(self.shape)
            shape[at] = top[at] + 1
            parts.append(((costs[: top[at] + 1] + more) / size).reshape(shape))
        return self.combine(parts)

    def search(self) -> Checked:
        """The allowed node of least loss; equal losses by fewer levels, then by the earlier attribute's lower level."""
        for path in self._paths():
            self._bisect(path)
        with ThreadPoolExecutor(threads()) as pool:
            while (left := self._next(threads())) != []:
                for one, core in zip(left, pool.map(self._count, left), strict=True):
                    self._learn(one, *core)
        if self.best is None:
            raise DataError(self._why_none())
        return self.best

    def _next(self, number: int) -> list[Node]:
        """The open nodes of least bound."""
        places = np.flatnonzero(self.open)
        bounds = self.bound.ravel()[places]
        some = places[np.argsort(bounds, kind="stable")[:number]]
        return [tuple(int(part) for part in np.unravel_index(place, self.shape)) for place in some]

    def _paths(self) -> Iterator[list[Node]]:
        """Paths from the open node of least bound upwards, as long as bisecting them can still rule nodes out."""
        tried = np.zeros(self.shape, dtype=np.bool_)
        while True:
            places = np.flatnonzero(self.open & ~tried)
            if not len(places):
                return
            node = np.unravel_index(places[np.argmin(self.bound.ravel()[places])], self.shape)
            path = [tuple(int(part) for part in node)]
            while (above := self._above(path[-1])) is not None:
                path.append(above)
            # what lies above this start is known to be allowed, or has been looked at from here
            yield path
            allowed = [one for one in path if one in self.checked and self.checked[one].suppressed <= self.limit]
            start = allowed[0] if allowed else path[-1]
            tried[tuple(slice(part, None) for part in start)] = True
            tried[path[0]] = True

    def _above(self, node: Node) -> Node | None:
        """The open node one level up that has the least bound."""
        best, found = np.inf, None
        for at, height in enumerate(self.shape):
            if node[at] + 1 < height:
                above = (*node[:at], node[at] + 1, *node[at + 1 :])
                if self.open[above] and self.bound[above] < best:
                    best, found = self.bound[above], above
        return found

    def _bisect(self, path: list[Node]) -> None:
        low, high = 0, len(path) - 1
        while low <= high:
            middle = (low + high) // 2
            node = path[middle]
            if self.open[node]:
                self._learn(node, *self._count(node))
            if node in self.checked and self.checked[node].suppressed <= self.limit:
                high = middle - 1
            else:
                low = middle + 1

    def _source(self, node: Node) -> tuple[Node, ClassTable]:
        """The smallest table kept of a node at or below this one."""
        below = [(one, table) for one, table in list(self.kept.items()) if all(a <= b for a, b in zip(one, node, strict=True))]
        return min(below, key=lambda pair: len(pair[1]))

    def _count(self, node: Node) -> tuple[Checked, NDArray[np.float64], int]:
        """Group, find the classes that break the model, and add up what the node costs."""
        from discreet.engine.classes.kernels import added

        source, table = self._source(node)
        width = len(self.ladders)
        cards = [ladder.cards(level) for ladder, level in zip(self.ladders, node, strict=True)]
        maps = [ladder.step(low, high) for ladder, low, high in zip(self.ladders, source, node, strict=True)]
        others = [np.arange(card, dtype=np.int32) for card in table.cards[width:]]
        rows = table.regroup([*maps, *others], [*cards, *table.cards[width:]])
        self._keep(node, rows, len(table))
        ids, classes = np.arange(len(rows), dtype=np.int32), len(rows)
        if others:
            ids, first, _ = rows.classes([np.arange(card, dtype=np.int32) for card in cards], rows.cards)
            classes = len(first)
        broken, core = self.model(rows, ids, classes)
        more = np.zeros((width, max(cards)))
        for at, (ladder, level) in enumerate(zip(self.ladders, node, strict=True)):
            more[at, : cards[at]] = ladder.by_label(level, ladder.suppressed - ladder.costs[level])
        suppressed, extra = added(rows.codes, rows.counts, broken, more)
        least, always = (suppressed, extra) if (core == broken).all() else added(rows.codes, rows.counts, core, more)
        costs = [(base[level] + one) / max(self.records, 1) for base, level, one in zip(self.base, node, extra, strict=True)]
        loss = float(self.combine([np.array(cost) for cost in costs]))
        if self.limit == 0 and suppressed:
            least = suppressed  # without suppression every model here is monotone
        return Checked(node, suppressed, loss), always, least

    def _keep(self, node: Node, table: ClassTable, source: int) -> None:
        """Keep tables that are worth regrouping from, as many rows as a few copies of the first table have."""
        room = _ROWS_KEPT * len(self.table) + (1 << 16) - sum(map(len, list(self.kept.values())[1:]))
        if len(table) <= min(room, source // 2):
            self.kept[node] = table

    def _learn(self, found: Node, checked: Checked, always: NDArray[np.float64], least: int) -> None:
        """Close what a counted node rules out."""
        self.checked[found] = checked
        self.open[found] = False
        down = tuple(slice(0, part + 1) for part in found)
        if least > self.limit:
            self.open[down] = False
        elif self.monotone and least:
            self.bound[down] = np.maximum(self.bound[down], self._bound(list(always), found))
        if checked.suppressed <= self.limit and (self.best is None or _order(checked) < _order(self.best)):
            self.best = checked
        if self.best is not None:
            self.open &= self.bound <= self.best.loss + _EQUAL

    def _why_none(self) -> str:
        least = min((one.suppressed for one in self.checked.values()), default=0)
        return (
            f"no generalization of these keys keeps the model with at most {self.limit:,} of {self.records:,} records "
            f"suppressed; the nearest would suppress {least:,}; raise suppression_limit, or ask for less"
        )


def _order(checked: Checked) -> tuple[float, int, Node]:
    """Losses that differ by rounding only count as equal, so that the choice does not hang on the order of sums."""
    return float(f"{checked.loss:.11e}"), sum(checked.node), checked.node
