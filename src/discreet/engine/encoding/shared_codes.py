"""Two tables over shared dictionaries: equal values have equal codes on both sides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from discreet.engine.encoding.columns import encode_series
from discreet.errors import DataError, nearest

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Shared(NamedTuple):
    """One attribute of two tables as codes over one dictionary."""

    left: NDArray[Any]
    right: NDArray[Any]
    cardinality: int
    null: int | None


def encode_together(left: pl.DataFrame, right: pl.DataFrame, pairs: Sequence[tuple[str, str]]) -> list[Shared]:
    """For each pair of column names the codes of both sides, how many codes there are, and the code of null.

    >>> ours, theirs = pl.DataFrame({"age": [44, None]}), pl.DataFrame({"years": [55.0, 44.0]})
    >>> encode_together(ours, theirs, [("age", "years")])[0]
    Shared(left=array([0, 2], dtype=uint8), right=array([1, 0], dtype=uint8), cardinality=3, null=2)
    """
    made = []
    for name, other in pairs:
        for frame, asked in ((left, name), (right, other)):
            if asked not in frame.columns:
                raise DataError(f"there is no column '{asked}'; {nearest(asked, frame.columns)}")
        one, two = alike(left[name], right[other])
        column = encode_series(pl.concat([one, two]))
        size = left.height
        made.append(Shared(column.codes[:size], column.codes[size:], column.cardinality, column.null_code))
    return made


def alike(left: pl.Series, right: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Both series in one type in which equal values are equal, under the left one's name.

    Numbers compare as numbers and dates as dates; a text compares with anything else by how that prints, so that
    the text ``44`` agrees with the number 44 (and 44.0), and ``true`` with a boolean.
    """
    left, right = _plain(left), _plain(right.alias(left.name))
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
    moments = (pl.Date, pl.Datetime)
    if isinstance(left.dtype, moments) and isinstance(right.dtype, moments):
        return _moment(left), _moment(right)
    return as_text(left), as_text(right)


def _plain(series: pl.Series) -> pl.Series:
    return series.cast(pl.String) if isinstance(series.dtype, pl.Categorical | pl.Enum) else series


def _moment(series: pl.Series) -> pl.Series:
    if isinstance(series.dtype, pl.Datetime) and series.dtype.time_zone is not None:
        series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    return series.cast(pl.Datetime("us"))


def as_text(series: pl.Series) -> pl.Series:
    """Values as a person would write them: a whole float without its ``.0``."""
    if series.dtype.is_float():
        whole = series.is_finite() & (series == series.floor()) & (series.abs() < 2.0**53)
        numbers = series.fill_nan(None).set(~whole, 0.0).cast(pl.Int64)
        return series.fill_nan(None).cast(pl.String).zip_with(~whole, numbers.cast(pl.String))
    if series.dtype in (pl.Time, pl.Duration):  # Polars drops fractions of the one, and has no text for the other
        known = series.unique().drop_nulls()
        return series.replace_strict(known, [str(value) for value in known.to_list()], return_dtype=pl.String, default=None)
    return series.cast(pl.String)
