"""Columns of two tables encoded over shared dictionaries: equal values have equal codes in both tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from discreet.engine.encoding.columns import encode_series
from discreet.errors import DataError, nearest

if TYPE_CHECKING:
    from numpy.typing import NDArray


class SharedCodes(NamedTuple):
    """One attribute of two tables as codes over one dictionary."""

    left: NDArray[Any]
    right: NDArray[Any]
    cardinality: int
    null: int | None


def encode_shared(left: pl.DataFrame, right: pl.DataFrame, pairs: Sequence[tuple[str, str]]) -> list[SharedCodes]:
    """For each pair of column names the codes of both tables, the number of codes, and the code of null.

    >>> left, right = pl.DataFrame({"age": [44, None]}), pl.DataFrame({"years": [55.0, 44.0]})
    >>> encode_shared(left, right, [("age", "years")])[0]
    SharedCodes(left=array([0, 2], dtype=uint8), right=array([1, 0], dtype=uint8), cardinality=3, null=2)
    """
    shared = []
    for name, right_name in pairs:
        for frame, column_name in ((left, name), (right, right_name)):
            if column_name not in frame.columns:
                raise DataError(f"there is no column '{column_name}'; {nearest(column_name, frame.columns)}")
        left_values, right_values = to_common_type(left[name], right[right_name])
        column = encode_series(pl.concat([left_values, right_values]))
        size = left.height
        shared.append(SharedCodes(column.codes[:size], column.codes[size:], column.cardinality, column.null_code))
    return shared


def to_common_type(left: pl.Series, right: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Both series cast to a type in which equal values compare equal, under the name of the left one.

    Numbers compare as numbers and dates as dates; a text is compared with the printed form of any other type, so that the text
    ``44`` equals the number 44 (and 44.0), and ``true`` equals a boolean.
    """
    left, right = _categories_as_text(left), _categories_as_text(right.alias(left.name))
    if left.dtype == right.dtype:
        return left, right
    if pl.Null in (left.dtype, right.dtype):
        known = right.dtype if left.dtype == pl.Null else left.dtype
        return left.cast(known), right.cast(known)
    if left.dtype.is_integer() and right.dtype.is_integer():
        wide = pl.Int128 if pl.UInt64 in (left.dtype, right.dtype) else pl.Int64
        return left.cast(wide), right.cast(wide)
    if left.dtype.is_numeric() and right.dtype.is_numeric():
        return left.cast(pl.Float64), right.cast(pl.Float64)
    date_types = (pl.Date, pl.Datetime)
    if isinstance(left.dtype, date_types) and isinstance(right.dtype, date_types):
        return _as_datetime(left), _as_datetime(right)
    return as_text(left), as_text(right)


def _categories_as_text(series: pl.Series) -> pl.Series:
    return series.cast(pl.String) if isinstance(series.dtype, pl.Categorical | pl.Enum) else series


def _as_datetime(series: pl.Series) -> pl.Series:
    if isinstance(series.dtype, pl.Datetime) and series.dtype.time_zone is not None:
        series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    return series.cast(pl.Datetime("us"))


def as_text(series: pl.Series) -> pl.Series:
    """Values as texts; whole floats are written without ``.0``."""
    if series.dtype.is_float():
        whole = series.is_finite() & (series == series.floor()) & (series.abs() < 2.0**53)
        numbers = series.fill_nan(None).set(~whole, 0.0).cast(pl.Int64)
        return series.fill_nan(None).cast(pl.String).zip_with(~whole, numbers.cast(pl.String))
    if series.dtype in (pl.Time, pl.Duration):  # Polars drops the fractions of a time, and cannot print a duration
        known = series.unique().drop_nulls()
        return series.replace_strict(known, [str(value) for value in known.to_list()], return_dtype=pl.String, default=None)
    return series.cast(pl.String)
