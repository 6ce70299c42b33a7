"""How a table would be read, before it is: each reading option with its reason, the columns, and the first rows.

The reader is the one that reads the table itself, so that a preview shows what an import would give. Text files up to
``EXACT_BYTES`` are read whole; of larger ones only the first rows, after which a value that fits no number can still turn a
column into text.
"""

from __future__ import annotations

import io
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl

from discreet.convert.errors import convert_errors
from discreet.convert.files.expansion import decompress_pieces
from discreet.convert.files.formats import Format
from discreet.convert.files.reading_notes import Choice, collect_choices, collect_notes
from discreet.convert.reading.source import format_of_existing, is_url, prepare, scan_attempts
from discreet.errors import DiscreetError, SourceError
from discreet.model.policy import Policy

EXACT_BYTES = 64 << 20
MAX_ROWS, MAX_COLUMNS, MAX_CHARACTERS = 20, 500, 200
"""What a preview holds at most: rows, columns, and characters of a cell or line."""
DATABASE_ROWS = 1000
"""Rows of a database table from which dates are recognised."""
_EXAMPLES, _LINES, _LINE_BYTES = 3, 8, 1 << 16
_COMMON_MARKERS = (
    "NA",
    "N/A",
    "n/a",
    "na",
    "NULL",
    "null",
    "None",
    "none",
    "NaN",
    "#N/A",
    ".",
    "-",
    "--",
    "?",
    "missing",
    "unknown",
)
_TEXT_OPTIONS = ("separator", "decimal", "thousands", "encoding", "skip", "header")
_SHEET_OPTIONS = ("sheet", "skip", "header")
_COLUMN_OPTIONS = ("missing", "dates", "pivot", "text")


@dataclass(frozen=True)
class PreviewColumn:
    """One column as it would be read."""

    name: str
    type: str
    nulls: int
    """Missing values among the rows that were read."""
    examples: tuple[str, ...]
    date: Choice | None = None
    """The format of its dates, where it holds any."""


@dataclass(frozen=True)
class Preview:
    """How a table would be read with some options, or why it cannot be."""

    format: str
    options: tuple[str, ...]
    """The reading options that apply to this format."""
    policy: Policy
    """The options as used: without columns that the table does not have."""
    choices: tuple[Choice, ...] = ()
    notes: tuple[str, ...] = ()
    problem: str = ""
    columns: tuple[PreviewColumn, ...] = ()
    column_count: int = 0
    rows: tuple[tuple[Any, ...], ...] = ()
    records: int | None = None
    """Number of records, where the whole table was read."""
    lines: tuple[str, ...] = ()
    """The first lines of a text file as they are."""
    dropped: tuple[str, ...] = ()
    """Columns that the options name and the table does not have."""
    markers: tuple[str, ...] = ()
    """Texts in the rows that often stand for a missing value and that the options do not name."""


def preview_source(source: str, policy: Policy) -> Preview:
    """Read the beginning of a file or database table with the options of a policy; a failure is part of the preview."""
    if is_url(source):
        return _preview(source, "database table", _COLUMN_OPTIONS, policy, ())
    path = Path(source)
    file_format = format_of_existing(path)
    options: tuple[str, ...] = _COLUMN_OPTIONS
    if file_format.module == "delimited":
        options = _TEXT_OPTIONS + _COLUMN_OPTIONS
    elif file_format.module == "excel":
        options = _SHEET_OPTIONS + _COLUMN_OPTIONS
    lines = _first_lines(path, policy.read.encoding) if file_format.module == "delimited" else ()
    return _preview(source, file_format.name, options, policy, lines)


def _preview(source: str, format_name: str, options: tuple[str, ...], policy: Policy, lines: tuple[str, ...]) -> Preview:
    dropped: tuple[str, ...] = ()
    frame, records, problem = pl.DataFrame(), None, ""
    with collect_choices() as choices, collect_notes() as notes:
        try:
            policy, dropped = _without_unknown_columns(source, policy)
            frame, records = _read_beginning(source, policy)
        except DiscreetError as error:
            problem = str(error)
    shown = frame.columns[:MAX_COLUMNS]
    return Preview(
        format_name, options, policy, tuple(choice for name, choice in choices.items() if not name.startswith("dates.")),
        tuple(notes), problem, tuple(_describe_column(frame[name], choices.get(f"dates.{name}")) for name in shown),
        frame.width, tuple(frame.select(shown).head(MAX_ROWS).iter_rows()), records, lines, dropped,
        _find_markers(frame),
    )  # fmt: skip


