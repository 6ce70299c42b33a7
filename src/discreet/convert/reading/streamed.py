"""Reading for measures that work on codes: only the columns they need, chunk by chunk, retaining only the codes.

The memory needed is estimated from a sample first; if it exceeds what is available, reading is refused.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from discreet.convert.errors import convert_errors
from discreet.convert.files.cells_file import read_cells
from discreet.convert.files.formats import format_of
from discreet.convert.files.written_dates import convert_date_columns
from discreet.convert.places.opening import list_places, open_places
from discreet.convert.places.several_files import check_same_columns, name_source
from discreet.convert.places.staging import PlacedFile, named_errors
from discreet.convert.reading.chunks import iterate_chunks, largest_chunk, row_group_sizes
from discreet.convert.reading.memory_check import sample_across
from discreet.convert.reading.source import format_of_existing, is_url, prepare, read_placed_files, read_source
from discreet.engine.encoding.columns import Column, code_type, encode_series, thread_count
from discreet.engine.encoding.growing_columns import MANY_VALUES, GrowingColumn
from discreet.engine.encoding.text_numbers import BYTES_PER_VALUE, COPIES_OF_TEXTS
from discreet.engine.runtime.memory import PROGRAM, VARIABLE, check_memory
from discreet.engine.runtime.progress import report_progress
from discreet.engine.runtime.worker_threads import WorkerThreads
from discreet.errors import SourceError
from discreet.model.contracts import RiskMeasure
from discreet.model.encoded import Encoded
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy

CHUNK_RECORDS = 1 << 19
"""Records that are decoded at a time."""
MAX_UNCHUNKED_RECORDS = 1 << 20
"""A table of at most this many records is read in one chunk."""
_CHUNKS_IN_MEMORY = 8
"""Chunks in memory at a time: the current one, the next one, and the working memory of decoding and encoding."""
MIN_NOTICE_BYTES = 1e9
"""If fewer bytes are needed, no notice is given."""


@dataclass(frozen=True)
class _Scan:
    """One or several files as a lazy table: the estimated number of records, and the files' sizes and times at the beginning."""

    name: str
    files: tuple[PlacedFile, ...]
    """What is read; a private copy lasts as long as something refers to it."""
    lazy: pl.LazyFrame
    shape: Microdata
    records: int
    state: tuple[tuple[int, int], ...]
    groups: tuple[int, ...] = ()


def scan_source(
    source: Any,
    policy: Policy,
    measures: Sequence[RiskMeasure],
    notice: Callable[[str], None] | None = None,
    *,
    by_record: bool = False,
) -> Microdata:
    """Microdata to measure: only the codes of the columns that the measures read, or the whole table if it cannot be streamed."""
    places = None if is_url(source) else list_places(source)
    if places is None:
        return read_source(source, policy)
    files = tuple(open_places(places))
    if not all(format_of_existing(file.path).streams for file in files):
        return read_placed_files(files, policy)
    name = files[0].name if len(files) == 1 else name_source(files)
    formats = sorted({format_of(file.path).name for file in files})
    with named_errors(files), convert_errors(name, f"cannot be read as {' and '.join(formats)}"):
        failure: Exception | None = None
        for lazy in _attempts(files, policy):
            try:
                prepared = prepare(lazy, policy, name, dates=False)
                scan = _open_scan(name, files, prepared, policy)
                names = _columns_to_read(scan.shape, measures)
                if names is None:
                    return read_placed_files(files, policy)
                # only the columns that are needed are read to find dates in them
                scan = replace(scan, lazy=convert_date_columns(prepared, policy, name, names))
                scan = replace(scan, shape=replace(scan.shape, frame=scan.lazy.collect_schema().to_frame()))
                return _read_codes(scan, names, measures, notice, by_record)
            except pl.exceptions.PolarsError as error:
                failure = error
        if len(files) > 1:  # whole, file by file: each is tried in every way, and columns of different types are reconciled
            return read_placed_files(files, policy)
        raise failure or SourceError(f"{name}: contains no table")


def _attempts(files: Sequence[PlacedFile], policy: Policy) -> Iterator[pl.LazyFrame]:
    """Yield the lazy tables to try; of several files only the first way of each, and only where their types are the same."""
    if len(files) == 1:
        yield from format_of(files[0].path).scan(files[0].path, policy)
        return
    lazies = [next(iter(format_of(file.path).scan(file.path, policy))) for file in files]
    schemas = [lazy.collect_schema() for lazy in lazies]
    check_same_columns(files, [schema.names() for schema in schemas])
    if all(dict(schema) == dict(schemas[0]) for schema in schemas) and not any(read_cells(file.path) for file in files):
        yield pl.concat([lazy.select(schemas[0].names()) for lazy in lazies])


def _open_scan(name: str, files: tuple[PlacedFile, ...], lazy: pl.LazyFrame, policy: Policy) -> _Scan:
    state = tuple(_file_state(file.path) for file in files)
    cells = read_cells(files[0].path) if len(files) == 1 else {}
    shape = Microdata(lazy.collect_schema().to_frame(), policy, name, cells=cells)
    if all(format_of(file.path).name == "Parquet" for file in files):
        groups = tuple(size for file in files for size in row_group_sizes(file.path))
        return _Scan(name, files, lazy, shape, sum(groups), state, groups)
    head = lazy.head(1000).collect()
    size = sum(file.path.stat().st_size * (5 if file.path.suffix in (".gz", ".zst") else 1) for file in files)
    records = int(size / max(_text_bytes_per_record(head), 1)) if head.height == 1000 else head.height
    return _Scan(name, files, lazy, shape, records, state)


