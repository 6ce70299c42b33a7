"""The table of file formats, by suffix.

A format either streams (``scan`` gives lazy tables, ``sink`` takes one) or is read and written whole; each is a small
module of its own that is loaded when a file of that kind first comes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import polars as pl

from discreet.convert.files.tables import Table
from discreet.errors import SourceError, nearest
from discreet.model.policy import Policy


@dataclass(frozen=True)
class Format:
    """One file format: its name for people, and the functions of its module."""

    name: str
    module: str
    reader: str
    writer: str
    streams: bool = False
    writing: tuple[tuple[str, Any], ...] = ()
    reading: tuple[tuple[str, Any], ...] = ()

    def _function(self, name: str, options: tuple[tuple[str, Any], ...]) -> Any:
        return partial(getattr(import_module(f"discreet.convert.files.{self.module}"), name), **dict(options))

    def scan(self, path: Path, policy: Policy) -> Iterator[pl.LazyFrame]:
        """The file as lazy tables, each tried where the one before failed."""
        made: Iterator[pl.LazyFrame] = self._function(self.reader, self.reading)(path, policy)
        return made

    def sink(self, lazy: pl.LazyFrame, path: Path) -> None:
        self._function(self.writer, self.writing)(lazy, path)

    def count(self, path: Path) -> int:
        """The records in a file that ``sink`` wrote."""
        return int(self._function("count", ())(path))

    def read(self, path: Path, policy: Policy) -> Table:
        made: Table = self._function(self.reader, self.reading)(path, policy)
        return made

    def write(self, table: Table, path: Path) -> None:
        self._function(self.writer, self.writing)(table, path)


_TAB = (("separator", "\t"),)


def _text(name: str, separator: str | None, compression: str | None = None) -> Format:
    reading = _TAB if separator == "\t" else ()
    packing = (("compression", compression),) if compression else ()
    return Format(name, "delimited", "scan", "sink", True, (*reading, *packing), reading)


def _json(compression: str | None = None) -> Format:
    return Format("JSON lines", "json_lines", "scan", "sink", True, (("compression", compression),) if compression else ())


_PARQUET = Format("Parquet", "parquet", "scan", "sink", streams=True)
_ARROW = Format("Arrow", "arrow", "scan", "sink", streams=True)
_EXCEL = Format("Excel", "excel", "read", "write")
_SPSS = Format("SPSS", "spss", "read", "write")

FORMATS: dict[str, Format] = {
    ".csv": _text("CSV", None),
    ".csv.gz": _text("CSV", None, "gzip"),
    ".csv.zst": _text("CSV", None, "zstd"),
    ".tsv": _text("TSV", "\t"),
    ".tsv.gz": _text("TSV", "\t", "gzip"),
    ".tsv.zst": _text("TSV", "\t", "zstd"),
    ".parquet": _PARQUET,
    ".pq": _PARQUET,
    ".arrow": _ARROW,
    ".feather": _ARROW,
    ".ipc": _ARROW,
    ".xlsx": _EXCEL,
    ".jsonl": _json(),
    ".ndjson": _json(),
    ".jsonl.gz": _json("gzip"),
    ".ndjson.gz": _json("gzip"),
    ".jsonl.zst": _json("zstd"),
    ".ndjson.zst": _json("zstd"),
    ".sav": _SPSS,
    ".zsav": _SPSS,
    ".dta": Format("Stata", "stata", "read", "write"),
    ".sas7bdat": Format("SAS", "sas", "read", "write"),
    ".xpt": Format("SAS transport", "sas", "read_transport", "write_transport"),
}


def format_of(path: Path) -> Format:
    """The format that a file's name speaks of."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    found = FORMATS.get("".join(suffixes[-2:])) or FORMATS.get(suffixes[-1] if suffixes else "")
    if found is None:
        said = f"'{suffixes[-1]}' is not the suffix of a known format" if suffixes else "a name without a suffix says no format"
        raise SourceError(f"{path}: {said}; {_hint(suffixes[-1] if suffixes else '')}")
    return found


def _hint(suffix: str) -> str:
    close = nearest(suffix, FORMATS)
    return close if suffix and close.startswith("did") else "known are: " + ", ".join(s for s in FORMATS if s.count(".") == 1)
