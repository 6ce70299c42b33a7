"""Which cells of two columns hold different values: the one definition of a changed value, whatever the types of the columns.

File formats change types: a time becomes text in CSV, a 32-bit float a 64-bit one, a truth value 0 or 1, a moment loses what is
below a microsecond or a millisecond. None of that changes a value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from discreet.engine.cells.positions import kind_of, native_positions, same_scale, text_positions
from discreet.engine.encoding.shared_codes import to_common_type

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MILLISECOND = 1_000
"""In microseconds: spreadsheets store moments as fractions of a day, which are exact to about that."""


def differing_values(left: pl.Series, right: pl.Series) -> NDArray[np.bool_]:
    """Where two columns hold different values; null differs from every value, and from no null.

    >>> import datetime as dt
    >>> differing_values(pl.Series(["08:30:00.000000000", "x"]), pl.Series([dt.time(8, 30), dt.time(9)])).tolist()
    [False, True]
    >>> differing_values(pl.Series([0.1, 2.0], dtype=pl.Float32), pl.Series([0.1, 2.5])).tolist()
    [False, True]
    """
    left, right = _plain(left, right.dtype), _plain(right, left.dtype)
    if left.dtype == right.dtype and not isinstance(left.dtype, pl.Datetime):
        return left.ne_missing(right).to_numpy()
    if pl.Float32 in (left.dtype, right.dtype) and left.dtype.is_numeric() and right.dtype.is_numeric():
        return _differing_singles(left, right)
    kinds = kind_of(left.dtype), kind_of(right.dtype)
    if "text" in kinds and kinds != ("text", "text") and _ordered(left, right):
        text, native = (left, right) if kinds[0] == "text" else (right, left)
        return _differing_from_text(text, native)
    if isinstance(left.dtype, pl.Datetime) and isinstance(right.dtype, pl.Date | pl.Datetime):
        return _apart(left, right)
    if isinstance(right.dtype, pl.Datetime) and left.dtype == pl.Date:
        return _apart(left, right)
    left, right = to_common_type(left, right)
    return left.ne_missing(right).to_numpy()


def _plain(series: pl.Series, beside: pl.DataType) -> pl.Series:
    """Categories as text, and truth values beside numbers as 0 and 1."""
    if isinstance(series.dtype, pl.Categorical | pl.Enum):
        return series.cast(pl.String)
    return series.cast(pl.Int64) if series.dtype == pl.Boolean and beside.is_numeric() else series


def _ordered(left: pl.Series, right: pl.Series) -> bool:
    """Whether one column is text and the other has values on an axis that a text may name."""
    return {left.dtype, right.dtype} != {pl.String, pl.Null} and not (left.dtype.is_nested() or right.dtype.is_nested())


def _differing_singles(left: pl.Series, right: pl.Series) -> NDArray[np.bool_]:
    """Numbers of which one side has 24 bits: the other is rounded likewise."""
    return left.cast(pl.Float32).ne_missing(right.cast(pl.Float32)).to_numpy()


def _differing_from_text(text: pl.Series, native: pl.Series) -> NDArray[np.bool_]:
    """A text that names a value of the other column's kind is that value; any other text differs from all values."""
    known = text.unique().drop_nulls()
    kind = kind_of(native.dtype)
    if kind == "text":  # a type of which nothing is known
        left, right = to_common_type(text, native)
        return left.ne_missing(right).to_numpy()
    places, plain = text_positions(known, kind)
    at = text.replace_strict(known, pl.Series(np.arange(len(known))), default=None, return_dtype=pl.Int64)
    present = (at.is_not_null() & native.is_not_null()).to_numpy()
    changed = (at.is_null() != native.is_null()).to_numpy().copy()
    rows = np.flatnonzero(present)
    codes = at.gather(rows).to_numpy()
    values = native_positions(native.gather(rows))
    if native.dtype == pl.Float32:
        places = np.asarray(places, dtype=np.float32)
    named, placed_values = same_scale([places, values])
    changed[rows] = ~(plain[codes] & (named[codes] == placed_values)) if len(rows) else False
    return np.asarray(changed, dtype=np.bool_)


def _apart(first: pl.Series, second: pl.Series) -> NDArray[np.bool_]:
    """Moments and days that differ by a millisecond or more."""
    left, right = (_moment(series).to_physical() for series in (first, second))
    apart: Any = (left - right).abs() >= _MILLISECOND
    return np.asarray((apart.fill_null(value=False) | (first.is_null() != second.is_null())).to_numpy())


def _moment(series: pl.Series) -> pl.Series:
    if isinstance(series.dtype, pl.Datetime) and series.dtype.time_zone is not None:
        series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    return series.cast(pl.Datetime("us"))
