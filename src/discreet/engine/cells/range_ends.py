"""Ends of published ranges that are nobody's own value.

The least and the largest value of a group are true values of members. Somebody who knows how ranges are built would learn that a
member has exactly this value, and a date of birth or an income to the cent may belong to one person only. So an end that few
records hold is rounded outward to a grid; the range still holds every value of the group.

    numbers      steps of 2, 10, 50, 100, 500, 1000, ... units, the unit being the largest number that all values are multiples
                 of; the largest step that is at most a fifth of the distance between the cells of both ends, or 2
    dates        calendar periods, the longest that is at most a fifth of the range, and at least two days
    datetimes    likewise, from two units on, the unit being the longest of day, hour, minute, ... that all values
                 are multiples of

Each step of numbers divides the next one, and the distance is the same for all values of two cells. So all pairs of values of two
cells give the same ends, and nobody can tell which of them a group has. Two values that fill one cell would both be known to be
held: they are rounded with twice the step; or, where one of them stays because enough records hold it, the other one to the far
end of the neighbouring cell.
"""

from __future__ import annotations

import datetime
import math
import sys
from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from numpy.typing import NDArray

_CELLS_PER_RANGE = 5
_SHORTEST = 2
"""The shortest step, in units: a cell holds two values."""
_SECOND = 1_000_000
_DAY = 86_400 * _SECOND
_UNITS = ((_DAY, "1d"), (3600 * _SECOND, "1h"), (60 * _SECOND, "1m"), (_SECOND, "1s"), (1000, "1ms"), (1, "1us"))
"""Units of datetimes in microseconds, the longest first."""
_PERIODS = (
    (2, "2us"), (10, "10us"), (100, "100us"), (1000, "1ms"), (2000, "2ms"), (10_000, "10ms"), (100_000, "100ms"),
    (_SECOND, "1s"), (2 * _SECOND, "2s"), (10 * _SECOND, "10s"), (60 * _SECOND, "1m"), (120 * _SECOND, "2m"),
    (600 * _SECOND, "10m"), (3600 * _SECOND, "1h"), (7200 * _SECOND, "2h"), (6 * 3600 * _SECOND, "6h"), (_DAY, "1d"),
    (2 * _DAY, "2d"), (7 * _DAY, "1w"), (31 * _DAY, "1mo"), (92 * _DAY, "1q"), (366 * _DAY, "1y"), (3653 * _DAY, "10y"),
)  # fmt: skip
"""Periods of a grid of dates and datetimes, with their length in microseconds, the shortest first."""


def round_ends_outward(
    values: pl.Series, low: NDArray[np.int64], high: NDArray[np.int64], frequencies: NDArray[np.int64], enough: int
) -> tuple[list[Any], list[Any]]:
    """The published ends of ranges from ``values[low]`` to ``values[high]``, which are sorted and different.

    ``frequencies`` are the records that hold each value; a value of at least ``enough`` records stays as it is.

    >>> ages = pl.Series([23, 31, 35, 58])
    >>> round_ends_outward(ages, np.array([0]), np.array([2]), np.array([1, 1, 3, 1]), 3)
    ([22], [35])
    """
    lowest, highest = values.gather(low), values.gather(high)
    keeps_low, keeps_high = frequencies[low] >= enough, frequencies[high] >= enough
    if isinstance(values.dtype, pl.Datetime) or values.dtype == pl.Date:
        below, above = _round_dates(values, lowest, highest, keeps_low | keeps_high)
    elif values.dtype.is_numeric():
        below, above = _round_numbers(values.to_list(), lowest.to_list(), highest.to_list(), (keeps_low, keeps_high))
    else:  # times of day and durations have few values, or none that a person is known by
        return lowest.to_list(), highest.to_list()
    first = [own if kept else rounded for own, rounded, kept in zip(lowest, below, keeps_low, strict=True)]
    last = [own if kept else rounded for own, rounded, kept in zip(highest, above, keeps_high, strict=True)]
    return first, last


def _round_numbers(
    values: Sequence[Any], low: Sequence[Any], high: Sequence[Any], keeps: tuple[NDArray[np.bool_], NDArray[np.bool_]]
) -> tuple[list[Any], list[Any]]:
    """In exact integer arithmetic, as multiples of the unit; ``keeps`` says which lower and which upper ends will stay."""
    finite = [value for value in values if not isinstance(value, float) or math.isfinite(value)]
    exponents = (Decimal(str(value)).as_tuple().exponent for value in finite)
    digits = max((-exponent for exponent in exponents if isinstance(exponent, int)), default=0)
    scale = 10 ** max(digits, 0)
    whole = {value: int(Fraction(str(value)) * scale) for value in finite}
    unit = math.gcd(*whole.values()) or 1
    below, above = list(low), list(high)
    for place, (lowest, highest) in enumerate(zip(low, high, strict=True)):
        if lowest not in whole or highest not in whole:
            continue
        least, most = whole[lowest] // unit, whole[highest] // unit
        first, last = grid_cells(least, most, keeps_low=bool(keeps[0][place]), keeps_high=bool(keeps[1][place]))
        below[place], above[place] = (_as_number(end * unit, scale, lowest) for end in (first, last))
    return below, above


