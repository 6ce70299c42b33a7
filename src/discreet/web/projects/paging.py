"""Tables as pages show them: plain values, page by page, and a masked table beside its original."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from discreet.convert.reading import paging
from discreet.engine.encoding.record_links import LINK
from discreet.errors import DiscreetError
from discreet.web.errors import Invalid, NotFound
from discreet.web.settings import Settings

MOST = 1000
"""Rows that one page may have."""


@dataclass(frozen=True)
class Page:
    """Some rows of a table."""

    columns: list[str]
    rows: list[list[Any]]
    """Plain JSON values in the order of the columns."""
    total: int
    """Rows that the filters let through."""
    offset: int
    numbers: list[int]
    """Which records the rows are, counted from 1."""


@dataclass(frozen=True)
class Compared:
    """Some rows of a masked table beside their originals."""

    columns: list[str]
    """The masked table's; ``removed`` are those that only the original has."""
    removed: list[str]
    rows: list[dict[str, Any]]
    """Each with ``record`` (the original's number from 1, None where it was simulated) and ``cells``: a list of
    {before, after, changed} in the order of the columns."""
    total: int
    offset: int


def rows(
    settings: Settings, file: Path, *, offset: int = 0, limit: int = 50, sort: str | None = None, descending: bool = False,
    filters: Mapping[str, str] | None = None,
) -> Page:  # fmt: skip
    """A page of a Parquet file under the data directory; see :func:`discreet.convert.reading.paging.page` for the filters."""
    _check(settings, file, offset, limit)
    try:
        found = paging.page(file, offset=offset, limit=limit, sort=sort, descending=descending, filters=filters)
    except DiscreetError as error:
        raise Invalid(str(error)) from None
    plain = [[_plain(value) for value in row] for row in found.frame.iter_rows()]
    return Page(found.frame.columns, plain, found.total, offset, [number + 1 for number in found.numbers])


def beside(settings: Settings, original: Path, masked: Path, link: Path, *, offset: int = 0, limit: int = 50) -> Compared:
    """Rows of a masked table as it was written, each beside its original."""
    _check(settings, masked, offset, limit)
    _check(settings, original, offset, limit)
    try:
        after = paging.page(masked, offset=offset, limit=limit)
        numbers = paging.at(link, after.numbers)[LINK].to_list()
        before = paging.at(original, [number - 1 for number in numbers if number is not None])
    except DiscreetError as error:
        raise Invalid(str(error)) from None
    columns = after.frame.columns
    found = iter(before.iter_rows(named=True))
    made = []
    for number, row in zip(numbers, after.frame.iter_rows(named=True), strict=True):
        old = next(found) if number is not None else {}
        cells = [
            {"before": _plain(old.get(name)), "after": _plain(row[name]), "changed": differs(old.get(name), row[name])}
            for name in columns
        ]
        made.append({"record": number, "cells": cells})
    removed = [name for name in before.columns if name not in columns]
    return Compared(columns, removed, made, after.total, offset)


def differs(before: Any, after: Any) -> bool:
    """Whether a cell was changed; 44 and 44.0 are the same, and so is what prints the same."""
    if before is None or after is None:
        return before is not after
    if isinstance(before, int | float) and isinstance(after, int | float):
        return before != after
    return bool(_plain(before) != _plain(after)) and str(before) != str(after)


def _check(settings: Settings, file: Path, offset: int, limit: int) -> None:
    if offset < 0 or not 1 <= limit <= MOST:
        raise Invalid(f"a page begins at 0 or later and has 1 to {MOST} rows; got offset {offset} and limit {limit}")
    if not file.resolve().is_relative_to(settings.home):
        raise NotFound("there is no such table")
    if not file.is_file():
        raise NotFound("the table's file is not on the server any more")


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return value.isoformat(" ") if isinstance(value, dt.datetime) else str(value)


def column_rows(file: Path) -> list[dict[str, Any]]:
    """A row a column of a Parquet file: name, type, missing values, distinct values; counted column by column."""
    lazy = pl.scan_parquet(file, glob=False, hive_partitioning=False)
    made = []
    for name, dtype in lazy.collect_schema().items():
        column = pl.col(name)
        counts = lazy.select(column.null_count().alias("nulls"), column.drop_nulls().n_unique().alias("distinct")).collect()
        made.append({"name": name, "type": str(dtype), "nulls": counts["nulls"][0], "distinct": counts["distinct"][0]})
    return made
