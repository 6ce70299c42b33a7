"""Pages of a Parquet file, sorted and filtered, without reading the whole file.

DuckDB first determines the row numbers of a page from the columns that the sort order and the filters use, then fetches
these rows. Columns are referred to by position (c0, c1, …) and values are parameters, so that neither can inject SQL.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from discreet.convert.errors import convert_errors
from discreet.errors import DataError, nearest

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MISSING = ("null", "is null", "missing", "is missing")
PRESENT = ("not null", "is not null", "not missing", "is not missing")
_TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_COMPARISON = re.compile(r"(>=|<=|!=|>|<|=)\s*(.+)", re.DOTALL)
_BOUNDS = re.compile(r"(.+?)\s*\.\.\s*(.+)", re.DOTALL)
_DATABASE_SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false", "autoload_known_extensions": "false", "python_enable_replacements": "false",
    "enable_external_file_cache": "false", "temp_directory": "", "threads": "2", "memory_limit": "1GB",
}  # fmt: skip
"""No downloads; nothing of a table is cached in memory or spilled to disk."""
_ROW_NUMBER = "file_row_number"
_ONE_PART = 2_000
"""Rows within so many of each other are read as one part of the file."""
_SORT_UP_TO = 5_000
_SAMPLE_ROWS = 4_000
_FEW_VALUES = 1_000
_SAMPLE_MARGIN = 130
"""Size of the sample; number of distinct values below which they are counted; and the distance, in positions of the sample,
by which an estimated rank is wrong at most once in ten thousand times."""


@dataclass(frozen=True)
class PageRows:
    """Some rows of a table; ``numbers`` are their row numbers, counted from 0."""

    frame: pl.DataFrame
    numbers: list[int]
    total: int
    """Number of rows that match the filters."""


def read_page(
    path: Path, *, offset: int = 0, limit: int = 50, sort: str | None = None, descending: bool = False,
    filters: Mapping[str, str] | None = None,
) -> PageRows:  # fmt: skip
    """Read the rows from ``offset`` on, in the order of a column (missing values last) or of the file.

    ``filters`` has at most one text per column: ``is missing``, ``is not missing``, ``=x``, ``!=x``; for numbers and dates
    ``>=5``, ``<3``, ``1..9`` (both bounds included) or a value; for text a substring, ignoring case.
    """
    with convert_errors(path.name, "cannot be read"), closing(_open_cursor()) as connection:
        schema = pl.read_parquet_schema(path)
        names = list(schema)
        table = f"read_parquet(?) AS t({', '.join(f'c{index}' for index in range(len(names)))})"
        where, values = _conditions(schema, filters or {})
        source = f"{table} WHERE {' AND '.join(where)}" if where else table
        parameters = [str(path), *values]
        column = None if sort is None else _column_alias(schema, sort)
        total = int(connection.execute(f"SELECT count(*) FROM {source}", parameters).fetchall()[0][0])
        if column is None and not where:
            numbers = list(range(min(offset, total), min(offset + limit, total)))
        elif column is None:
            query = f"SELECT {_ROW_NUMBER} FROM {source} ORDER BY {_ROW_NUMBER} LIMIT ? OFFSET ?"
            numbers = [row[0] for row in connection.execute(query, [*parameters, limit, offset]).fetchall()]
        else:
            numbers = _sorted_row_numbers(
                connection, source, parameters, column, "DESC" if descending else "ASC", offset, limit, total
            )
        return PageRows(_fetch_rows(connection, table, path, names, numbers, names), numbers, total)


def _sorted_row_numbers(
    connection: DuckDBPyConnection,
    source: str,
    parameters: list[Any],
    column: str,
    direction: str,
    offset: int,
    limit: int,
    total: int,
) -> list[int]:
    """The row numbers of a page in the order of a column.

    Near the beginning a top-N sort (a heap) is fast. Further down only the values near the page are sorted: in a column with
    few distinct values their counts determine them, otherwise a sample gives two values between which the page must lie.
    """
    if offset + limit > _SORT_UP_TO and offset < total:
        query = f"SELECT v FROM (SELECT {column} AS v FROM {source}) USING SAMPLE reservoir({_SAMPLE_ROWS} ROWS) REPEATABLE (1)"
        sample = [
            row[0]
            for row in connection.execute(f"SELECT v FROM ({query}) ORDER BY v {direction} NULLS LAST", parameters).fetchall()
        ]
        if len(set(sample)) < _FEW_VALUES:
            return _row_numbers_by_counting(connection, source, parameters, column, direction, offset, limit)
        numbers = _row_numbers_by_sampling(connection, source, parameters, column, direction, offset, limit, sample, total)
        if numbers is not None:
            return numbers
    return _row_numbers_by_sorting(connection, source, parameters, column, direction, offset, limit)


def _row_numbers_by_sorting(
    connection: DuckDBPyConnection, source: str, parameters: list[Any], column: str, direction: str, offset: int, limit: int
) -> list[int]:
    query = f"SELECT {_ROW_NUMBER} FROM {source} ORDER BY {column} {direction} NULLS LAST, {_ROW_NUMBER} LIMIT ? OFFSET ?"
    return [row[0] for row in connection.execute(query, [*parameters, limit, offset]).fetchall()]


def _row_numbers_by_counting(
    connection: DuckDBPyConnection, source: str, parameters: list[Any], column: str, direction: str, offset: int, limit: int
) -> list[int]:
    """Count each value; the counts determine which values the page contains, and only their rows are sorted."""
    page_values = connection.execute(
        f"SELECT v, start FROM (SELECT v, n, sum(n) OVER (ORDER BY v {direction} NULLS LAST) - n AS start FROM "
        f"(SELECT {column} AS v, count(*) AS n FROM {source} GROUP BY 1)) "
        "WHERE start < ? AND start + n > ? ORDER BY start",
        [*parameters, offset + limit, offset],
    ).fetchall()
    if not page_values:
        return []
    present = [value for value, _ in page_values if value is not None]
    conditions = [f"{column} BETWEEN ? AND ?"] if present else []
    conditions += [f"{column} IS NULL"] if len(present) < len(page_values) else []
    bounds = ([present[0], present[-1]] if direction == "ASC" else [present[-1], present[0]]) if present else []
    return _row_numbers_by_sorting(
        connection,
        _add_condition(source, " OR ".join(conditions)),
        [*parameters, *bounds],
        column,
        direction,
        offset - int(page_values[0][1]),
        limit,
    )


def _row_numbers_by_sampling(
    connection: DuckDBPyConnection,
    source: str,
    parameters: list[Any],
    column: str,
    direction: str,
    offset: int,
    limit: int,
    sample: list[Any],
    total: int,
) -> list[int] | None:
    """Sort only the rows between two values of a sorted sample; None if the page does not lie between them.

    The rows before the first value are counted, so the position is exact whatever the sample is.
    """
    first = int(offset / total * len(sample)) - _SAMPLE_MARGIN
    last = math.ceil((offset + limit) / total * len(sample)) + _SAMPLE_MARGIN
    low = sample[first] if first >= 0 else None
    high = sample[last] if last < len(sample) else None
    before, after = ("<", ">") if direction == "ASC" else (">", "<")
    if first >= 0 and low is None:
        return None  # the page is among the missing values
    skipped = 0
    if low is not None:
        skipped = int(
            connection.execute(
                f"SELECT count(*) FROM {_add_condition(source, f'{column} {before} ?')}", [*parameters, low]
            ).fetchall()[0][0]
        )
    if skipped > offset:
        return None
    conditions, bounds = [], []
    if low is not None:
        conditions.append(f"({column} {after}= ?{'' if high is not None else f' OR {column} IS NULL'})")
        bounds.append(low)
    if high is not None:
        conditions.append(f"{column} {before}= ?")
        bounds.append(high)
    narrowed = _add_condition(source, " AND ".join(conditions)) if conditions else source
    numbers = _row_numbers_by_sorting(connection, narrowed, [*parameters, *bounds], column, direction, offset - skipped, limit)
    return numbers if len(numbers) == min(limit, total - offset) else None


def _add_condition(source: str, condition: str) -> str:
    return f"{source} {'AND' if ' WHERE ' in source else 'WHERE'} ({condition})"


def read_rows(path: Path, numbers: Sequence[int], columns: Sequence[str] | None = None) -> pl.DataFrame:
    """Read the rows with these numbers, in the given order; ``columns`` (default: all) are the only ones that are read.

    Rows that are close together are read as one part of the file, which takes a fifth of the time.
    """
    if numbers and max(numbers) - min(numbers) < _ONE_PART:
        with convert_errors(path.name, "cannot be read"):
            lazy = pl.scan_parquet(path, glob=False, hive_partitioning=False)
            part = (lazy if columns is None else lazy.select(columns)).slice(min(numbers), max(numbers) - min(numbers) + 1)
            rows = part.collect()
            if len(rows) and max(numbers) - min(numbers) < len(rows):
                return rows[[number - min(numbers) for number in numbers]]
    with convert_errors(path.name, "cannot be read"), closing(_open_cursor()) as connection:
        names = list(pl.read_parquet_schema(path))
        table = f"read_parquet(?) AS t({', '.join(f'c{index}' for index in range(len(names)))})"
        return _fetch_rows(connection, table, path, names, numbers, names if columns is None else columns)


def _fetch_rows(
    connection: DuckDBPyConnection, table: str, path: Path, names: list[str], numbers: Sequence[int], shown: Sequence[str]
) -> pl.DataFrame:
    places = {name: index for index, name in enumerate(names)}
    columns = "".join(f", c{places[name]}" for name in shown)
    query = f"SELECT {_ROW_NUMBER} AS r{columns} FROM {table} WHERE {_ROW_NUMBER} IN (SELECT unnest(?))"
    order = pl.DataFrame({"r": pl.Series(list(numbers), dtype=pl.Int64)})
    content = connection.sql(query, params=[str(path), list(numbers) or [-1]]).to_arrow_table()
    rows = pl.DataFrame(content).with_columns(pl.col("r").cast(pl.Int64))
    ordered = order.join(rows, on="r", how="left", maintain_order="left").drop("r")
    return ordered.rename(dict(zip(ordered.columns, shown, strict=True)))


def _open_cursor() -> DuckDBPyConnection:
    return _database().cursor()


@cache
def _database() -> DuckDBPyConnection:
    """One database for all pages, because opening one takes 40 ms; its cursors are independent."""
    import duckdb

    return duckdb.connect(config=_DATABASE_SETTINGS)


def _column_alias(schema: Mapping[str, pl.DataType], name: str) -> str:
    for index, column in enumerate(schema):
        if column == name:
            return f"c{index}"
    raise DataError(f"there is no column '{name[:80]}'; {nearest(name[:80], list(schema))}")


def _conditions(schema: Mapping[str, pl.DataType], filters: Mapping[str, str]) -> tuple[list[str], list[Any]]:
    where: list[str] = []
    values: list[Any] = []
    for name, text in filters.items():
        column = _column_alias(schema, name)
        if not text.strip():
            continue
        condition, parameters = _condition(column, schema[name], text, name)
        where.append(condition)
        values += parameters
    return where, values


def _condition(column: str, dtype: pl.DataType, text: str, name: str) -> tuple[str, list[Any]]:
    stripped = text.strip()
    if stripped.lower() in MISSING:
        return f"{column} IS NULL", []
    if stripped.lower() in PRESENT:
        return f"{column} IS NOT NULL", []
    is_text = dtype == pl.String or isinstance(dtype, pl.Categorical | pl.Enum)
    if comparison := _COMPARISON.fullmatch(stripped):
        operator, operand = comparison.groups()
        if not is_text or operator in ("=", "!="):
            return f"{column} {operator} ?", [operand if is_text else _parse_value(dtype, operand, name)]
    if is_text:
        return f"contains(lower({column}::VARCHAR), lower(?))", [text]
    if bounds := _BOUNDS.fullmatch(stripped):
        return f"{column} BETWEEN ? AND ?", [_parse_value(dtype, bound, name) for bound in bounds.groups()]
    return f"{column} = ?", [_parse_value(dtype, stripped, name)]


def _parse_value(dtype: pl.DataType, text: str, name: str) -> Any:
    """Parse the operand of a filter as a value of the column's type."""
    stripped = text.strip()
    try:
        if dtype == pl.Boolean:
            return _TRUTH[stripped.lower()]
        if dtype == pl.Date or isinstance(dtype, pl.Datetime):
            return dt.datetime.fromisoformat(stripped)
        if dtype == pl.Time:
            return dt.time.fromisoformat(stripped)
        if dtype.is_integer() and re.fullmatch(r"[+-]?\d{1,20}", stripped):
            return int(stripped)
        return float(stripped)
    except (ValueError, KeyError):
        expected = "a date such as 2024-12-31" if dtype.is_temporal() else "true or false" if dtype == pl.Boolean else "a number"
        raise DataError(
            f"'{stripped[:80]}' is not a valid filter for the column '{name}': give {expected}, >=, <, a..b, or 'is missing'"
        ) from None
