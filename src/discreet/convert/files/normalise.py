"""Normalised column types: numbers, text, booleans, dates and times, whatever types the source has.

Categorical columns become text, decimals become numbers, integers beyond 64 bits become text (to stay exact), and a column
without any value becomes text. A column of nested values is an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import polars as pl

from discreet.errors import SourceError

_INT128_TYPES = (pl.Int128, pl.UInt128)
Compression = Literal["uncompressed", "gzip", "zstd"]
_MAX_INT64_DIGITS = 18  # this many digits always fit into 64 bits


def normalise_columns(lazy: pl.LazyFrame, source: str) -> pl.LazyFrame:
    """The same table with normalised column types; NaN becomes missing."""
    schema = lazy.collect_schema()
    conversions = [conversion for name, dtype in schema.items() if (conversion := _normalise(name, dtype, source)) is not None]
    return lazy.with_columns(conversions) if conversions else lazy


def durations_as_text(schema: Mapping[str, pl.DataType]) -> list[pl.Expr]:
    """Expressions that convert durations to ISO 8601 text, for formats without a type for durations."""
    return [pl.col(name).dt.to_string("iso") for name, dtype in schema.items() if dtype == pl.Duration]


def _normalise(name: str, dtype: pl.DataType, source: str) -> pl.Expr | None:
    column = pl.col(name)
    if isinstance(dtype, pl.BaseExtension):
        return column.ext.storage()
    if dtype.is_nested() or dtype == pl.Object:
        raise SourceError(f"{source}: the column '{name}' holds nested values ({dtype}); only single values can be masked")
    if isinstance(dtype, pl.Categorical | pl.Enum) or dtype in (pl.Null, *_INT128_TYPES):
        return column.cast(pl.String)
    if dtype == pl.Binary:  # some Parquet writers do not declare that their bytes are text
        return column.cast(pl.String)
    if isinstance(dtype, pl.Decimal):
        whole = dtype.scale == 0
        return column.cast(pl.Int64 if whole and dtype.precision <= _MAX_INT64_DIGITS else pl.String if whole else pl.Float64)
    if dtype.is_float():
        return column.fill_nan(None)
    if isinstance(dtype, pl.Datetime) and dtype.time_zone in ("Etc/UTC", "Z", "+00:00"):
        return column.dt.convert_time_zone("UTC")
    return None
