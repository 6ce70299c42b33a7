"""Workbooks of Excel (.xlsx; .xls, .xlsm, .xlsb to read) and OpenDocument (.ods): one sheet is a table.

Excel stores numbers as doubles with 15 digits, so larger integers are written as text to stay exact. Text is written as
text: a cell that begins with '=' does not become a formula, and a URL does not become a link.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import polars as pl

from discreet.convert.files.column_names import unique_names
from discreet.convert.files.expansion import check_workbook
from discreet.convert.files.header_rows import EXAMINED_ROWS, count_trailing_rows, join_header, locate_header, record_place
from discreet.convert.files.normalise import durations_as_text
from discreet.convert.files.reading_notes import Choice, add_note, record_choice
from discreet.convert.files.tables import Table
from discreet.convert.writing.atomic import work_folder
from discreet.errors import SourceError, nearest
from discreet.model.policy import Policy

_MAX_ROWS, _MAX_COLUMNS, _MAX_CELL_CHARACTERS = 1_048_576, 16_384, 32_767
_MAX_EXACT_INTEGER = 10**15
_MOST_TRAILING = 20
_TEXT_AS_TEXT = {"strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False, "nan_inf_to_errors": False}


def read(path: Path, policy: Policy) -> Table:
    """Read the sheet that the policy names, or the only one that holds a table; which rows hold its column names is found out."""
    import fastexcel

    check_workbook(path)
    logging.getLogger("fastexcel.types.dtype").setLevel(logging.ERROR)  # it warns of every column without values
    book = fastexcel.read_excel(str(path))
    sheet = _choose_sheet(book, policy.read.sheet, path)
    top = book.load_sheet(sheet, header_row=None, n_rows=EXAMINED_ROWS, dtypes="string", skip_rows=0).to_polars()
    if not top.width or not top.height:
        raise SourceError(f"{path}: the sheet '{sheet}' is empty: the row of column names is missing")
    rows = [tuple(row) for row in top.iter_rows()]
    place = locate_header(rows, policy.read)
    if place.skip + place.header > len(rows):
        raise SourceError(f"{path}: read.skip and read.header leave no row of column names in the sheet '{sheet}'")
    record_place(place, policy.read)
    if policy.read.skip is None and policy.read.header is None and (sentence := place.describe()) is not None:
        add_note(sentence)
    first = place.skip + place.header
    names = unique_names(join_header(rows[place.skip : first]) if place.header > 1 else rows[place.skip])
    for name in policy.read.text:
        if name not in names:
            raise SourceError(f"{path}: the policy's read.text names '{name}', which is not a column")
    text_columns: Any = {names.index(name): "string" for name in policy.read.text}
    options: dict[str, Any] = {"header_row": None, "skip_rows": first, "column_names": names, "schema_sample_rows": None}
    loaded = book.load_sheet(sheet, dtypes=text_columns or None, **options).to_polars()
    trailing = _count_trailing(loaded, len(names))
    if trailing:
        add_note(f"left out below the table (totals or notes): {trailing} row{'s' if trailing > 1 else ''}")
        kept = loaded.height - trailing
        loaded = book.load_sheet(sheet, dtypes=text_columns or None, n_rows=kept, **options).to_polars()
    return Table(_restore_types(loaded, names))


def _choose_sheet(book: Any, sheet: str | None, path: Path) -> str:
    """The sheet that the policy names, else the only one with a table; several tables are a question to the data controller."""
    names: list[str] = list(book.sheet_names)
    if sheet is not None:
        if sheet not in names:
            record_choice(Choice("sheet", "", "the workbook has no sheet of the name in the options", alternatives=tuple(names)))
            raise SourceError(f"{path}: has no sheet '{sheet}'; {nearest(sheet, names)}")
        record_choice(Choice("sheet", sheet, "set in the options", given=True, alternatives=tuple(names)))
        return sheet
    if len(names) == 1:
        record_choice(Choice("sheet", names[0], "the only sheet of the workbook", alternatives=tuple(names)))
        return names[0]
    tables = [name for name in names if _holds_table(book, name)]
    if len(tables) > 1:
        reason = f"{len(tables)} sheets hold a table: choose one"
        record_choice(Choice("sheet", "", reason, alternatives=tuple(names)))
        listed = ", ".join(f"'{name}'" for name in tables)
        raise SourceError(f"{path}: has tables in the sheets {listed}; name one in the policy: read: {{sheet: {tables[0]}}}")
    chosen = tables[0] if tables else names[0]
    record_choice(Choice("sheet", chosen, "the only sheet that holds a table", alternatives=tuple(names)))
    add_note(f"the sheet '{chosen}' was read, the only one of {len(names)} that holds a table (read: {{sheet: {chosen}}})")
    return chosen


def _holds_table(book: Any, sheet: str) -> bool:
    """Whether a sheet has at least two rows of at least two filled cells, below titles and notes."""
    top = book.load_sheet(sheet, header_row=None, n_rows=EXAMINED_ROWS, dtypes="string").to_polars()
    wide = [row for row in top.iter_rows() if sum(1 for cell in row if cell is not None and str(cell).strip()) >= 2]
    return len(wide) >= 2


def _count_trailing(frame: pl.DataFrame, width: int) -> int:
    rows = [tuple(None if cell is None else str(cell) for cell in row) for row in frame.tail(_MOST_TRAILING).iter_rows()]
    return count_trailing_rows(rows, width)


def _restore_types(frame: pl.DataFrame, names: list[str]) -> pl.DataFrame:
    """All named columns, with whole numbers as integers and datetimes at midnight as dates, because Excel has neither type."""
    frame = frame.with_columns(pl.lit(None, pl.String).alias(name) for name in names if name not in frame.columns).select(names)
    conversions = []
    for name, dtype in frame.schema.items():
        column = frame[name].drop_nulls()
        if dtype == pl.Float64 and len(column) and (column == column.floor()).all() and column.abs().max() < _MAX_EXACT_INTEGER:  # type: ignore[operator]
            conversions.append(pl.col(name).cast(pl.Int64))
        elif dtype == pl.String:
            conversions.append(pl.col(name).replace("", None))
        elif isinstance(dtype, pl.Datetime) and len(column) and (column == column.dt.truncate("1d")).all():
            conversions.append(pl.col(name).dt.date())
    return frame.with_columns(conversions)


def write(table: Table, path: Path) -> None:
    """Write one sheet with the column names in its first row."""
    import xlsxwriter

    frame = _fit_to_excel(table.frame)
    work_path = work_folder(path)
    work_path.mkdir(mode=0o700)
    book = xlsxwriter.Workbook(str(path), {"constant_memory": True, "tmpdir": str(work_path), **_TEXT_AS_TEXT})
    with book:
        sheet = book.add_worksheet("data")
        formats = {
            name: book.add_format({"num_format": "yyyy-mm-dd" if dtype == pl.Date else "yyyy-mm-dd hh:mm:ss.000"})
            for name, dtype in frame.schema.items()
            if dtype.is_temporal()
        }
        writers = [_cell_writer(sheet, dtype, formats.get(name)) for name, dtype in frame.schema.items()]
        for column, name in enumerate(frame.columns):
            sheet.write_string(0, column, name)
        for row_number, row in enumerate(frame.iter_rows(), 1):
            for column, value in enumerate(row):
                if value is not None:
                    writers[column](row_number, column, value)
        if frame.height and frame.tail(1).select(pl.all_horizontal(pl.all().is_null())).item():
            # a last record without any value would be lost: an empty text with its own format preserves the row
            sheet.write_string(frame.height, 0, "", book.add_format({"num_format": "@"}))


def refuse_to_write(_table: Table, _path: Path) -> None:
    """Raise ValueError and name the format to write instead: no maintained library writes the older formats."""
    raise ValueError("workbooks of this format can be read but not written; write .xlsx instead")


def _cell_writer(sheet: Any, dtype: pl.DataType, cell_format: Any) -> Any:
    if dtype == pl.String:
        return sheet.write_string
    if dtype == pl.Boolean:
        return sheet.write_boolean
    if dtype.is_temporal():
        return lambda row, column, value: sheet.write_datetime(row, column, value, cell_format)
    return sheet.write_number


def _fit_to_excel(frame: pl.DataFrame) -> pl.DataFrame:
    """Convert what Excel has no type for to text; raise ValueError if the table is too large for a sheet."""
    if frame.height + 1 > _MAX_ROWS or frame.width > _MAX_COLUMNS:
        raise ValueError(
            f"an Excel sheet holds {_MAX_ROWS - 1:,} records and {_MAX_COLUMNS:,} columns; got {frame.height:,} x {frame.width:,}"
        )
    conversions: list[pl.Expr] = durations_as_text(frame.schema)
    for name, dtype in frame.schema.items():
        column = frame[name]
        if dtype == pl.String and (column.str.len_chars().max() or 0) > _MAX_CELL_CHARACTERS:  # type: ignore[operator]
            raise ValueError(
                f"the column '{name}' has a text of more than {_MAX_CELL_CHARACTERS:,} characters, the limit of an Excel cell"
            )
        exact = not dtype.is_integer() or bool(column.drop_nulls().cast(pl.Int128).abs().le(_MAX_EXACT_INTEGER).all())
        finite = not dtype.is_float() or not column.is_infinite().any()
        before_1901 = dtype.is_temporal() and dtype not in (pl.Time, pl.Duration) and (column.dt.year().min() or 2000) < 1901  # type: ignore[operator]
        zoned = isinstance(dtype, pl.Datetime) and dtype.time_zone is not None
        if not exact or not finite or before_1901 or zoned or dtype == pl.Time:
            conversions.append(pl.col(name).cast(pl.String))
    return frame.with_columns(conversions)
