"""Numbers for coarse cells: the value that an analyst would compute with for ``40..50`` or ``2014-05``."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from discreet.engine.cells.atoms import Side, read_sides
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
    """Whether a column holds numbers, dates, times or booleans."""
    return series.dtype.is_numeric() or series.dtype.is_temporal() or series.dtype == pl.Boolean


def value_range(numbers: NDArray[np.float64]) -> tuple[float, float]:
    """The smallest and the largest number, NaN ignored; infinite where there is no number."""
    present = numbers[~np.isnan(numbers)]
    return (float(present.min()), float(present.max())) if len(present) else (-math.inf, math.inf)


def as_numbers(
    series: pl.Series,
    low: float = -math.inf,
    high: float = math.inf,
    *,
    like: pl.Series | None = None,
    cells: ColumnCells | None = None,
    hierarchy: Hierarchy | None = None,
) -> NDArray[np.float64]:
    """The column as floats: an interval becomes its midpoint, a group the mean of its members, null and ``*`` NaN.

    ``low`` and ``high`` close intervals that are open on one side; dates and datetimes become numbers of days. ``like`` is the
    original column: its type decides how labels are read, its texts are labels that stand for themselves, and a label that
    nothing explains raises UnexplainedCellError.
    Without it, a text that is neither a number nor a cell of numbers becomes NaN.

    >>> as_numbers(pl.Series(["44", "40..50", "{1|3}", ">=60", "*", None]), 0.0, 80.0)
    array([44., 45.,  2., 70., nan, nan])
    """
    plain = cells is None and hierarchy is None and (like is None or kind_of(series.dtype) == kind_of(like.dtype))
    if plain and is_number(series):
        return _native_numbers(series)
    column = encode_series(series)
    if like is None and cells is None:
        table = _numbers_from_texts(column, low, high)
    else:
        sides: list[Side] = [(column, cells)]
        if like is not None:  # of an original of numbers or dates the type is enough; its texts explain equal texts
            sides.insert(0, (encode_series(like if kind_of(like.dtype) == "text" else like.clear()), None))
        reading = read_sides(sides, hierarchy=hierarchy, reference=None if like is None else 0)[-1]
        table = midpoints_by_code(reading, low, high)
    return np.asarray(np.append(table, np.nan)[column.codes])  # the code of null is the number of values


def released_numbers(original: Microdata, masked: Microdata, name: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A column of the original and of the masked table as numbers.

    Open intervals end at the original's range. A label that nothing explains raises UnexplainedCellError.
    """
    before = as_numbers(original.frame[name])
    tree, cells = usable_hierarchy(original, name), masked.cells.get(name)
    return before, as_numbers(masked.frame[name], *value_range(before), like=original.frame[name], cells=cells, hierarchy=tree)


def _native_numbers(series: pl.Series) -> NDArray[np.float64]:
    """The values of a column of an ordered type; NaN for null."""
    if not series.dtype.is_temporal():
        return series.cast(pl.Float64).to_numpy(writable=True)
    known = series.is_not_null().to_numpy()
    numbers: NDArray[np.float64] = np.full(len(series), np.nan)
    numbers[known] = native_positions(series.drop_nulls()) / positions_per_unit(kind_of(series.dtype))
    return numbers


def positions_per_unit(kind: Kind) -> float:
    """Positions on the axis per unit of the result: dates and datetimes are positions in microseconds and results in days."""
    return float(DAY) if kind in ("date", "datetime") else 1.0


def midpoints_by_code(reading: Reading, low: float = -math.inf, high: float = math.inf) -> NDArray[np.float64]:
    """The number for each code of a column; NaN where there is none."""
    midpoints: NDArray[np.float64] = np.full(len(reading.plain), np.nan)
    if reading.kind == "text":
        return midpoints
    scale = positions_per_unit(reading.kind)
    midpoints[reading.plain] = reading.positions[reading.plain].astype(np.float64) / scale
    for code, cell in reading.cells.items():
        midpoints[code] = cell_midpoint(cell, reading.kind, low, high)
    return midpoints


def cell_midpoint(cell: Cell, kind: Kind, low: float, high: float) -> float:
    """The middle of an interval, the mean over a group; for a negated group the middle of the whole range."""
    scale = positions_per_unit(kind)
    if isinstance(cell, Interval):
        lower, upper = (
            edge if isinstance(bound, float) and math.isinf(bound) else float(position(bound)) / scale
            for bound, edge in ((cell.lower, low), (cell.upper, high))
        )
        return _finite_or_nan((lower + upper) / 2)
    if isinstance(cell, Group):
        if cell.others:
            return _finite_or_nan((low + high) / 2)
        values: list[Any] = [parse_value(member, kind) for member in cell.members]
        points = [math.nan if value is None else float(position(value)) / scale for value in values]
        points += [cell_midpoint(part, kind, low, high) for part in cell.parts]
        return _finite_or_nan(sum(points) / len(points)) if points else math.nan
    return math.nan


def _finite_or_nan(number: float) -> float:
    return number if math.isfinite(number) else math.nan


def _numbers_from_texts(column: Column, low: float, high: float) -> NDArray[np.float64]:
    """Numbers for the texts of a column of unknown kind; NaN where a text is neither a number nor a cell of numbers."""
    from discreet.model.cells import parse_cell

    numbers: NDArray[np.float64] = np.full(len(column.values), np.nan)
    for code, text in enumerate(column.values.cast(pl.String).to_list()):
        if (cell := parse_cell(text, "number")) is not None:
            numbers[code] = cell_midpoint(cell, "number", low, high)
        elif (value := parse_value(text, "number")) is not None:
            numbers[code] = _finite_or_nan(float(value))
    return numbers