def _read_beginning(source: str, policy: Policy) -> tuple[pl.DataFrame, int | None]:
    """The table, or its first rows where it is large; and the number of its records where it was read whole."""
    if is_url(source):
        from discreet.convert.databases.database import open_database

        database = open_database(source)
        table = database.read(DATABASE_ROWS)
        complete = table.frame.height < DATABASE_ROWS
        frame = prepare(table.frame.lazy(), policy, database.name).collect()
        return frame, frame.height if complete else None
    path = Path(source)
    file_format = format_of_existing(path)
    with convert_errors(source, f"cannot be read as {file_format.name}"):
        if file_format.streams:
            return _scan_beginning(path, policy, file_format)
        frame = prepare(file_format.read(path, policy).frame.lazy(), policy, source).collect()
        return frame, frame.height


def _scan_beginning(path: Path, policy: Policy, file_format: Format) -> tuple[pl.DataFrame, int | None]:
    whole = path.stat().st_size <= EXACT_BYTES and file_format.name != "Parquet"
    failure: Exception | None = None
    for lazy in scan_attempts(path, policy):
        try:
            frame = (lazy if whole else lazy.head(DATABASE_ROWS)).collect(engine="streaming")
            return frame, frame.height if whole or frame.height < DATABASE_ROWS else None
        except pl.exceptions.PolarsError as error:
            failure = error
    raise failure or SourceError(f"{path}: contains no table")


def _without_unknown_columns(source: str, policy: Policy) -> tuple[Policy, tuple[str, ...]]:
    """The policy without reading options of columns that this table lacks: they were set for another one."""
    reading = policy.read
    if not reading.dates and not reading.text:
        return policy, ()
    plain = policy.with_(read=reading.model_copy(update={"dates": {}, "text": ()}))
    if is_url(source):
        names: Iterable[str] = _read_beginning(source, plain)[0].columns
    else:
        path = Path(source)
        file_format = format_of_existing(path)
        with convert_errors(source, f"cannot be read as {file_format.name}"):
            if file_format.streams:
                names = next(iter(file_format.scan(path, plain))).collect_schema().names()
            else:
                names = file_format.read(path, plain).frame.columns
    kept = set(names)
    dates = {name: form for name, form in reading.dates.items() if name in kept}
    text = tuple(name for name in reading.text if name in kept)
    dropped = tuple(dict.fromkeys(name for name in (*reading.dates, *reading.text) if name not in kept))
    return policy.with_(read=reading.model_copy(update={"dates": dates, "text": text})), dropped


def _describe_column(column: pl.Series, date: Choice | None) -> PreviewColumn:
    known = column.drop_nulls().head(DATABASE_ROWS).unique(maintain_order=True).head(_EXAMPLES)
    examples = tuple(str(value)[:MAX_CHARACTERS] for value in known)
    return PreviewColumn(column.name, str(column.dtype), column.null_count(), examples, date)


def _find_markers(frame: pl.DataFrame) -> tuple[str, ...]:
    """The common markers of missing values that stand in text columns of the rows that were read."""
    occurring: set[str] = set()
    for column in frame.select(pl.col(pl.String)).iter_columns():
        occurring.update(column.filter(column.is_in(list(_COMMON_MARKERS))).unique())
    return tuple(marker for marker in _COMMON_MARKERS if marker in occurring)


def _first_lines(path: Path, encoding: str | None) -> tuple[str, ...]:
    """The first lines of a text file, decoded as far as possible; what cannot be decoded is shown as a replacement character."""
    try:
        if path.suffix.lower() in (".gz", ".zst"):
            raw = next(iter(decompress_pieces(path)), b"")[:_LINE_BYTES]
        else:
            with path.open("rb") as file:
                raw = file.read(_LINE_BYTES)
        text = raw.decode(encoding or ("utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"), errors="replace")
    except (OSError, LookupError, ValueError, DiscreetError, TypeError, AttributeError):
        return ()
    return tuple(line.rstrip("\r\n")[:MAX_CHARACTERS] for line in islice(io.StringIO(text), _LINES))
