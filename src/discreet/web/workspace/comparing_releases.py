"""Two releases of a project against each other: cell by cell where their rows can be matched, and by column in any case.

Rows are matched as a release is matched with its original, by the confidential link that names the original record of a row: so
the order of the rows does not matter, and records that sampling left in one release only are counted and left out. Releases of
different tables, purged releases (their links are gone) and synthetic rows cannot be matched.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.convert.reading import paging
from discreet.engine.encoding.record_links import LINK_COLUMN
from discreet.errors import DiscreetError
from discreet.web.errors import InvalidRequest
from discreet.web.projects import release_files
from discreet.web.projects.comparing import (
    Changes,
    ColumnChanges,
    ColumnStatistics,
    ComparedPage,
    compare_cells,
    describe_column,
    find_changed,
)
from discreet.web.projects.paging import check_page
from discreet.web.projects.releases import Release
from discreet.web.settings import Settings

KEPT_COMPARISONS = 4
"""Pairs of releases whose comparison is kept in memory, never on disk."""


@dataclass(frozen=True)
class PairedColumn:
    """A column of either release; ``changed`` counts matched records that differ, None where they were not compared."""

    name: str
    changed: int | None
    first: ColumnStatistics | None
    second: ColumnStatistics | None


@dataclass(frozen=True)
class Alignment:
    """The rows of two releases that stem from the same original record, in the order of the second release."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    records: NDArray[np.int64]
    """The number of the original record, from 1."""
    only_first: int
    only_second: int
    reason: str
    """Why rows cannot be matched; empty where they can."""


@dataclass(frozen=True)
class ReleasePair:
    """What differs between two releases; ``page`` is None where rows cannot be matched."""

    columns: list[PairedColumn]
    aligned: int
    only_first: int
    only_second: int
    changed_rows: int
    reason: str
    page: ComparedPage | None


def compare(
    settings: Settings, first: Release, second: Release, *, offset: int = 0, limit: int = 50, changed_rows: bool = False,
    changed_columns: bool = False,
) -> ReleasePair:  # fmt: skip
    """Compare a page of two releases; ``changed_rows`` and ``changed_columns`` leave out what is the same in both."""
    files = [release_files.path(settings, release) for release in (first, second)]
    for file in files:
        check_page(settings, file, offset, limit)
    reason = "they were made from different tables" if first.dataset_id != second.dataset_id else ""
    if not reason and (first.purged is not None or second.purged is not None):
        reason = "the link of a release to its original was purged"
    try:
        columns, alignment, rows = _measure(files[0], files[1], tuple(file.stat().st_mtime_ns for file in files), reason)
        page = None
        if not alignment.reason:
            positions = rows if changed_rows else np.arange(len(alignment.second))
            page = _read_page(files, alignment, columns, positions, offset, limit, changed_columns=changed_columns)
    except DiscreetError as error:
        raise InvalidRequest(str(error)) from None
    return ReleasePair(
        columns, len(alignment.second), alignment.only_first, alignment.only_second, len(rows), alignment.reason, page
    )


def align(first: pl.Series, second: pl.Series) -> Alignment:
    """Match rows by the number of their original record; None stands for a synthetic row."""
    tables = [
        pl.DataFrame({"record": records.cast(pl.Int64), "row": np.arange(len(records))}).drop_nulls()
        for records in (first, second)
    ]
    if any(len(table) < len(records) for table, records in zip(tables, (first, second), strict=True)):
        return _unmatched("a release has synthetic rows, which stem from no original record")
    if any(table["record"].n_unique() < len(table) for table in tables):
        return _unmatched("a release has several rows of one original record")
    both = tables[1].join(tables[0], on="record", how="inner", suffix="_first").sort("row")
    if both.is_empty():
        return _unmatched("no record is in both releases")
    rows_first, rows_second, numbers = (both[name].to_numpy() for name in ("row_first", "row", "record"))
    return Alignment(rows_first, rows_second, numbers, len(first) - len(both), len(second) - len(both), "")


def _unmatched(reason: str) -> Alignment:
    nothing = np.empty(0, dtype=np.int64)
    return Alignment(nothing, nothing, nothing, 0, 0, reason)


@lru_cache(maxsize=KEPT_COMPARISONS)
def _measure(
    first: Path, second: Path, _written: tuple[int, ...], reason: str
) -> tuple[list[PairedColumn], Alignment, NDArray[np.intp]]:
    """Compare all cells column by column, to save memory; the rows are positions in the alignment."""
    alignment = _unmatched(reason) if reason else align(*(_read_column(_link(file), LINK_COLUMN) for file in (first, second)))
    names = [list(pl.read_parquet_schema(file)) for file in (first, second)]
    differs = np.zeros(len(alignment.second), dtype=bool)
    columns = []
    for name in dict.fromkeys([*names[1], *names[0]]):
        values = [_read_column(file, name) if name in known else None for file, known in zip((first, second), names, strict=True)]
        changed = None
        if values[0] is not None and values[1] is not None and not alignment.reason:
            different = find_changed(values[0].gather(alignment.first), values[1].gather(alignment.second))
            differs |= different
            changed = int(different.sum())
        statistics = [None if column is None else describe_column(column) for column in values]
        columns.append(PairedColumn(name, changed, statistics[0], statistics[1]))
    return sorted(columns, key=lambda column: -(column.changed or 0)), alignment, np.flatnonzero(differs)


def _read_page(
    files: list[Path], alignment: Alignment, columns: list[PairedColumn], positions: NDArray[Any], offset: int, limit: int, *,
    changed_columns: bool,
) -> ComparedPage:  # fmt: skip
    chosen = positions[offset : offset + limit]
    before, after = (
        paging.read_rows(file, rows[chosen].tolist())
        for file, rows in zip(files, (alignment.first, alignment.second), strict=True)
    )
    compared = [column for column in columns if column.changed is not None]
    names = [column.name for column in compared if column.changed or not changed_columns]
    rows = [
        {"number": int(alignment.second[at]) + 1, "record": int(alignment.records[at]), "cells": compare_cells(names, old, new)}
        for at, old, new in zip(chosen, before.iter_rows(named=True), after.iter_rows(named=True), strict=True)
    ]
    changes = tuple(ColumnChanges(column.name, column.changed or 0, 0, len(alignment.second)) for column in compared)
    removed = [name for name in before.columns if name not in after.columns]
    return ComparedPage(names, removed, rows, len(positions), offset, Changes(changes, positions))


def _read_column(file: Path, name: str) -> pl.Series:
    return pl.read_parquet(file, columns=[name], glob=False, hive_partitioning=False)[name]


def _link(masked: Path) -> Path:
    return masked.with_name("link.parquet")
