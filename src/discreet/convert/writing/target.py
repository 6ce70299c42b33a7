"""Writing a table atomically to a file or a database table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from discreet.convert.errors import convert_errors
from discreet.convert.files.cells_file import SUFFIX as CELLS_SUFFIX
from discreet.convert.files.cells_file import cells_path, read_cells, remove_cells, write_cells
from discreet.convert.files.formats import format_of
from discreet.convert.files.formulas import guard_formulas
from discreet.convert.files.normalise import normalise_columns
from discreet.convert.files.tables import Table
from discreet.convert.places.archives import split_member
from discreet.convert.places.object_stores import (
    delete_object,
    is_object_address,
    object_exists,
    parse_object_address,
    send_object,
)
from discreet.convert.places.several_files import is_pattern
from discreet.convert.places.staging import PlacedFile, StagingFolder, named_errors
from discreet.convert.places.standard_streams import (
    STANDARD_OUTPUT,
    is_standard_stream,
    output_suffix,
    send_to_standard_output,
)
from discreet.convert.reading.source import format_of_existing, is_url, read_source, scan_attempts
from discreet.convert.writing.atomic import in_work_folder, replacing, resolve_target, target_exists_error
from discreet.errors import SourceError
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy


def write_target(
    data: Microdata,
    target: str | Path,
    *,
    private: bool = False,
    public: bool = False,
    overwrite: bool = True,
    drop_dependents: bool = False,
) -> None:
    """Write to a file name or a ``URL#table``; a ``private`` file is readable only by its owner, a ``public`` one is released.

    In a public delimited file, texts that a spreadsheet would evaluate as formulas are guarded. Without ``overwrite`` an
    existing file or table is an error. A replaced table on a server keeps its grants, indexes and views (see
    :meth:`discreet.convert.databases.database.Database.write`).
    """
    frame = normalise_columns(data.frame.lazy(), data.source).collect()
    if not frame.width:
        raise SourceError(f"{data.source}: has no columns left, so there is nothing to write")
    table = Table(frame, data.labels, data.variable_labels)
    if isinstance(target, str) and is_url(target):
        from discreet.convert.databases.database import open_database

        open_database(target).write(table, private=private, overwrite=overwrite, drop_dependents=drop_dependents)
        return
    if is_standard_stream(target) or is_object_address(target):
        _write_elsewhere(data, target, public=public, overwrite=overwrite)
        return
    path = Path(target).expanduser()
    file_format = format_of(path)
    if public and file_format.module == "delimited":
        frame = guard_formulas(frame)
    if not overwrite and cells_path(path).exists():  # it describes another table, but would be read as that of this one
        raise target_exists_error(cells_path(path))
    with replacing(path, private=private, overwrite=overwrite) as temporary:
        if file_format.streams:
            with in_work_folder(temporary) as work_path:
                file_format.sink(frame.lazy(), work_path)
        else:
            file_format.write(table, temporary)
        remove_cells(path)  # the description of the old table must not remain
    write_cells(path, data.cells, private=private)


def _write_elsewhere(data: Microdata, target: str | Path, *, public: bool, overwrite: bool) -> None:
    """Write a complete private file first, then send it to standard output or to an object store."""
    folder = StagingFolder()
    try:
        if is_standard_stream(target):
            path = folder.path / f"output{output_suffix(target)}"
            with named_errors([PlacedFile(path, STANDARD_OUTPUT, folder)]):
                write_target(data, path, public=public)
            send_to_standard_output(path)
            return
        address = parse_object_address(str(target))
        path = folder.path / address.key.rpartition("/")[2]
        with named_errors([PlacedFile(path, str(address), folder)]):
            write_target(data, path, public=public)
        description = cells_path(path)
        if not overwrite and object_exists(f"{address}{CELLS_SUFFIX}"):
            raise target_exists_error(f"{address}{CELLS_SUFFIX}")
        delete_object(f"{address}{CELLS_SUFFIX}")  # the description of the old table must not remain
        send_object(path, str(address), overwrite=overwrite)
        if description.exists():
            send_object(description, f"{address}{CELLS_SUFFIX}")
    finally:
        folder.remove()


def convert(
    source: str | Path | Sequence[str | Path],
    target: str | Path,
    policy: Policy,
    *,
    overwrite: bool = False,
    drop_dependents: bool = False,
) -> tuple[int, int]:
    """Convert a table and return the numbers of records and columns written; the target is private, as it contains originals.

    A target that is the source is an error; one that exists needs ``overwrite``. Conversions between CSV, Parquet, Arrow and
    JSON lines are streamed; the result is the same as that of reading and writing.
    """
    from discreet.convert.writing.destinations import check_source, check_targets

    check_targets(
        {"the target": target},
        {"the source": source if isinstance(source, str | Path | list | tuple) else None},
        policy=policy,
        overwrite=overwrite,
    )
    if _is_plain_file(source) and _is_plain_file(target):
        source_path, target_path = Path(str(source)).expanduser(), Path(target).expanduser()
        if format_of_existing(source_path).streams and format_of(target_path).streams:
            written = _convert_streaming(source_path, target_path, policy, overwrite=overwrite)
            write_cells(target_path, read_cells(source_path), private=True)
            return written
    data = read_source(source, policy)
    check_source(target, data.source)  # which names every object that a pattern stands for
    write_target(data, target, private=True, overwrite=overwrite, drop_dependents=drop_dependents)
    return len(data), len(data.columns)


def _is_plain_file(place: object) -> bool:
    """Whether a place is one file in a folder, read and written as it is."""
    if not isinstance(place, str | Path) or is_url(place) or is_standard_stream(place) or is_object_address(place):
        return False
    return split_member(place) is None and not is_pattern(place)


def _convert_streaming(source: Path, target: Path, policy: Policy, *, overwrite: bool) -> tuple[int, int]:
    file_format = format_of(target)
    resolve_target(target)
    with convert_errors(str(source), f"cannot be read as {format_of(source).name}"):
        attempts = scan_attempts(source, policy)
        lazy = next(attempts)
    with replacing(target, private=True, overwrite=overwrite) as temporary:
        while True:
            try:
                with in_work_folder(temporary) as work_path:
                    file_format.sink(lazy, work_path)
                    records = file_format.count(work_path)
                break
            except pl.exceptions.PolarsError:
                with convert_errors(str(source), f"cannot be converted to {target}"):
                    following = next(attempts, None)
                    if following is None:
                        raise
                    lazy = following
        return records, len(lazy.collect_schema())
