"""Plain columns: whatever a source's types are, a table has numbers, text, truth values, dates and times.

Dictionaries become text, decimals become numbers, integers beyond 64 bits become text (they stay exact), a column
without any value becomes text. Nested values are refused by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import polars as pl

from discreet.errors import SourceError

_WIDE = (pl.Int128, pl.UInt128)
Packing = Literal["uncompressed", "gzip", "zstd"]
_DIGITS = 18  # that many always fit into 64 bits


def plain(lazy: pl.LazyFrame, source: str) -> pl.LazyFrame:
    """The same table with plain columns; a float that is not a number is missing."""
    schema = lazy.collect_schema()
    changes = [change for name, dtype in schema.items() if (change := _change(name, dtype, source)) is not None]
    return lazy.with_columns(changes) if changes else lazy


def printable(schema: Mapping[str, pl.DataType]) -> list[pl.Expr]:
    """Changes for formats of text, which have no word for a span of time."""
    return [pl.col(name).dt.to_string("iso") for name, dtype in schema.items() if dtype == pl.Duration]


def _change(name: str, dtype: pl.DataType, source: str) -> pl.Expr | None:
    column = pl.col(name)
    if isinstance(dtype, pl.BaseExtension):
        return column.ext.storage()
    if dtype.is_nested() or dtype == pl.Object:
        raise SourceError(f"{source}: the column '{name}' holds nested values ({dtype}); only plain values can be masked")
    if isinstance(dtype, pl.Categorical | pl.Enum) or dtype in (pl.Null, *_WIDE):
        return column.cast(pl.String)
    if dtype == pl.Binary:  # some writers of Parquet do not say that their bytes are text
        return column.cast(pl.String)
    if isinstance(dtype, pl.Decimal):
        whole = dtype.scale == 0
        return column.cast(pl.Int64 if whole and dtype.precision <= _DIGITS else pl.String if whole else pl.Float64)
    if dtype.is_float():
        return column.fill_nan(None)
    if isinstance(dtype, pl.Datetime) and dtype.time_zone in ("Etc/UTC", "Z", "+00:00"):
        return column.dt.convert_time_zone("UTC")
    return None
