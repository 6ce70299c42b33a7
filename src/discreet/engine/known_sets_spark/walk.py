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
from discreet.engine.known_sets.counter import Counter, Queries, RecordClass
from discreet.engine.known_sets.terms import Pattern

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Below = tuple[NDArray[np.float64], NDArray[np.float64]]

EVERYTHING = -1
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
        node, everything = own[:, 6].astype(np.int32), np.ascontiguousarray(own[:, 7])
        return cls(
            floats[0], floats[1], floats[2], floats[3], floats[4], floats[5], node, everything, np.ascontiguousarray(own[:, 8:])
        )

    def into(self, states: NDArray[np.float64], rows: NDArray[np.int64] | slice = slice(None)) -> None:
        summed: tuple[NDArray[Any], ...] = (self.near, self.far, self.likelihood, self.top, self.top_node, self.count_all)
        for place, values in enumerate(summed, 2):
            states[rows, place] = values


@dataclass(frozen=True)
class Ask:
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
        found: NDArray[np.int32],
        sums: Sums,
        *,
        alone: bool,
        below: Below | None = None,
    ) -> None:
        """Add one set; where ``alone`` records with the count 1 get ``below``, the sums over its subtree, at once."""
        if node == EVERYTHING:
            sums.count_all[active] = found[active]
            return
        kept, whole = self.kept[node : node + 1], self.whole[node : node + 1]
        kept_below, whole_below = below if alone and below is not None else (kept, whole)
        pattern = np.zeros(len(sums.weight), dtype=np.int32)
        kernels.add(
            active, found, pattern, sums.weight, sums.rest, sums.single, kept, whole, kept_below, whole_below,
            self.member[node], float(self.chance[node]), node, self.rank, sums.near, sums.far, sums.likelihood, sums.top,
            sums.top_node, 0, len(active),
        )  # fmt: skip


@dataclass
class _Tree:
    """A tree of sets in pre-order: the attribute that a set adds, its depth, the end of its subtree, and which set it is."""

    names: list[str]
    depth: list[int]
    end: list[int]
    node: list[int | None]


def _tree(key: Sequence[str], members: Sequence[tuple[str, ...]], nodes: Sequence[int], order: dict[str, int]) -> _Tree:
    made = _Tree([], [], [], [])
    paths = {}
    for one, node in zip(members, nodes, strict=True):
        others = sorted((name for name in one if name not in key), key=order.__getitem__)
        paths[(*key, *others)] = node
    branch: dict[str, Any] = {}
    for path in paths:
        inner = branch
        for name in path:
            inner = inner.setdefault(name, {})

    def visit(inner: dict[str, Any], path: tuple[str, ...]) -> None:
        for name, below in inner.items():
            at = len(made.names)
            made.names.append(name)
            made.depth.append(len(path) + 1)
            made.end.append(0)
            made.node.append(paths.get((*path, name)))
            visit(below, (*path, name))
            made.end[at] = len(made.names)

    visit(branch, ())
    return made


def walk(
    ask: Ask,
    key: Sequence[str],
    members: Sequence[tuple[str, ...]],
    nodes: Sequence[int],
    codes: dict[str, NDArray[Any]],
    cardinalities: dict[str, int],
    slots: NDArray[np.int64],
    sums: Sums,
) -> None:
    """Count these sets among the records at hand, and add what they find to the records at ``slots``."""
    everything = [one for one, node in zip(members, nodes, strict=True) if node == EVERYTHING]
    named = [(one, node) for one, node in zip(members, nodes, strict=True) if node != EVERYTHING]
    order = {name: at for at, name in enumerate(codes)}
    tree = _tree(key, [one for one, _ in named], [node for _, node in named], order)
    places = list(codes)
    size = len(codes[places[0]])
    dense = [_dense(codes[name], cardinalities[name]) for name in places]
    asked = [own[slots] for own, _ in dense]
    classes = [RecordClass(None, size, [own for own, _ in dense], asked, [wide for _, wide in dense])]
    queries = Queries(
        sums.weight, sums.rest, np.ones(len(slots)), sums.single, [], np.zeros(len(slots), dtype=np.int32), [Pattern()]
    )
    with Counter(classes, queries) as counter:
        _walk(counter, ask, tree, order, sums)
        for one in everything:
            sums.count_all[:] = _count(counter, [order[name] for name in one], size)


def _walk(counter: Counter, ask: Ask, tree: _Tree, order: dict[str, int], sums: Sums) -> None:
    below = ask.below(tree.node, tree.end)
    active = np.arange(len(sums.weight), dtype=np.uint32)
    state, actives = [counter.begin()], [active]
    at = 0
    while at < len(tree.names):
        depth = tree.depth[at]
        del state[depth:], actives[depth:]
        active = actives[-1]
        if not len(active):
            at = tree.end[at]
            continue
        inner = tree.end[at] > at + 1
        lists = counter.split(state[-1], order[tree.names[at]], active, None, inner)
        node = tree.node[at]
        if node is not None:
            ask.add(node, active, counter.found, sums, alone=True, below=below[at])
        else:  # counted elsewhere: who is alone here must still be added to the sets below
            counter.found[active] = np.maximum(counter.found[active], 2)
        if inner:
            state.append([counter.descend(one) for one in lists])
            stay = np.empty(len(active), dtype=np.uint32)
            actives.append(stay[: kernels.remain(active, counter.found, stay)])
        at += 1


def _count(counter: Counter, places: Sequence[int], size: int) -> NDArray[np.float64]:
    """How many of the records at hand agree with each query on all of some attributes."""
    active = np.arange(len(counter.queries), dtype=np.uint32)
    lists = counter.begin()
    counter.found[:] = size
    for place in places:
        active = active[counter.found[active] > 1]
        if not len(active):
            break
        lists = [counter.descend(one) for one in counter.split(lists, place, active, None, True)]
    return counter.found.astype(np.float64)


def _dense(codes: NDArray[Any], cardinality: int) -> tuple[NDArray[Any], int]:
    """Codes of their own for a partition where most of the table's do not occur."""
    if cardinality <= max(1 << 10, len(codes)):
        return codes, cardinality
    occurring, own = np.unique(codes, return_inverse=True)
    return own.astype(np.uint32), len(occurring)
