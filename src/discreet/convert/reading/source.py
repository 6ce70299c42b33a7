"""Reading a source: a file, a database table, or a frame in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from discreet.convert.errors import convert_errors
from discreet.convert.files.cells_file import apply_cells, check_described_columns, policy_with_labels_as_text, read_cells
from discreet.convert.files.formats import Format, format_of
from discreet.convert.files.missing_values import null_out_markers
from discreet.convert.files.normalise import normalise_columns
from discreet.convert.files.reading_notes import collect_notes
from discreet.convert.files.tables import Table
from discreet.convert.files.written_dates import convert_date_columns
from discreet.convert.places.opening import is_database, list_places, open_places
from discreet.convert.places.several_files import (
    check_same_columns,
    conflicting_columns,
    describe_files,
    holds_text,
    join_tables,
)
from discreet.convert.places.staging import PlacedFile, named_errors
from discreet.convert.reading.frames import lazy_from_frame, ordered_categories
from discreet.convert.reading.memory_check import check_memory_for_whole_table
from discreet.errors import SourceError
from discreet.model.attribute import Attribute, Level
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy


def read_source(source: Any, policy: Policy) -> Microdata:
    """Read Microdata from a file, several files, a ``URL#table``, or a frame of pandas, Polars, Arrow or a similar library.

    A file is a path, ``-`` for standard input, a wildcard, an object (``s3://bucket/key.parquet``) or a zip archive.
    """
    if isinstance(source, Microdata):
        return source.with_policy(policy)
    if is_url(source):
        from discreet.convert.databases.database import open_database

        database = open_database(source)
        return _to_microdata(database.read(), policy, database.name)
    if (places := list_places(source)) is not None:
        return read_placed_files(open_places(places), policy)
    with collect_notes() as notes:
        lazy, name = lazy_from_frame(source)
        with convert_errors(name, "cannot be read"):
            data = _to_microdata(Table(lazy.collect(engine="streaming")), policy, name)
    data = replace(data, notes=tuple(notes))
    return _with_orders(data, ordered_categories(source))


def is_url(place: Any) -> bool:
    """Whether a source or target is a database table rather than a file."""
    return is_database(place)


def prepare(lazy: pl.LazyFrame, policy: Policy, source: str, *, dates: bool = True) -> pl.LazyFrame:
    """Normalise column types, replace missing-value markers by null, and check the policy against the columns.

    With ``dates``, text columns are read to find dates written in other ways than ISO 8601.
    """
    normalised = normalise_columns(lazy, source)
    normalised = normalised.with_columns(null_out_markers(normalised.collect_schema(), policy))
    if dates:
        normalised = convert_date_columns(normalised, policy, source, normalised.collect_schema().names())
    Microdata(normalised.collect_schema().to_frame(), policy, source)  # raises if the policy does not fit the columns
    return normalised


def scan_attempts(path: Path, policy: Policy) -> Iterator[pl.LazyFrame]:
    """Yield a streamable file as prepared lazy tables; each is an alternative to try if the previous one fails."""
    file_format, cells = format_of_existing(path), read_cells(path)
    if cells:
        check_described_columns(path, cells, next(iter(file_format.scan(path, policy))).collect_schema().names())
    for lazy in file_format.scan(path, policy_with_labels_as_text(policy, cells)):
        yield prepare(lazy, policy, str(path))


def format_of_existing(path: Path) -> Format:
    """The format of a file; raises SourceError if it does not exist or cannot be opened."""
    if path.is_dir():
        raise SourceError(f"{path}: is a folder, not a file")
    file_format = format_of(path)
    if not path.exists():
        raise SourceError(f"{path}: there is no such file")
    with convert_errors(str(path), "cannot be opened"), path.open("rb"):
        return file_format


def _with_orders(data: Microdata, orders: Mapping[str, tuple[str, ...]]) -> Microdata:
    """The table with the orders of ordered categories in its policy, where the policy says nothing about level or order."""
    attributes = dict(data.policy.attributes)
    for name, order in orders.items():
        attribute = attributes.get(name, Attribute())
        texts = set(data.frame[name].drop_nulls().cast(pl.String))  # a category may be a number
        if attribute.order is None and attribute.level is None and texts <= set(order):
            attributes[name] = attribute.model_copy(update={"level": Level.ORDINAL, "order": order, "allow_absent": True})
    if attributes == dict(data.policy.attributes):
        return data
    return data.with_policy(data.policy.with_(attributes=attributes))


def read_placed_files(files: Sequence[PlacedFile], policy: Policy) -> Microdata:
    """Read one file, or several as one table."""
    return _read_placed(files[0], policy) if len(files) == 1 else _read_several(files, policy)


def _read_placed(file: PlacedFile, policy: Policy) -> Microdata:
    """Read one file, under the name that it has outside."""
    with named_errors([file]):
        data = _read_file_with_cells(file.path, policy)
    if not file.is_copy:
        return data
    member = file.name.rpartition("#")[2] if "#" in file.name else None
    notes = (*((f"the member '{member}' of the archive was read",) if member else ()), *data.notes)
    return replace(data, source=file.name, notes=notes)


def _read_several(files: Sequence[PlacedFile], policy: Policy) -> Microdata:
    """Read several files as one table; a column that is text in one of them is read as text in all."""
    tables = [_read_placed(file, policy) for file in files]
    check_same_columns(files, [table.columns for table in tables])
    schemas = [table.frame.schema for table in tables]
    empty = [{name for name in table.columns if table.frame[name].null_count() == len(table)} for table in tables]
    conflicts = set(conflicting_columns(schemas, empty))
    if conflicts:
        for index, file in enumerate(files):
            names = [name for name in tables[0].columns if name in conflicts and schemas[index][name] != pl.String]
            if names and holds_text(file):
                as_text = policy.read.model_copy(update={"text": (*policy.read.text, *names)})
                tables[index] = _read_placed(file, policy.with_(read=as_text)).with_policy(policy)
    joined = join_tables(files, tables)
    with collect_notes() as notes:
        frame = prepare(joined.frame.lazy(), policy, joined.source).collect()
    order = f"{len(files):,} files were read as one table, in this order: {describe_files([file.name for file in files])}"
    own_notes = [f"{file.name}: {note}" for file, table in zip(files, tables, strict=True) for note in table.notes]
    return replace(joined, frame=frame, notes=(order, *own_notes, *notes))


def _read_file_with_cells(path: Path, policy: Policy) -> Microdata:
    with collect_notes() as notes:
        data = _read_file(path, policy)
    data = replace(data, notes=tuple(notes))
    cells = read_cells(path)
    check_described_columns(path, cells, data.columns)
    return apply_cells(data, cells) if cells else data


def _read_file(path: Path, policy: Policy) -> Microdata:
    file_format = format_of_existing(path)
    with convert_errors(str(path), f"cannot be read as {file_format.name}"):
        if not file_format.streams:
            cells = read_cells(path)
            if cells:
                check_described_columns(path, cells, file_format.read(path, policy).frame.columns)
            return _to_microdata(file_format.read(path, policy_with_labels_as_text(policy, cells)), policy, str(path))
        failure: Exception | None = None
        for lazy in scan_attempts(path, policy):
            try:
                if file_format.name == "Parquet":
                    check_memory_for_whole_table(lazy, path)
                return Microdata(lazy.collect(engine="streaming"), policy, str(path))
            except pl.exceptions.PolarsError as error:
                failure = error
        raise failure or SourceError(f"{path}: contains no table")


def _to_microdata(table: Table, policy: Policy, source: str) -> Microdata:
    frame = prepare(table.frame.lazy(), policy, source).collect()
    return Microdata(frame, policy, source, labels=table.labels, variable_labels=table.variable_labels)
