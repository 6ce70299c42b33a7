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
    """For each record its group's value; groups are dense from 0, and every group has a record.

    A median of two middle values lies ``between`` them, or is the lower one. Of several modes the lowest is taken.

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
        # in the order of the records within a group; the mean of equal values is that value, whatever rounding says
        means = np.add.reduceat(ordered, starts) / sizes
        made = np.clip(means, np.minimum.reduceat(ordered, starts), np.maximum.reduceat(ordered, starts))
    elif how == "median":
        lower = ordered[starts + (sizes - 1) // 2]
        made = (lower + ordered[starts + sizes // 2]) / 2 if between else lower
    else:
        made = _modes(ordered, groups[order])
    return np.asarray(made)[groups]


def _modes(ordered: NDArray[np.float64], groups: NDArray[np.int64]) -> NDArray[np.float64]:
    """The commonest value a group, from values sorted within groups."""
    begins = np.flatnonzero(np.r_[True, (ordered[1:] != ordered[:-1]) | (groups[1:] != groups[:-1])])
    lengths = np.diff(np.r_[begins, len(ordered)])
    best = np.lexsort((ordered[begins], -lengths, groups[begins]))
    first = best[np.r_[True, groups[begins][best][1:] != groups[begins][best][:-1]]]
    return ordered[begins[first]]
