"""Numbers behind coarse cells: what a reader would compute with where a release says ``40..50`` or ``2014-05``."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from discreet.engine.cells.atoms import read_sides
from discreet.engine.cells.hierarchies import usable_hierarchy
from discreet.engine.cells.positions import DAY, kind_of, native_positions, position
from discreet.engine.cells.reader import Reading
from discreet.engine.encoding.columns import Column, encode_series
from discreet.model.cells import Cell, ColumnCells, Group, Interval, Kind, parse_value
from discreet.model.hierarchy import Hierarchy
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray


def is_number(series: pl.Series) -> bool:
    """Whether a column holds numbers, dates, times or truth values."""
    return series.dtype.is_numeric() or series.dtype.is_temporal() or series.dtype == pl.Boolean


def bounds(numbers: NDArray[np.float64]) -> tuple[float, float]:
    """The least and the largest number there is; infinite where there is none."""
    known = numbers[~np.isnan(numbers)]
    return (float(known.min()), float(known.max())) if len(known) else (-math.inf, math.inf)


def as_numbers(
    series: pl.Series,
    low: float = -math.inf,
    high: float = math.inf,
    *,
    like: pl.Series | None = None,
    cells: ColumnCells | None = None,
    hierarchy: Hierarchy | None = None,
) -> NDArray[np.float64]:
    """The column as floats, NaN where it says nothing: an interval is its midpoint, a group the mean of its members.

    ``low`` and ``high`` close intervals that are open on one side; dates and datetimes are numbers of days. ``like`` is the
    original column: its type is that of the values, and a label that nobody explains is an error. Without it, a text
    that is no number and no cell of numbers is NaN.

    >>> as_numbers(pl.Series(["44", "40..50", "{1|3}", ">=60", "*", None]), 0.0, 80.0)
    array([44., 45.,  2., 70., nan, nan])
    """
    kind = cells.kind if cells is not None else kind_of((like if like is not None else series).dtype)
    plain = cells is None and hierarchy is None and (like is None or kind_of(series.dtype) == kind)
    if plain and is_number(series):
        return _native(series)
    if series.dtype == pl.Null or not len(series):
        return np.full(len(series), np.nan)
    column = encode_series(series)
    if like is None and cells is None:
        table = _by_grammar(column, low, high)
    else:
        reference: Column = encode_series(like.head(0)) if like is not None else column
        sides = [(reference, None), (column, cells)] if like is not None else [(column, cells)]
        reading = read_sides(sides, hierarchy=hierarchy, reference=0 if like is not None else None)[-1]
        table = middles(reading, low, high)
    return np.asarray(np.append(table, np.nan)[np.minimum(column.codes, len(table))])


def released_numbers(original: Microdata, masked: Microdata, name: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A column of both tables as numbers; what the original's range closes is closed, and what nobody explains is an error."""
    before = as_numbers(original.frame[name])
    tree, cells = usable_hierarchy(original, name), masked.cells.get(name)
    return before, as_numbers(masked.frame[name], *bounds(before), like=original.frame[name], cells=cells, hierarchy=tree)


def _native(series: pl.Series) -> NDArray[np.float64]:
    """Values of an ordered type, NaN for null."""
    if not series.dtype.is_temporal():
        return series.cast(pl.Float64).to_numpy(writable=True)
    known = series.is_not_null().to_numpy()
    made: NDArray[np.float64] = np.full(len(series), np.nan)
    made[known] = native_positions(series.drop_nulls()) / unit(kind_of(series.dtype))
    return made


def unit(kind: Kind) -> float:
    """How many steps of the axis of positions make one of the numbers that people compute with: days, or the number itself."""
    return float(DAY) if kind in ("date", "datetime") else 1.0


def middles(reading: Reading, low: float = -math.inf, high: float = math.inf) -> NDArray[np.float64]:
    """The number behind each distinct value of a column; NaN where there is none."""
    made: NDArray[np.float64] = np.full(len(reading.plain), np.nan)
    if reading.kind == "text":
        return made
    scale = unit(reading.kind)
    made[reading.plain] = reading.places[reading.plain].astype(np.float64) / scale
    for code, cell in reading.cells.items():
        made[code] = middle_of(cell, reading.kind, low, high)
    return made


def middle_of(cell: Cell, kind: Kind, low: float, high: float) -> float:
    """The middle of an interval, the mean over a group; the middle of the whole range for 'anything but'."""
    scale = unit(kind)
    if isinstance(cell, Interval):
        lower, upper = (
            edge if isinstance(bound, float) and math.isinf(bound) else float(position(bound)) / scale
            for bound, edge in ((cell.lower, low), (cell.upper, high))
        )
        return _finite((lower + upper) / 2)
    if isinstance(cell, Group):
        if cell.others:
            return _finite((low + high) / 2)
        values: list[Any] = [parse_value(member, kind) for member in cell.members]
        found = [math.nan if value is None else float(position(value)) / scale for value in values]
        found += [middle_of(part, kind, low, high) for part in cell.parts]
        return _finite(sum(found) / len(found)) if found else math.nan
    return math.nan


def _finite(number: float) -> float:
    return number if math.isfinite(number) else math.nan


def _by_grammar(column: Column, low: float, high: float) -> NDArray[np.float64]:
    """Texts of which nothing is known: numbers where they are, else nothing."""
    from discreet.model.cells import EVERYTHING, parse_cell

    made: NDArray[np.float64] = np.full(len(column.values), np.nan)
    for code, text in enumerate(column.values.cast(pl.String).to_list()):
        if text == EVERYTHING:
            continue
        if (cell := parse_cell(text, "number")) is not None:
            made[code] = middle_of(cell, "number", low, high)
        elif (value := parse_value(text, "number")) is not None:
            made[code] = _finite(float(value))
    return made
