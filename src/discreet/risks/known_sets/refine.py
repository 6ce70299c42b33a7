r"""Certified intervals made narrow: bounds of the sum over all 2^m known sets that follow each record's own rare values.

Call an attribute *quiet* where nearly all records share one value. A record asks by the attributes that are not quiet, and by
those quiet ones where its own value is rare; on the other quiet ones it agrees with nearly everybody. A set it may be found by is
then T ∪ N with T among those it asks by and N among the rest, and with W records that agree on T, of which Z hold a rare value of
a quiet attribute outside T,

    max(W_all, W - Z)  <=  count(T ∪ N)  <=  W        (W - Z + 1 where the record itself is one of the Z)

for every N at once; the sets T ∪ N have together the mass p_T P_N (C - c_T - D_N) in closed form. So the walk runs over the sets
T only: the quiet attributes first, since behind a rare value few records are left to count, then those that tell records apart
best. Groups behind a rare value are summed exactly (:mod:`discreet.risks.known_sets.exact`).

Where a record is alone, or all who agree with it on T agree on everything else too, all that lies below T is exact, and it
leaves. It also leaves where what lies below T can widen its interval by so little that it does not matter. Records whose interval
is not yet narrow enough after a walk are walked again with less allowed, and with small groups summed exactly too.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.cells.weights import cell_weights
from discreet.engine.encoding.columns import Column, encode
from discreet.engine.known_sets.counter import Counter
from discreet.engine.known_sets.queries import Queries, RecordClass
from discreet.engine.known_sets.sums import KnownSets, Missing, build_classes
from discreet.engine.known_sets.walk import walk_sets
from discreet.engine.overlap.columns import overlaps
from discreet.engine.runtime.compiled import compiled
from discreet.engine.runtime.progress import report_progress
from discreet.model.microdata import Microdata
from discreet.risks.known_sets.exact import MOST_ATTRIBUTES, finish, masks_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

_QUIET = 0.95
_SMALL_GROUP, _SMALL_RARE, _BATCH = 32, 512, 4096
_LESS = 1 / 128
_ROUNDS = 8


def refine(
    data: Microdata,
    sums: KnownSets,
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    *,
    alpha: float,
    tolerance: float | None,
    levels: Sequence[NDArray[np.float64]],
    budget: int,
    missing: Missing,
    original: Microdata | None,
    deadline: float | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64], tuple[str, ...]]:
    """Narrow the intervals until each is within the tolerance and on one side of its levels; a note where the budget ends.

    A level is a risk for each record, to be told to be above or not. After the deadline, a moment of ``time.monotonic``, the
    sets at hand are closed with the bounds they have: what was found stays certain.
    """
    lower, upper = lower.copy(), upper.copy()
    part, spent = _LESS, 0
    for turn in range(_ROUNDS):
        todo = np.flatnonzero(_wide(lower, upper, tolerance, levels))
        if not len(todo) or spent >= budget or _is_over(deadline):
            break
        slots = sums.slots[todo]
        classes, queries, ordered = build_classes(data, sums.names, sums.tree, slots, missing, original)
        chances = np.array([data.attribute(name).known for name in ordered])
        quiet = [_rare(data, column) if original is None else None for column in encode(data, ordered)]
        walk = _BoundWalk(
            classes, queries, chances, quiet, _weights(data, ordered, slots), sums.consequence[todo], slots, exact=turn > 0
        )
        allowed = _allowed(lower[todo], upper[todo], tolerance, [level[todo] for level in levels]) / alpha
        low, high = walk.bounds(allowed * part, budget - spent, deadline)
        lower[todo] = np.maximum(lower[todo], low * alpha)
        upper[todo] = np.maximum(np.minimum(upper[todo], high * alpha), lower[todo])
        spent += walk.visited
        part *= _LESS
    left = int(_wide(lower, upper, tolerance, levels).sum())
    ended = "when the time was over" if _is_over(deadline) else f"(max_sets {budget:,})"
    note = f"{left:,} intervals are wider than asked after {spent:,} counts {ended}; they are certain all the same"
    return lower, upper, (note,) if left else ()


def _is_over(deadline: float | None) -> bool:
    return deadline is not None and time.monotonic() > deadline


def _doubtful(lower: NDArray[np.float64], upper: NDArray[np.float64], levels: Sequence[NDArray[np.float64]]) -> NDArray[np.bool_]:
    """Which intervals hold a level."""
    doubt = np.zeros(len(lower), dtype=np.bool_)
    for level in levels:
        doubt |= (lower <= level) & (upper > level)
    return doubt


def _wide(
    lower: NDArray[np.float64], upper: NDArray[np.float64], tolerance: float | None, levels: Sequence[NDArray[np.float64]]
) -> NDArray[np.bool_]:
    """Which intervals are not yet as asked."""
    wide = _doubtful(lower, upper, levels)
    if tolerance is not None:
        wide |= upper - lower > tolerance * lower
    return wide


def _allowed(
    lower: NDArray[np.float64], upper: NDArray[np.float64], tolerance: float | None, levels: Sequence[NDArray[np.float64]]
) -> NDArray[np.float64]:
    """The width that may stay."""
    allowed = np.full(len(lower), np.inf) if tolerance is None else tolerance * lower
    doubt = _doubtful(lower, upper, levels)
    return np.where(doubt, np.minimum(allowed, 0.1 * (upper - lower)), allowed)


def _rare(data: Microdata, column: Column) -> NDArray[np.bool_] | None:
    """Which records do not hold the value that nearly all share, or None where no value is so common. A null counts as rare.

    An attribute whose cells overlap is never quiet: who holds a rare cell there may agree with the common value all the same.
    """
    if overlaps(data, column):
        return None
    counts = np.bincount(column.codes, minlength=column.cardinality)
    if column.has_null:
        counts[-1] = 0
    if not len(counts) or counts.max() < _QUIET * len(column.codes):
        return None
    return np.asarray(column.codes != counts.argmax())


def _weights(data: Microdata, ordered: list[str], slots: NDArray[np.int64]) -> NDArray[np.float64]:
    """W(A) W(value) of each query for each attribute in the family's order."""
    weights = np.zeros((len(slots), len(ordered)))
    for place, column in enumerate(encode(data, ordered)):
        attribute = data.attribute(column.name)
        if attribute.sensitivity > 0:
            weights[:, place] = cell_weights(column, attribute, data.cells.get(column.name))[column.codes[slots]]
    return weights


