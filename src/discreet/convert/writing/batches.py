"""Writing a table that comes in batches of rows, without all of it in memory where the format can be streamed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path

import polars as pl

from discreet.convert.files.cells_file import cells_path, remove_cells
from discreet.convert.files.formats import format_of
from discreet.convert.files.normalise import normalise_columns
from discreet.convert.places.object_stores import is_object_address
from discreet.convert.places.standard_streams import is_standard_stream
from discreet.convert.reading.source import is_url
from discreet.convert.writing.atomic import in_work_folder, replacing, target_exists_error
from discreet.convert.writing.target import write_target
from discreet.model.microdata import Microdata

_ROWS_PER_GROUP = 1 << 14


def write_batches(batches: Iterator[pl.DataFrame], target: str | Path, *, private: bool, overwrite: bool) -> None:
    """Write at least one batch; all have the same columns. CSV, Parquet, Arrow and JSON lines are streamed."""
    path = Path(target).expanduser()
    elsewhere = isinstance(target, str) and is_url(target)
    if elsewhere or is_standard_stream(target) or is_object_address(target) or not format_of(path).streams:
        write_target(Microdata(pl.concat(batches)), target, private=private, overwrite=overwrite)
        return
    if not overwrite and cells_path(path).exists():
        raise target_exists_error(cells_path(path))
    with replacing(path, private=private, overwrite=overwrite) as temporary:
        with in_work_folder(temporary) as work_path:
            file_format = format_of(path)
            if file_format.module == "parquet":  # a group of rows is in memory until it is complete
                file_format = replace(file_format, write_options=(("rows_per_group", _ROWS_PER_GROUP),))
            file_format.sink(normalise_columns(_scan_batches(batches), str(target)), work_path)
        remove_cells(path)  # the description of the old table must not remain


def _scan_batches(batches: Iterator[pl.DataFrame]) -> pl.LazyFrame:
    """The batches as a source of Polars' streaming engine, which asks for one after the other."""
    from polars.io.plugins import register_io_source

    first = next(batches)

    def read(columns: list[str] | None, predicate: pl.Expr | None, rows: int | None, _size: int | None) -> Iterator[pl.DataFrame]:
        for batch in chain([first], batches):
            frame = batch if rows is None else batch.head(rows)
            rows = None if rows is None else rows - frame.height
            frame = frame if predicate is None else frame.filter(predicate)
            yield frame if columns is None else frame.select(columns)

    return register_io_source(read, schema=first.schema)
