"""A family of known sets split into covers: few large sets of attributes, of which every known set is a subset.

How many records agree with a record on a known set depends only on its row in a cover, that is on its values of the cover's
attributes. A table has far fewer such rows than records, so all sets of a cover are counted on its rows, each with the number
of its records, and only the sums reach the records: one pass per cover instead of several per set.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.known_sets.family import Family, SetTree
from discreet.engine.known_sets.terms import Terms

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Cover:
    """Some attributes (places in the family's order), and the sets of the family (nodes) that are counted on its rows."""

    places: tuple[int, ...]
    nodes: tuple[int, ...]


@dataclass(frozen=True)
class PartialTree(SetTree):
    """Some sets of a family as a tree of its own; ``node`` are their nodes in the family, -1 for sets that only lead there."""

    node: NDArray[np.int64]

    def terms(self, family_terms: Terms) -> Terms:
        """The coefficients of these sets, summed over the subtrees of this tree; nothing where a set is not one of them."""
        mine = self.node >= 0
        parts = []
        for own in (family_terms.kept, family_terms.whole):
            chosen = np.where(mine[:, None, None], own[self.node], 0.0)
            below = chosen.copy()
            for node in range(len(self) - 1, 0, -1):
                below[self.parent[node]] += below[node]
            parts.append((chosen, below))
        (kept, kept_below), (whole, whole_below) = parts
        return Terms(kept, whole, kept_below, whole_below, family_terms.member[self.node])


def choose_covers(tree: Family, variety: Sequence[float]) -> list[Cover]:
    """The largest sets of a family as covers, each with the sets that no cover of less variety contains.

    ``variety[place]`` estimates how many different values an attribute has, as a logarithm; of a set it is the sum. The empty
    set belongs to no cover. O(sets x attributes).
    """
    members = {_as_bits(places): node for node, places in enumerate(tree.sets) if node}
    best: dict[int, tuple[float, int]] = {}
    for own in sorted(members, key=lambda bits: (-bits.bit_count(), bits)):
        larger = [best[own | 1 << place] for place in range(tree.width) if not own >> place & 1 and own | 1 << place in members]
        best[own] = min(larger, default=(sum(variety[place] for place in tree.sets[members[own]]), own))
    nodes: dict[int, list[int]] = {}
    for own, node in members.items():
        nodes.setdefault(best[own][1], []).append(node)
    return [Cover(tree.sets[members[cover]], tuple(own)) for cover, own in nodes.items()]


def _as_bits(places: Sequence[int]) -> int:
    return sum(1 << place for place in places)


def partial_tree(tree: Family, nodes: Sequence[int]) -> PartialTree:
    """Some sets of a family as a tree; attributes that more of the sets have come first, so that few further sets are needed."""
    uses = np.zeros(tree.width, dtype=np.int64)
    for node in nodes:
        uses[list(tree.sets[node])] += 1
    order = {int(place): rank for rank, place in enumerate(np.argsort(-uses, kind="stable"))}
    paths = {tuple(sorted(tree.sets[node], key=order.__getitem__)): node for node in nodes}
    listed = sorted(
        {path[:depth] for path in paths for depth in range(len(path) + 1)} | {()},
        key=lambda path: [order[place] for place in path],
    )
    last = np.array([path[-1] if path else -1 for path in listed], dtype=np.int64)
    depths = [len(path) for path in listed]
    end = np.full(len(listed), len(listed), dtype=np.int64)
    above: list[int] = []
    for at, depth in enumerate(depths):
        while above and depths[above[-1]] >= depth:
            end[above.pop()] = at
        above.append(at)
    return PartialTree(last, end, np.array([paths.get(path, -1) for path in listed], dtype=np.int64))
