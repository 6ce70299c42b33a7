r"""What each known set adds to a record's risk, as numbers that do not depend on the record.

For a known set S with probability p the sum over all of 2^m sets has, at S, the part

    x = p (C - c_S)                                    the set itself (Orooji & Knapp (2018a), eq. 1), and
    y = p P_q (C - c_S - D_q)                          the set and every set that epsilon dropped below it,

where P_q = \prod_{b > q} (1 + p_b) and D_q = \sum_{b > q} c_b p_b / (1 + p_b) run over the dropped suffix. Where knowledge is
independent, P and D run over p + (1 - p) = 1 and over c_b p_b, and p stands for the product of the factors up to q
(``Family.mass``; docs/theory/knowledge.md). Both are divided by a count.

They are linear in the record's weights, so a set is a row of coefficients: one for C, one for every sensitive attribute that
occurs in kept sets (a *single*). Sensitive attributes that never do stay together in D ("rest") and P ("spread"), one number per
record.

A record that lacks attributes (a null that agrees with anything) has the same count for S as for S without them, so the rows of
both are added up at the smaller set. A record whose own masked values disagree on an attribute is not found through it, so sets
with that attribute are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.known_sets.family import Family
from discreet.engine.known_sets.walk import walk_sets

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MANY = 16
"""Patterns from which on a sum over all of them at once is worth a step of Python per set."""


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
    member = tree.last[:, None] == np.array(singles, dtype=np.int64)
    for node in range(1, len(tree)):
        member[node] |= member[tree.parent[node]]
    x, y = _terms_of_sets(tree, singles, member, patterns)
    kept, whole = np.array(np.broadcast_to(x[:, None], y.shape)), y
    if any(shape.unknown or shape.lost for shape in patterns):
        kept, whole = _move_to_counted_sets(tree, patterns, x, y)
    return Terms(kept, whole, _sum_subtrees(tree, kept), _sum_subtrees(tree, whole), member)


def _terms_of_sets(
    tree: Family, singles: list[int], member: NDArray[np.bool_], patterns: Sequence[Pattern]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The parts x of each set by itself, and y, which depends on the pattern as well."""
    width = tree.width
    lost = tree.spread_lost(_flag_places([shape.lost for shape in patterns], width))
    either = np.where(lost, np.where(tree.begins[:width], tree.unknown[:width], 1.0), tree.either[:width])
    share = np.where(lost, 0.0, tree.share[:width])
    behind = np.ones(
        (len(patterns), width + 1)
    )  # P over the kept-capable attributes behind a place; the rest's is the record's own
    for place in range(width - 1, -1, -1):
        behind[:, place] = behind[:, place + 1] * either[:, place]
    x = np.empty((len(tree), 1 + len(singles)))
    y = np.empty((len(tree), len(patterns), 1 + len(singles)))
    x[:, 0] = tree.chance
    y[:, :, 0] = tree.mass[:, None] * behind[:, tree.reach + 1].T
    for at, place in enumerate(singles):
        dropped = (place > tree.reach)[:, None] * share[:, place]
        x[:, at + 1] = -tree.chance * member[:, at]
        y[:, :, at + 1] = -y[:, :, 0] * (member[:, at, None] + dropped)
    return x, y


def _move_to_counted_sets(
    tree: Family, patterns: Sequence[Pattern], x: NDArray[np.float64], y: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The parts of each set added, pattern by pattern, at the set whose count it has: itself without what is unknown."""
    unknown, lost = (_flag_places([getattr(shape, field) for shape in patterns], tree.width) for field in ("unknown", "lost"))
    child = np.full((len(tree), tree.width), -1, dtype=np.int32)
    child[tree.parent[1:], tree.last[1:]] = np.arange(1, len(tree))
    kept, whole = np.zeros(y.shape), np.zeros(y.shape)

    def add(node: int, home: NDArray[np.int64]) -> NDArray[np.int64]:
        there = np.flatnonzero(home >= 0)  # one place per pattern, so that none is added to twice
        kept[home[there], there] += x[node]
        whole[home[there], there] += y[node, there]
        return home

    def visit(node: int, above: NDArray[np.int64]) -> NDArray[np.int64]:
        place = int(tree.last[node])
        home = np.where(unknown[:, place], above, child[above, place])
        home[lost[:, place] | (above < 0)] = -1  # the record is not found by this set
        return add(node, home)

    walk_sets(tree.children, add(0, np.zeros(len(patterns), dtype=np.int64)), visit)
    return kept, whole


def _flag_places(sets: Sequence[frozenset[int]], width: int) -> NDArray[np.bool_]:
    """Which places of a width each set holds."""
    flags = np.zeros((len(sets), width), dtype=np.bool_)
    for at, places in enumerate(sets):
        flags[at, [place for place in places if place < width]] = True
    return flags


def _sum_subtrees(tree: Family, own: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sums over subtrees, the set itself included."""
    sums = own.copy()
    for depth in range(int(tree.depth.max()), 0, -1):
        nodes = np.flatnonzero(tree.depth == depth)
        if sums.shape[1] < _MANY:
            np.add.at(sums, tree.parent[nodes], sums[nodes])
            continue
        for node in nodes:  # the same sums in the same order, set by set
            sums[tree.parent[node]] += sums[node]
    return sums
