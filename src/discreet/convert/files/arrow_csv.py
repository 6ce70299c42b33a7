"""Text files that Polars refuses, read by PyArrow, which takes a quotation mark inside an unquoted field as it is."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path

import polars as pl

from discreet.convert.files.text_file import TextFile
from discreet.errors import SourceError


def read_with_arrow(path: Path, file: TextFile) -> TextFile:
    """The file with its content as a frame of text; raises SourceError with the number of the line that is broken."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    content = file.content
    if isinstance(content, pl.DataFrame):
        return file
    raw = content if isinstance(content, bytes) else content.read_bytes()
    raw = raw.removeprefix(b"\xef\xbb\xbf")
    try:
        table = arrow_csv.read_csv(
            io.BytesIO(raw),
            read_options=arrow_csv.ReadOptions(skip_rows=file.first_row, column_names=list(file.names)),
            parse_options=arrow_csv.ParseOptions(delimiter=file.separator, newlines_in_values=True),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(file.names, pa.string()), strings_can_be_null=True, null_values=[""]
            ),
        )
    except (pa.ArrowInvalid, pa.ArrowKeyError):
        raise SourceError(describe_broken_row(path, raw, file)) from None
    if _ends_inside_quotes(raw, file.separator):
        raise SourceError(f'{path}: a quotation mark is not closed; look for a single " at the beginning of a field')
    return replace(file, content=pl.DataFrame(table))


def _ends_inside_quotes(raw: bytes, separator: str) -> bool:
    """Whether the text ends inside a quoted field: one more empty line would then belong to that field."""
    text = raw.decode(errors="replace")
    last: list[str] = []
    try:
        for row in csv.reader(io.StringIO(text + "\n\x00", newline=""), delimiter=separator):
            last = row
    except csv.Error:
        return True
    return last != ["\x00"]


def describe_broken_row(path: Path, raw: bytes, file: TextFile) -> str:
    """A sentence with the first line that has too many fields, or, if there is none, too few."""
    width = len(file.names)
    rows = csv.reader(io.StringIO(raw.decode(errors="replace"), newline=""), delimiter=file.separator)
    start, short = 1, ""
    try:
        for number, row in enumerate(rows):
            if number >= file.first_row and row and len(row) != width:
                fields = f"{len(row)} field{'s' if len(row) != 1 else ''}"
                sentence = (
                    f"{path}: line {start} has {fields}, but there are {width} columns; "
                    f"correct it, or put values that hold '{file.separator}' in quotation marks"
                )
                if len(row) > width:
                    return sentence
                short = short or sentence  # too few fields are no fault of their own
            start = rows.line_num + 1
    except csv.Error as error:
        return f"{path}: line {rows.line_num} cannot be read: {error}"
    return short or f"{path}: the fields of its lines cannot be told apart; a quotation mark may not be closed"
