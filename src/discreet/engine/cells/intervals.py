"""Nested intervals over numbers: of fixed widths, or with about equal numbers of records (quantiles).

Bounds are multiples of the decimal width (3 x 0.1 is 0.3, not 0.30000000000000004), computed exactly, so that every number lies
in the interval of its label, however many digits it has.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import DataError
from discreet.model.cells import Interval

if TYPE_CHECKING:
    from numpy.typing import NDArray

_EXACT = 2**53


def width_levels(numbers: NDArray[Any], widths: Sequence[float], origin: float, name: str) -> list[list[str]]:
    """A list of labels for each width: the interval of that width, counted from ``origin``, that holds each number.

    >>> width_levels(np.array([34.0, 41.0]), [5, 20], 0.0, "age")
    [['30..35', '40..45'], ['20..40', '40..60']]
    """
    levels: list[list[str]] = []
    finest = interval_bins(numbers, widths[0], origin)
    for before, width in zip([None, *widths], widths, strict=False):
        if before is not None:
            times = width / before
            if times < 2 or abs(times - round(times)) > 1e-9:
                raise DataError(
                    f"each width of the hierarchy of '{name}' is a multiple of the one before; {width} is none of {before}"
                )
        # every level is derived from the finest bins, so that rounding can never break the nesting of the hierarchy
        ratio = round(width / widths[0])
        bins = (finest // ratio).tolist()
        labels = {number: str(interval_of_bin(number, widths[0], origin, ratio)) for number in set(bins)}
        levels.append([labels[number] for number in bins])
    return levels


def interval_bins(numbers: NDArray[Any], width: float, origin: float) -> NDArray[Any]:
    """The number of the interval that holds each number: k for origin + k width <= number < origin + (k + 1) width.

    An array of int64, or of Python integers where the numbers have too many digits for that.
    """
    if numbers.dtype == np.int64 and float(width).is_integer() and float(origin).is_integer():
        if not len(numbers) or max(abs(int(numbers.min())), abs(int(numbers.max()))) + abs(origin) + width < 2**62:
            return np.asarray((numbers - int(origin)) // int(width))
    elif numbers.dtype == np.float64 and np.abs(numbers).max(initial=0) <= _EXACT * min(1.0, width):
        return _float_bins(numbers, width, origin)
    return _exact_bins(numbers, width, origin)


def _exact_bins(numbers: NDArray[Any], width: float, origin: float) -> NDArray[Any]:
    bins = np.empty(len(numbers), dtype=object)
    bins[:] = [_exact_bin(number, width, origin) for number in numbers.tolist()]
    return bins


def _float_bins(numbers: NDArray[np.float64], width: float, origin: float) -> NDArray[Any]:
    """Bins by floating-point division, moved by one where the decimal bound lies on the other side of the number."""
    bins = np.floor((numbers - origin) / width).astype(np.int64)
    for _ in range(2):
        occurring, back = np.unique(bins, return_inverse=True)
        cells = [interval_of_bin(number, width, origin) for number in occurring.tolist()]
        under = numbers < np.array([float(cell.lower) for cell in cells])[back]
        over = numbers >= np.array([float(cell.upper) for cell in cells])[back]
        if not (under.any() or over.any()):
            return bins
        bins = bins - under + over
    return _exact_bins(numbers, width, origin)


def _exact_bin(number: Any, width: float, origin: float) -> int:
    bin_number = math.floor((_decimal_fraction(number) - _decimal_fraction(origin)) / _decimal_fraction(width))
    for near in (bin_number, bin_number - 1, bin_number + 1):
        if number in interval_of_bin(near, width, origin):
            return near
    raise DataError(f"the number {number} lies in no interval of the width {width}; take a greater width")


def interval_of_bin(number: int, width: float, origin: float, times: int = 1) -> Interval:
    """The interval of a bin that is ``times`` widths wide."""
    low = _decimal_fraction(origin) + number * times * _decimal_fraction(width)
    return Interval(_bound(low), _bound(low + times * _decimal_fraction(width)))


def _decimal_fraction(number: float) -> Fraction:
    """A number as the exact value of its decimal digits: 0.1 is one tenth."""
    return Fraction(number) if isinstance(number, int) else Fraction(Decimal(repr(float(number))))


def _bound(bound: Fraction) -> int | float:
    return bound.numerator if bound.denominator == 1 else float(bound)


def quantile_levels(numbers: NDArray[Any], counts: NDArray[np.int64], quantiles: Sequence[int], name: str) -> list[list[str]]:
    """A list of labels for each number of bins: intervals that hold as equal numbers of records as ties allow.

    >>> quantile_levels(np.array([1.0, 2.0, 3.0, 4.0]), np.array([1, 1, 1, 1]), [4, 2], "x")
    [['1..2', '2..3', '3..4', '[4, 4]'], ['1..3', '1..3', '[3, 4]', '[3, 4]']]
    """
    order = np.argsort(numbers, kind="stable")
    ordered, upto = numbers[order], np.cumsum(counts[order])
    total = int(upto[-1])
    levels = []
    for level, parts in enumerate(quantiles):
        if level and (quantiles[level - 1] % parts or parts >= quantiles[level - 1]):
            raise DataError(
                f"each number of quantiles of '{name}' divides the one before; {parts} does not divide {quantiles[level - 1]}"
            )
        # cut at the first value behind i/parts of the records; integer ranks make the coarser cuts a subset of the finer ones
        ranks = np.array([i * total // parts for i in range(1, parts)], dtype=np.int64)
        cuts = np.unique(ordered[np.searchsorted(upto, ranks, side="right")])
        cuts = cuts[cuts > ordered[0]]
        edges = np.concatenate((ordered[:1], cuts, ordered[-1:])).tolist()
        labels = [str(Interval(low, high, True, index == len(cuts))) for index, (low, high) in enumerate(pairwise(edges))]
        levels.append([labels[index] for index in np.searchsorted(cuts, numbers, side="right")])
    return levels
