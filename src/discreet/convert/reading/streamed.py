"""Reading for measures that work on codes: only the columns they need, a part at a time, and no more kept than codes.

What will be needed is reckoned from a sample before anything long begins, and refused where there is no room for it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from discreet.convert.errors import convert_errors
from discreet.convert.files.cells_file import read_cells
from discreet.convert.files.formats import Format
from discreet.convert.reading.chunks import in_parts, largest_part, row_groups
from discreet.convert.reading.growing_columns import GrowingColumn
from discreet.convert.reading.memory_check import spread_sample
from discreet.convert.reading.source import existing, is_url, prepared, read_source
from discreet.engine.encoding.columns import Column, encode_series, threads, width_for
from discreet.engine.runtime.memory import PROGRAM, VARIABLE, check_room
from discreet.engine.runtime.progress import tell
from discreet.errors import SourceError
from discreet.model.contracts import RiskMeasure
from discreet.model.encoded import Encoded
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy

PART = 1 << 19
"""Records that are decoded at a time."""
WHOLE = 1 << 20
"""A table of at most so many records comes in one part."""
_PARTS_HELD = 8
"""Parts that are held at a time: one at hand, one ahead, and what decoding and encoding them takes besides."""
WORTH_TELLING = 1e9
"""A need of fewer bytes is not worth a word."""


@dataclass(frozen=True)
class _Scan:
    """A file as a lazy table, and about how many records it has."""

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
    """Microdata to measure: of a file that can be streamed only the codes of what the measures read, else the whole table."""
    if is_url(source) or not isinstance(source, str | Path):
        return read_source(source, policy)
    path = Path(source).expanduser()
    found = existing(path)
    if not found.streams:
        return read_source(source, policy)
    with convert_errors(str(path), f"cannot be read as {found.name}"):
        failure: Exception | None = None
        for lazy in found.scan(path, policy):
            try:
                made = _scanned(path, found, prepared(lazy, policy, str(path)), policy)
                names = _names(made.shape, measures)
                return read_source(source, policy) if names is None else _encoded(made, names, measures, notice, by_record)
            except pl.exceptions.PolarsError as error:
                failure = error
        raise failure or SourceError(f"{path}: holds no table")


def _scanned(path: Path, found: Format, lazy: pl.LazyFrame, policy: Policy) -> _Scan:
    state = _state(path)
    shape = Microdata(lazy.collect_schema().to_frame(), policy, str(path), cells=read_cells(path))
    if found.name == "Parquet":
        groups = row_groups(path)
        return _Scan(path, lazy, shape, sum(groups), state, groups)
    head = lazy.head(1000).collect()
    size = state[0] * (5 if path.suffix in (".gz", ".zst") else 1)
    return _Scan(path, lazy, shape, int(size / max(_printed(head), 1)) if head.height == 1000 else head.height, state)


def _printed(head: pl.DataFrame) -> float:
    """The bytes of a record as text."""
    return len(head.write_csv(include_header=False)) / max(head.height, 1)


def _names(shape: Microdata, measures: Iterable[RiskMeasure]) -> list[str] | None:
    """The columns that the measures read, in the table's order; none where one of them needs the table itself."""
    wanted: set[str] = set()
    for measure in measures:
        names = measure.reads(shape)
        if names is None:
            return None
        for name in names:
            shape.attribute(name)  # raises where there is no such column
        wanted.update(names)
    return [name for name in shape.columns if name in wanted]


def _encoded(
    scan: _Scan, names: list[str], measures: Sequence[RiskMeasure], notice: Callable[[str], None] | None, by_record: bool
) -> Encoded:
    large = scan.records > WHOLE
    if large or os.environ.get(VARIABLE):
        held = _PARTS_HELD * min(scan.records, largest_part(scan.groups, PART))
        need = needed(scan.lazy, scan.shape, scan.records, names, measures, held, by_record=by_record)
        sentence = check_room(
            need, f"{scan.path}: measuring {scan.records:,} records", "measure a part of the table, or take a larger machine"
        )
        if notice is not None and need > WORTH_TELLING:
            notice(sentence)
    growing = [GrowingColumn(name, scan.records if large else 0) for name in names]
    if not names:
        return Encoded.of(scan.shape, int(scan.lazy.select(pl.len()).collect().item()), {}, lambda: _whole(scan))
    size, lazy = 0, scan.lazy.select(names)
    with ThreadPoolExecutor(threads()) as pool:
        for part in in_parts(lazy, scan.groups, PART) if large else [lazy.collect(engine="streaming")]:
            list(pool.map(lambda one: one.append(part[one.name]), growing))  # noqa: B023 - run before the next part comes
            size += part.height
            tell("reading", size, max(size, scan.records))
    _unchanged(scan)
    columns = {one.name: one.finish(scan.shape.attribute(one.name), one.name in scan.shape.cells) for one in growing}
    return Encoded.of(scan.shape, size, columns, lambda: _whole(scan))


def _whole(scan: _Scan) -> pl.DataFrame:
    """The table itself, for whoever asks for it after all."""
    _unchanged(scan)
    with convert_errors(str(scan.path), "cannot be read"):
        return scan.lazy.collect(engine="streaming")


def _unchanged(scan: _Scan) -> None:
    with convert_errors(str(scan.path), "cannot be read"):
        now = _state(scan.path)
    if now != scan.state:
        raise SourceError(f"{scan.path}: was changed while it was in use; run again")


def _state(path: Path) -> tuple[int, int]:
    """What tells that a file was written to."""
    found = path.stat()
    return found.st_size, found.st_mtime_ns


def needed(
    lazy: pl.LazyFrame,
    shape: Microdata,
    records: int,
    names: Sequence[str],
    measures: Sequence[RiskMeasure],
    held: int = _PARTS_HELD * PART,
    *,
    by_record: bool = False,
) -> float:
    """About how many bytes the program will hold: itself, the parts being read, the codes, and what the measures work with.

    ``held`` are the records that are decoded at a time.
    """
    frame = spread_sample(lazy.select(names), records) if names else pl.DataFrame()
    columns = {name: encode_series(frame[name], shape.attribute(name), name in shape.cells) for name in names}
    sample = Encoded.of(shape, frame.height, columns, lambda: frame)
    a_record = frame.estimated_size() / max(frame.height, 1)
    codes = sum(_code_bytes(column, frame.height, records) for column in columns.values())
    reading = a_record * held
    working = max((one.working_bytes(sample, records, by_record=by_record) for one in measures), default=0.0)
    return PROGRAM + codes * records + max(reading, working)


def _code_bytes(column: Column, seen: int, records: int) -> int:
    """The width of a column's codes when all records are in: values grow with the records where most of them are new."""
    values = column.cardinality
    if values > seen / 4:
        values = values * records // max(seen, 1)
    return np.dtype(width_for(values)).itemsize