def _as_number(numerator: int, scale: int, example: Any) -> Any:
    """A fraction as a number of the type of an example."""
    if isinstance(example, float):
        largest = int(sys.float_info.max) * scale
        return float(Fraction(min(max(numerator, -largest), largest), scale))
    return Decimal(f"{numerator}e-{len(str(scale)) - 1}") if isinstance(example, Decimal) else numerator // scale


def grid_cells(least: int, most: int, *, keeps_low: bool, keeps_high: bool) -> tuple[int, int]:
    """The ends of a range of whole numbers, rounded outward; an end that is kept counts as a cell of its own.

    >>> grid_cells(23, 58, keeps_low=False, keeps_high=False), grid_cells(6, 7, keeps_low=True, keeps_high=False)
    ((22, 59), (4, 9))
    """
    step = _SHORTEST
    for longer in _steps_up_to((most - least) // _CELLS_PER_RANGE):
        first = least if keeps_low else least // longer * longer + longer - 1
        last = most if keeps_high else most // longer * longer
        if longer * _CELLS_PER_RANGE <= last - first:
            step = longer
    first, last = least // step * step, most // step * step + step - 1
    if last - first < step and not (keeps_low and keeps_high):
        if keeps_low or keeps_high:
            return first - step, last + step
        return least // (2 * step) * (2 * step), least // (2 * step) * (2 * step) + 2 * step - 1
    return first, last


def _steps_up_to(most: int) -> Iterator[int]:
    """10, 50, 100, 500, 1000, ... up to a number; with 2, each divides the next one."""
    step, factor = 10, 5
    while step <= most:
        yield step
        step, factor = step * factor, 7 - factor


def _round_dates(values: pl.Series, low: pl.Series, high: pl.Series, keeps_one: NDArray[np.bool_]) -> tuple[list[Any], list[Any]]:
    is_date = values.dtype == pl.Date
    moments = values.cast(pl.Datetime("us")) if is_date else values
    length, unit = next(
        (length, unit) for length, unit in _UNITS if bool((moments == moments.dt.truncate(unit)).all()) or unit == "1us"
    )
    width = (high.cast(pl.Datetime("us")) - low.cast(pl.Datetime("us"))).dt.total_microseconds().to_numpy() // _CELLS_PER_RANGE
    periods = [(period, name) for period, name in _PERIODS if period >= 2 * length]
    chosen = np.maximum(np.searchsorted([period for period, _ in periods], width, side="right") - 1, 0)
    shortest = periods[0][1]
    in_one_cell = (chosen == 0) & (low.dt.truncate(shortest) == high.dt.truncate(shortest)).to_numpy()
    chosen[in_one_cell & ~keeps_one] = 1
    below, above = low.to_list(), high.to_list()
    for number in np.unique(chosen).tolist():
        rows = np.flatnonzero(chosen == number)
        every = periods[number][1]
        starts = low.gather(rows).dt.truncate(every)
        ends = high.gather(rows).dt.truncate(every).dt.offset_by(every).dt.offset_by(f"-{unit}")
        further = in_one_cell[rows] & keeps_one[rows]
        starts = pl.select(pl.when(pl.lit(further)).then(starts.dt.offset_by(f"-{every}")).otherwise(starts)).to_series()
        ends = pl.select(pl.when(pl.lit(further)).then(ends.dt.offset_by(every)).otherwise(ends)).to_series()
        starts, ends = _keep_in_calendar(starts), _keep_in_calendar(ends)
        for row, start, end in zip(rows.tolist(), starts.to_list(), ends.to_list(), strict=True):
            below[row], above[row] = min(start, below[row]), max(end, above[row])
    return below, above


def _keep_in_calendar(ends: pl.Series) -> pl.Series:
    """Ends that rounding moves before the year 1 or behind the year 9999, which Python has no dates for, at that end."""
    first, last = (pl.Series([day]).cast(ends.dtype)[0] for day in (datetime.date(1, 1, 1), datetime.date(9999, 12, 31)))
    return ends.clip(first, last)
