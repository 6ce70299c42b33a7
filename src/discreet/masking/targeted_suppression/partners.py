"""For a record the most similar other one: of those that come next to it in several orders of the table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


# codes[row, key]: the different rows of the table. nulls[key]: the code of null. allowed[key]: whether values may be suppressed.
def find_partners(
    codes: NDArray[np.int64],
    nulls: NDArray[np.int64],
    rows: NDArray[np.int64],
    allowed: NDArray[np.bool_],
    costs: NDArray[np.float64],
) -> NDArray[np.int64]:
    """For each of ``rows`` another row with which it can be made equal at low cost; the row itself where there is no other.

    The table is sorted by every rotation of the keys, those that must stay first, and the neighbours of a row are tried: with
    the last key of a rotation left out, equal rows are neighbours. O(keys x rows x log(rows)).
    """
    fixed, free = np.flatnonzero(~allowed), np.flatnonzero(allowed)
    best = rows.copy()
    lowest = np.full(len(rows), np.inf)
    place = np.empty(len(codes), dtype=np.int64)
    for turn in range(max(1, len(free))):
        order = np.lexsort(codes[:, np.concatenate((fixed, np.roll(free, turn)))[::-1]].T)
        place[order] = np.arange(len(order))
        for step in (-1, 1):
            at = place[rows] + step
            inside = (at >= 0) & (at < len(order))
            other = order[np.where(inside, at, 0)]
            cost = np.where(inside, _cost_of_equality(codes[rows], codes[other], nulls, allowed, costs), np.inf)
            better = (cost < lowest) | ((cost == lowest) & np.isfinite(cost) & _comes_first(codes[other], codes[best]))
            best[better], lowest[better] = other[better], cost[better]
    return best


def _cost_of_equality(
    own: NDArray[np.int64],
    other: NDArray[np.int64],
    nulls: NDArray[np.int64],
    allowed: NDArray[np.bool_],
    costs: NDArray[np.float64],
) -> NDArray[np.float64]:
    """The cost of suppressing, in both rows, the values that differ; a value that must stay costs more than all others."""
    values = (own != nulls).astype(np.float64) + (other != nulls)
    prices = np.where(allowed, costs, 4.0 * costs.sum() + 1.0)
    return np.asarray(((own != other) * values) @ prices)


def _comes_first(row: NDArray[np.int64], other_row: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether a row comes before another in the order of the values: ties do not depend on the order of the records."""
    differs = row != other_row
    first = np.argmax(differs, axis=1)
    at = np.arange(len(row))
    return np.asarray(differs.any(axis=1) & (row[at, first] < other_row[at, first]))
