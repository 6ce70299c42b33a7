"""Pages of tables as JSON values."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from discreet.convert.reading import paging
from discreet.errors import DiscreetError
from discreet.web.errors import InvalidRequest, NotFound
from discreet.web.settings import Settings

MAX_ROWS = 1000
"""Maximum number of rows per page."""


@dataclass(frozen=True)
class Page:
    """A page of a table."""

    columns: list[str]
    rows: list[list[Any]]
    """JSON values in the order of the columns."""
    total: int
    """Number of rows that match the filters."""
    offset: int
    numbers: list[int]
    """The record number of each row, counted from 1."""


def read_rows(
    settings: Settings, file: Path, *, offset: int = 0, limit: int = 50, sort: str | None = None, descending: bool = False,
    filters: Mapping[str, str] | None = None,
) -> Page:  # fmt: skip
    """Read a page of a Parquet file in the data directory."""
    check_page(settings, file, offset, limit)
    try:
        page = paging.read_page(file, offset=offset, limit=limit, sort=sort, descending=descending, filters=filters)
    except DiscreetError as error:
        raise InvalidRequest(str(error)) from None
    values = [[json_value(value) for value in row] for row in page.frame.iter_rows()]
    return Page(page.frame.columns, values, page.total, offset, [number + 1 for number in page.numbers])


def check_page(settings: Settings, file: Path, offset: int, limit: int) -> None:
    """Raise if a page has no place in a table, or if the table is not a file in the data directory."""
    if offset < 0 or not 1 <= limit <= MAX_ROWS:
        raise InvalidRequest(f"the offset must be 0 or more and the limit 1 to {MAX_ROWS}; got offset {offset} and limit {limit}")
    if not file.resolve().is_relative_to(settings.home):
        raise NotFound("the table does not exist")
    if not file.is_file():
        raise NotFound("the table's file is no longer on the server")


def json_value(value: Any) -> Any:
    """A value of a table as one that JSON has."""
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return value.isoformat(" ") if isinstance(value, dt.datetime) else str(value)


def describe_columns(file: Path) -> list[dict[str, Any]]:
    """One entry per column of a Parquet file: name, type, nulls and distinct values; read column by column to save memory."""
    lazy = pl.scan_parquet(file, glob=False, hive_partitioning=False)
    columns = []
    for name, dtype in lazy.collect_schema().items():
        column = pl.col(name)
        counts = lazy.select(column.null_count().alias("nulls"), column.drop_nulls().n_unique().alias("distinct")).collect()
        columns.append({"name": name, "type": str(dtype), "nulls": counts["nulls"][0], "distinct": counts["distinct"][0]})
    return columns
