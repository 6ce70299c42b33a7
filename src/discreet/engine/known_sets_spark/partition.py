"""The local kernels on some of a family's sets: those that one partition can count.

The sets of a shuffle all contain its key, so they make a tree below it; sets on the way to them that are counted elsewhere are
walked through and add nothing. What a set adds to a record does not depend on the others, so sums over parts of a family add up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.known_sets import kernels
from discreet.engine.known_sets.counter import Counter
from discreet.engine.known_sets.family import SetTree
from discreet.engine.known_sets.queries import Queries, RecordClass
from discreet.engine.known_sets.terms import Pattern

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Below = tuple[NDArray[np.float64], NDArray[np.float64]]

ALL_ATTRIBUTES = -1
"""The number of the set of all attributes, whose count bounds what epsilon dropped."""


@dataclass
class Sums:
    """What is added up for each record that asks, taken from its state and put back there."""

    weight: NDArray[np.float64]
    rest: NDArray[np.float64]
    near: NDArray[np.float64]
    far: NDArray[np.float64]
    likelihood: NDArray[np.float64]
    top: NDArray[np.float64]
    top_node: NDArray[np.int32]
    count_all: NDArray[np.float64]
    single: NDArray[np.float64]

    @classmethod
    def of(cls, states: NDArray[np.float64], rows: NDArray[np.int64] | slice = slice(None)) -> Sums:
        own = states[rows]
        floats = [np.ascontiguousarray(own[:, place]) for place in range(6)]
        node, count_all = own[:, 6].astype(np.int32), np.ascontiguousarray(own[:, 7])
        return cls(
            floats[0], floats[1], floats[2], floats[3], floats[4], floats[5], node, count_all, np.ascontiguousarray(own[:, 8:])
        )

    def into(self, states: NDArray[np.float64], rows: NDArray[np.int64] | slice = slice(None)) -> None:
        columns: tuple[NDArray[Any], ...] = (self.near, self.far, self.likelihood, self.top, self.top_node, self.count_all)
        for place, values in enumerate(columns, 2):
            states[rows, place] = values


@dataclass(frozen=True)
class SumVisitor:
    """The coefficients of every set: of x and y ``[node, 1 + singles]``, members, probability and rank."""

    kept: NDArray[np.float64]
    whole: NDArray[np.float64]
    member: NDArray[np.bool_]
    chance: NDArray[np.float64]
    rank: NDArray[np.int64]

    def sums(self, states: NDArray[np.float64], rows: NDArray[np.int64] | slice = slice(None)) -> Sums:
        """What the states of some records add up to so far."""
        return Sums.of(states, rows)

    def below(self, nodes: Sequence[int | None], ends: Sequence[int]) -> list[Below]:
        """The coefficients summed over each subtree, the set itself included."""
        wide = self.kept.shape[1]
        kept, whole = np.zeros((len(nodes), wide)), np.zeros((len(nodes), wide))
        for at, node in enumerate(nodes):
            if node is not None:
                kept[at], whole[at] = self.kept[node], self.whole[node]
        return [
            (kept[at:end].sum(axis=0, keepdims=True), whole[at:end].sum(axis=0, keepdims=True)) for at, end in enumerate(ends)
        ]

    def add(
        self,
        node: int,
        active: NDArray[np.uint32],
        counts: NDArray[np.int32],
        sums: Sums,
        *,
        alone: bool,
        below: Below | None = None,
    ) -> None:
        """Add one set; where ``alone`` records with the count 1 get ``below``, the sums over its subtree, at once."""
        if node == ALL_ATTRIBUTES:
            sums.count_all[active] = counts[active]
            return
        kept, whole = self.kept[node : node + 1], self.whole[node : node + 1]
        kept_below, whole_below = below if alone and below is not None else (kept, whole)
        pattern = np.zeros(len(sums.weight), dtype=np.int32)
        kernels.add(
            active, counts, pattern, sums.weight, sums.rest, sums.single, kept, whole, kept_below, whole_below,
            self.member[node], float(self.chance[node]), node, self.rank, sums.near, sums.far, sums.likelihood, sums.top,
            sums.top_node, 0, len(active),
        )  # fmt: skip


@dataclass(frozen=True)
class _PartitionTree(SetTree):
    """The sets of a shuffle and those on the way to them; ``node`` is each one's number in the family, or None: only passed."""

    node: list[int | None]


def _tree(key: Sequence[str], named: dict[tuple[str, ...], int], order: dict[str, int]) -> _PartitionTree:
    """The sets of ``named`` below the shuffle's key; the attributes of a set are numbered by ``order``."""
    paths: dict[tuple[str, ...], int] = {}
    branch: dict[str, Any] = {}
    for members, node in named.items():
        path = (*key, *sorted((name for name in members if name not in key), key=order.__getitem__))
        paths[path] = node
        inner = branch
        for name in path:
            inner = inner.setdefault(name, {})
    last: list[int] = []
    end: list[int] = []
    nodes: list[int | None] = []

    def append(path: tuple[str, ...], inner: dict[str, Any]) -> None:
        at = len(last)
        last.append(order[path[-1]] if path else -1)
        end.append(0)
        nodes.append(paths.get(path))
        for name, below in inner.items():
            append((*path, name), below)
        end[at] = len(last)

    append((), branch)
    return _PartitionTree(np.array(last), np.array(end), nodes)


def count_partition(
    ask: SumVisitor,
    key: Sequence[str],
    members: Sequence[tuple[str, ...]],
    nodes: Sequence[int],
    codes: dict[str, NDArray[Any]],
    cardinalities: dict[str, int],
    slots: NDArray[np.int64],
    sums: Sums,
) -> None:
    """Count these sets among the records at hand, and add what they find to the records at ``slots``."""
    order = {name: at for at, name in enumerate(codes)}
    tree = _tree(key, {own: node for own, node in zip(members, nodes, strict=True) if node != ALL_ATTRIBUTES}, order)
    dense = [_dense(own, cardinalities[name]) for name, own in codes.items()]
    query_codes = [own[slots] for own, _ in dense]
    classes = [RecordClass(None, len(dense[0][0]), [own for own, _ in dense], query_codes, [wide for _, wide in dense])]
    pattern = np.zeros(len(slots), dtype=np.int32)
    queries = Queries(sums.weight, sums.rest, np.ones(len(slots)), sums.single, [], pattern, [Pattern()])
    below = ask.below(tree.node, tree.end.tolist())

    def add_set(at: int, active: NDArray[np.uint32], counts: NDArray[np.int32]) -> None:
        node = tree.node[at]
        if node is not None:
            ask.add(node, active, counts, sums, alone=True, below=below[at])
        else:  # counted elsewhere: a query that is alone here must still be added to the sets below, so it may not leave
            counts[active] = np.maximum(counts[active], 2)

    with Counter(classes, queries) as counter:
        counter.walk(tree, add_set)
        for own, node in zip(members, nodes, strict=True):
            if node == ALL_ATTRIBUTES:
                sums.count_all[:] = counter.count_together([order[name] for name in own], np.arange(len(slots), dtype=np.uint32))


def _dense(codes: NDArray[Any], cardinality: int) -> tuple[NDArray[Any], int]:
    """Codes of their own for a partition where most of the table's do not occur."""
    if cardinality <= max(1 << 10, len(codes)):
        return codes, cardinality
    occurring, own = np.unique(codes, return_inverse=True)
    return own.astype(np.uint32), len(occurring)
