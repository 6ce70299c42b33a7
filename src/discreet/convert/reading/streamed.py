"""Reading for measures that work on codes: only the columns they need, chunk by chunk, retaining only the codes.

The memory needed is estimated from a sample first; if it exceeds what is available, reading is refused.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from discreet.convert.errors import convert_errors
from discreet.convert.files.cells_file import read_cells
from discreet.convert.files.formats import Format
from discreet.convert.files.written_dates import convert_date_columns
from discreet.convert.reading.chunks import iterate_chunks, largest_chunk, row_group_sizes
from discreet.convert.reading.growing_columns import GrowingColumn
from discreet.convert.reading.memory_check import sample_across
from discreet.convert.reading.source import format_of_existing, is_url, prepare, read_source
from discreet.engine.encoding.columns import Column, code_type, encode_series, thread_count
from discreet.engine.runtime.memory import PROGRAM, VARIABLE, check_memory
from discreet.engine.runtime.progress import report_progress
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
    """A file as a lazy table, with its estimated number of records and its size and time when it was opened."""

    path: Path
    lazy: pl.LazyFrame
    shape: Microdata
    records: int
    state: tuple[int, int]
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
    if is_url(source) or not isinstance(source, str | Path):
        return read_source(source, policy)
    path = Path(source).expanduser()
    file_format = format_of_existing(path)
    if not file_format.streams:
        return read_source(source, policy)
    with convert_errors(str(path), f"cannot be read as {file_format.name}"):
        failure: Exception | None = None
        for lazy in file_format.scan(path, policy):
            try:
                prepared = prepare(lazy, policy, str(path), dates=False)
                scan = _open_scan(path, file_format, prepared, policy)
                names = _columns_to_read(scan.shape, measures)
                if names is not None:  # only the columns that are needed are read to find dates in them
                    scan = replace(scan, lazy=convert_date_columns(prepared, policy, str(path), names))
                    scan = replace(scan, shape=replace(scan.shape, frame=scan.lazy.collect_schema().to_frame()))
                return read_source(source, policy) if names is None else _read_codes(scan, names, measures, notice, by_record)
            except pl.exceptions.PolarsError as error:
                failure = error
        raise failure or SourceError(f"{path}: contains no table")


def _open_scan(path: Path, file_format: Format, lazy: pl.LazyFrame, policy: Policy) -> _Scan:
    state = _file_state(path)
    shape = Microdata(lazy.collect_schema().to_frame(), policy, str(path), cells=read_cells(path))
    if file_format.name == "Parquet":
        groups = row_group_sizes(path)
        return _Scan(path, lazy, shape, sum(groups), state, groups)
    head = lazy.head(1000).collect()
    size = state[0] * (5 if path.suffix in (".gz", ".zst") else 1)
    return _Scan(
        path, lazy, shape, int(size / max(_text_bytes_per_record(head), 1)) if head.height == 1000 else head.height, state
    )


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
            need, f"{scan.path}: measuring {scan.records:,} records", "measure a part of the table, or take a larger machine"
        )
        if notice is not None and need > MIN_NOTICE_BYTES:
            notice(message)
    growing = [GrowingColumn(name, scan.records if large else 0) for name in names]
    if not names:
        return Encoded.of(scan.shape, int(scan.lazy.select(pl.len()).collect().item()), {}, lambda: _read_whole(scan))
    size, lazy = 0, scan.lazy.select(names)
    with ThreadPoolExecutor(thread_count()) as pool:
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
    with convert_errors(str(scan.path), "cannot be read"):
        return scan.lazy.collect(engine="streaming")


def _check_unchanged(scan: _Scan) -> None:
    with convert_errors(str(scan.path), "cannot be read"):
        state = _file_state(scan.path)
    if state != scan.state:
        raise SourceError(f"{scan.path}: was changed while it was in use; run again")


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
    """Estimated bytes of memory: the program, the codes, and the larger of the chunks being read and the measures' work space.

    ``decoded`` is the number of records that are decoded at a time.
    """
    frame = sample_across(lazy.select(names), records) if names else pl.DataFrame()
    columns = {name: encode_series(frame[name], shape.attribute(name), name in shape.cells) for name in names}
    sample = Encoded.of(shape, frame.height, columns, lambda: frame)
    bytes_per_record = frame.estimated_size() / max(frame.height, 1)
    codes = sum(_code_bytes(column, frame.height, records) for column in columns.values())
    reading = bytes_per_record * decoded
    working = max((measure.working_bytes(sample, records, by_record=by_record) for measure in measures), default=0.0)
    return PROGRAM + codes * records + max(reading, working)


def _code_bytes(column: Column, seen: int, records: int) -> int:
    """Estimated bytes per code of the complete column; if most values of the sample differ, new records bring new values."""
    values = column.cardinality
    if values > seen / 4:
        values = values * records // max(seen, 1)
    return np.dtype(code_type(values)).itemsize
