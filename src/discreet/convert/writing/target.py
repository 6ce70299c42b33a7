"""Writing a table to a file or a database table: whole, or not at all."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from discreet.convert.errors import convert_errors
from discreet.convert.files.cells_file import cells_file, read_cells, remove_cells, write_cells
from discreet.convert.files.formats import format_of
from discreet.convert.files.formulas import harmless
from discreet.convert.files.normalise import plain
from discreet.convert.files.tables import Table
from discreet.convert.reading.source import attempts, existing, is_url, read_source
from discreet.convert.writing.atomic import apart, checked, exists_already, replacing
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
    """Write to a file name or a ``URL#table``; a ``private`` file is its owner's alone, a ``public`` one goes to strangers.

    In a public delimited file, texts that a spreadsheet would run as formulas are made harmless. Without ``overwrite`` an
    existing file or table is refused. A replaced table on a server keeps what belongs to it (see
    :meth:`discreet.convert.databases.database.Database.write`).
    """
    frame = plain(data.frame.lazy(), data.source).collect()
    if not frame.width:
        raise SourceError(f"{data.source}: has no columns left, so there is nothing to write")
    table = Table(frame, data.labels, data.variable_labels)
    if isinstance(target, str) and is_url(target):
        from discreet.convert.databases.database import open_database

        open_database(target).write(table, private=private, overwrite=overwrite, drop_dependents=drop_dependents)
        return
    path = Path(target).expanduser()
    found = format_of(path)
    if public and found.module == "delimited":
        frame = harmless(frame)
    if not overwrite and cells_file(path).exists():  # a description of another table, which would be taken for this one's
        raise exists_already(cells_file(path))
    with replacing(path, private=private, overwrite=overwrite) as temporary:
        if found.streams:
            with apart(temporary) as place:
                found.sink(frame.lazy(), place)
        else:
            found.write(table, temporary)
        remove_cells(path)  # the old description must not outlive the old table
    write_cells(path, data.cells, private=private)


def convert(
    source: str | Path, target: str | Path, policy: Policy, *, overwrite: bool = False, drop_dependents: bool = False
) -> tuple[int, int]:
    """Convert a table and return how many records and columns were written; the target holds originals, so it is private.

    A target that is the source is refused, and one that exists needs ``overwrite``.

    Between CSV, Parquet, Arrow and JSON lines it streams; the result is that of reading and writing.
    """
    from discreet.convert.writing.destinations import check_targets

    check_targets(
        {"the target": target},
        {"the source": source if isinstance(source, str | Path) else None},
        policy=policy,
        overwrite=overwrite,
    )
    if not is_url(source) and not is_url(target) and isinstance(source, str | Path):
        path, place = Path(source).expanduser(), Path(target).expanduser()
        if existing(path).streams and format_of(place).streams:
            written = _stream(path, place, policy, overwrite=overwrite)
            write_cells(place, read_cells(path), private=True)
            return written
    data = read_source(source, policy)
    write_target(data, target, private=True, overwrite=overwrite, drop_dependents=drop_dependents)
    return len(data), len(data.columns)


def _stream(source: Path, target: Path, policy: Policy, *, overwrite: bool) -> tuple[int, int]:
    form = format_of(target)
    checked(target)
    with convert_errors(str(source), f"cannot be read as {format_of(source).name}"):
        tried = attempts(source, policy)
        lazy = next(tried)
    with replacing(target, private=True, overwrite=overwrite) as temporary:
        while True:
            try:
                with apart(temporary) as place:
                    form.sink(lazy, place)
                    records = form.count(place)
                break
            except pl.exceptions.PolarsError:
                with convert_errors(str(source), f"cannot be converted to {target}"):
                    following = next(tried, None)
                    if following is None:
                        raise
                    lazy = following
        return records, len(lazy.collect_schema())
