"""Several files as one table: named one by one, or by a wildcard.

Columns are matched by name, and all files must have the same ones.
"""

from __future__ import annotations

import glob
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from discreet.convert.files.formats import Format, format_of
from discreet.convert.places.archives import split_member
from discreet.convert.places.object_stores import expand_objects, is_object_address
from discreet.convert.places.staging import PlacedFile
from discreet.errors import SourceError, nearest
from discreet.model.microdata import Microdata

_MOST_FILES = 10_000
_MOST_NAMED, _MOST_SOURCES = 5, 100


def is_pattern(source: Any) -> bool:
    """Whether a source is a wildcard; a file whose own name has such a character is that file."""
    if not isinstance(source, str | Path) or not any(mark in str(source) for mark in "*?["):
        return False
    text = str(source)
    if is_object_address(text):
        return any(mark in text.partition("://")[2].partition("/")[2] for mark in "*[")  # a ? may begin a signature
    return "://" not in text and split_member(text) is None and not Path(text).expanduser().exists()


def expand_pattern(source: str | Path) -> list[str]:
    """The files that a wildcard matches, in the order of their names."""
    text = str(source)
    if is_object_address(text):
        names = expand_objects(text)
    else:
        names = sorted(glob.glob(str(Path(text).expanduser()), recursive=True))
        names = [name for name in names if Path(name).is_file() and not name.endswith(".cells.yaml")]
    if not names:
        raise SourceError(f"{text}: matches no file")
    if len(names) > _MOST_FILES:
        raise SourceError(f"{text}: matches {len(names):,} files; at most {_MOST_FILES:,} are read as one table")
    return names


def check_named_once(names: Sequence[str]) -> None:
    """Raise where a file is named twice, because its records would be counted twice."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise SourceError(f"{name}: is named twice as a part of one table")
        seen.add(name)


def describe_files(names: Sequence[str], most: int = _MOST_NAMED) -> str:
    """The files in a sentence, the first ones by name."""
    return ", ".join(names[:most]) + (f" and {len(names) - most:,} more" if len(names) > most else "")


def name_source(files: Sequence[PlacedFile]) -> str:
    """The name of the table that several files are: all their names, so that writing can protect each of them."""
    return describe_files([file.name for file in files], _MOST_SOURCES)


def check_same_columns(files: Sequence[PlacedFile], columns: Sequence[Sequence[str]]) -> None:
    """Raise where a file lacks a column of the first one, or has one more."""
    first = list(columns[0])
    for file, names in zip(files[1:], columns[1:], strict=True):
        for name in first:
            if name not in names:
                raise SourceError(f"{file.name}: has no column '{name}', which {files[0].name} has; {nearest(name, names)}")
        for name in names:
            if name not in first:
                raise SourceError(
                    f"{file.name}: has a column '{name}', which {files[0].name} does not have; {nearest(name, first)}"
                )


def conflicting_columns(schemas: Sequence[Mapping[str, pl.DataType]], empty: Sequence[set[str]]) -> list[str]:
    """The columns that are text in one file and something else in another; columns without any value fit every type."""
    conflicts = []
    for name in schemas[0]:
        kinds = {_kind(schema[name]) for schema, without_values in zip(schemas, empty, strict=True) if name not in without_values}
        if len(kinds) > 1:
            conflicts.append(name)
    return conflicts


def _kind(dtype: pl.DataType) -> str:
    if dtype.is_numeric():
        return "number"
    return "moment" if dtype in (pl.Date, pl.Datetime) else str(dtype.base_type())


def holds_text(file: PlacedFile) -> bool:
    """Whether a file's values are written as text, so that a column can be read as text without loss."""
    file_format: Format = format_of(file.path)
    return file_format.module in ("delimited", "json_lines", "excel")


def join_tables(files: Sequence[PlacedFile], tables: Sequence[Microdata]) -> Microdata:
    """One table of the records of all, with the labels of all; labels that contradict each other are an error."""
    first = tables[0]
    labels: dict[str, dict[Any, str]] = {}
    variable_labels: dict[str, str] = {}
    for file, table in zip(files, tables, strict=True):
        if dict(table.cells) != dict(first.cells):
            raise SourceError(f"{file.name}: its labels are described in another way than those of {files[0].name}")
        for name, texts in table.labels.items():
            for value, text in texts.items():
                known = labels.setdefault(name, {}).setdefault(value, text)
                if known != text:
                    raise SourceError(
                        f"{file.name}: the value {value} of '{name}' is labelled '{text}', in another file '{known}'"
                    )
        for name, text in table.variable_labels.items():
            variable_labels.setdefault(name, text)
    frames = [_without_type_where_empty(table.frame.select(first.columns)) for table in tables]
    _check_same_types(files, frames)
    frame = pl.concat(frames, how="vertical_relaxed")
    untyped = [name for name, dtype in frame.schema.items() if dtype == pl.Null]
    frame = frame.with_columns(pl.col(name).cast(first.frame.schema[name]) for name in untyped)
    return Microdata(frame, first.policy, name_source(files), labels=labels,
                     variable_labels=variable_labels, cells=first.cells)  # fmt: skip


def _without_type_where_empty(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(pl.lit(None).alias(name) for name in frame.columns if frame[name].null_count() == frame.height)


def _check_same_types(files: Sequence[PlacedFile], frames: Sequence[pl.DataFrame]) -> None:
    """Raise where a column is text in one file and something else in another, which cannot be read as text without loss."""
    for name in frames[0].columns:
        typed = [(file, frame.schema[name]) for file, frame in zip(files, frames, strict=True) if frame.schema[name] != pl.Null]
        for file, dtype in typed[1:]:
            if _kind(dtype) != _kind(typed[0][1]):
                other, other_type = typed[0]
                raise SourceError(f"{file.name}: the column '{name}' is {dtype}, in {other.name} it is {other_type}")
