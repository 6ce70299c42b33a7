"""What a file would expand to, found out before it is read: from its directory, its metadata, or a bounded pass over it.

A compressed file, a workbook or a Parquet file can stand for a table that is thousands of times larger. An Excel sheet is read as
the rectangle up to its last cell, so that a single cell far away makes it huge.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from discreet.engine.runtime.memory import available_memory, check_memory, format_size
from discreet.errors import DataError, SourceError

_CHUNK = 1 << 20
_CELL_BYTES = 64
"""Memory that a reader needs for a cell of a workbook, empty or not."""
_VALUE_BYTES = 8
_CELL_REFERENCE = re.compile(rb"""\br\s*=\s*["']([A-Za-z]{1,4})([0-9]{1,9})["']""")
_CELL_WITHOUT_REFERENCE = re.compile(rb"<(?:\w+:)?c(?:\s(?![^>]*\br\s*=)[^>]*)?/?>")
_ROW_OR_CELL = re.compile(rb"<(?:\w+:)?(row|c)(\s[^>]*)?/?>")
_ROW_NUMBER = re.compile(rb"""\br\s*=\s*["']([0-9]{1,9})["']""")
_SHEET = re.compile(r"xl/worksheets/[^/]+\.xml", re.IGNORECASE)
_OVERLAP = 64


def check_expansion(path: Path, max_bytes: float | None = None) -> None:
    """Raise where a file would expand to more than ``max_bytes``, or where it needs more memory than there is."""
    suffix = path.suffix.lower()
    if suffix in (".gz", ".zst") and max_bytes is not None:
        size = 0
        for piece in decompress_pieces(path):
            size += len(piece)
            if size > max_bytes:
                raise _too_large(path, f"more than {format_size(max_bytes)} of text", max_bytes)
    elif suffix in (".xlsx", ".xlsm", ".xlsb", ".ods"):
        check_workbook(path, max_bytes)
    elif suffix in (".parquet", ".pq") and max_bytes is not None:
        _check_parquet(path, max_bytes)


def decompress_pieces(path: Path) -> Iterator[bytes]:
    """The content of a gzip or zstd file, piece by piece; raises SourceError where the file is damaged."""
    kind = "gzip" if path.suffix.lower() == ".gz" else "zstd"
    try:
        yield from _gzip_pieces(path) if kind == "gzip" else _zstd_pieces(path)
    except (OSError, EOFError, zlib.error):
        raise SourceError(f"{path}: is not a complete {kind} file") from None


def check_workbook(path: Path, max_bytes: float | None = None) -> None:
    """Raise where a sheet, read as the rectangle up to its last cell, would be larger than ``max_bytes`` or than memory."""
    limit = min(available_memory(), max_bytes if max_bytes is not None else float("inf"))
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            content = sum(entry.file_size for entry in entries)
            if content > limit:
                raise _too_large(path, format_size(content), limit)
            for entry in entries:
                if _SHEET.fullmatch(entry.filename):
                    rows, columns = _sheet_extent(archive, entry)
                    need = _CELL_BYTES * rows * columns
                    if need > limit:
                        raise DataError(
                            f"{path}: the last cell of {entry.filename} is in row {rows:,} and column {columns:,}, so the sheet "
                            f"would need about {format_size(need)} of memory; {format_size(limit)} are allowed: "
                            "delete empty rows and columns, or save it as CSV"
                        )
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, zlib.error, OSError):
        return  # the reader says what is wrong with it


def _sheet_extent(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> tuple[int, int]:
    """The last row and column that a cell of a sheet has; cells without a reference follow the one before them."""
    last_row = last_column = 0
    columns: set[bytes] = set()
    tail = b""
    with archive.open(entry) as file:
        while chunk := file.read(_CHUNK):
            text = tail + chunk
            if _CELL_WITHOUT_REFERENCE.search(text):
                return _count_cells(archive, entry)
            references = _CELL_REFERENCE.findall(text)
            if references:
                columns.update({letters for letters, _ in references})
                last_row = max(last_row, *(int(row) for _, row in references))
            tail = text[-_OVERLAP:]
    last_column = max((_column_number(letters) for letters in columns), default=0)
    return last_row, last_column


def _count_cells(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> tuple[int, int]:
    """The last row and column of a sheet, counted cell by cell: slower, but also right where cells have no reference."""
    row = column = last_row = last_column = 0
    tail = b""
    with archive.open(entry) as file:
        while chunk := file.read(_CHUNK):
            text = tail + chunk
            end = text.rfind(b"<") if len(text) - text.rfind(b"<") < _CHUNK else len(text)
            for tag in _ROW_OR_CELL.finditer(text, 0, end):
                attributes = tag[2] or b""
                if tag[1] == b"row":
                    number = _ROW_NUMBER.search(attributes)
                    row, column = int(number[1]) if number else row + 1, 0
                else:
                    reference = _CELL_REFERENCE.search(attributes)
                    column = _column_number(reference[1]) if reference else column + 1
                    row = int(reference[2]) if reference else max(row, 1)
                    last_row, last_column = max(last_row, row), max(last_column, column)
            tail = text[end:]
    return last_row, last_column


def _column_number(letters: bytes) -> int:
    number = 0
    for letter in letters.upper():
        number = number * 26 + letter - 64
    return number


def _check_parquet(path: Path, max_bytes: float) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        metadata = pq.read_metadata(path)
    except (pa.ArrowException, OSError):
        return  # the reader says what is wrong with it
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    stored = sum(group.total_byte_size for group in groups)
    need = max(stored, _VALUE_BYTES * metadata.num_rows * metadata.num_columns)
    if need > max_bytes:
        what = f"{metadata.num_rows:,} records of {metadata.num_columns:,} columns, about {format_size(need)}"
        raise _too_large(path, what, max_bytes)


def check_text_fits(path: Path, size: int) -> None:
    """Raise where the text of a compressed file, of which ``size`` bytes are there so far, needs more memory than there is."""
    check_memory(2.0 * size, f"{path}: its decompressed text", "decompress the file first, so that it is read in parts")


def _too_large(path: Path, what: str, limit: float) -> DataError:
    return DataError(f"{path}: expands to {what}; at most {format_size(limit)} are allowed: split the file or leave columns out")


def _gzip_pieces(path: Path) -> Iterator[bytes]:
    import gzip

    with gzip.open(path, "rb") as file:
        while piece := file.read(_CHUNK):
            yield piece


def _zstd_pieces(path: Path) -> Iterator[bytes]:
    import pyarrow as pa

    try:
        with pa.input_stream(str(path), compression="zstd") as stream:
            while piece := stream.read(_CHUNK):
                yield bytes(piece)
    except pa.ArrowException as error:
        raise OSError(str(error)) from None
