"""One value for each group of records: mean, median or mode."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Aggregate = Literal["mean", "median", "mode"]


def aggregate(
    values: NDArray[np.float64], groups: NDArray[np.int64], how: Aggregate, *, between: bool = True
) -> NDArray[np.float64]:
    """The aggregate of each record's group; groups are numbered from 0, and every group has a record.

    The median of an even number of values is the mean of the two middle ones if ``between``, else the lower of them. Of several
    modes the lowest is taken.

    >>> aggregate(np.array([1.0, 2.0, 6.0, 5.0]), np.array([0, 0, 0, 1]), "mean").tolist()
    [3.0, 3.0, 3.0, 5.0]
    """
    if not len(values):
        return values.copy()
    sizes = np.bincount(groups)
    starts = np.cumsum(sizes) - sizes
    order = np.argsort(groups, kind="stable") if how == "mean" else np.lexsort((values, groups))
    ordered = values[order]
    if how == "mean":
        # summed in the order of the records; clipped because rounding must not move the mean of equal values
        means = np.add.reduceat(ordered, starts) / sizes
        group_values = np.clip(means, np.minimum.reduceat(ordered, starts), np.maximum.reduceat(ordered, starts))
    elif how == "median":
        lower = ordered[starts + (sizes - 1) // 2]
        group_values = (lower + ordered[starts + sizes // 2]) / 2 if between else lower
    else:
        group_values = _modes(ordered, groups[order])
    return np.asarray(group_values)[groups]


def _modes(ordered: NDArray[np.float64], groups: NDArray[np.int64]) -> NDArray[np.float64]:
    """The most frequent value of each group, from values sorted within groups."""
    begins = np.flatnonzero(np.r_[True, (ordered[1:] != ordered[:-1]) | (groups[1:] != groups[:-1])])
    lengths = np.diff(np.r_[begins, len(ordered)])
    by_group = np.lexsort((ordered[begins], -lengths, groups[begins]))
    modal_run = by_group[np.r_[True, groups[begins][by_group][1:] != groups[begins][by_group][:-1]]]
    return ordered[begins[modal_run]]
