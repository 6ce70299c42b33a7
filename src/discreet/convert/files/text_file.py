"""Opening a delimited text file: detection of compression, encoding, separator and column names."""

from __future__ import annotations

import codecs
import csv
import io
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from discreet.convert.files.byte_scan import ByteScan, remove_blank_lines, scan_bytes
from discreet.convert.files.column_names import unique_names
from discreet.convert.files.expansion import check_text_fits, decompress_pieces
from discreet.convert.files.header_rows import count_trailing_rows, join_header, locate_header, record_place
from discreet.convert.files.reading_notes import Choice, add_note, record_choice
from discreet.errors import SourceError
from discreet.model.sections.reading import Reading

SEPARATORS = ",;\t|"
_SAMPLE_BYTES = 1 << 22
_SAMPLE_RECORDS = 200
_CHECKED_BYTES = 64 << 20
"""Decompressed bytes after which it is checked for the first time whether they fit into memory."""
_TAIL_BYTES = 1 << 13
_NO_CHARACTER_SETS = {
    "idna",
    "punycode",
    "undefined",
    "unicode-escape",
    "unicode_escape",
    "raw-unicode-escape",
    "raw_unicode_escape",
}
"""Codecs that Python counts as text encodings but that no file is written in; punycode takes time in the square of the length."""
_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


@dataclass(frozen=True)
class TextFile:
    """A text file that Polars can read: its path, or its bytes if they had to be converted."""

    content: Path | bytes | pl.DataFrame
    """Where the text is; a frame of text where another reader has split it already."""
    separator: str
    names: tuple[str, ...]
    scan: ByteScan
    first_row: int = 1
    """The number of rows before the first record: titles and column names."""


def open_text(path: Path, reading: Reading, format_separator: str | None = None) -> TextFile:
    """Determine how a file is to be read; ``format_separator`` is that of the format, which the policy can override."""
    content = as_utf8(path, reading.encoding)
    for attempt in (1, 2):
        head = content[:_SAMPLE_BYTES] if isinstance(content, bytes) else _read_head(content)
        sample = head.decode("utf-8-sig", errors="replace")
        if not sample.strip():
            raise SourceError(f"{path}: is empty: the line of column names is missing")
        separator = reading.separator or format_separator or guess_separator(sample, whole=len(head) < _SAMPLE_BYTES)
        _record_separator(separator, reading, format_separator, sample)
        if ord(separator) > 127 or separator in '"\r\n':
            raise SourceError(f"{path}: {separator!r} cannot separate fields; a separator is one ASCII character such as , or ;")
        scan = scan_bytes(content, separator)
        if scan.nul:
            raise SourceError(f"{path}: is not a text file: it contains zero bytes")
        if scan.utf8:
            break
        if reading.encoding is not None or attempt == 2:
            raise SourceError(f"{path}: is not {reading.encoding or 'UTF-8'} text")
        content = _latin_to_utf8(content)
        record_choice(Choice("encoding", "windows-1252", "the bytes are not valid UTF-8"))
    rows = _first_records(sample, separator)
    if not rows:
        raise SourceError(f"{path}: its line of column names cannot be read")
    blank = sum(not line.strip() for line in sample.splitlines()[: reading.skip or 0])
    place = locate_header(rows, reading.model_copy(update={"skip": None if reading.skip is None else reading.skip - blank}))
    if place.skip + place.header > len(rows):
        raise SourceError(
            f"{path}: read.skip and read.header leave no row of column names; the file begins with {len(rows)} rows"
        )
    names = join_header(rows[place.skip : place.skip + place.header]) if place.header > 1 else rows[place.skip]
    record_place(place, reading)
    if reading.skip is None and reading.header is None and (sentence := place.describe()) is not None:
        add_note(sentence)
    if (scan.blank_lines and len(names) > 1) or (place.skip and scan.blank_lines):
        # in a table with one column an empty line is a missing value
        content = remove_blank_lines(content if isinstance(content, bytes) else content.read_bytes())
    content = _without_trailing_rows(content, separator, len(names))
    return TextFile(content, separator, tuple(unique_names(names)), scan, place.skip + place.header)


def _record_separator(separator: str, reading: Reading, format_separator: str | None, sample: str) -> None:
    if reading.separator is not None:
        record_choice(Choice("separator", separator, "set in the options", given=True))
    elif format_separator is not None:
        record_choice(Choice("separator", separator, "the separator of the file format"))
    else:
        widths = Counter(len(record) for record in _first_records(sample, separator))
        fields, rows = widths.most_common(1)[0] if widths else (1, 0)
        record_choice(
            Choice("separator", separator, f"{rows} of the first {widths.total()} rows have {fields} fields with this separator")
        )


