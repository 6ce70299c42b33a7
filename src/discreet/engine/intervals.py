"""Nested intervals over numbers: of fixed widths, or equally filled."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import DataError
from discreet.model.cells import Interval

if TYPE_CHECKING:
    from numpy.typing import NDArray

_DIGITS = 12  # a bound such as 3 x 0.1 is written 0.3


def width_levels(numbers: NDArray[np.float64], widths: Sequence[float], origin: float, name: str) -> list[list[str]]:
    """A list of labels a width: the interval of that width, counted from ``origin``, that holds each number.

    >>> width_levels(np.array([34.0, 41.0]), [5, 20], 0.0, "age")
    [['30..35', '40..45'], ['20..40', '40..60']]
    """
    levels = []
    finest = np.zeros(0)
    for before, width in zip([None, *widths], widths, strict=False):
        if before is None:
            finest = _bins(numbers, width, origin)
            bins = finest
        else:
            times = width / before
            if times < 2 or abs(times - round(times)) > 1e-9:
                raise DataError(
                    f"each width of the hierarchy of '{name}' is a multiple of the one before; {width} is none of {before}"
                )
            # from the finest bins, so that rounding can never tear the tree
            bins = np.floor_divide(finest, round(width / widths[0]))
        distinct, back = np.unique(bins, return_inverse=True)
        labels = [str(Interval(_clean(origin + at * width), _clean(origin + (at + 1) * width))) for at in distinct]
        levels.append([labels[at] for at in back])
    return levels


def _bins(numbers: NDArray[np.float64], width: float, origin: float) -> NDArray[np.float64]:
    """Number of each interval, so that the bounds as written hold the number."""
    bins = np.floor((numbers - origin) / width)
    for at, number in enumerate(numbers):
        if number < _clean(origin + bins[at] * width):
            bins[at] -= 1
        elif number >= _clean(origin + (bins[at] + 1) * width):
            bins[at] += 1
    return bins


def _clean(bound: float) -> float:
    return 0.0 if bound == 0 else round(float(bound), _DIGITS - 1 - math.floor(math.log10(abs(bound))))


def quantile_levels(
    numbers: NDArray[np.float64], counts: NDArray[np.int64], quantiles: Sequence[int], name: str
) -> list[list[str]]:
    """A list of labels a number of bins: intervals that hold as equal numbers of records as ties allow.

    >>> quantile_levels(np.array([1.0, 2.0, 3.0, 4.0]), np.array([1, 1, 1, 1]), [4, 2], "x")
    [['1..2', '2..3', '3..4', '[4, 4]'], ['1..3', '1..3', '[3, 4]', '[3, 4]']]
    """
    order = np.argsort(numbers, kind="stable")
    ordered, upto = numbers[order], np.cumsum(counts[order])
    total = int(upto[-1])
    levels = []
    for at, parts in enumerate(quantiles):
        if at and (quantiles[at - 1] % parts or parts >= quantiles[at - 1]):
            raise DataError(
                f"each number of quantiles of '{name}' divides the one before; {parts} does not divide {quantiles[at - 1]}"
            )
        # the first value behind i/parts of the records; ranks as integers, so coarser cuts are among the finer ones
        ranks = np.array([i * total // parts for i in range(1, parts)], dtype=np.int64)
        cuts = np.unique(ordered[np.minimum(np.searchsorted(upto, ranks, side="right"), len(ordered) - 1)])
        cuts = cuts[cuts > ordered[0]]
        edges = np.concatenate((ordered[:1], cuts, ordered[-1:]))
        labels = [str(Interval(low, high, True, index == len(cuts))) for index, (low, high) in enumerate(pairwise(edges))]
        levels.append([labels[index] for index in np.searchsorted(cuts, numbers, side="right")])
    return levels
