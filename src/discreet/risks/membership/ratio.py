"""A likelihood-ratio attack on distance and count of the nearest released records, cross-fitted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.attacks.distances import ComparedColumn
from discreet.engine.attacks.nearest import NearestSearch
from discreet.engine.draws.draw import KeyedDraw

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BINS = 20
_COUNTS = np.array([2, 3, 5, 10, 30])
"""Numbers of records at the smallest distance are told apart as 1, 2, 3 to 4, 5 to 9, 10 to 29, and more."""
_SMOOTHING = 0.5


def nearest_records(known: Sequence[ComparedColumn], records: int, people: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """For each person the distance to the nearest released record, and how many records are at that distance."""
    search = NearestSearch(known, records, 1)
    distance, number = np.zeros(people), np.zeros(people, dtype=np.int64)
    for near in search.walk("membership"):
        inside = slice(near.start, near.stop)
        distance[inside] = near.limits
        number[inside] = np.bincount(near.person, weights=search.counts[near.rows], minlength=near.stop - near.start)
    return distance, number


def likelihood_ratios(
    distance: NDArray[np.float64], number: NDArray[np.int64], is_member: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """For each person how much likelier its distance and count are of a member than of somebody else.

    People are split at random into two halves; the ratio of a person is estimated from the other half, so that no person's own
    state decides it. Distances are binned at the quantiles of all people, exact agreement apart; counts of 1/2 smooth the bins.
    """
    positive = distance[distance > 0]
    edges = np.unique(np.quantile(positive, np.linspace(0, 1, _BINS + 1)[1:-1])) if len(positive) else np.zeros(0)
    cell = np.where(distance > 0, 1 + np.searchsorted(edges, distance, side="right"), 0) * (len(_COUNTS) + 1)
    cell = cell + np.searchsorted(_COUNTS, number, side="right")
    cells = int(cell.max(initial=0)) + 1
    half = KeyedDraw(0).uniform(np.arange(len(distance)), "halves") < 0.5
    ratios = np.ones(len(distance))
    for side in (half, ~half):
        inside = np.bincount(cell[~side & is_member], minlength=cells) + _SMOOTHING
        outside = np.bincount(cell[~side & ~is_member], minlength=cells) + _SMOOTHING
        ratios[side] = ((inside / inside.sum()) / (outside / outside.sum()))[cell[side]]
    return ratios


def true_positive_rate(members: NDArray[np.float64], others: NDArray[np.float64], false_positives: float) -> float:
    """The share of members above a threshold that at most this share of the others is above.

    >>> true_positive_rate(np.array([3.0, 2.0, 1.0]), np.array([2.0, 1.0, 1.0, 1.0]), 0.0)
    0.3333333333333333
    """
    if not len(members) or not len(others):
        return 0.0
    falling = np.sort(others)[::-1]
    allowed = int(np.floor(false_positives * len(others) + 1e-9))
    if allowed >= len(others):
        return 1.0
    return float((members > falling[allowed]).mean())


def area_under_curve(members: NDArray[np.float64], others: NDArray[np.float64]) -> float:
    """The probability that a member scores higher than somebody else, ties counting half."""
    if not len(members) or not len(others):
        return 0.5
    falling = np.sort(others)
    below, up_to = np.searchsorted(falling, members, side="left"), np.searchsorted(falling, members, side="right")
    return float((below + up_to).mean() / (2 * len(others)))
