"""Reading a source: a file, a database table, or a frame in memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from discreet.convert.errors import convert_errors
from discreet.convert.files.cells_file import check_columns, read_cells, reading_labels_as_text, with_labels
from discreet.convert.files.formats import Format, format_of
from discreet.convert.files.missing_values import without_markers
from discreet.convert.files.normalise import plain
from discreet.convert.files.tables import Table
from discreet.convert.reading.frames import from_frame
from discreet.convert.reading.memory_check import check_whole
from discreet.errors import SourceError
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy


def read_source(source: Any, policy: Policy) -> Microdata:
    """Microdata from a file name, a ``URL#table``, or a frame of pandas, Polars, Arrow or their kin."""
    if isinstance(source, Microdata):
        return source.with_policy(policy)
    if is_url(source):
        from discreet.convert.databases.database import open_database

        place = open_database(source)
        return _microdata(place.read(), policy, place.name)
    if isinstance(source, str | Path):
        return _from_file(Path(source).expanduser(), policy)
    lazy, name = from_frame(source)
    with convert_errors(name, "cannot be read"):
        return _microdata(Table(lazy.collect(engine="streaming")), policy, name)


def is_url(place: Any) -> bool:
    """Whether a source or target is a database table rather than a file."""
    return isinstance(place, str) and "://" in place


def prepared(lazy: pl.LazyFrame, policy: Policy, source: str) -> pl.LazyFrame:
    """Plain columns without missing-value markers, checked against the policy."""
    made = plain(lazy, source)
    made = made.with_columns(without_markers(made.collect_schema(), policy))
    Microdata(made.collect_schema().to_frame(), policy, source)  # the policy's words on columns hold for the empty table too
    return made


def attempts(path: Path, policy: Policy) -> Iterator[pl.LazyFrame]:
    """A file that can be streamed as prepared lazy tables, each tried where the one before failed."""
    form, cells = existing(path), read_cells(path)
    if cells:
        check_columns(path, cells, next(iter(form.scan(path, policy))).collect_schema().names())
    for lazy in form.scan(path, reading_labels_as_text(policy, cells)):
        yield prepared(lazy, policy, str(path))


def existing(path: Path) -> Format:
    """The format of a file that is there and can be opened."""
    if path.is_dir():
        raise SourceError(f"{path}: is a folder, not a file")
    found = format_of(path)
    if not path.exists():
        raise SourceError(f"{path}: there is no such file")
    with convert_errors(str(path), "cannot be opened"), path.open("rb"):
        return found


def _from_file(path: Path, policy: Policy) -> Microdata:
    made = _table_of(path, policy)
    cells = read_cells(path)
    check_columns(path, cells, made.columns)
    return with_labels(made, cells) if cells else made


def _table_of(path: Path, policy: Policy) -> Microdata:
    found = existing(path)
    with convert_errors(str(path), f"cannot be read as {found.name}"):
        if not found.streams:
            cells = read_cells(path)
            if cells:
                check_columns(path, cells, found.read(path, policy).frame.columns)
            return _microdata(found.read(path, reading_labels_as_text(policy, cells)), policy, str(path))
        failure: Exception | None = None
        for lazy in attempts(path, policy):
            try:
                if found.name == "Parquet":
                    check_whole(lazy, path)
                return Microdata(lazy.collect(engine="streaming"), policy, str(path))
            except pl.exceptions.PolarsError as error:
                failure = error
        raise failure or SourceError(f"{path}: holds no table")


def _microdata(table: Table, policy: Policy, source: str) -> Microdata:
    frame = prepared(table.frame.lazy(), policy, source).collect()
    return Microdata(frame, policy, source, labels=table.labels, variable_labels=table.variable_labels)
