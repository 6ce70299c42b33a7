"""Opening a delimited text file: compression, encoding, separator and column names, guessed from what is there."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import zlib
from dataclasses import dataclass
from pathlib import Path

from discreet.convert.files.byte_scan import Survey, survey, without_blank_lines
from discreet.convert.files.column_names import unique
from discreet.errors import SourceError
from discreet.model.policy import Reading

SEPARATORS = ",;\t|"
_SAMPLE = 1 << 22
_RECORDS = 200
_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


@dataclass(frozen=True)
class TextFile:
    """A text file as Polars can read it: its path, or its bytes where they had to be changed."""

    content: Path | bytes
    separator: str
    names: tuple[str, ...]
    survey: Survey


def open_text(path: Path, reading: Reading, separator: str | None = None) -> TextFile:
    """Find out how a file is to be read; ``separator`` is the format's own, a policy's word goes before it."""
    content = in_utf8(path, reading.encoding)
    for attempt in (1, 2):
        head = content[:_SAMPLE] if isinstance(content, bytes) else _head(content)
        sample = head.decode("utf-8-sig", errors="replace")
        if not sample.strip():
            raise SourceError(f"{path}: is empty: there is not even a line of column names")
        mark = reading.separator or separator or sniff(sample, whole=len(head) < _SAMPLE)
        if ord(mark) > 127 or mark in '"\r\n':
            raise SourceError(f"{path}: {mark!r} cannot separate fields; a separator is one plain character such as , or ;")
        seen = survey(content, mark)
        if seen.nul:
            raise SourceError(f"{path}: is not a text file: it holds zero bytes")
        if seen.utf8:
            break
        if reading.encoding is not None or attempt == 2:
            raise SourceError(f"{path}: is not {reading.encoding or 'UTF-8'} text")
        content = _from_latin(content)
    names = _header(sample, mark, path)
    if seen.blank_lines and len(names) > 1:  # in a table of one column an empty line is a missing value
        content = without_blank_lines(content if isinstance(content, bytes) else content.read_bytes())
    return TextFile(content, mark, tuple(unique(names)), seen)


def in_utf8(path: Path, encoding: str | None) -> Path | bytes:
    """The file itself where it is (or may be) UTF-8 already, else its content in UTF-8.

    Without a word from the policy a byte order mark decides.
    """
    content = _decompressed(path)
    start = content[:4] if isinstance(content, bytes) else _head(content, 4)
    guess = next((name for bom, name in _BOMS if start.startswith(bom)), "utf-8")
    try:
        name = codecs.lookup(encoding or guess).name
        if name in ("utf-8", "utf-8-sig", "ascii"):
            return content
        raw = content if isinstance(content, bytes) else content.read_bytes()
        return raw.decode(name).removeprefix("\ufeff").encode()
    except LookupError:
        raise SourceError(f"{path}: there is no encoding '{encoding}'; such as utf-8, latin-1 and utf-16 are known") from None
    except (UnicodeError, TypeError, AttributeError):
        raise SourceError(f"{path}: is not {encoding or guess} text") from None


def _from_latin(content: Path | bytes) -> bytes:
    """What is not UTF-8 is Windows-1252 (Latin-1 with quotation marks and the euro sign), or Latin-1 where a byte says so."""
    raw = content if isinstance(content, bytes) else content.read_bytes()
    try:
        return raw.decode("cp1252").encode()
    except UnicodeDecodeError:
        return raw.decode("latin-1").encode()


def sniff(sample: str, *, whole: bool) -> str:
    """The separator that cuts most of the first records into the same number of fields as the column names."""
    best, found = (0.0, 0), ","
    for mark in SEPARATORS:
        records = _records(sample, mark)
        if not whole and len(records) < _RECORDS:
            records = records[:-1]  # the last one may be cut off
        fields = len(records[0]) if records else 0
        if fields < 2:
            continue
        agree = sum(len(record) == fields for record in records) / len(records)
        if (agree, fields) > best:
            best, found = (agree, fields), mark
    return found


def _records(sample: str, mark: str) -> list[list[str]]:
    made = []
    try:
        for record in csv.reader(io.StringIO(sample, newline=""), delimiter=mark):
            if record:
                made.append(record)
            if len(made) == _RECORDS:
                break
    except csv.Error:
        pass
    return made


def _header(sample: str, mark: str, path: Path) -> list[str]:
    try:
        return next(record for record in csv.reader(io.StringIO(sample, newline=""), delimiter=mark) if record)
    except (csv.Error, StopIteration):
        raise SourceError(f"{path}: its line of column names cannot be read") from None


def _head(path: Path, size: int = _SAMPLE) -> bytes:
    with path.open("rb") as file:
        return file.read(size)


def _decompressed(path: Path) -> Path | bytes:
    kind = {".gz": "gzip", ".zst": "zstd"}.get(path.suffix.lower())
    if kind is None:
        return path
    try:
        if kind == "gzip":  # pyarrow would keep 78 kB of every damaged file for good
            return gzip.decompress(path.read_bytes())
        return _zstd(path)
    except (OSError, EOFError, zlib.error):
        raise SourceError(f"{path}: is not a whole {kind} file") from None


def _zstd(path: Path) -> bytes:
    import pyarrow as pa

    try:
        with pa.input_stream(str(path), compression="zstd") as stream:
            return bytes(stream.read())
    except pa.ArrowException as error:
        raise OSError(str(error)) from None
