"""``-``: a table on standard input or standard output, as CSV, Parquet or Arrow."""

from __future__ import annotations

import os
import shutil
import sys
import zipfile
from pathlib import Path
from typing import Any

from discreet.convert.errors import convert_errors
from discreet.convert.places.staging import PlacedFile, StagingFolder
from discreet.errors import SourceError, nearest

STANDARD_INPUT, STANDARD_OUTPUT = "standard input", "standard output"
STREAM_FORMATS = {"csv": ".csv", "tsv": ".tsv", "parquet": ".parquet", "arrow": ".arrow", "jsonl": ".jsonl"}
_BINARY = ("parquet", "arrow")
_MAGIC_NUMBERS = (
    (b"PAR1", ".parquet"),
    (b"ARROW1", ".arrow"),
    (b"\xff\xff\xff\xff", ".arrow"),  # the continuation mark that begins a stream of Arrow
    (b"\x1f\x8b", ".csv.gz"),
    (b"\x28\xb5\x2f\xfd", ".csv.zst"),
    (b"PK\x03\x04", ".zip"),
    (b"\xd0\xcf\x11\xe0", ".xls"),
    (b"$FL2", ".sav"),
    (b"<stata_dta>", ".dta"),
)


class StandardStream(str):
    """The place ``-`` with the format that was asked for; None: that of the content, or CSV for output."""

    __slots__ = ("stream_format",)
    stream_format: str | None

    def __new__(cls, stream_format: str | None = None) -> StandardStream:
        if stream_format is not None and stream_format not in STREAM_FORMATS:
            raise SourceError(f"'{stream_format}' is not a format of a stream; {nearest(stream_format, STREAM_FORMATS)}")
        stream = super().__new__(cls, "-")
        stream.stream_format = stream_format
        return stream


def is_standard_stream(place: Any) -> bool:
    """Whether a source or target is ``-``."""
    return isinstance(place, str | Path) and str(place) == "-"


def receive_standard_input(place: Any) -> PlacedFile:
    """Copy standard input to a private file, with the suffix of its format."""
    if sys.stdin is not None and sys.stdin.isatty():
        raise SourceError(f"{STANDARD_INPUT}: is a terminal; send a table, such as: discreet risk - -p policy.yaml < table.csv")
    folder = StagingFolder()
    received = folder.path / "input"
    with convert_errors(STANDARD_INPUT, "cannot be read"):
        with os.fdopen(os.dup(0), "rb") as stream, received.open("wb") as file:
            shutil.copyfileobj(stream, file, 1 << 20)
        if not received.stat().st_size:
            raise SourceError(f"{STANDARD_INPUT}: is empty")
        stream_format = getattr(place, "stream_format", None)
        suffix = STREAM_FORMATS[stream_format] if stream_format else detect_suffix(received)
        path = received.rename(received.with_suffix(suffix))
    return PlacedFile(path, STANDARD_INPUT, folder)


def detect_suffix(path: Path) -> str:
    """The suffix of the format that the first bytes of a file show; text is CSV."""
    with path.open("rb") as file:
        head = file.read(16)
    suffix = next((suffix for magic, suffix in _MAGIC_NUMBERS if head.startswith(magic)), ".csv")
    if suffix == ".zip":
        try:
            with zipfile.ZipFile(path) as archive:
                if "xl/workbook.xml" in archive.namelist():
                    return ".xlsx"
        except zipfile.BadZipFile:
            pass  # the reader of archives says what is wrong with it
    return suffix


def output_suffix(place: Any) -> str:
    """The suffix of the format to write to standard output; raises where a terminal would get binary content."""
    stream_format = getattr(place, "stream_format", None) or "csv"
    if stream_format in _BINARY and os.isatty(1):
        raise SourceError(f"{STANDARD_OUTPUT}: is a terminal, which cannot show {stream_format}; send it to a file or a program")
    return STREAM_FORMATS[stream_format]


def send_to_standard_output(path: Path) -> None:
    """Copy a complete file to standard output."""
    if sys.stdout is not None:
        sys.stdout.flush()
    with path.open("rb") as file, os.fdopen(os.dup(1), "wb") as stream:
        shutil.copyfileobj(file, stream, 1 << 20)
