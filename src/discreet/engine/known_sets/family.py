r"""The family of known sets: every set of attributes that an intruder knows with a probability above epsilon.

The pruning algorithm of Orooji & Knapp (2018a), Figure 1, with the probabilities of eq. 3, as a tree in pre-order. Attributes
stand by falling probability, so that the children a set keeps are the next ones in the order and what it
drops is a suffix; nothing that is dropped is ever visited. The empty set is always kept.

Two readings of a set's probability, L(S) (docs/theory/knowledge.md):

* ``products``, the paper's: the product of p over the attributes of S;
* ``independent``: the product of p over those of S and of 1 - p over all others. It does not fall as a set grows, so that a set
  is kept where it *or a larger set* has a probability above epsilon: where the product of p over its attributes and of
  max(p, 1 - p) over all others is above epsilon. That falls with every attribute, by the factor p / max(p, 1 - p).

Attributes that are known together are one unit with one probability. A set of units is kept or dropped as a whole; the sets of
only some of a unit's attributes are in the tree with a probability of 0, because a record that lacks some of them (a null that
agrees with anything) is counted there.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from discreet.errors import ParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

Knowledge = Literal["products", "independent"]

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
    ``depth[node]`` is the number of its attributes and ``chance[node]`` the probability that an intruder knows them (and, where
    knowledge is independent, nothing else). ``mass[node]`` is the product of the factors of all units up to the reach: times the
    sums of both factors of the units behind, it is the probability of the set and of all sets that were dropped below it.

    By place in the order: ``probabilities`` of being known, ``unknown`` the factor of not being known (1 for products), ``unit``
    the number of the unit, and ``begins`` whether a unit begins there.
    """

    order: NDArray[np.int64]
    probabilities: NDArray[np.float64]
    reach: NDArray[np.int64]
    depth: NDArray[np.int64]
    chance: NDArray[np.float64]
    mass: NDArray[np.float64]
    sets: list[tuple[int, ...]]
    unknown: NDArray[np.float64]
    unit: NDArray[np.int64]
    begins: NDArray[np.bool_]

    @property
    def is_plain(self) -> bool:
        """Whether the probability of a set is the product of those of its attributes, so that it falls as a set grows."""
        return bool(self.begins.all() and (self.unknown == 1).all())

    @cached_property
    def either(self) -> NDArray[np.float64]:
        """By place: both factors of a unit together, 1 at the places of a unit behind its first."""
        return np.where(self.begins, self.probabilities + self.unknown, 1.0)

    @cached_property
    def share(self) -> NDArray[np.float64]:
        """By place: the share of the probability of both with which the attribute is known."""
        return self.probabilities / (self.probabilities + self.unknown)

    def spread_lost(self, lost: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """``[pattern, place]``: a unit with a lost attribute is lost as a whole."""
        if self.begins.all():
            return lost
        whole = lost.copy()
        units = self.unit[: lost.shape[1]]
        for unit in np.unique(units):
            whole[:, units == unit] = lost[:, units == unit].any(axis=1, keepdims=True)
        return whole

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

    def known_names(self, names: Sequence[str]) -> list[str]:
        """The attributes that may be known, in the family's order."""
        return [names[at] for at, chance in zip(self.order, self.probabilities, strict=True) if chance > 0]

    def members(self, node: int) -> tuple[int, ...]:
        """The attributes of a set as positions in the table, ascending."""
        return tuple(sorted(int(self.order[at]) for at in self.sets[node]))


def family(
    probabilities: Sequence[float],
    epsilon: float,
    max_sets: int,
    *,
    knowledge: Knowledge = "products",
    together: Sequence[Sequence[int]] = (),
) -> Family:
    """All sets whose probability is greater than epsilon, of attributes with these probabilities.

    ``together`` are groups of attributes that are known as one unit, with the largest of their probabilities.
    """
    known, units = _units(probabilities, together)
    independent = knowledge == "independent"
    likelier = np.maximum(known, 1 - known) if independent else np.ones(len(known))
    falls = known / likelier  # by how much the largest probability of a set and of all larger ones falls with a unit
    units.sort(key=lambda unit: (-falls[unit[0]], unit[0]))
    order = [at for unit in units for at in unit]
    unit_of = [number for number, unit in enumerate(units) for _ in unit]
    begins = [at == 0 or unit_of[at] != unit_of[at - 1] for at in range(len(order))]
    ends = [at + 1 == len(order) or unit_of[at] != unit_of[at + 1] for at in range(len(order))]
    unknown = 1 - known if independent else np.ones(len(known))
    firsts = [unit[0] for unit in units]
    behind = np.ones(len(units) + 1)  # of every unit from a number on, that nothing of it is known
    for number in range(len(units) - 1, -1, -1):
        behind[number] = behind[number + 1] * unknown[firsts[number]]
    start = math.prod(float(likelier[at]) for at in sorted(firsts))

    def is_above(product: float, members: tuple[int, ...]) -> bool:
        """Whether a set is kept; where rounding could decide, multiplied in the table's order."""
        if abs(product - epsilon) <= _ROUNDING * epsilon:
            inside = {unit_of[member] for member in members}
            by_first = sorted((units[number][0], number in inside) for number in range(len(units)))
            product = math.prod(float(known[at] if is_member else likelier[at]) for at, is_member in by_first)
        return product > epsilon

    last, reach, depth, end = [-1], [-1], [0], [0]
    bound, prefix, chance, mass = [start], [1.0], [float(behind[0])], [0.0]
    sets: list[tuple[int, ...]] = [()]
    stack = [(0, 0, 1.0)]  # a node, the next attribute to try on it, and its factors of the units before that attribute
    while stack:
        node, candidate, factors = stack.pop()
        touched = unit_of[last[node]] if node else -1
        is_inside = candidate < len(order) and unit_of[candidate] == touched
        if candidate < len(order):
            product = bound[node] * (1.0 if is_inside else float(falls[order[candidate]]))
        if candidate == len(order) or not (is_inside or is_above(product, (*sets[node], candidate))):
            end[node], mass[node] = len(last), factors if node == 0 or ends[last[node]] else 0.0
            continue
        if len(last) >= max_sets:
            raise ParameterError(_too_many([float(falls[at]) for at in firsts], start, len(order), epsilon, max_sets))
        skipped = factors
        if ends[candidate] and not is_inside:  # a unit that is skipped as a whole is not known
            skipped *= float(unknown[order[candidate]])
        stack.append((node, candidate + 1, skipped))
        if is_inside:
            own = prefix[node] if candidate == last[node] + 1 else 0.0
        else:
            own = factors * float(known[order[candidate]]) if begins[candidate] else 0.0
        reach[node] = candidate
        stack.append((len(last), candidate + 1, own if ends[candidate] else 0.0))
        last.append(candidate)
        reach.append(candidate)
        depth.append(depth[node] + 1)
        end.append(0)
        bound.append(product)
        prefix.append(own)
        chance.append(own * float(behind[unit_of[candidate] + 1]) if ends[candidate] else 0.0)
        mass.append(0.0)
        sets.append((*sets[node], candidate))
    places = np.array(order, dtype=np.int64)
    return Family(
        np.array(last), np.array(end), places, known[places], np.array(reach), np.array(depth), np.array(chance), np.array(mass),
        sets, unknown[places], np.array(unit_of, dtype=np.int64), np.array(begins, dtype=np.bool_),
    )  # fmt: skip


def _units(probabilities: Sequence[float], together: Sequence[Sequence[int]]) -> tuple[NDArray[np.float64], list[list[int]]]:
    """The probability of each attribute's unit, and the units: attributes (positions in the table, ascending) known together."""
    known = np.array([float(chance) for chance in probabilities], dtype=np.float64)
    units = [sorted(unit) for unit in together if unit]
    for unit in units:
        known[unit] = known[unit].max()
    grouped = {at for unit in units for at in unit}
    return known, units + [[at] for at in range(len(known)) if at not in grouped]


def _too_many(falling: Sequence[float], start: float, attributes: int, epsilon: float, max_sets: int) -> str:
    """What to do where more sets are kept than may be."""
    advice = "a larger epsilon keeps fewer"
    if len(falling) == attributes:
        fitting = start * fitting_epsilon(falling, max_sets)
        advice = (
            f"epsilon: {fitting:.6g} would fit" if fitting < 1 else "no epsilon below 1 fits: fewer attributes with known 1 would"
        )
    return f"more than {max_sets:,} known sets have a probability above epsilon {epsilon:g}; {advice}, or raise max_sets"


def fitting_epsilon(falling: Sequence[float], max_sets: int) -> float:
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
