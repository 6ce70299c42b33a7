"""The probability that two searches of the same release have a record in common."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.attacks.distances import ComparedColumn, chunked_distances, distinct_rows, threshold_of_nearest

if TYPE_CHECKING:
    from numpy.typing import NDArray


def link_probabilities(
    first: Sequence[ComparedColumn], second: Sequence[ComparedColumn], records: int, neighbours: int
) -> NDArray[np.float64]:
    """For each person the probability that both searches, by the first and by the second columns, find a common record.

    A search finds the ``neighbours`` nearest records; of records as near as the last one it draws as many as are left at random,
    so the result is an expectation and does not depend on the order of the rows.
    """
    rows_first, rows_second = distinct_rows(first, records), distinct_rows(second, records)
    number = len(rows_second.counts)
    pairs, weights = np.unique(rows_first.of * number + rows_second.of, return_counts=True)
    of_first, of_second = pairs // number, pairs % number
    people = len(first[0].people.codes)
    links = np.zeros(people)
    second_chunks = chunked_distances(second, rows_second, people, "linkability")
    waiting, begin = np.zeros((0, number), dtype=np.float32), 0
    for chunk, distances in chunked_distances(first, rows_first, people, "linkability"):
        limits = threshold_of_nearest(distances, rows_first.counts, neighbours)
        for index, person in enumerate(chunk.tolist()):
            while person - begin >= len(waiting):
                rows, waiting = next(second_chunks)
                begin = int(rows[0])
            other = waiting[person - begin]
            other_limit = threshold_of_nearest(other[None, :], rows_second.counts, neighbours)[0]
            near = distances[index]
            sure, tied = (near < limits[index])[of_first], (near == limits[index])[of_first]
            other_sure, other_tied = (other < other_limit)[of_second], (other == other_limit)[of_second]
            search = sure, tied
            other_search = other_sure, other_tied
            common = [[int(weights[own_near & other_near].sum()) for other_near in other_search] for own_near in search]
            overlap = _Overlap(
                common,
                [int(weights[own_near].sum()) for own_near in search],
                [int(weights[other_near].sum()) for other_near in other_search],
            )
            links[person] = overlap.probability(min(neighbours, records))
    return links


class _Overlap:
    """How many records two searches share: those nearer than the last neighbour (sure) and those as near (tied)."""

    def __init__(self, common: list[list[int]], first: list[int], second: list[int]) -> None:
        (self.sure_sure, self.sure_tied), (self.tied_sure, self.tied_tied) = common
        (self.sure, self.tied), (self.other_sure, self.other_tied) = first, second

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
