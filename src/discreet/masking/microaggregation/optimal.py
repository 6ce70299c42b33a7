"""Optimal univariate microaggregation: the partition into groups of a minimum size with the least sum of squared errors.

Hansen, S. L. & Mukherjee, S. (2003). A polynomial algorithm for optimal univariate microaggregation. IEEE TKDE 15(4),
1043-1044. An optimal partition consists of groups of consecutive values with size to 2 size - 1 members, so it is a shortest
path over the sorted values, in which the cost of an arc is the sum of squared errors of a group.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.runtime.compiled import FEW_ROWS, interpreted_if_few

if TYPE_CHECKING:
    from numpy.typing import NDArray


def optimal_groups(ordered: NDArray[np.float64], size: int) -> NDArray[np.int64]:
    """The group number of each of the values, which are in rising order; one group if there are fewer than 2 size of them."""
    if len(ordered) < 2 * size:
        return np.zeros(len(ordered), dtype=np.int64)
    group_start = _shortest_path(np.ascontiguousarray(ordered, dtype=np.float64), size)
    groups, group, end = np.zeros(len(ordered), dtype=np.int64), 0, len(ordered)
    while end:
        groups[group_start[end] : end] = group
        group, end = group + 1, int(group_start[end])
    return group - 1 - groups


# cost[end]: least sum of squared errors of a partition of the first ``end`` values. O(values * size).
@interpreted_if_few(FEW_ROWS)
def _shortest_path(ordered: NDArray[np.float64], size: int) -> NDArray[np.int64]:
    """For each number of first values, where the last group of their best partition starts."""
    rows = len(ordered)
    cost = np.full(rows + 1, np.inf)
    group_start = np.zeros(rows + 1, dtype=np.int64)
    cost[0] = 0.0
    for end in range(size, rows + 1):
        mean, error = 0.0, 0.0
        for length in range(1, min(2 * size - 1, end) + 1):
            # Welford's update: no difference of large sums, so that equal values cost exactly 0
            deviation = ordered[end - length] - mean
            mean += deviation / length
            error += deviation * (ordered[end - length] - mean)
            if length >= size and cost[end - length] + error < cost[end]:
                cost[end], group_start[end] = cost[end - length] + error, end - length
    return group_start
