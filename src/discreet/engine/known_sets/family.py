"""The family of known sets: every set of attributes that an intruder knows with a probability above epsilon.

The pruning algorithm of Orooji & Knapp (2018a), Figure 1, with the probabilities of eq. 3, as a tree in pre-order. Attributes
stand by falling probability, so that the children a set keeps are the next ones in the order and what it
drops is a suffix; nothing that is dropped is ever visited. The empty set is always kept.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import ParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

# products of the same factors in another order differ by less than this
_ROUNDING = 1e-12


@dataclass(frozen=True)
class SetTree:
    """Sets as a tree in pre-order; node 0 is the root.

    ``last[node]`` is the attribute that a set adds to its parent, ``end[node]`` the first node behind its subtree.
    """

    last: NDArray[np.int64]
    end: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.last)

    def children(self, node: int) -> Iterator[int]:
        """The sets with one attribute more than this one, in pre-order."""
        child, end = node + 1, int(self.end[node])
        while child < end:
            yield child
            child = int(self.end[child])

    def has_children(self, node: int) -> bool:
        return int(self.end[node]) > node + 1

    @cached_property
    def parent(self) -> NDArray[np.int64]:
        """The parent of each set; the root's is itself."""
        parent = np.zeros(len(self), dtype=np.int64)
        for node in range(len(self)):
            for child in self.children(node):
                parent[child] = node
        return parent


@dataclass(frozen=True)
class Family(SetTree):
    """Known sets as a tree; node 0 is the empty set.

    ``order`` are the attributes (positions in the table) by falling probability; a node adds the attribute
    ``order[last[node]]`` to its parent. Its kept children add ``order[last[node] + 1]`` to ``order[reach[node]]``;
    ``depth[node]`` is the number of its attributes and ``chance[node]`` the probability that an intruder knows them.
    """

    order: NDArray[np.int64]
    probabilities: NDArray[np.float64]
    reach: NDArray[np.int64]
    depth: NDArray[np.int64]
    chance: NDArray[np.float64]
    sets: list[tuple[int, ...]]

    @property
    def width(self) -> int:
        """How many attributes (a prefix of the order) occur in any set."""
        return int(self.reach.max()) + 1

    @cached_property
    def rank(self) -> NDArray[np.int64]:
        """Each set's place among all: smaller sets first, then by the attributes' order in the table."""
        listed = sorted(range(len(self)), key=lambda node: (len(self.sets[node]), self.members(node)))
        place = np.empty(len(self), dtype=np.int64)
        place[listed] = np.arange(len(self))
        return place

    def members(self, node: int) -> tuple[int, ...]:
        """The attributes of a set as positions in the table, ascending."""
        return tuple(sorted(int(self.order[at]) for at in self.sets[node]))


def family(probabilities: Sequence[float], epsilon: float, max_sets: int) -> Family:
    """All sets whose probability is greater than epsilon, of attributes with these probabilities."""
    known = np.asarray(probabilities, dtype=np.float64)
    order = np.array(sorted(range(len(known)), key=lambda at: (-known[at], at)), dtype=np.int64)
    falling = [float(known[at]) for at in order]
    last, reach, depth, end, chance = [-1], [-1], [0], [0], [1.0]
    sets: list[tuple[int, ...]] = [()]
    stack = [(0, 0)]  # a node, and the next attribute to try on it
    while stack:
        node, candidate = stack.pop()
        product = chance[node] * falling[candidate] if candidate < len(falling) else 0.0
        if candidate == len(falling) or not _above(product, epsilon, known, order, (*sets[node], candidate)):
            end[node] = len(last)
            continue
        if len(last) >= max_sets:
            raise ParameterError(_too_many(falling, epsilon, max_sets))
        stack.append((node, candidate + 1))
        reach[node] = candidate
        stack.append((len(last), candidate + 1))
        last.append(candidate)
        reach.append(candidate)
        depth.append(depth[node] + 1)
        end.append(0)
        chance.append(product)
        sets.append((*sets[node], candidate))
    return Family(
        np.array(last), np.array(end), order, np.array(falling), np.array(reach), np.array(depth), np.array(chance), sets
    )


def _above(
    product: float, epsilon: float, known: NDArray[np.float64], order: NDArray[np.int64], members: tuple[int, ...]
) -> bool:
    """Whether a set's probability is greater than epsilon; where rounding could decide, multiplied in the table's order."""
    if abs(product - epsilon) <= _ROUNDING * epsilon:
        product = math.prod(float(known[at]) for at in sorted(int(order[member]) for member in members))
    return product > epsilon


def _too_many(falling: Sequence[float], epsilon: float, max_sets: int) -> str:
    """What to do where more sets are kept than may be."""
    fitting = _fitting_epsilon(falling, max_sets)
    advice = (
        f"epsilon: {fitting:.6g} would fit" if fitting < 1 else "no epsilon below 1 fits: fewer attributes with known 1 would"
    )
    return f"more than {max_sets:,} known sets have a probability above epsilon {epsilon:g}; {advice}, or raise max_sets"


def _fitting_epsilon(falling: Sequence[float], max_sets: int) -> float:
    """The smallest epsilon that keeps at most ``max_sets`` sets: the probability of the next likeliest one."""
    heap: list[tuple[float, int, float]] = [(-1.0, -1, 1.0)]  # likeliest first: (-probability, last attribute, its parent's)
    listed = 0
    while heap:
        negative, last, parent = heapq.heappop(heap)
        listed += 1
        if listed > max_sets:
            # rounded up in the sixth digit, so that the number as printed fits too
            return -negative * (1 + 1e-5)
        following = last + 1
        if following < len(falling):
            heapq.heappush(heap, (negative * falling[following], following, -negative))
            if last >= 0:
                heapq.heappush(heap, (-parent * falling[following], following, parent))
    return 0.0
