"""Numbers behind coarse cells: what a reader would compute with where a release says ``40..50``."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from discreet.engine.columns import encode_series
from discreet.model.cells import parse_group, parse_interval

if TYPE_CHECKING:
    from numpy.typing import NDArray


def is_number(series: pl.Series) -> bool:
    """Whether a column holds numbers or dates."""
    return series.dtype.is_numeric() or series.dtype.is_temporal() or series.dtype == pl.Boolean


def as_numbers(series: pl.Series, low: float = -math.inf, high: float = math.inf) -> NDArray[np.float64]:
    """The column as floats, NaN where it says nothing: an interval is its midpoint, a group the mean of its members.

    ``low`` and ``high`` close intervals that are open on one side; dates are numbers of days.

    >>> as_numbers(pl.Series(["44", "40..50", "{1|3}", ">=60", "*", None]), 0.0, 80.0)
    array([44., 45.,  2., 70., nan, nan])
    """
    if series.dtype == pl.Date:
        return series.to_physical().cast(pl.Float64).to_numpy(writable=True)
    if isinstance(series.dtype, pl.Datetime):
        return series.dt.epoch("ms").cast(pl.Float64).to_numpy(writable=True) / 86_400_000.0
    if series.dtype.is_temporal():
        return series.to_physical().cast(pl.Float64).to_numpy(writable=True)
    if is_number(series) or series.dtype == pl.Null:
        return series.cast(pl.Float64).to_numpy(writable=True)
    column = encode_series(series)
    table: NDArray[np.float64] = np.full(column.cardinality, np.nan)
    for code, value in enumerate(column.values.to_list()):
        table[code] = number_of(str(value), low, high)
    return np.asarray(table[column.codes])


def number_of(text: str, low: float = -math.inf, high: float = math.inf) -> float:
    """The number that a cell stands for, or NaN."""
    if (plain := _number(text)) is not None:
        return plain
    if interval := parse_interval(text):
        lower = low if math.isinf(interval.lower) else interval.lower
        upper = high if math.isinf(interval.upper) else interval.upper
        middle = (lower + upper) / 2
        return middle if math.isfinite(middle) else math.nan
    if group := parse_group(text):
        members = [_number(member) for member in group.members]
        known = [member for member in members if member is not None]
        return sum(known) / len(known) if known and len(known) == len(members) else math.nan
    return math.nan


def _number(text: Any) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def bounds(numbers: NDArray[np.float64]) -> tuple[float, float]:
    """The least and the largest number there is; infinite where there is none."""
    known = numbers[~np.isnan(numbers)]
    return (float(known.min()), float(known.max())) if len(known) else (-math.inf, math.inf)
