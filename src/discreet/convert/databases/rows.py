"""Rows of Python values, as database drivers give them, to columns and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import polars as pl

from discreet.convert.files.value_types import TEXT, Candidates

BATCH = 20_000
_TYPES: dict[type, Any] = {
    bool: pl.Boolean, float: pl.Float64, str: pl.String, bytes: pl.Binary, date: pl.Date,
    datetime: pl.Datetime("us"), time: pl.Time, timedelta: pl.Duration("us"),
}  # fmt: skip


def frame_of(batches: Iterable[Sequence[Sequence[Any]]], names: Sequence[str]) -> pl.DataFrame:
    """The columns of rows that come in batches; a column that mixes words and numbers is text."""
    parts: list[list[pl.Series]] = [[] for _ in names]
    for batch in batches:
        for place, values in enumerate(zip(*batch, strict=True)):
            parts[place].append(_series(values))
    return pl.DataFrame([_joined(name, found) for name, found in zip(names, parts, strict=True)])


def typed_text(frame: pl.DataFrame, numbers: Iterable[str] = (), moments: Iterable[str] = ()) -> pl.DataFrame:
    """Columns that came as text although the database knows better: decimals become numbers, ISO texts dates and times."""
    changes = []
    for names, conventions in ((list(numbers), [(".", ",")]), (list(moments), [])):
        texts = [name for name in names if frame.schema[name] == pl.String]
        kinds = Candidates.of(texts, conventions)
        kinds.narrow(frame.select(texts))
        changes += [kinds.first(name).read(name) for name in texts if kinds.first(name) != TEXT]
    return frame.with_columns(changes)


def typed_if_empty(frame: pl.DataFrame, declared: Mapping[str, Any]) -> pl.DataFrame:
    """Columns without any value take the type that the database declares for them (SQLAlchemy's classes)."""
    import sqlalchemy as sa

    pairs: list[tuple[Any, Any]] = [
        (sa.Boolean, pl.Boolean), (sa.Integer, pl.Int64), (sa.Numeric, pl.Float64), (sa.Float, pl.Float64),
        (sa.DateTime, pl.Datetime("us")), (sa.Date, pl.Date), (sa.Time, pl.Time),
    ]  # fmt: skip
    empty = [name for name in frame.columns if frame[name].null_count() == frame.height]
    found = {name: next((dtype for kind, dtype in pairs if isinstance(declared[name], kind)), pl.String) for name in empty}
    return frame.with_columns(pl.lit(None, dtype).alias(name) for name, dtype in found.items()) if found else frame


def row_batches(frame: pl.DataFrame) -> Iterator[list[tuple[Any, ...]]]:
    """The rows as a driver takes them."""
    for part in frame.iter_slices(BATCH):
        yield part.rows()


def _series(values: Sequence[Any]) -> pl.Series:
    kinds = {type(value) for value in values} - {type(None)}
    if not kinds:
        return pl.Series([None] * len(values), dtype=pl.Null)
    if kinds <= {int}:
        try:
            return pl.Series(values, dtype=pl.Int64, strict=True)
        except (OverflowError, TypeError, pl.exceptions.PolarsError):
            return _as_text(values)
    if kinds <= {int, float}:
        return pl.Series([None if value is None else float(value) for value in values], dtype=pl.Float64)
    if len(kinds) == 1 and (dtype := _TYPES.get(kind := next(iter(kinds)))) is not None:
        return pl.Series(values, dtype=dtype, strict=kind is not timedelta)
    return _as_text(values)


def _as_text(values: Sequence[Any]) -> pl.Series:
    return pl.Series([None if value is None else _text(value) for value in values], dtype=pl.String)


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", errors="backslashreplace")
    return format(value, "f") if isinstance(value, Decimal) and value.is_finite() else str(value)


def _joined(name: str, parts: list[pl.Series]) -> pl.Series:
    dtypes = {part.dtype for part in parts if part.dtype != pl.Null}
    if not dtypes:
        dtype: Any = pl.String
    elif len(dtypes) == 1:
        dtype = next(iter(dtypes))
    else:
        dtype = pl.Float64 if dtypes <= {pl.Int64, pl.Float64} else pl.String
    return pl.concat([part.cast(dtype) for part in parts]).alias(name) if parts else pl.Series(name, [], dtype=dtype)
