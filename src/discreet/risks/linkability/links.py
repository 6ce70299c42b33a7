"""The probability that two searches of the same release have a record in common."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.attacks.distances import ComparedColumn
from discreet.engine.attacks.nearest import NearestSearch, NearRows
from discreet.engine.runtime.progress import report_progress
from discreet.risks.linkability.kernels import count_common_records

if TYPE_CHECKING:
    from numpy.typing import NDArray


def link_probabilities(
    first: Sequence[ComparedColumn], second: Sequence[ComparedColumn], records: int, neighbours: int
) -> NDArray[np.float64]:
    """For each person the probability that both searches, by the first and by the second columns, find a common record.

    A search finds the ``neighbours`` nearest records; of records as near as the last one it draws as many as are left at random,
    so the result is an expectation and does not depend on the order of the rows.
    """
    search, other = NearestSearch(first, records, neighbours), NearestSearch(second, records, neighbours)
    number = len(other.counts)
    pairs, weights = np.unique(search.of * number + other.of, return_counts=True)
    pair_starts = np.searchsorted(pairs // max(number, 1), np.arange(len(search.counts) + 1))
    people = len(first[0].people.codes)
    links = np.zeros(people)
    start = 0
    while start < people and records:
        report_progress("linkability", start, people)
        near = search.find(start, people)
        other_near = other.find(start, near.stop)
        near = near.part(start, other_near.stop)
        common = count_common_records(
            near.offsets, near.rows, near.tied, other_near.offsets, other_near.rows, other_near.tied, pair_starts,
            pairs % number, weights, number,
        )  # fmt: skip
        sums = np.column_stack((common, _count_records(search, near), _count_records(other, other_near)))
        distinct, place = np.unique(sums, axis=0, return_inverse=True)
        probabilities = [_Overlap(row).probability(min(neighbours, records)) for row in distinct.tolist()]
        links[start : near.stop] = np.array(probabilities)[place.ravel()]
        start = near.stop
    return links


def _count_records(search: NearestSearch, near: NearRows) -> NDArray[np.int64]:
    """For each person the records that are nearer than the last neighbour, and those that are as near."""
    people = near.stop - near.start
    counts = [
        np.bincount(near.person[chosen], weights=search.counts[near.rows[chosen]], minlength=people)
        for chosen in (~near.tied, near.tied)
    ]
    return np.column_stack(counts).astype(np.int64)


class _Overlap:
    """How many records two searches share: those nearer than the last neighbour (sure) and those as near (tied)."""

    def __init__(self, counts: Sequence[int]) -> None:
        """``counts`` as columns of :func:`link_probabilities`: common records, then those of each search, sure before tied."""
        self.sure_sure, self.sure_tied, self.tied_sure, self.tied_tied, *each = counts
        self.sure, self.tied, self.other_sure, self.other_tied = each

    def probability(self, neighbours: int) -> float:
        """The probability of a common record; sums over how many common tied records the first search draws."""
        if self.sure_sure:
            return 1.0
        drawn, other_drawn = neighbours - self.sure, neighbours - self.other_sure
        apart = 0.0
        rest = self.tied - self.tied_tied - self.tied_sure
        for common in range(min(drawn, self.tied_tied) + 1):
            if drawn - common > rest:
                continue
            first = math.comb(self.tied_tied, common) * math.comb(rest, drawn - common) / math.comb(self.tied, drawn)
            hit = self.sure_tied + common
            missed = math.comb(self.other_tied - hit, other_drawn) / math.comb(self.other_tied, other_drawn)
            apart += first * missed
        return max(0.0, 1.0 - apart)


def blind_probability(records: int, neighbours: int) -> float:
    """The probability that two random draws of so many records have one in common.

    >>> round(blind_probability(10, 1), 12), blind_probability(3, 2)
    (0.1, 1.0)
    """
    drawn = min(neighbours, records)
    return 1 - math.comb(records - drawn, drawn) / math.comb(records, drawn) if records else 0.0
