r"""What each known set adds to a record's risk, as numbers that do not depend on the record.

For a known set S with probability p the sum over all of 2^m sets has, at S, the part

    x = p (C - c_S)                                    the set itself (Orooji & Knapp 2018, equation 1), and
    y = p P_q (C - c_S - D_q)                          the set and every set that epsilon dropped below it,

where P_q = \prod_{b > q} (1 + p_b) and D_q = \sum_{b > q} c_b p_b / (1 + p_b) run over the dropped suffix. Both are divided by a
count. They are linear in the record's weights, so a set is a row of coefficients: one for C, one for every sensitive attribute
that occurs in kept sets (a *single*). Sensitive attributes that never do stay together in D ("rest") and P ("spread"), one
number a record.

A record that lacks attributes (a null that agrees with anything) has the same count for S as for S without them, so the rows of
both are added up at the smaller set. A record whose own masked values disagree on an attribute is not found through it, so sets
with that attribute are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.families import Family

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Pattern:
    """What a query lacks: attributes (as places in the family's order) unknown to all, and attributes it is not found by."""

    unknown: frozenset[int] = frozenset()
    lost: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Terms:
    """Coefficients ``[node, pattern, 1 + singles]`` of x and y, at a set and summed over its subtree."""

    kept: NDArray[np.float64]
    whole: NDArray[np.float64]
    kept_below: NDArray[np.float64]
    whole_below: NDArray[np.float64]
    member: NDArray[np.bool_]


def terms(tree: Family, singles: list[int], patterns: list[Pattern]) -> Terms:
    """The coefficients of every set for every pattern; ``singles`` are places in the family's order."""
    size, wide = len(tree), 1 + len(singles)
    parent = _parents(tree)
    member = np.zeros((size, len(singles)), dtype=np.bool_)
    for node in range(1, size):
        member[node] = member[parent[node]]
        for at, place in enumerate(singles):
            if tree.last[node] == place:
                member[node, at] = True
    kept = np.zeros((size, len(patterns), wide))
    whole = np.zeros((size, len(patterns), wide))
    for shape, pattern in enumerate(patterns):
        x, y = _own(tree, singles, member, pattern)
        home = _homes(tree, parent, pattern)
        there = home >= 0
        np.add.at(kept[:, shape], home[there], x[there])
        np.add.at(whole[:, shape], home[there], y[there])
    return Terms(kept, whole, _below(tree, parent, kept), _below(tree, parent, whole), member)


def _own(
    tree: Family, singles: list[int], member: NDArray[np.bool_], pattern: Pattern
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The parts x and y of each set by itself."""
    width = tree.width
    chances = tree.probabilities[:width].copy()
    chances[[place for place in pattern.lost if place < width]] = 0.0
    behind = np.ones(width + 1)  # P over the kept-capable attributes behind a place; the rest's is the record's own
    for place in range(width - 1, -1, -1):
        behind[place] = behind[place + 1] * (1 + chances[place])
    spread = behind[tree.reach + 1]
    x = np.empty((len(tree), 1 + len(singles)))
    y = np.empty_like(x)
    x[:, 0] = tree.chance
    y[:, 0] = tree.chance * spread
    for at, place in enumerate(singles):
        dropped = (place > tree.reach) * chances[place] / (1 + chances[place])
        x[:, at + 1] = -tree.chance * member[:, at]
        y[:, at + 1] = -tree.chance * spread * (member[:, at] + dropped)
    return x, y


def _homes(tree: Family, parent: NDArray[np.int64], pattern: Pattern) -> NDArray[np.int64]:
    """The set whose count a set has for such a record: itself without the unknown attributes; -1 where it is not found."""
    home = np.arange(len(tree))
    if not pattern.unknown and not pattern.lost:
        return home
    child = {(int(parent[node]), int(tree.last[node])): node for node in range(1, len(tree))}
    for node in range(1, len(tree)):
        above, place = int(home[parent[node]]), int(tree.last[node])
        if above < 0 or place in pattern.lost:
            home[node] = -1
        else:
            home[node] = above if place in pattern.unknown else child[above, place]
    return home


def _parents(tree: Family) -> NDArray[np.int64]:
    parent = np.zeros(len(tree), dtype=np.int64)
    path = [0] * (int(tree.depth.max()) + 2)
    for node in range(1, len(tree)):
        depth = int(tree.depth[node])
        path[depth] = node
        parent[node] = path[depth - 1]
    return parent


def _below(tree: Family, parent: NDArray[np.int64], own: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sums over subtrees, the set itself included."""
    made = own.copy()
    for depth in range(int(tree.depth.max()), 0, -1):
        nodes = np.flatnonzero(tree.depth == depth)
        np.add.at(made, parent[nodes], made[nodes])
    return made
