"""Writing a table atomically to a file or a database table."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from discreet.convert.errors import convert_errors
from discreet.convert.files.cells_file import cells_path, read_cells, remove_cells, write_cells
from discreet.convert.files.formats import format_of
from discreet.convert.files.formulas import guard_formulas
from discreet.convert.files.normalise import normalise_columns
from discreet.convert.files.tables import Table
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


def convert(
    source: str | Path, target: str | Path, policy: Policy, *, overwrite: bool = False, drop_dependents: bool = False
) -> tuple[int, int]:
    """Convert a table and return the numbers of records and columns written; the target is private, as it contains originals.

    A target that is the source is an error; one that exists needs ``overwrite``. Conversions between CSV, Parquet, Arrow and
    JSON lines are streamed; the result is the same as that of reading and writing.
    """
    from discreet.convert.writing.destinations import check_targets

    check_targets(
        {"the target": target},
        {"the source": source if isinstance(source, str | Path) else None},
        policy=policy,
        overwrite=overwrite,
    )
    if not is_url(source) and not is_url(target) and isinstance(source, str | Path):
        source_path, target_path = Path(source).expanduser(), Path(target).expanduser()
        if format_of_existing(source_path).streams and format_of(target_path).streams:
            written = _convert_streaming(source_path, target_path, policy, overwrite=overwrite)
            write_cells(target_path, read_cells(source_path), private=True)
            return written
    data = read_source(source, policy)
    write_target(data, target, private=True, overwrite=overwrite, drop_dependents=drop_dependents)
    return len(data), len(data.columns)


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
