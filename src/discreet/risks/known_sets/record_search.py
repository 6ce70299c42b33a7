"""Narrowing the intervals of few records, each by a search of its own (:mod:`discreet.risks.known_sets.mask_search`).

A walk that is shared by all records visits the sets that any of them needs. Where few records are left, it is far less work to
follow each by itself: the sets that matter are its own, and its interval is narrowed no further than its level requires. The
search is repeated with a smaller allowance until the record is decided, so the last search costs most of the time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.encoding.columns import thread_count
from discreet.engine.known_sets.queries import Queries, RecordClass
from discreet.engine.runtime.progress import report_progress
from discreet.engine.runtime.worker_threads import WorkerThreads
from discreet.risks.known_sets.agreement_masks import AgreementMasks, MaskTable
from discreet.risks.known_sets.mask_search import BYTE, bound_sum
from discreet.risks.known_sets.requirements import Requirements

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FIRST, _SMALLER = 1e-3, 1 / 8
"""The first allowance of a set, as a share of the interval's width, and what it is multiplied by for the next search."""
_SEARCHES, _DISTRIBUTIONS = 16, 4
_SPARE_ARENA = 4096


@dataclass(frozen=True)
class RecordSearch:
    """Some queries with what the sums over known sets are made of; all sums are before the coefficient alpha.

    ``chances[place]`` is the probability that an attribute is known, ``weights[query, place]`` what it would disclose, and
    ``consequence[query]`` what would be disclosed with nothing known.
    """

    classes: Sequence[RecordClass]
    queries: Queries
    chances: NDArray[np.float64]
    weights: NDArray[np.float64]
    consequence: NDArray[np.float64]

    def narrow(
        self, lower: NDArray[np.float64], upper: NDArray[np.float64], required: Requirements, most: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], int]:
        """The bounds, narrowed until they are as required or ``most`` sets are visited; and how many were.

        Each query may visit an equal part of the sets. What some do not need is distributed among those that need more, so that
        the result does not depend on the order or the number of threads.
        """
        table = MaskTable(self.classes)
        lower, upper = lower.copy(), upper.copy()
        pending, visited = np.arange(len(lower)), 0
        with WorkerThreads(thread_count()) as pool:
            for _ in range(_DISTRIBUTIONS):
                pending = np.array(
                    [at for at in pending.tolist() if required.is_too_wide(at, lower[at], upper[at])], dtype=np.int64
                )
                if not len(pending) or visited >= most or required.is_past():
                    break
                share = max(1, (most - visited) // len(pending))
                searches = pool.map(
                    lambda query: self._narrow_query(table, query, float(lower[query]), float(upper[query]), required, share),  # noqa: B023 - run before the next round
                    pending[: most - visited].tolist(),
                )
                narrowed = []
                for done, search in enumerate(searches):
                    narrowed.append(search)
                    report_progress("narrowing intervals", done + 1, len(pending))
                for query, (low, high, sets) in zip(pending.tolist(), narrowed, strict=False):
                    lower[query], upper[query] = low, high
                    visited += sets
        return lower, upper, visited

    def _narrow_query(
        self, table: MaskTable, query: int, lower: float, upper: float, required: Requirements, most: int
    ) -> tuple[float, float, int]:
        if required.is_past():
            return lower, upper, 0
        pattern = self.queries.patterns[int(self.queries.pattern[query])]
        places = np.array([at for at in range(len(self.chances)) if at not in pattern.unknown | pattern.lost], dtype=np.int64)
        masks = table.masks_of(query, places)
        spread, learnt = 1.0, float(self.consequence[query])
        for place in pattern.unknown:  # whether it is known or not, it changes no count
            spread *= 1 + self.chances[place]
            learnt -= self.weights[query, place] * self.chances[place] / (1 + self.chances[place])
        search = _PreparedSearch(masks, self.chances[masks.places], self.weights[query, masks.places], learnt)
        allowed, visited = _FIRST * (upper - lower) / spread, 0
        for _ in range(_SEARCHES):
            low, high, sets = search.bounds(allowed, most - visited)
            visited += sets
            lower = max(lower, low * spread)
            upper = max(min(upper, high * spread), lower)
            if not required.is_too_wide(query, lower, upper) or visited >= most or required.is_past():
                break
            allowed *= _SMALLER
        return lower, upper, visited


class _PreparedSearch:
    """The arrays of a search for one query, which searches with several allowances share."""

    def __init__(self, masks: AgreementMasks, chances: NDArray[np.float64], weights: NDArray[np.float64], learnt: float) -> None:
        self.masks, self.chances, self.weights, self.learnt = masks, chances, weights, learnt
        self.factor, self.expected = _tabulate_bytes(chances, weights)
        size = 4 * len(masks.masks) + _SPARE_ARENA
        self.arena, self.times = np.empty(size, np.int64), np.empty(size, np.int64)

    def bounds(self, allowed: float, most: int) -> tuple[float, float, int]:
        """Lower and upper bound of the sum over all sets, and how many sets were visited."""
        low, high, visited = bound_sum(
            self.masks.masks, self.masks.times, (1 << len(self.chances)) - 1, self.factor, self.expected, self.chances,
            self.weights, self.learnt, allowed, max(most, 1), self.arena, self.times,
        )  # fmt: skip
        return float(low), float(high), int(visited)


def _tabulate_bytes(
    chances: NDArray[np.float64], weights: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """For each byte of a mask and each of its values: the product of 1 + p, and the sum of w p / (1 + p), over its bits."""
    number = max(1, -(-len(chances) // BYTE))
    factor, expected = np.ones((number, 1 << BYTE)), np.zeros((number, 1 << BYTE))
    values = np.arange(1 << BYTE)
    for bit, (chance, weight) in enumerate(zip(chances, weights, strict=True)):
        is_set = (values >> (bit % BYTE)) & 1 == 1
        factor[bit // BYTE, is_set] *= 1 + chance
        expected[bit // BYTE, is_set] += weight * chance / (1 + chance)
    return factor, expected
