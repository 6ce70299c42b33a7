"""Excel workbooks: one sheet is a table.

Excel keeps numbers as doubles of 15 digits, so whole numbers beyond them are written as text and stay exact. Text is
written as text: a cell that begins with '=' is no formula, and an address no link.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import polars as pl

from discreet.convert.files.column_names import unique
from discreet.convert.files.normalise import printable
from discreet.convert.files.tables import Table
from discreet.convert.writing.atomic import beside
from discreet.errors import SourceError, nearest
from discreet.model.policy import Policy

_ROWS, _COLUMNS, _CELL = 1_048_576, 16_384, 32_767
_EXACT = 10**15
_OPTIONS = {"strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False, "nan_inf_to_errors": False}


def read(path: Path, policy: Policy) -> Table:
    """The sheet that the policy names, or the first one; its first row holds the column names."""
    import fastexcel

    logging.getLogger("fastexcel.types.dtype").setLevel(logging.ERROR)  # a column without values is no news
    book = fastexcel.read_excel(str(path))
    sheet = policy.read.sheet
    if sheet is not None and sheet not in book.sheet_names:
        raise SourceError(f"{path}: has no sheet '{sheet}'; {nearest(sheet, book.sheet_names)}")
    which: Any = sheet if sheet is not None else 0
    top = book.load_sheet(which, header_row=None, n_rows=1, dtypes="string").to_polars()
    if not top.width or not top.height:
        raise SourceError(f"{path}: the sheet '{sheet or book.sheet_names[0]}' is empty: there is not even a row of column names")
    names = unique(top.row(0))
    for name in policy.read.text:
        if name not in names:
            raise SourceError(f"{path}: the policy's read.text names '{name}', which is not a column")
    texts: Any = {names.index(name): "string" for name in policy.read.text}
    loaded = book.load_sheet(
        which, header_row=None, skip_rows=1, column_names=names, schema_sample_rows=None, dtypes=texts or None
    )
    return Table(_as_written(loaded.to_polars(), names))


def _as_written(frame: pl.DataFrame, names: list[str]) -> pl.DataFrame:
    """All named columns, with whole numbers as integers and midnights as dates, as they were before Excel had them."""
    frame = frame.with_columns(pl.lit(None, pl.String).alias(name) for name in names if name not in frame.columns).select(names)
    changes = []
    for name, dtype in frame.schema.items():
        column = frame[name].drop_nulls()
        if dtype == pl.Float64 and len(column) and (column == column.floor()).all() and column.abs().max() < _EXACT:  # type: ignore[operator]
            changes.append(pl.col(name).cast(pl.Int64))
        elif dtype == pl.String:
            changes.append(pl.col(name).replace("", None))
        elif isinstance(dtype, pl.Datetime) and len(column) and (column == column.dt.truncate("1d")).all():
            changes.append(pl.col(name).dt.date())
    return frame.with_columns(changes)


def write(table: Table, path: Path) -> None:
    """One sheet, the column names in its first row."""
    import xlsxwriter

    frame = _fitting(table.frame)
    work = beside(path)
    work.mkdir(mode=0o700)
    book = xlsxwriter.Workbook(str(path), {"constant_memory": True, "tmpdir": str(work), **_OPTIONS})
    with book:
        sheet = book.add_worksheet("data")
        formats = {
            name: book.add_format({"num_format": "yyyy-mm-dd" if dtype == pl.Date else "yyyy-mm-dd hh:mm:ss.000"})
            for name, dtype in frame.schema.items()
            if dtype.is_temporal()
        }
        writers = [_writer(sheet, dtype, formats.get(name)) for name, dtype in frame.schema.items()]
        for place, name in enumerate(frame.columns):
            sheet.write_string(0, place, name)
        for number, row in enumerate(frame.iter_rows(), 1):
            for place, value in enumerate(row):
                if value is not None:
                    writers[place](number, place, value)
        if frame.height and frame.tail(1).select(pl.all_horizontal(pl.all().is_null())).item():
            # a last record without any value is still a record: an empty text with a format of its own keeps its row
            sheet.write_string(frame.height, 0, "", book.add_format({"num_format": "@"}))


def _writer(sheet: Any, dtype: pl.DataType, shape: Any) -> Any:
    if dtype == pl.String:
        return sheet.write_string
    if dtype == pl.Boolean:
        return sheet.write_boolean
    if dtype.is_temporal():
        return lambda row, column, value: sheet.write_datetime(row, column, value, shape)
    return sheet.write_number


def _fitting(frame: pl.DataFrame) -> pl.DataFrame:
    """The table as Excel can hold it, or a sentence on why it cannot."""
    if frame.height + 1 > _ROWS or frame.width > _COLUMNS:
        raise ValueError(
            f"an Excel sheet holds {_ROWS - 1:,} records and {_COLUMNS:,} columns; got {frame.height:,} x {frame.width:,}"
        )
    changes: list[pl.Expr] = printable(frame.schema)
    for name, dtype in frame.schema.items():
        column = frame[name]
        if dtype == pl.String and (column.str.len_chars().max() or 0) > _CELL:  # type: ignore[operator]
            raise ValueError(f"the column '{name}' has a text of more than {_CELL:,} characters, the most of an Excel cell")
        exact = not dtype.is_integer() or bool(column.drop_nulls().cast(pl.Int128).abs().le(_EXACT).all())
        finite = not dtype.is_float() or not column.is_infinite().any()
        old = dtype.is_temporal() and dtype not in (pl.Time, pl.Duration) and (column.dt.year().min() or 2000) < 1901  # type: ignore[operator]
        zoned = isinstance(dtype, pl.Datetime) and dtype.time_zone is not None
        if not exact or not finite or old or zoned or dtype == pl.Time:
            changes.append(pl.col(name).cast(pl.String))
    return frame.with_columns(changes)
