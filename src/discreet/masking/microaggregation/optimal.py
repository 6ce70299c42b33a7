"""Optimal univariate microaggregation: the partition into groups of at least a size that keeps most of the variance.

Hansen, S. L. & Mukherjee, S. (2003). A polynomial algorithm for optimal univariate microaggregation. IEEE TKDE 15(4),
1043-1044. An optimal partition has groups of neighbouring values with size to 2 size - 1 members, so it is a shortest path
over the sorted values whose arcs cost the sum of squared errors of a group.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.runtime.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray


def optimal_groups(ordered: NDArray[np.float64], size: int) -> NDArray[np.int64]:
    """A group number for each of the rising values; one group where there are fewer than 2 size of them."""
    if len(ordered) < 2 * size:
        return np.zeros(len(ordered), dtype=np.int64)
    before: NDArray[np.int64] = _shortest_path(np.ascontiguousarray(ordered, dtype=np.float64), size)
    groups, group, end = np.zeros(len(ordered), dtype=np.int64), 0, len(ordered)
    while end:
        groups[before[end] : end] = group
        group, end = group + 1, int(before[end])
    return group - 1 - groups


@compiled
def _shortest_path(ordered: Any, size: int) -> Any:
    """For each end of a group on the best path so far, where that group begins."""
    rows = len(ordered)
    cost = np.full(rows + 1, np.inf)
    before = np.zeros(rows + 1, dtype=np.int64)
    cost[0] = 0.0
    for end in range(size, rows + 1):
        mean, error = 0.0, 0.0
        for number in range(1, min(2 * size - 1, end) + 1):
            # Welford's update: no difference of large sums, so equal values cost exactly nothing
            step = ordered[end - number] - mean
            mean += step / number
            error += step * (ordered[end - number] - mean)
            if number >= size and cost[end - number] + error < cost[end]:
                cost[end], before[end] = cost[end - number] + error, end - number
    return before
