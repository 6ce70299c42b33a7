"""The table of file formats, by suffix.

A format either streams (``scan`` yields lazy tables, ``sink`` writes one) or is read and written whole. Each is a small
module, imported when the first file of that format is read or written.
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
from discreet.model.extras import require_libraries
from discreet.model.policy import Policy


@dataclass(frozen=True)
class Format:
    """One file format: its displayed name, and the names of its module and of the functions there."""

    name: str
    module: str
    reader: str
    writer: str
    streams: bool = False
    write_options: tuple[tuple[str, Any], ...] = ()
    read_options: tuple[tuple[str, Any], ...] = ()
    read_library: str | None = None
    write_library: str | None = None

    def _function(self, name: str, options: tuple[tuple[str, Any], ...]) -> Any:
        return partial(getattr(import_module(f"discreet.convert.files.{self.module}"), name), **dict(options))

    @staticmethod
    def _require(task: str, library: str | None) -> None:
        if library is not None:
            require_libraries(task, library)

    def scan(self, path: Path, policy: Policy) -> Iterator[pl.LazyFrame]:
        """Yield the file as lazy tables; each is an alternative to try if the previous one fails."""
        frames: Iterator[pl.LazyFrame] = self._function(self.reader, self.read_options)(path, policy)
        return frames

    def sink(self, lazy: pl.LazyFrame, path: Path) -> None:
        self._function(self.writer, self.write_options)(lazy, path)

    def count(self, path: Path) -> int:
        """Number of records in a file that ``sink`` wrote."""
        return int(self._function("count", ())(path))

    def read(self, path: Path, policy: Policy) -> Table:
        self._require(f"reading {path}", self.read_library)
        table: Table = self._function(self.reader, self.read_options)(path, policy)
        return table

    def write(self, table: Table, path: Path) -> None:
        self._require(f"writing {path}", self.write_library)
        self._function(self.writer, self.write_options)(table, path)


_TAB_SEPARATED = (("separator", "\t"),)


def _delimited(name: str, separator: str | None, compression: str | None = None) -> Format:
    separator_option = _TAB_SEPARATED if separator == "\t" else ()
    compression_option = (("compression", compression),) if compression else ()
    return Format(name, "delimited", "scan", "sink", True, (*separator_option, *compression_option), separator_option)


def _json_lines(compression: str | None = None) -> Format:
    return Format("JSON lines", "json_lines", "scan", "sink", True, (("compression", compression),) if compression else ())


_PARQUET = Format("Parquet", "parquet", "scan", "sink", streams=True)
_ARROW = Format("Arrow", "arrow", "scan", "sink", streams=True)
_EXCEL = Format("Excel", "excel", "read", "write", read_library="fastexcel", write_library="xlsxwriter")

_OLD_EXCEL = Format("spreadsheet", "excel", "read", "refuse_to_write", read_library="fastexcel")


def _statistical(name: str, module: str, reader: str = "read", writer: str = "write") -> Format:
    return Format(name, module, reader, writer, read_library="pyreadstat", write_library="pyreadstat")


_SPSS = _statistical("SPSS", "spss")

FORMATS: dict[str, Format] = {
    ".csv": _delimited("CSV", None),
    ".csv.gz": _delimited("CSV", None, "gzip"),
    ".csv.zst": _delimited("CSV", None, "zstd"),
    ".tsv": _delimited("TSV", "\t"),
    ".tsv.gz": _delimited("TSV", "\t", "gzip"),
    ".tsv.zst": _delimited("TSV", "\t", "zstd"),
    ".parquet": _PARQUET,
    ".pq": _PARQUET,
    ".arrow": _ARROW,
    ".feather": _ARROW,
    ".ipc": _ARROW,
    ".xlsx": _EXCEL,
    ".xls": _OLD_EXCEL,
    ".xlsm": _OLD_EXCEL,
    ".xlsb": _OLD_EXCEL,
    ".ods": _OLD_EXCEL,
    ".jsonl": _json_lines(),
    ".ndjson": _json_lines(),
    ".jsonl.gz": _json_lines("gzip"),
    ".ndjson.gz": _json_lines("gzip"),
    ".jsonl.zst": _json_lines("zstd"),
    ".ndjson.zst": _json_lines("zstd"),
    ".sav": _SPSS,
    ".zsav": _SPSS,
    ".dta": _statistical("Stata", "stata"),
    ".sas7bdat": _statistical("SAS", "sas"),
    ".xpt": _statistical("SAS transport", "sas", "read_transport", "write_transport"),
}


READ_ONLY = (".sas7bdat", ".xls", ".xlsm", ".xlsb", ".ods")
"""Suffixes of formats that no maintained library writes."""


def format_of(path: Path) -> Format:
    """The format that belongs to the suffix of a file name."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    file_format = FORMATS.get("".join(suffixes[-2:])) or FORMATS.get(suffixes[-1] if suffixes else "")
    if file_format is None:
        problem = (
            f"'{suffixes[-1]}' is not the suffix of a known format" if suffixes else "a file name without a suffix has no format"
        )
        raise SourceError(f"{path}: {problem}; {_suggest_suffix(suffixes[-1] if suffixes else '')}")
    return file_format


_ARCHIVES = {".7z", ".rar", ".tar", ".tgz", ".bz2", ".xz"}


def _suggest_suffix(suffix: str) -> str:
    if suffix in _ARCHIVES:
        return "it is an archive: unpack it and name the file inside it, or pack it as .zip, .csv.gz or .csv.zst"
    if suffix == ".zip":
        return "archives are read, not written: name a file such as .csv.gz"
    if suffix == ".txt":
        return "rename it to .csv or .tsv"
    suggestion = nearest(suffix, FORMATS)
    return (
        suggestion
        if suffix and suggestion.startswith("did")
        else "known formats: " + ", ".join(known for known in FORMATS if known.count(".") == 1)
    )