def _without_trailing_rows(content: Path | bytes, separator: str, width: int) -> Path | bytes:
    """The content without totals and footnotes in its last lines."""
    if isinstance(content, bytes):
        tail = content[-_TAIL_BYTES:]
    else:
        with content.open("rb") as file:
            file.seek(max(0, content.stat().st_size - _TAIL_BYTES))
            tail = file.read()
    lines = tail.rstrip(b"\r\n").split(b"\n")[1:]
    rows = [next(csv.reader([line.decode(errors="replace")], delimiter=separator), []) for line in lines]
    if b'"' in tail:  # a line may be the rest of a quoted field
        quoted = max(number for number, line in enumerate(tail.split(b"\n")) if b'"' in line)
        rows, lines = rows[quoted:], lines[quoted:]
    trailing = count_trailing_rows([[], *rows], width)
    if not trailing:
        return content
    add_note(f"left out below the table (totals or notes): {trailing} line{'s' if trailing > 1 else ''}")
    kept = len(tail.rstrip(b"\r\n")) - sum(len(line) + 1 for line in lines[-trailing:])
    whole = content if isinstance(content, bytes) else content.read_bytes()
    return whole[: len(whole) - len(tail) + kept] + b"\n"


def as_utf8(path: Path, encoding: str | None) -> Path | bytes:
    """The file itself if it is (or may be) UTF-8, otherwise its content converted to UTF-8.

    If the policy names no encoding, a byte order mark decides.
    """
    content = _decompress(path)
    start = content[:4] if isinstance(content, bytes) else _read_head(content, 4)
    guess = next((name for bom, name in _BOMS if start.startswith(bom)), "utf-8")
    reason = (
        "the file begins with a byte order mark"
        if start.startswith(tuple(bom for bom, _ in _BOMS))
        else "the bytes are valid UTF-8"
    )
    record_choice(Choice("encoding", encoding or guess, "set in the options" if encoding else reason, given=encoding is not None))
    try:
        name = codecs.lookup(encoding or guess).name
        if name in _NO_CHARACTER_SETS:
            raise LookupError(name)
        if name in ("utf-8", "utf-8-sig", "ascii"):
            return content
        raw = content if isinstance(content, bytes) else content.read_bytes()
        return raw.decode(name).removeprefix("\ufeff").encode()
    except (LookupError, ValueError) as error:
        if isinstance(error, UnicodeError):
            raise SourceError(f"{path}: is not {encoding or guess} text") from None
        raise SourceError(
            f"{path}: unknown encoding '{str(encoding)[:40]}'; known are, for example, utf-8, latin-1 and utf-16"
        ) from None
    except (TypeError, AttributeError):
        raise SourceError(f"{path}: is not {encoding or guess} text") from None


def _latin_to_utf8(content: Path | bytes) -> bytes:
    """Decode text that is not UTF-8 as Windows-1252, or as Latin-1 if it contains a byte that Windows-1252 does not define."""
    raw = content if isinstance(content, bytes) else content.read_bytes()
    try:
        return raw.decode("cp1252").encode()
    except UnicodeDecodeError:
        return raw.decode("latin-1").encode()


def guess_separator(sample: str, *, whole: bool) -> str:
    """The separator with which most of the first records have as many fields as the line of column names."""
    best_score, separator = (0.0, 0), ","
    for candidate in SEPARATORS:
        records = _first_records(sample, candidate)
        if not whole and len(records) < _SAMPLE_RECORDS:
            records = records[:-1]  # the last record may be truncated
        if not records:
            continue
        fields = len(records[0])
        if fields < 2:  # a title; the table is as wide as most rows
            fields = Counter(map(len, records)).most_common(1)[0][0]
        if fields < 2:
            continue
        share = sum(len(record) == fields for record in records) / len(records)
        if (share, fields) > best_score:
            best_score, separator = (share, fields), candidate
    return separator


def _first_records(sample: str, separator: str) -> list[list[str]]:
    records = []
    try:
        for record in csv.reader(io.StringIO(sample, newline=""), delimiter=separator):
            if record:
                records.append(record)
            if len(records) == _SAMPLE_RECORDS:
                break
    except csv.Error:
        pass
    return records


def _read_head(path: Path, size: int = _SAMPLE_BYTES) -> bytes:
    with path.open("rb") as file:
        return file.read(size)


def _decompress(path: Path) -> Path | bytes:
    """The text of a compressed file; raises where it does not fit into memory, as soon as that shows."""
    if path.suffix.lower() not in (".gz", ".zst"):
        return path
    content, checked = bytearray(), _CHECKED_BYTES
    for piece in decompress_pieces(path):
        content += piece
        if len(content) > checked:
            check_text_fits(path, len(content))
            checked = 2 * len(content)
    return bytes(content)
