"""Values of an ordered kind as exact positions on an axis.

A number is its own position; dates and datetimes are microseconds since 1970 (UTC), times microseconds since midnight, durations
microseconds, booleans 0 and 1. Integers are never rounded: an axis is int64 where all values fit, float64 where that is lossless,
and else an array of Python numbers, which compare exactly.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from discreet.model.cells import Kind, parse_value

if TYPE_CHECKING:
    from numpy.typing import NDArray

DAY = 86_400_000_000
_EPOCH = datetime.datetime(1970, 1, 1)
_EXACT = 2**53
_MICROSECOND = datetime.timedelta(microseconds=1)


def kind_of(dtype: pl.DataType) -> Kind:
    """The kind of the values in a column of this type."""
    if dtype.is_numeric():
        return "number"
    if dtype == pl.Date:
        return "date"
    if isinstance(dtype, pl.Datetime):
        return "datetime"
    if dtype == pl.Time:
        return "time"
    if dtype == pl.Duration:
        return "duration"
    return "boolean" if dtype == pl.Boolean else "text"


def is_native(dtype: pl.DataType, kind: Kind) -> bool:
    """Whether a column of this type holds plain values of the kind, so that only declared labels could be cells."""
    own = kind_of(dtype)
    return own == kind or {own, kind} == {"date", "datetime"}


def native_positions(values: pl.Series) -> NDArray[Any]:
    """The positions of the values of an ordered type; the series must not hold nulls."""
    dtype = values.dtype
    if dtype == pl.Boolean:
        return values.cast(pl.Int64).to_numpy()
    if dtype in (pl.Int128, pl.UInt128, pl.UInt64):
        return _exact(values.to_list())
    if dtype.is_integer():
        return values.cast(pl.Int64).to_numpy()
    if dtype.is_numeric():
        return values.cast(pl.Float64).to_numpy() + 0.0
    if dtype == pl.Date:
        return values.to_physical().cast(pl.Int64).to_numpy() * DAY
    if dtype == pl.Time:
        return values.to_physical().to_numpy() // 1000
    unit: Any = dtype
    factor = {"ns": 1, "us": 1, "ms": 1000}[unit.time_unit]
    ticks = values.to_physical().cast(pl.Int64).to_numpy()
    return ticks // 1000 if unit.time_unit == "ns" else ticks * factor


def position(value: Any) -> int | float:
    """The position of one parsed value."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int | float):
        return value
    if isinstance(value, datetime.datetime):
        return (value - _EPOCH) // _MICROSECOND
    if isinstance(value, datetime.date):
        return (value.toordinal() - _EPOCH.toordinal()) * DAY
    if isinstance(value, datetime.time):
        return ((value.hour * 60 + value.minute) * 60 + value.second) * 1_000_000 + value.microsecond
    if isinstance(value, datetime.timedelta):
        return value // _MICROSECOND
    raise TypeError(f"{value!r} has no position on an axis")


def text_positions(texts: pl.Series, kind: Kind) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """The positions of texts that are single values of the kind, and a flag per text that says whether it is one."""
    if kind == "number":
        return _number_positions(texts)
    if kind == "date":
        dates = texts.str.strip_chars().str.to_date("%Y-%m-%d", strict=False)
        plain = dates.is_not_null() & (texts.str.strip_chars().str.len_chars() == 10)
        if plain.all():
            return dates.to_physical().cast(pl.Int64).to_numpy() * DAY, np.ones(len(texts), dtype=np.bool_)
    parsed = [parse_value(text, kind) for text in texts.to_list()]
    flags = np.array([value is not None for value in parsed], dtype=np.bool_)
    return _exact([0 if value is None else position(value) for value in parsed]), flags


def _number_positions(texts: pl.Series) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    stripped = texts.str.strip_chars()
    floats = stripped.cast(pl.Float64, strict=False).fill_nan(None)
    plain = floats.is_not_null().to_numpy()
    ints = stripped.cast(pl.Int64, strict=False)
    whole = ints.is_not_null().to_numpy()
    positions = floats.fill_null(0.0).to_numpy() + 0.0
    if not len(positions) or np.abs(positions[np.isfinite(positions)]).max(initial=0) < _EXACT:  # 2**53 may be 2**53 + 1, rounded
        return positions, plain
    if (whole | ~plain).all():
        return ints.fill_null(0).to_numpy(), plain
    exact = [parse_value(text, "number") if flag else 0 for text, flag in zip(stripped.to_list(), plain.tolist(), strict=True)]
    return _exact([0 if value is None else value for value in exact]), plain


def same_scale(parts: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
    """Arrays of positions converted to one type in which all of them compare exactly."""
    nonempty = [part for part in parts if len(part)]
    if all(part.dtype.kind in "iu" for part in nonempty):
        return [part.astype(np.int64) for part in parts]
    if all(part.dtype.kind == "f" or _fits_float(part) for part in nonempty):
        return [part.astype(np.float64) for part in parts]
    return [np.array([_python_number(value) for value in part.tolist()], dtype=object) for part in parts]


def exact_array(values: Iterable[int | float]) -> NDArray[Any]:
    """Python numbers as the narrowest array that holds them exactly."""
    return _exact(list(values))


def _exact(values: list[Any]) -> NDArray[Any]:
    if all(isinstance(value, int) for value in values):
        if all(-(2**63) <= value < 2**63 for value in values):
            return np.array(values, dtype=np.int64)
        return np.array(values, dtype=object)
    if all(isinstance(value, float) or abs(value) <= _EXACT for value in values):
        return np.array(values, dtype=np.float64) + 0.0
    return np.array([_python_number(value) for value in values], dtype=object)


def _fits_float(part: NDArray[Any]) -> bool:
    if part.dtype == object:
        return all(isinstance(value, float) or abs(value) <= _EXACT for value in part.tolist())
    return bool(np.abs(part.astype(np.float64)).max() < _EXACT)


def _python_number(value: Any) -> int | float:
    return value + 0.0 if isinstance(value, float) else int(value)
