r"""Narrowing certified intervals: bounds of the sum over all 2^m known sets that use each record's own rare values.

Call an attribute *quiet* where nearly all records share one value. For a record, the *searched* attributes are those that are not
quiet, and the quiet ones in which its own value is rare; on the other quiet attributes it agrees with nearly all records. A known
set is then T ∪ N with T among the searched attributes and N among the rest, and with W records that agree on T, of which Z have a
rare value of a quiet attribute outside T,

    max(W_all, W - Z)  <=  count(T ∪ N)  <=  W        (W - Z + 1 where the record itself is one of the Z)

for every N at once; the sets T ∪ N together have the mass p_T P_N (C - c_T - D_N) in closed form. So the walk visits the sets T
only: quiet attributes first, because few records share a rare value, then the most selective attributes. Groups that share a rare
value are summed exactly (:mod:`discreet.risks.known_sets.exact`).

Where a record is unique on T, or all records that agree with it on T agree on all other attributes too, the sum over all
supersets of T is exact, and the record leaves the walk. It also leaves where these supersets can widen its interval by no more
than is allowed. Records whose interval is not yet narrow enough after a walk are walked again with a smaller allowance, and with
small groups summed exactly too.
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
from discreet.risks.known_sets.exact import MOST_ATTRIBUTES, masks_of, sum_larger_sets

if TYPE_CHECKING:
    from numpy.typing import NDArray

_QUIET = 0.95
_SMALL_GROUP, _SMALL_RARE, _BATCH = 32, 512, 4096
_LESS = 1 / 128
_ROUNDS = 8


def narrow_intervals(
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

    A level is a threshold per record: the interval should be above or below it. After the deadline, a moment of
    ``time.monotonic``, the current sets are closed with the bounds they have: the intervals stay certain.
    """
    lower, upper = lower.copy(), upper.copy()
    part, spent = _LESS, 0
    for walk_number in range(_ROUNDS):
        pending = np.flatnonzero(_too_wide(lower, upper, tolerance, levels))
        if not len(pending) or spent >= budget or _is_past(deadline):
            break
        slots = sums.slots[pending]
        classes, queries, ordered = build_classes(data, sums.names, sums.tree, slots, missing, original)
        chances = np.array([data.attribute(name).known for name in ordered])
        quiet = [_rare_flags(data, column) if original is None else None for column in encode(data, ordered)]
        walk = _BoundWalk(
            classes,
            queries,
            chances,
            quiet,
            _weights(data, ordered, slots),
            sums.consequence[pending],
            slots,
            exact=walk_number > 0,
        )
        allowed = _allowed(lower[pending], upper[pending], tolerance, [level[pending] for level in levels]) / alpha
        low, high = walk.bounds(allowed * part, budget - spent, deadline)
        lower[pending] = np.maximum(lower[pending], low * alpha)
        upper[pending] = np.maximum(np.minimum(upper[pending], high * alpha), lower[pending])
        spent += walk.visited
        part *= _LESS
    left = int(_too_wide(lower, upper, tolerance, levels).sum())
    ended = "when the time limit was reached" if _is_past(deadline) else f"(max_sets {budget:,})"
    note = f"{left:,} intervals are wider than requested after {spent:,} counts {ended}; they are still certain"
    return lower, upper, (note,) if left else ()


def _is_past(deadline: float | None) -> bool:
    return deadline is not None and time.monotonic() > deadline


def contains_level(
    lower: NDArray[np.float64], upper: NDArray[np.float64], levels: Sequence[NDArray[np.float64]]
) -> NDArray[np.bool_]:
    """Which intervals contain a level."""
    undecided = np.zeros(len(lower), dtype=np.bool_)
    for level in levels:
        undecided |= (lower <= level) & (upper > level)
    return undecided


def _too_wide(
    lower: NDArray[np.float64], upper: NDArray[np.float64], tolerance: float | None, levels: Sequence[NDArray[np.float64]]
) -> NDArray[np.bool_]:
    """Which intervals are wider than the tolerance or contain a level."""
    wide = contains_level(lower, upper, levels)
    if tolerance is not None:
        wide |= upper - lower > tolerance * lower
    return wide