def _text_bytes_per_record(head: pl.DataFrame) -> float:
    """Mean size of a record as text, in bytes."""
    return len(head.write_csv(include_header=False)) / max(head.height, 1)


def _columns_to_read(shape: Microdata, measures: Iterable[RiskMeasure]) -> list[str] | None:
    """The columns that the measures read, in the table's order; None if a measure needs the table itself."""
    needed: set[str] = set()
    for measure in measures:
        names = measure.reads(shape)
        if names is None:
            return None
        for name in names:
            shape.attribute(name)  # raises if there is no such column
        needed.update(names)
    return [name for name in shape.columns if name in needed]


def _read_codes(
    scan: _Scan, names: list[str], measures: Sequence[RiskMeasure], notice: Callable[[str], None] | None, by_record: bool
) -> Encoded:
    large = scan.records > MAX_UNCHUNKED_RECORDS
    if large or os.environ.get(VARIABLE):
        decoded = _CHUNKS_IN_MEMORY * min(scan.records, largest_chunk(scan.groups, CHUNK_RECORDS))
        need = estimate_memory(scan.lazy, scan.shape, scan.records, names, measures, decoded, by_record=by_record)
        message = check_memory(
            need, f"{scan.name}: measuring {scan.records:,} records", "measure a part of the table, or take a larger machine"
        )
        if notice is not None and need > MIN_NOTICE_BYTES:
            notice(message)
    growing = [GrowingColumn(name, scan.records if large else 0) for name in names]
    if not names:
        return Encoded.of(scan.shape, int(scan.lazy.select(pl.len()).collect().item()), {}, lambda: _read_whole(scan))
    size, lazy = 0, scan.lazy.select(names)
    with WorkerThreads(thread_count()) as pool:
        for chunk in iterate_chunks(lazy, scan.groups, CHUNK_RECORDS) if large else [lazy.collect(engine="streaming")]:
            list(pool.map(lambda column: column.append(chunk[column.name]), growing))  # noqa: B023 - finished before the next chunk is read
            size += chunk.height
            report_progress("reading", size, max(size, scan.records))
    _check_unchanged(scan)
    columns = {
        column.name: column.finish(scan.shape.attribute(column.name), column.name in scan.shape.cells) for column in growing
    }
    return Encoded.of(scan.shape, size, columns, lambda: _read_whole(scan))


def _read_whole(scan: _Scan) -> pl.DataFrame:
    """Read the table itself, if it is needed after all."""
    _check_unchanged(scan)
    with convert_errors(scan.name, "cannot be read"):
        return scan.lazy.collect(engine="streaming")


def _check_unchanged(scan: _Scan) -> None:
    with convert_errors(scan.name, "cannot be read"):
        state = tuple(_file_state(file.path) for file in scan.files)
    if state != scan.state:
        raise SourceError(f"{scan.name}: was changed while it was in use; run again")


def _file_state(path: Path) -> tuple[int, int]:
    """Size and modification time, which change when a file is written."""
    status = path.stat()
    return status.st_size, status.st_mtime_ns


def estimate_memory(
    lazy: pl.LazyFrame,
    shape: Microdata,
    records: int,
    names: Sequence[str],
    measures: Sequence[RiskMeasure],
    decoded: int = _CHUNKS_IN_MEMORY * CHUNK_RECORDS,
    *,
    by_record: bool = False,
) -> float:
    """Estimated bytes of memory: the program, the codes, the different texts, and the larger of the chunks being read and the
    measures' work space.

    ``decoded`` is the number of records that are decoded at a time.
    """
    frame = sample_across(lazy.select(names), records) if names else pl.DataFrame()
    columns = {name: encode_series(frame[name], shape.attribute(name), name in shape.cells) for name in names}
    sample = Encoded.of(shape, frame.height, columns, lambda: frame)
    bytes_per_record = frame.estimated_size() / max(frame.height, 1)
    codes = sum(_code_bytes(column, frame.height, records) for column in columns.values())
    texts = sum(_text_bytes(column, frame.height, records) for column in columns.values())
    reading = bytes_per_record * decoded
    working = max((measure.working_bytes(sample, records, by_record=by_record) for measure in measures), default=0.0)
    return PROGRAM + codes * records + texts + max(reading, working)


def _code_bytes(column: Column, seen: int, records: int) -> int:
    """Estimated bytes per code of the complete column; if most values of the sample differ, new records bring new values."""
    return np.dtype(code_type(_estimate_values(column, seen, records))).itemsize


def _text_bytes(column: Column, seen: int, records: int) -> float:
    """Estimated bytes of the different texts of the complete column while they are numbered and sorted."""
    values = _estimate_values(column, seen, records)
    if column.values.dtype != pl.String or values < MANY_VALUES:
        return 0.0
    return values * (BYTES_PER_VALUE + COPIES_OF_TEXTS * column.values.estimated_size() / max(len(column.values), 1))


def _estimate_values(column: Column, seen: int, records: int) -> int:
    """The different values of the complete column; if most values of the sample differ, new records bring new values."""
    values = column.cardinality
    return values * records // max(seen, 1) if values > seen / 4 else values
