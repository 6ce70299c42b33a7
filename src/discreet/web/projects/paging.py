"""Pages of tables as JSON values, and of a masked table compared with its original."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from discreet.convert.reading import paging
from discreet.engine.encoding.record_links import LINK_COLUMN
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


@dataclass(frozen=True)
class ComparedPage:
    """A page of a masked table with the original cells."""

    columns: list[str]
    """Columns of the masked table; ``removed`` are the columns that only the original has."""
    removed: list[str]
    rows: list[dict[str, Any]]
    """Per row: ``record`` (number of the original record from 1, None for a synthetic record) and ``cells``, a list of
    {before, after, changed} in the order of the columns."""
    total: int
    offset: int


def read_rows(
    settings: Settings, file: Path, *, offset: int = 0, limit: int = 50, sort: str | None = None, descending: bool = False,
    filters: Mapping[str, str] | None = None,
) -> Page:  # fmt: skip
    """Read a page of a Parquet file in the data directory."""
    _check_page(settings, file, offset, limit)
    try:
        page = paging.read_page(file, offset=offset, limit=limit, sort=sort, descending=descending, filters=filters)
    except DiscreetError as error:
        raise InvalidRequest(str(error)) from None
    values = [[_json_value(value) for value in row] for row in page.frame.iter_rows()]
    return Page(page.frame.columns, values, page.total, offset, [number + 1 for number in page.numbers])


def compare_rows(
    settings: Settings, original: Path, masked: Path, link: Path, *, offset: int = 0, limit: int = 50
) -> ComparedPage:
    """Compare rows of a masked table, in the order of the file, with their original records."""
    _check_page(settings, masked, offset, limit)
    _check_page(settings, original, offset, limit)
    try:
        after = paging.read_page(masked, offset=offset, limit=limit)
        numbers = paging.read_rows(link, after.numbers)[LINK_COLUMN].to_list()
        before = paging.read_rows(original, [number - 1 for number in numbers if number is not None])
    except DiscreetError as error:
        raise InvalidRequest(str(error)) from None
    columns = after.frame.columns
    originals = iter(before.iter_rows(named=True))
    compared = []
    for number, row in zip(numbers, after.frame.iter_rows(named=True), strict=True):
        original_row = next(originals) if number is not None else {}
        cells = [
            {
                "before": _json_value(original_row.get(name)),
                "after": _json_value(row[name]),
                "changed": is_changed(original_row.get(name), row[name]),
            }
            for name in columns
        ]
        compared.append({"record": number, "cells": cells})
    removed = [name for name in before.columns if name not in columns]
    return ComparedPage(columns, removed, compared, after.total, offset)


def is_changed(before: Any, after: Any) -> bool:
    """Whether a cell was changed; 44 and 44.0 are equal, and so are values with the same text."""
    if before is None or after is None:
        return before is not after
    if isinstance(before, int | float) and isinstance(after, int | float):
        return before != after
    return bool(_json_value(before) != _json_value(after)) and str(before) != str(after)


def _check_page(settings: Settings, file: Path, offset: int, limit: int) -> None:
    if offset < 0 or not 1 <= limit <= MAX_ROWS:
        raise InvalidRequest(f"the offset must be 0 or more and the limit 1 to {MAX_ROWS}; got offset {offset} and limit {limit}")
    if not file.resolve().is_relative_to(settings.home):
        raise NotFound("the table does not exist")
    if not file.is_file():
        raise NotFound("the table's file is no longer on the server")


def _json_value(value: Any) -> Any:
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
