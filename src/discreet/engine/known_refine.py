r"""Certified intervals made narrow: bounds of the sum over all 2^m known sets that look one attribute ahead.

Let T be a set, W the number of records that agree with a record on it, and W_b the number that also agree on b. Order the
attributes behind T by rising W_b. Every larger set T ∪ U has a first element b_i in that order, and its count lies between

    max(W_all, W_{b_i} - \sum_{j > i} (W - W_{b_j}))   and   W_{b_i}

(the lower end counts those who agree on b_i and takes away all who differ anywhere behind: Bonferroni's inequality). The sets with first
element b_i have together the mass p_T p_{b_i} P_{>i} (C - c_T - c_{b_i} - D_{>i}), in closed form. So W_b of the attributes that
epsilon drops bounds everything below T, tightly where attributes are rare flags on which nearly all agree.

Where a record is alone, or all who agree with it on T agree on everything else too, all that lies below T is exact. Records whose
interval is narrow enough leave; for the others epsilon is lowered, and only their groups are counted again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.columns import encode, value_weights
from discreet.engine.compiled import compiled
from discreet.engine.families import Family, family
from discreet.engine.known_counts import Counter, Queries, RecordClass
from discreet.engine.known_sets import KnownSets, Missing, classes_of
from discreet.engine.progress import tell
from discreet.errors import ParameterError
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray

_STEP = 8.0
_ROUNDS = 12


def refine(
    data: Microdata,
    sums: KnownSets,
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    *,
    alpha: float,
    tolerance: float | None,
    threshold: float | None,
    budget: int,
    missing: Missing,
    original: Microdata | None,
) -> tuple[NDArray[np.float64], NDArray[np.float64], tuple[str, ...]]:
    """Narrow the intervals until each is within the tolerance, or on one side of the threshold; notes where the budget ends first."""
    lower, upper = lower.copy(), upper.copy()
    epsilon = float(min(sums.tree.chance.min(), 1.0))
    spent = 0
    for turn in range(_ROUNDS):
        todo = np.flatnonzero(_wide(lower, upper, tolerance, threshold))
        if not len(todo):
            return lower, upper, ()
        try:
            tree = family(data_probabilities(data, sums), epsilon if turn else epsilon * (1 - 1e-9), budget - spent)
        except ParameterError:
            break
        spent += len(tree)
        classes, queries, ordered = classes_of(data, sums.names, tree, sums.slots[todo], missing, original)
        allowed = _allowed(lower[todo], upper[todo], tolerance, threshold) / alpha / (4 * len(tree))
        with Ahead(classes, queries, _weights(data, ordered, sums.slots[todo]), sums.consequence[sums.slots[todo]]) as counter:
            low, high = counter.bounds(tree, len(ordered), allowed)
        lower[todo] = np.maximum(lower[todo], low * alpha)
        upper[todo] = np.maximum(np.minimum(upper[todo], high * alpha), lower[todo])
        epsilon /= _STEP
    left = int(_wide(lower, upper, tolerance, threshold).sum())
    note = f"{left:,} intervals are wider than asked: the budget of max_sets {budget:,} ended first; they are still certain"
    return lower, upper, (note,) if left else ()


def data_probabilities(data: Microdata, sums: KnownSets) -> list[float]:
    """The known probabilities of the attributes that take part."""
    return [data.attribute(name).known for name in sums.names]


def _wide(
    lower: NDArray[np.float64], upper: NDArray[np.float64], tolerance: float | None, threshold: float | None
) -> NDArray[np.bool_]:
    """Which intervals are not yet as asked."""
    wide = np.zeros(len(lower), dtype=np.bool_)
    if tolerance is not None:
        wide |= upper - lower > tolerance * lower
    if threshold is not None:
        wide |= (lower <= threshold) & (upper > threshold)
    return wide


def _allowed(
    lower: NDArray[np.float64], upper: NDArray[np.float64], tolerance: float | None, threshold: float | None
) -> NDArray[np.float64]:
    """The width that may stay."""
    allowed = np.full(len(lower), np.inf)
    if tolerance is not None:
        allowed = tolerance * lower
    if threshold is not None:
        doubt = (lower <= threshold) & (upper > threshold)
        allowed = np.where(doubt, np.minimum(allowed, 0.01 * (upper - lower)), allowed)
    return allowed


def _weights(data: Microdata, ordered: list[str], slots: NDArray[np.int64]) -> NDArray[np.float64]:
    """W(A) W(value) of each query for each attribute in the family's order."""
    made = np.zeros((len(slots), len(ordered)))
    for place, column in enumerate(encode(data, ordered)):
        attribute = data.attribute(column.name)
        if attribute.sensitivity > 0:
            made[:, place] = value_weights(column, attribute)[column.codes[slots]]
    return made


