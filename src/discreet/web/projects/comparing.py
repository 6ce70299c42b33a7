"""A masked table compared with its original: cell by cell for a page of rows, and in total for every column.

What was changed where is computed by the job that makes a release and stored beside its link, because comparing all cells of a
large table takes seconds; a purge deletes both. It belongs to the original, so the file is confidential.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.convert.reading import paging
from discreet.convert.writing.atomic import write_bytes
from discreet.engine.encoding.record_links import LINK_COLUMN
from discreet.errors import DiscreetError
from discreet.web.errors import InvalidRequest
from discreet.web.projects.paging import check_page, json_value
from discreet.web.settings import Settings

CHANGES_FILE = "changes-confidential.parquet"
"""Beside the link; a purge deletes it with it."""
KEPT_COMPARISONS = 4
"""Releases whose changes are kept in memory, eight bytes per changed row."""


@dataclass(frozen=True)
class ColumnStatistics:
    """One column of one table."""

    missing: int
    distinct: int
    mean: float | None
    """Of numbers; None for other columns."""
    most_frequent: Any
    most_frequent_records: int


@dataclass(frozen=True)
class ColumnChanges:
    """How many values of a released column differ from the original."""

    name: str
    changed: int
    """Records with another value than the original, or with none."""
    suppressed: int
    """Of these, records whose value is missing now."""
    records: int
    """Released records that stem from an original one."""
    before: ColumnStatistics | None = None
    """Of all original records; None where the column is new, or where releases are compared."""
    after: ColumnStatistics | None = None

    @property
    def share(self) -> float:
        """The share of records with a changed value."""
        return self.changed / self.records if self.records else 0.0


@dataclass(frozen=True)
class Changes:
    """What a release changed: per column, and in which rows."""

    columns: tuple[ColumnChanges, ...]
    rows: NDArray[np.intp]
    """Positions in the release, from 0, of rows with at least one changed value."""


@dataclass(frozen=True)
class ComparedPage:
    """A page of a masked table with the original cells."""

    columns: list[str]
    """Columns of the masked table that are shown, those with changes first; ``removed`` are those that only the original has."""
    removed: list[str]
    rows: list[dict[str, Any]]
    """Per row: ``number`` (position in the release from 1), ``record`` (number of the original record from 1, None for a
    synthetic record) and ``cells``, a list of {before, after, changed} in the order of the columns."""
    total: int
    """Rows that can be paged through."""
    offset: int
    changes: Changes


def compare_rows(
    settings: Settings,
    original: Path,
    masked: Path,
    link: Path,
    *,
    offset: int = 0,
    limit: int = 50,
    changed_rows: bool = False,
    changed_columns: bool = False,
) -> ComparedPage:
    """Compare rows of a masked table, in the order of the file, with their original records.

    ``changed_rows`` leaves out rows in which nothing was changed, ``changed_columns`` columns in which nothing was.
    """
    check_page(settings, masked, offset, limit)
    check_page(settings, original, offset, limit)
    try:
        changes = measure_changes(original, masked, link)
        if changed_rows:
            positions, total = changes.rows[offset : offset + limit].tolist(), len(changes.rows)
            after = paging.read_rows(masked, positions)
        else:
            page = paging.read_page(masked, offset=offset, limit=limit)
            positions, total, after = page.numbers, page.total, page.frame
        numbers = paging.read_rows(link, positions)[LINK_COLUMN].to_list()
        original_columns = list(pl.read_parquet_schema(original))
        compared_columns = [name for name in original_columns if name in after.columns]
        before = paging.read_rows(original, [number - 1 for number in numbers if number is not None], compared_columns)
    except DiscreetError as error:
        raise InvalidRequest(str(error)) from None
    # those with changes first, because nobody finds them in the middle of a wide table
    first_changed = sorted(changes.columns, key=lambda column: not column.changed)
    columns = [column.name for column in first_changed if column.changed or not changed_columns]
    originals = iter(before.iter_rows(named=True))
    compared = []
    for position, number, row in zip(positions, numbers, after.iter_rows(named=True), strict=True):
        cells = compare_cells(columns, next(originals) if number is not None else {}, row)
        compared.append({"number": position + 1, "record": number, "cells": cells})
    removed = [name for name in original_columns if name not in after.columns]
    return ComparedPage(columns, removed, compared, total, offset, changes)


def compare_cells(columns: list[str], before: dict[str, Any], after: dict[str, Any]) -> list[dict[str, Any]]:
    """The cells of a row and its counterpart: ``before``, ``after`` and ``changed``."""
    return [
        {
            "before": json_value(before.get(name)),
            "after": json_value(after[name]),
            "changed": is_changed(before.get(name), after[name]),
        }
        for name in columns
    ]


def is_changed(before: Any, after: Any) -> bool:
    """Whether a cell was changed; 44 and 44.0 are equal, and so are values with the same text."""
    if before is None or after is None:
        return before is not after
    if isinstance(before, int | float) and isinstance(after, int | float):
        return before != after and not (before != before and after != after)  # noqa: PLR0124 - two NaN are the same value
    return bool(json_value(before) != json_value(after)) and str(before) != str(after)


def measure_changes(original: Path, masked: Path, link: Path) -> Changes:
    """What a release changed: as the job that made it stored it, else compared now, for releases of earlier versions."""
    return _find_changes(original, masked, link, masked.stat().st_mtime_ns, link.stat().st_mtime_ns)


@lru_cache(maxsize=KEPT_COMPARISONS)
def _find_changes(original: Path, masked: Path, link: Path, _masked_at: int, _linked_at: int) -> Changes:
    stored = link.with_name(CHANGES_FILE)
    return _read_changes(stored) if stored.is_file() else _compare_tables(original, masked, link)


def write_changes(original: Path, masked: Path, link: Path) -> None:
    """Compare a release with its original and store the result beside the link."""
    changes = _compare_tables(original, masked, link)
    buffer = BytesIO()
    columns = json.dumps([asdict(column) for column in changes.columns])
    pl.DataFrame({"row": pl.Series(changes.rows, dtype=pl.UInt32)}).write_parquet(buffer, metadata={"columns": columns})
    write_bytes(link.with_name(CHANGES_FILE), buffer.getvalue(), private=True)


def _read_changes(file: Path) -> Changes:
    rows = pl.read_parquet(file, glob=False, hive_partitioning=False)["row"].to_numpy().astype(np.intp)
    columns = []
    for values in json.loads(pl.read_parquet_metadata(file)["columns"]):
        before, after = (None if values[side] is None else ColumnStatistics(**values[side]) for side in ("before", "after"))
        columns.append(ColumnChanges(**values | {"before": before, "after": after}))
    return Changes(tuple(columns), rows)


def _compare_tables(original: Path, masked: Path, link: Path) -> Changes:
    """Compare all cells of a release with the original, column by column to save memory."""
    records = pl.read_parquet(link, glob=False, hive_partitioning=False)[LINK_COLUMN]
    is_original = records.is_not_null()
    sources = (records.drop_nulls() - 1).cast(pl.UInt32)
    originals = pl.scan_parquet(original, glob=False, hive_partitioning=False)
    known = originals.collect_schema()
    changed_rows = np.zeros(len(records), dtype=bool)
    columns = []
    for name in pl.read_parquet_schema(masked):
        released = pl.read_parquet(masked, columns=[name], glob=False, hive_partitioning=False)[name]
        after = released.filter(is_original)
        missing = pl.Series(name, [None], dtype=after.dtype).new_from_index(0, len(after))
        source = originals.select(pl.col(name)).collect()[name] if name in known else None
        changed = find_changed(missing if source is None else source.gather(sources), after)
        changed_rows[is_original.to_numpy()] |= changed
        suppressed = int((changed & after.is_null().to_numpy()).sum())
        statistics = None if source is None else describe_column(source), describe_column(released)
        columns.append(ColumnChanges(name, int(changed.sum()), suppressed, len(after), *statistics))
    return Changes(tuple(columns), np.flatnonzero(changed_rows | ~is_original.to_numpy()))


def describe_column(column: pl.Series) -> ColumnStatistics:
    """Missing values, distinct values, and the mean of numbers or the most frequent value of others (the first of equals)."""
    known = column.drop_nulls()
    if column.dtype.is_numeric():
        finite = known.cast(pl.Float64).filter(known.cast(pl.Float64).is_finite())
        mean = float(np.mean(finite.to_numpy())) if len(finite) else None
        return ColumnStatistics(column.null_count(), known.n_unique(), mean, None, 0)
    if known.is_empty():
        return ColumnStatistics(column.null_count(), 0, None, None, 0)
    top = known.alias("value").cast(pl.String).value_counts(name="n").sort(["n", "value"], descending=[True, False]).row(0)
    return ColumnStatistics(column.null_count(), known.n_unique(), None, json_value(top[0]), int(top[1]))


def find_changed(before: pl.Series, after: pl.Series) -> NDArray[np.bool_]:
    """Which values of a column were changed, as :func:`is_changed` says of each."""
    before, after = _decode_categories(before), _decode_categories(after)
    if before.dtype.is_integer() and after.dtype.is_integer():
        before, after = before.cast(pl.Int128), after.cast(pl.Int128)
    if before.dtype == after.dtype:
        return before.ne_missing(after).to_numpy()
    pairs = pl.DataFrame({"before": before, "after": after})
    distinct = pairs.unique()
    verdicts = pl.Series("changed", [is_changed(*pair) for pair in distinct.iter_rows()], dtype=pl.Boolean)
    return pairs.join(
        distinct.with_columns(verdicts), on=["before", "after"], how="left", nulls_equal=True, maintain_order="left"
    )["changed"].to_numpy()


def _decode_categories(column: pl.Series) -> pl.Series:
    return column.cast(pl.String) if isinstance(column.dtype, pl.Categorical | pl.Enum) else column
