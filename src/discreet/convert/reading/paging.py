"""A Parquet file looked at page by page: sorted, filtered, and never read whole.

DuckDB first finds the numbers of a page's rows from the columns that the order and the filters name, then fetches those
rows. Columns are spoken of by their place and values are parameters, so neither names nor values can be anything but that.
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
_COMPARED = re.compile(r"(>=|<=|!=|>|<|=)\s*(.+)", re.DOTALL)
_BOUNDS = re.compile(r"(.+?)\s*\.\.\s*(.+)", re.DOTALL)
_SHUT: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false", "autoload_known_extensions": "false", "python_enable_replacements": "false",
    "enable_external_file_cache": "false", "temp_directory": "", "threads": "2", "memory_limit": "1GB",
}  # fmt: skip
"""Nothing is fetched from elsewhere, and nothing of a table stays in memory or is put on the disk."""
_ROW = "file_row_number"
_NEAR = 5_000
_SAMPLE = 4_000
_FEW = 1_000
_SLACK = 130
"""Values of a sample; different ones below which they are counted; places in it by which it errs once in ten thousand times."""


@dataclass(frozen=True)
class Rows:
    """Some rows of a table; ``numbers`` say which, counted from 0."""

    frame: pl.DataFrame
    numbers: list[int]
    total: int
    """Rows that the filters let through."""


def page(
    path: Path, *, offset: int = 0, limit: int = 50, sort: str | None = None, descending: bool = False,
    filters: Mapping[str, str] | None = None,
) -> Rows:  # fmt: skip
    """The rows from ``offset`` on, in the order of a column (missing values last) or of the file.

    A filter is a text a column: ``is missing``, ``is not missing``, ``=x``, ``!=x``; for numbers and dates ``>=5``, ``<3``,
    ``1..9`` (both inside) or a value; for text a part of it, however it is capitalised.
    """
    with convert_errors(path.name, "cannot be looked at"), closing(_open()) as link:
        schema = pl.read_parquet_schema(path)
        names = list(schema)
        table = f"read_parquet(?) AS t({', '.join(f'c{place}' for place in range(len(names)))})"
        where, values = _conditions(schema, filters or {})
        source = f"{table} WHERE {' AND '.join(where)}" if where else table
        given = [str(path), *values]
        column = None if sort is None else _place(schema, sort)
        total = int(link.execute(f"SELECT count(*) FROM {source}", given).fetchall()[0][0])
        if column is None and not where:
            numbers = list(range(min(offset, total), min(offset + limit, total)))
        elif column is None:
            query = f"SELECT {_ROW} FROM {source} ORDER BY {_ROW} LIMIT ? OFFSET ?"
            numbers = [row[0] for row in link.execute(query, [*given, limit, offset]).fetchall()]
        else:
            numbers = _sorted(link, source, given, column, "DESC" if descending else "ASC", offset, limit, total)
        return Rows(_fetched(link, table, path, names, numbers), numbers, total)


def _sorted(
    link: DuckDBPyConnection, source: str, given: list[Any], column: str, way: str, offset: int, limit: int, total: int
) -> list[int]:
    """The numbers of a page's rows in the order of a column.

    The first rows are a heap's work. Far behind them only the values that stand near the page are put in order: a column of few
    values is counted, and of one of many a sample says between which two the page must lie.
    """
    if offset + limit > _NEAR and offset < total:
        query = f"SELECT v FROM (SELECT {column} AS v FROM {source}) USING SAMPLE reservoir({_SAMPLE} ROWS) REPEATABLE (1)"
        sample = [row[0] for row in link.execute(f"SELECT v FROM ({query}) ORDER BY v {way} NULLS LAST", given).fetchall()]
        if len(set(sample)) < _FEW:
            return _counted(link, source, given, column, way, offset, limit)
        found = _between(link, source, given, column, way, offset, limit, sample, total)
        if found is not None:
            return found
    return _ordered(link, source, given, column, way, offset, limit)


def _ordered(
    link: DuckDBPyConnection, source: str, given: list[Any], column: str, way: str, offset: int, limit: int
) -> list[int]:
    query = f"SELECT {_ROW} FROM {source} ORDER BY {column} {way} NULLS LAST, {_ROW} LIMIT ? OFFSET ?"
    return [row[0] for row in link.execute(query, [*given, limit, offset]).fetchall()]


def _counted(
    link: DuckDBPyConnection, source: str, given: list[Any], column: str, way: str, offset: int, limit: int
) -> list[int]:
    """By counting each value: the counts say which values the page holds, and only their rows are put in order."""
    found = link.execute(
        f"SELECT v, start FROM (SELECT v, n, sum(n) OVER (ORDER BY v {way} NULLS LAST) - n AS start FROM "
        f"(SELECT {column} AS v, count(*) AS n FROM {source} GROUP BY 1)) "
        "WHERE start < ? AND start + n > ? ORDER BY start",
        [*given, offset + limit, offset],
    ).fetchall()
    if not found:
        return []
    held = [value for value, _ in found if value is not None]
    near = [f"{column} BETWEEN ? AND ?"] if held else []
    near += [f"{column} IS NULL"] if len(held) < len(found) else []
    bounds = ([held[0], held[-1]] if way == "ASC" else [held[-1], held[0]]) if held else []
    return _ordered(link, _and(source, " OR ".join(near)), [*given, *bounds], column, way, offset - int(found[0][1]), limit)


def _between(
    link: DuckDBPyConnection, source: str, given: list[Any], column: str, way: str, offset: int, limit: int, sample: list[Any],
    total: int,
) -> list[int] | None:  # fmt: skip
    """By two values of a sorted sample with the page between them; None where it does not lie there after all.

    What stands before the first is counted, so the place is exact however the sample was drawn.
    """
    first = int(offset / total * len(sample)) - _SLACK
    last = math.ceil((offset + limit) / total * len(sample)) + _SLACK
    low = sample[first] if first >= 0 else None
    high = sample[last] if last < len(sample) else None
    before, behind = ("<", ">") if way == "ASC" else (">", "<")
    if first >= 0 and low is None:
        return None  # among the missing values
    skipped = 0
    if low is not None:
        skipped = int(
            link.execute(f"SELECT count(*) FROM {_and(source, f'{column} {before} ?')}", [*given, low]).fetchall()[0][0]
        )
    if skipped > offset:
        return None
    inside, bounds = [], []
    if low is not None:
        inside.append(f"({column} {behind}= ?{'' if high is not None else f' OR {column} IS NULL'})")
        bounds.append(low)
    if high is not None:
        inside.append(f"{column} {before}= ?")
        bounds.append(high)
    near = _and(source, " AND ".join(inside)) if inside else source
    found = _ordered(link, near, [*given, *bounds], column, way, offset - skipped, limit)
    return found if len(found) == min(limit, total - offset) else None


def _and(source: str, condition: str) -> str:
    return f"{source} {'AND' if ' WHERE ' in source else 'WHERE'} ({condition})"


def at(path: Path, numbers: Sequence[int]) -> pl.DataFrame:
    """The rows with these numbers, in the order asked for."""
    with convert_errors(path.name, "cannot be looked at"), closing(_open()) as link:
        names = list(pl.read_parquet_schema(path))
        table = f"read_parquet(?) AS t({', '.join(f'c{place}' for place in range(len(names)))})"
        return _fetched(link, table, path, names, numbers)


def _fetched(link: DuckDBPyConnection, table: str, path: Path, names: list[str], numbers: Sequence[int]) -> pl.DataFrame:
    query = (
        f"SELECT {_ROW} AS r, {', '.join(f'c{at}' for at in range(len(names)))} FROM {table} WHERE {_ROW} IN (SELECT unnest(?))"
    )
    wanted = pl.DataFrame({"r": pl.Series(list(numbers), dtype=pl.Int64)})
    content = link.sql(query, params=[str(path), list(numbers) or [-1]]).to_arrow_table()
    found = pl.DataFrame(content).with_columns(pl.col("r").cast(pl.Int64))
    ordered = wanted.join(found, on="r", how="left", maintain_order="left").drop("r")
    return ordered.rename(dict(zip(ordered.columns, names, strict=True)))


def _open() -> DuckDBPyConnection:
    return _database().cursor()


@cache
def _database() -> DuckDBPyConnection:
    """One for all pages, because to open one takes 40 ms; the connections made of it are independent."""
    import duckdb

    return duckdb.connect(config=_SHUT)


def _place(schema: Mapping[str, pl.DataType], name: str) -> str:
    for at, one in enumerate(schema):
        if one == name:
            return f"c{at}"
    raise DataError(f"there is no column '{name[:80]}'; {nearest(name[:80], list(schema))}")


def _conditions(schema: Mapping[str, pl.DataType], filters: Mapping[str, str]) -> tuple[list[str], list[Any]]:
    where: list[str] = []
    values: list[Any] = []
    for name, text in filters.items():
        column = _place(schema, name)
        if not text.strip():
            continue
        condition, given = _condition(column, schema[name], text, name)
        where.append(condition)
        values += given
    return where, values


def _condition(column: str, dtype: pl.DataType, text: str, name: str) -> tuple[str, list[Any]]:
    word = text.strip()
    if word.lower() in MISSING:
        return f"{column} IS NULL", []
    if word.lower() in PRESENT:
        return f"{column} IS NOT NULL", []
    is_text = dtype == pl.String or isinstance(dtype, pl.Categorical | pl.Enum)
    if compared := _COMPARED.fullmatch(word):
        sign, said = compared.groups()
        if not is_text or sign in ("=", "!="):
            return f"{column} {sign} ?", [said if is_text else _value(dtype, said, name)]
    if is_text:
        return f"contains(lower({column}::VARCHAR), lower(?))", [text]
    if bounds := _BOUNDS.fullmatch(word):
        return f"{column} BETWEEN ? AND ?", [_value(dtype, one, name) for one in bounds.groups()]
    return f"{column} = ?", [_value(dtype, word, name)]


def _value(dtype: pl.DataType, text: str, name: str) -> Any:
    """What a text says to a column of a type."""
    word = text.strip()
    try:
        if dtype == pl.Boolean:
            return _TRUTH[word.lower()]
        if dtype == pl.Date or isinstance(dtype, pl.Datetime):
            return dt.datetime.fromisoformat(word)
        if dtype == pl.Time:
            return dt.time.fromisoformat(word)
        if dtype.is_integer() and re.fullmatch(r"[+-]?\d{1,20}", word):
            return int(word)
        return float(word)
    except (ValueError, KeyError):
        form = "a date such as 2024-12-31" if dtype.is_temporal() else "true or false" if dtype == pl.Boolean else "a number"
        raise DataError(
            f"'{word[:80]}' is no filter for the column '{name}': give {form}, >=, <, a..b, or 'is missing'"
        ) from None