@dataclass
class _Level:
    """A set on the way to the one at hand, ``chance`` its probability: the lists of each counter, and the queries still active.

    ``learnt`` is what each of these would still lose; ``shared`` of the set's attributes are quiet.
    """

    lists: list[list[Any]]
    active: NDArray[np.uint32]
    shared: int
    chance: float
    learnt: NDArray[np.float64]


class _BoundWalk:
    """Bounds for some queries by a walk over the sets they ask by.

    No array lists these sets: they go beyond the family, down to where each query's interval is narrow enough. A set's children
    add one of the attributes behind its last in ``order``, so a node of the walk is the place of that attribute.
    """

    def __init__(
        self,
        classes: Sequence[RecordClass],
        queries: Queries,
        chances: NDArray[np.float64],
        quiet: Sequence[NDArray[np.bool_] | None],
        weights: NDArray[np.float64],
        consequence: NDArray[np.float64],
        slots: NDArray[np.int64],
        *,
        exact: bool,
    ) -> None:
        size, width = len(queries), len(chances)
        quiet_places = [place for place in range(width) if quiet[place] is not None]
        loud = [place for place in range(width) if quiet[place] is None]
        self.order = [*quiet_places, *sorted(loud, key=lambda place: _agreement(classes, place))]
        self.chances, self.weights, self.learnt = chances, weights, consequence.copy()
        self.asks = np.ones((size, width), dtype=np.bool_)
        self.spread, self.rest = np.ones(size), np.zeros(size)  # P and D of the attributes a query does not ask by
        self.aside = np.zeros((size, width), dtype=np.bool_)  # of these the quiet ones, which do change counts
        self.fixed_spread, self.fixed_rest = np.ones(size), np.zeros(size)  # P and D of the others, which change none
        for place in quiet_places:
            flags = quiet[place]
            self.asks[:, place] = flags is None or flags[slots]
            self.aside[:, place] = ~self.asks[:, place]
            self._put(self.spread, self.rest, self.aside[:, place], place)
        for shape, pattern in enumerate(queries.patterns):
            members = queries.pattern == shape
            for place in pattern.unknown | pattern.lost:
                members_asking = members & self.asks[:, place]
                if place in pattern.unknown:  # known or not, it changes no count
                    self._put(self.spread, self.rest, members_asking, place)
                    self._put(self.fixed_spread, self.fixed_rest, members_asking, place)
                self.asks[members_asking, place] = False
        self.quiet = set(quiet_places)
        self.counters = [Counter(classes, queries)]
        self.own_rare = np.zeros(size, np.int32)
        if quiet_places:
            self.rare: NDArray[np.int32] = np.zeros(len(quiet[quiet_places[0]]), np.int32)  # type: ignore[arg-type]
            for place in quiet_places:
                self.rare += quiet[place]  # type: ignore[arg-type]
            self.own_rare = self.rare[slots]
            self.counters.append(Counter([_only(members, self.rare > 0) for members in classes], queries))
        self.exact = exact  # sum small groups mask by mask: the few records for which rare values bound too little need it
        self.low, self.high = np.zeros(size), np.zeros(size)
        self.visited = 0

    def _put(self, spread: NDArray[np.float64], rest: NDArray[np.float64], members: NDArray[np.bool_], place: int) -> None:
        """Have all subsets of an attribute that some queries do not ask by summed in closed form."""
        chance = self.chances[place]
        rest[members] += self.weights[members, place] * chance / (1 + chance)
        spread[members] *= 1 + chance

    def bounds(
        self, allowed: NDArray[np.float64], budget: int, deadline: float | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Lower and upper ends of each query's sum over all sets."""
        self.allowed, self.budget, self.deadline = allowed, budget, deadline
        with ExitStack() as open_pools:
            for counter in self.counters:
                open_pools.enter_context(counter)
            self.count_all_attributes = self.counters[0].count_all(len(self.chances))
            for counter in self.counters:
                counter.counts[:] = counter.records
            everyone = np.arange(len(self.learnt), dtype=np.uint32)
            top = _Level([counter.begin() for counter in self.counters], everyone, 0, 1.0, self.learnt)
            walk_sets(lambda at: range(at + 1, len(self.order)), self._close(-1, top), self._open, root=-1)
        return self.low, self.high

    def _small(self, shared: int) -> int:
        """Groups of at most so many records are summed exactly, mask by mask."""
        if len(self.order) > MOST_ATTRIBUTES:
            return 0
        if shared:
            return _SMALL_RARE
        return _SMALL_GROUP if self.exact else 0

    def _finish(
        self, lists: Sequence[Any], chosen: NDArray[np.uint32], learnt: NDArray[np.float64], start: int, chance: float
    ) -> None:
        """Sum exactly over all that lies below a set, for queries in small groups; what tells records apart is tried first."""
        places = sorted(self.order, key=lambda place: place in self.quiet)
        later, width = set(self.order[start:]), len(self.order)
        for first in range(0, len(chosen), _BATCH):
            batch = chosen[first : first + _BATCH]
            part = learnt[first : first + _BATCH]
            masks, starts = masks_of(lists, self.counters[0].classes, batch, places, len(self.learnt))
            left = np.zeros(len(batch), dtype=np.int64)
            for at, place in enumerate(places):
                free = self.asks[batch, place] & (place in later) | self.aside[batch, place]
                left |= free.astype(np.int64) << at
            self.counters[0].threads.run_slices(
                finish,
                len(batch),
                masks,
                starts,
                batch,
                left,
                self.chances[places],
                self.weights[:, places],
                part,
                chance,
                self.fixed_spread,
                self.fixed_rest,
                self.allowed,
                width - len(self.quiet),
                self.low,
                self.high,
                least=64,
            )

    def _open(self, at: int, above: _Level) -> _Level | None:
        """Count the set with the attribute ``order[at]`` more, for the queries that ask by it, and close it where possible."""
        place = self.order[at]
        asking = self.asks[above.active, place]
        active = above.active[asking]
        if not len(active):
            return None
        shared = above.shared + (place in self.quiet)
        silent = np.ones(len(self.learnt), dtype=np.bool_)
        silent[active] = False
        children = []
        for counter, lists in zip(self.counters, above.lists, strict=True):
            if shared > above.shared and counter is not self.counters[0]:
                lists = [_rarer(members, self.rare, shared) for members in lists]  # noqa: PLW2901 - those with a further rare value
            children.append([counter.descend(members) for members in counter.split(lists, place, active, silent, True)])
        learnt = above.learnt[asking] - self.weights[active, place]
        return self._close(at, _Level(children, active, shared, above.chance * self.chances[place], learnt))

    def _close(self, at: int, level: _Level) -> _Level | None:
        """Add the set just counted; the level of the queries for which larger sets must be counted, None where there are none."""
        self.visited += 1
        report_progress("narrowing intervals", self.visited, 0)
        active, learnt, shared, chance = level.active, level.learnt, level.shared, level.chance
        here = self.counters[0].counts[active]
        # a query whose group holds a single record with a further rare value leaves that count, so one is always reckoned with
        dirt = np.maximum(self.counters[1].counts[active], 1) if len(self.counters) > 1 else np.zeros(len(active), np.int32)
        going = np.zeros(len(active), dtype=np.bool_)
        order = np.array(self.order[at + 1 :], dtype=np.int64)
        small_enough = self._small(shared)
        _close_sets(
            active,
            here,
            small_enough,
            dirt,
            self.own_rare > shared,
            self.count_all_attributes,
            self.asks,
            self.chances,
            self.weights,
            learnt,
            self.spread,
            self.rest,
            chance,
            np.full(len(self.allowed), np.inf) if self.visited >= self.budget or _is_over(self.deadline) else self.allowed,
            order,
            self.low,
            self.high,
            going,
        )
        active, learnt, here = active[going], learnt[going], here[going]
        small = here <= small_enough
        if small.any():
            self._finish(level.lists[0], active[small], learnt[small], at + 1, chance)
            active, learnt = active[~small], learnt[~small]
        return replace(level, active=active, learnt=learnt) if len(active) else None


def _agreement(classes: Sequence[RecordClass], place: int) -> float:
    """The chance that two records agree on an attribute; where it is small, records are soon alone."""
    return sum(
        float((np.bincount(own.codes[place] if own.rows is None else own.codes[place][own.rows]).astype(np.float64) ** 2).sum())
        for own in classes
    )


def _rarer(members: Any, rare: NDArray[np.int32], shared: int) -> Any:
    """A list without the records that have no more rare values than all of the group share."""
    keep = rare[members.rows] > shared
    return replace(members, rows=members.rows[keep], group=members.group[keep])


def _only(records: RecordClass, members: NDArray[np.bool_]) -> RecordClass:
    """A class without the records that are not members."""
    rows = np.arange(records.size, dtype=np.uint32) if records.rows is None else records.rows
    rows = rows[members[rows]]
    return replace(records, rows=rows, size=len(rows))


@compiled
def _close_sets(
    active: Any,
    here: Any,
    small: int,
    dirt: Any,
    own_dirt: Any,
    count_all_attributes: Any,
    asks: Any,
    chances: Any,
    weights: Any,
    learnt: Any,
    spread: Any,
    rest: Any,
    chance: float,
    allowed: Any,
    order: Any,
    low: Any,
    high: Any,
    going: Any,
) -> None:
    """Add one set with what is not asked by; where that is exact or enough, all below it too. Others go on."""
    for at in range(len(active)):
        slot = active[at]
        own = chance * learnt[at]
        aside = chance * spread[slot] * (learnt[at] - rest[slot])
        wide, more = spread[slot], rest[slot]
        for place in order:
            if asks[slot, place]:
                wide *= 1 + chances[place]
                more += weights[slot, place] * chances[place] / (1 + chances[place])
        below = chance * wide * (learnt[at] - more)
        inverse, most = 1.0 / here[at], 1.0 / max(1, count_all_attributes[slot])
        if here[at] <= count_all_attributes[slot] or (below - own) * (most - inverse) <= allowed[slot]:
            low[slot] += below * inverse
            high[slot] += own * inverse + (below - own) * most
        elif here[at] <= small:
            going[at] = True  # summed exactly, this set and all
        else:
            least = max(1, count_all_attributes[slot], here[at] - dirt[at] + own_dirt[slot])
            low[slot] += aside * inverse
            high[slot] += own * inverse + (aside - own) / least
            going[at] = True