def _allowed(
    lower: NDArray[np.float64], upper: NDArray[np.float64], tolerance: float | None, levels: Sequence[NDArray[np.float64]]
) -> NDArray[np.float64]:
    """The width that each interval may have."""
    allowed = np.full(len(lower), np.inf) if tolerance is None else tolerance * lower
    undecided = contains_level(lower, upper, levels)
    return np.where(undecided, np.minimum(allowed, 0.1 * (upper - lower)), allowed)


def _rare_flags(data: Microdata, column: Column) -> NDArray[np.bool_] | None:
    """Which records do not have the value that nearly all share; None where no value is that common. A null counts as rare.

    An attribute whose cells overlap is never quiet: a record with a rare cell may still agree with the common value.
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
    """A set on the path to the current one: the lists of each counter, and the queries that are still active.

    ``chance`` is the probability of the set, ``learnt`` the remaining consequence of each active query, and ``shared`` the number
    of quiet attributes in the set.
    """

    lists: list[list[Any]]
    active: NDArray[np.uint32]
    shared: int
    chance: float
    learnt: NDArray[np.float64]


class _BoundWalk:
    """Bounds for some queries by a walk over their sets of searched attributes.

    No array lists these sets: they go beyond the family, as deep as each query's interval requires. The children of a set add one
    of the attributes after its last one in ``order``, so a node of the walk is the position of that attribute.
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
        self.spread, self.rest = np.ones(size), np.zeros(size)  # P and D of the attributes that a query does not search by
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
                if place in pattern.unknown:  # whether known or not, it changes no count
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
            self.counters.append(Counter([_restrict_to(members, self.rare > 0) for members in classes], queries))
        self.exact = exact  # sum small groups exactly: needed for the few records whose rare values give wide bounds
        self.low, self.high = np.zeros(size), np.zeros(size)
        self.visited = 0

    def _put(self, spread: NDArray[np.float64], rest: NDArray[np.float64], members: NDArray[np.bool_], place: int) -> None:
        """Include an attribute that some queries do not search by in the sums over all subsets in closed form."""
        chance = self.chances[place]
        rest[members] += self.weights[members, place] * chance / (1 + chance)
        spread[members] *= 1 + chance

    def bounds(
        self, allowed: NDArray[np.float64], budget: int, deadline: float | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Lower and upper bounds of each query's sum over all sets."""
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
        """The size up to which groups are summed exactly, mask by mask."""
        if len(self.order) > MOST_ATTRIBUTES:
            return 0
        if shared:
            return _SMALL_RARE
        return _SMALL_GROUP if self.exact else 0

    def _finish(
        self, lists: Sequence[Any], chosen: NDArray[np.uint32], learnt: NDArray[np.float64], start: int, chance: float
    ) -> None:
        """Sum exactly over all supersets of a set, for queries in small groups; selective attributes first."""
        places = sorted(self.order, key=lambda place: place in self.quiet)
        later, width = set(self.order[start:]), len(self.order)
        for first in range(0, len(chosen), _BATCH):
            batch = chosen[first : first + _BATCH]
            part = learnt[first : first + _BATCH]
            masks, starts = masks_of(lists, self.counters[0].classes, batch, places, len(self.learnt))
            left = np.zeros(len(batch), dtype=np.int64)
            for bit, place in enumerate(places):
                free = self.asks[batch, place] & (place in later) | self.aside[batch, place]
                left |= free.astype(np.int64) << bit
            self.counters[0].threads.run_slices(
                sum_larger_sets,
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

    def _open(self, position: int, above: _Level) -> _Level | None:
        """Count the set with ``order[position]`` added, for the queries that search by it, and close it if possible."""
        place = self.order[position]
        asking = self.asks[above.active, place]
        active = above.active[asking]
        if not len(active):
            return None
        shared = above.shared + (place in self.quiet)
        inactive = np.ones(len(self.learnt), dtype=np.bool_)
        inactive[active] = False
        children = []
        for counter, lists in zip(self.counters, above.lists, strict=True):
            if shared > above.shared and counter is not self.counters[0]:
                lists = [_with_further_rare_values(members, self.rare, shared) for members in lists]  # noqa: PLW2901 - records with a further rare value
            children.append([counter.descend(members) for members in counter.split(lists, place, active, inactive, True)])
        learnt = above.learnt[asking] - self.weights[active, place]
        return self._close(position, _Level(children, active, shared, above.chance * self.chances[place], learnt))

    def _close(self, position: int, level: _Level) -> _Level | None:
        """Add the set just counted; returns the level of the queries for which larger sets must be counted, None for none."""
        self.visited += 1
        report_progress("narrowing intervals", self.visited, 0)
        active, learnt, shared, chance = level.active, level.learnt, level.shared, level.chance
        counts = self.counters[0].counts[active]
        # a query leaves this count when its group has a single record with a further rare value, so at least 1 is assumed
        rare_counts = (
            np.maximum(self.counters[1].counts[active], 1) if len(self.counters) > 1 else np.zeros(len(active), np.int32)
        )
        unfinished = np.zeros(len(active), dtype=np.bool_)
        order = np.array(self.order[position + 1 :], dtype=np.int64)
        small_enough = self._small(shared)
        _close_sets(
            active,
            counts,
            small_enough,
            rare_counts,
            self.own_rare > shared,
            self.count_all_attributes,
            self.asks,
            self.chances,
            self.weights,
            learnt,
            self.spread,
            self.rest,
            chance,
            np.full(len(self.allowed), np.inf) if self.visited >= self.budget or _is_past(self.deadline) else self.allowed,
            order,
            self.low,
            self.high,
            unfinished,
        )
        active, learnt, counts = active[unfinished], learnt[unfinished], counts[unfinished]
        small = counts <= small_enough
        if small.any():
            self._finish(level.lists[0], active[small], learnt[small], position + 1, chance)
            active, learnt = active[~small], learnt[~small]
        return replace(level, active=active, learnt=learnt) if len(active) else None


def _agreement(classes: Sequence[RecordClass], place: int) -> float:
    """The sum of squared value counts: the smaller it is, the fewer pairs of records agree on the attribute."""
    return sum(
        float(
            (
                np.bincount(records.codes[place] if records.rows is None else records.codes[place][records.rows]).astype(
                    np.float64
                )
                ** 2
            ).sum()
        )
        for records in classes
    )


def _with_further_rare_values(members: Any, rare: NDArray[np.int32], shared: int) -> Any:
    """A list without the records that have no further rare values than those that the whole group shares."""
    keep = rare[members.rows] > shared
    return replace(members, rows=members.rows[keep], group=members.group[keep])


def _restrict_to(records: RecordClass, members: NDArray[np.bool_]) -> RecordClass:
    """The record class restricted to the given members."""
    rows = np.arange(records.size, dtype=np.uint32) if records.rows is None else records.rows
    rows = rows[members[rows]]
    return replace(records, rows=rows, size=len(rows))


# active[i]: slot of the i-th active query. counts[i]: records that agree with it on the set. rare_counts[i]: those with a further
# rare value. own_is_rare[slot]: whether the query itself is one of them. asks[slot, place]: searched attributes. chances[place]:
# probability that an attribute is known. spread, rest: P and D of the attributes not searched by. order: attributes that may
# still be added. O(active x attributes). Trap: the three sums are nested: own_part (the set alone) <= aside_part (with attributes
# not searched by) <= whole_part (all).
@compiled
def _close_sets(
    active: Any,
    counts: Any,
    small: int,
    rare_counts: Any,
    own_is_rare: Any,
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
    unfinished: Any,
) -> None:
    """Add one set with its unsearched attributes, and all larger sets where that is exact or narrow enough; others go on."""
    for index in range(len(active)):
        slot = active[index]
        own_part = chance * learnt[index]
        aside_part = chance * spread[slot] * (learnt[index] - rest[slot])
        full_spread, full_rest = spread[slot], rest[slot]
        for place in order:
            if asks[slot, place]:
                full_spread *= 1 + chances[place]
                full_rest += weights[slot, place] * chances[place] / (1 + chances[place])
        whole_part = chance * full_spread * (learnt[index] - full_rest)
        inverse, most = 1.0 / counts[index], 1.0 / max(1, count_all_attributes[slot])
        if counts[index] <= count_all_attributes[slot] or (whole_part - own_part) * (most - inverse) <= allowed[slot]:
            low[slot] += whole_part * inverse
            high[slot] += own_part * inverse + (whole_part - own_part) * most
        elif counts[index] <= small:
            unfinished[index] = True  # this set and all larger ones are summed exactly
        else:
            least = max(1, count_all_attributes[slot], counts[index] - rare_counts[index] + own_is_rare[slot])
            low[slot] += aside_part * inverse
            high[slot] += own_part * inverse + (aside_part - own_part) / least
            unfinished[index] = True