class Ahead(Counter):
    """A counter that also counts, at every set, each attribute that epsilon drops there."""

    def __init__(
        self, classes: list[RecordClass], queries: Queries, weights: NDArray[np.float64], consequence: NDArray[np.float64]
    ) -> None:
        super().__init__(classes, queries)
        self.weights = weights
        self.consequence = consequence

    def bounds(
        self, tree: Family, width: int, allowed: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Lower and upper ends of each query's sum over all sets."""
        ask, size = self.queries, len(self.queries)
        chances = np.tile(tree.probabilities[:width], (len(ask.patterns), 1))
        factor, unknown = np.ones(size), np.zeros(size)
        for shape, pattern in enumerate(ask.patterns):
            members = ask.pattern == shape
            for place in pattern.unknown:  # known or not, they change no count: all their subsets at once
                chance = chances[shape, place]
                factor[members] *= 1 + chance
                unknown[members] += self.weights[members, place] * chance / (1 + chance)
            chances[shape, [*pattern.unknown, *pattern.lost]] = 0.0
        everything = self.count_all(width)
        low, high = np.zeros(size), np.zeros(size)
        state: list[Any] = []
        actives = [np.arange(size, dtype=np.uint32)]
        node, total = 0, len(tree)
        while node < total:
            depth, place = int(tree.depth[node]), int(tree.last[node])
            del state[depth:], actives[depth + 1 :]
            active = actives[depth]
            if node:
                silent = ask.silent(place)
                active = active if silent is None else active[~silent[active]]
                if not len(active):
                    node = int(tree.end[node])
                    continue
                lists = [self._descend(*one) for one in self._split(state[-1], place, active, silent, True)]
            else:
                lists = self._begin()
                self.found[:] = sum(one.size for one in self.classes)
            tell("narrowing intervals", node, total)
            here = self.found[active].copy()
            learnt = self.consequence[active] - unknown[active]
            members = tree.sets[node]
            learnt = learnt - self.weights[np.ix_(active, members)].sum(axis=1) if members else learnt
            scale = tree.chance[node] * factor[active]
            below = np.arange(place + 1, width)
            stop = np.zeros(len(active), dtype=np.bool_)
            _close(
                active, here, everything, ask.pattern, chances, self.weights, learnt, scale, allowed, below, low, high, stop
            )  # fmt: skip
            going, here, learnt, scale = active[~stop], here[~stop], learnt[~stop], scale[~stop]
            reach = int(tree.reach[node])
            ahead = np.arange(reach + 1, width)
            counts = np.empty((len(going), len(ahead)), dtype=np.int32)
            if len(going):
                for at, next_place in enumerate(ahead):
                    self._split(lists, int(next_place), going, ask.silent(int(next_place)), False)
                    counts[:, at] = self.found[going]
                self.found[going] = here
                _look_ahead(going, here, everything, ask.pattern, chances, self.weights, learnt, scale, ahead, counts, low, high)
            state.append([_only(one, self.found, stop, active) for one in lists] if stop.any() else lists)
            actives.append(going)
            if not len(going):
                node = int(tree.end[node])
                continue
            node += 1
        return low, high


def _only(one: Any, found: NDArray[np.int32], stop: NDArray[np.bool_], active: NDArray[np.uint32]) -> Any:
    """The lists without the queries that stopped; records nobody asks for stay until the next split."""
    found[active[stop]] = 1
    keep = found[one.asking] > 1
    return type(one)(one.who, one.group, one.asking[keep], one.asked[keep], one.groups)


@compiled
def _close(
    active: Any, here: Any, everything: Any, pattern: Any, chances: Any, weights: Any, learnt: Any, scale: Any, allowed: Any,
    below: Any, low: Any, high: Any, stop: Any,
) -> None:  # fmt: skip
    """Add a set and all below it at once where that is exact, or so little that it does not matter."""
    for at in range(len(active)):
        slot = active[at]
        shape = pattern[slot]
        spread, rest = 1.0, 0.0
        for place in below:
            chance = chances[shape, place]
            spread *= 1 + chance
            rest += weights[slot, place] * chance / (1 + chance)
        mass = scale[at] * spread * (learnt[at] - rest)
        inverse, most = 1.0 / here[at], 1.0 / max(1, everything[slot])
        own = scale[at] * learnt[at] * inverse
        if here[at] <= everything[slot] or (mass - scale[at] * learnt[at]) * (most - inverse) <= allowed[slot]:
            low[slot] += mass * inverse
            high[slot] += own + (mass - scale[at] * learnt[at]) * most
            stop[at] = True


@compiled
def _look_ahead(
    active: Any, here: Any, everything: Any, pattern: Any, chances: Any, weights: Any, learnt: Any, scale: Any, ahead: Any,
    counts: Any, low: Any, high: Any,
) -> None:  # fmt: skip
    """Add a set, and bounds of what epsilon drops below it."""
    width = len(ahead)
    order = np.empty(width, dtype=np.int64)
    for at in range(len(active)):
        slot = active[at]
        shape = pattern[slot]
        own = scale[at] * learnt[at] / here[at]
        low[slot] += own
        high[slot] += own
        used = 0
        for place in range(width):  # insertion sort by rising count; attributes that cannot occur are left out
            if chances[shape, ahead[place]] == 0:
                continue
            to = used
            while to > 0 and counts[at, order[to - 1]] > counts[at, place]:
                order[to] = order[to - 1]
                to -= 1
            order[to] = place
            used += 1
        spread, rest, differ = 1.0, 0.0, 0
        for back in range(used - 1, -1, -1):
            place = order[back]
            chance = chances[shape, ahead[place]]
            weight = weights[slot, ahead[place]]
            mass = scale[at] * chance * spread * (learnt[at] - weight - rest)
            count = counts[at, place]
            least = max(1, everything[slot], count - differ)
            low[slot] += mass / count
            high[slot] += mass / least
            spread *= 1 + chance
            rest += weight * chance / (1 + chance)
            differ += here[at] - count
