r"""Bounds of the sum over all 2^m known sets that use each record's own rare values, by one walk for many records.

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
than is allowed.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.known_sets.counter import Counter
from discreet.engine.known_sets.queries import Queries, RecordClass
from discreet.engine.known_sets.walk import walk_sets
from discreet.engine.runtime.progress import report_progress
from discreet.risks.known_sets.agreement_masks import MOST_ATTRIBUTES
from discreet.risks.known_sets.close_kernels import close_sets
from discreet.risks.known_sets.exact import masks_of, sum_larger_sets
from discreet.risks.known_sets.quiet import keep_further_rare_values, restrict_to

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SMALL_GROUP, _SMALL_RARE, _BATCH = 32, 512, 4096


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


class BoundWalk:
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
            self.counters.append(Counter([restrict_to(members, self.rare > 0) for members in classes], queries))
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

    def _is_past(self) -> bool:
        return self.deadline is not None and time.monotonic() > self.deadline

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
                lists = [keep_further_rare_values(members, self.rare, shared) for members in lists]  # noqa: PLW2901 - records with a further rare value
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
        close_sets(
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
            np.full(len(self.allowed), np.inf) if self.visited >= self.budget or self._is_past() else self.allowed,
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
