"""Conversion between the rows of Python values that database drivers use and columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import polars as pl

from discreet.convert.files.value_types import TEXT, Candidates

BATCH_ROWS = 20_000
_DTYPE_OF_PYTHON_TYPE: dict[type, Any] = {
    bool: pl.Boolean, float: pl.Float64, str: pl.String, bytes: pl.Binary, date: pl.Date,
    datetime: pl.Datetime("us"), time: pl.Time, timedelta: pl.Duration("us"),
}  # fmt: skip


def frame_from_rows(batches: Iterable[Sequence[Sequence[Any]]], names: Sequence[str]) -> pl.DataFrame:
    """A frame from batches of rows; a column that mixes text and numbers becomes text."""
    parts: list[list[pl.Series]] = [[] for _ in names]
    for batch in batches:
        for index, values in enumerate(zip(*batch, strict=True)):
            parts[index].append(_series(values))
    return pl.DataFrame([_concatenate(name, column_parts) for name, column_parts in zip(names, parts, strict=True)])


def parse_text_columns(frame: pl.DataFrame, numbers: Iterable[str] = (), dates: Iterable[str] = ()) -> pl.DataFrame:
    """Parse columns that the driver returned as text: ``numbers`` (decimals) and ``dates`` (ISO dates and times)."""
    conversions = []
    for names, conventions in ((list(numbers), [(".", ",")]), (list(dates), [])):
        text_columns = [name for name in names if frame.schema[name] == pl.String]
        candidates = Candidates.of(text_columns, conventions)
        candidates.narrow(frame.select(text_columns))
        conversions += [
            candidates.narrowest(name).parse_column(name) for name in text_columns if candidates.narrowest(name) != TEXT
        ]
    return frame.with_columns(conversions)


def apply_types_to_empty_columns(frame: pl.DataFrame, declared: Mapping[str, Any]) -> pl.DataFrame:
    """Give columns without any value the type that the database declares for them (an SQLAlchemy type)."""
    import sqlalchemy as sa

    pairs: list[tuple[Any, Any]] = [
        (sa.Boolean, pl.Boolean), (sa.Integer, pl.Int64), (sa.Numeric, pl.Float64), (sa.Float, pl.Float64),
        (sa.DateTime, pl.Datetime("us")), (sa.Date, pl.Date), (sa.Time, pl.Time),
    ]  # fmt: skip
    empty = [name for name in frame.columns if frame[name].null_count() == frame.height]
    dtypes = {
        name: next((dtype for sql_type, dtype in pairs if isinstance(declared[name], sql_type)), pl.String) for name in empty
    }
    return frame.with_columns(pl.lit(None, dtype).alias(name) for name, dtype in dtypes.items()) if dtypes else frame


def row_batches(frame: pl.DataFrame) -> Iterator[list[tuple[Any, ...]]]:
    """Yield the rows as lists of tuples, in batches."""
    for part in frame.iter_slices(BATCH_ROWS):
        yield part.rows()


def _series(values: Sequence[Any]) -> pl.Series:
    types = {type(value) for value in values} - {type(None)}
    if not types:
        return pl.Series([None] * len(values), dtype=pl.Null)
    if types <= {int}:
        try:
            return pl.Series(values, dtype=pl.Int64, strict=True)
        except (OverflowError, TypeError, pl.exceptions.PolarsError):
            return _as_text(values)
    if types <= {int, float}:
        return pl.Series([None if value is None else float(value) for value in values], dtype=pl.Float64)
    if len(types) == 1 and (dtype := _DTYPE_OF_PYTHON_TYPE.get(value_type := next(iter(types)))) is not None:
        return pl.Series(values, dtype=dtype, strict=value_type is not timedelta)
    return _as_text(values)


def _as_text(values: Sequence[Any]) -> pl.Series:
    return pl.Series([None if value is None else _format_value(value) for value in values], dtype=pl.String)


def _format_value(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", errors="backslashreplace")
    return format(value, "f") if isinstance(value, Decimal) and value.is_finite() else str(value)


def _concatenate(name: str, parts: list[pl.Series]) -> pl.Series:
    dtypes = {part.dtype for part in parts if part.dtype != pl.Null}
    if not dtypes:
        dtype: Any = pl.String
    elif len(dtypes) == 1:
        dtype = next(iter(dtypes))
    else:
        dtype = pl.Float64 if dtypes <= {pl.Int64, pl.Float64} else pl.String
    return pl.concat([part.cast(dtype) for part in parts]).alias(name) if parts else pl.Series(name, [], dtype=dtype)
