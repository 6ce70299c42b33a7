"""SQLite tables. SQLite's types belong to values, not to columns, so the values are looked at."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, nullcontext, suppress
from pathlib import Path
from typing import Any

import polars as pl

from discreet.convert.databases.database import Database, Writing, database_file, quoting
from discreet.convert.databases.locking import only_writer
from discreet.convert.databases.rows import BATCH, frame_of, row_batches, typed_if_empty, typed_text
from discreet.convert.files.column_names import unique
from discreet.convert.files.normalise import printable
from discreet.convert.files.tables import Table
from discreet.convert.writing.atomic import replacing
from discreet.engine.runtime.private_files import make_private

_MAGIC = b"SQLite format 3\0"
_WAIT = 15.0
_quoted = quoting("sqlite")


class SQLite(Database):
    """One table of an SQLite file."""

    def _read(self) -> Table:
        import sqlalchemy as sa

        path = self._path(must_exist=True)
        _recover(path)
        engine = sa.create_engine("sqlite://", creator=lambda: _open(path, read_only=True), poolclass=sa.NullPool)
        inspector = sa.inspect(engine)
        if not inspector.has_table(self.address.table, schema=self.address.schema):
            raise self.no_table()
        columns = inspector.get_columns(self.address.table, schema=self.address.schema)
        names = unique(column["name"] for column in columns)
        kinds = {name: column["type"] for name, column in zip(names, columns, strict=True)}
        parts = ", ".join(_quoted(column["name"]) for column in columns)
        with closing(_open(path, read_only=True)) as link:
            cursor = link.execute(f"SELECT {parts} FROM {_quoted(self.address.schema, self.address.table)}")
            frame = frame_of(_batches(cursor), names)
        return Table(_as_declared(frame, kinds))

    def _exists(self) -> bool:
        path = self._path(must_exist=False)
        if not path.exists():
            return False
        _recover(path)
        with closing(_open(path, read_only=True)) as link:
            return self._find(link)

    def _write(self, table: Table, how: Writing) -> None:
        path = self._path(must_exist=False)
        frame = _storable(table.frame)
        # what had to become text is declared as such; a date is ISO text but declared as a date
        kept = {n: d for n, d in table.frame.schema.items() if d.is_temporal()}
        declared = {n: _declared(kept.get(n, d)) for n, d in frame.schema.items()}
        with only_writer(path):  # SQLite's own lock is in the file, and two runs may both be about to make it
            if how.private and path.exists():
                make_private(path)  # SQLite gives its journal the rights of the database
            made = nullcontext(path) if path.exists() else replacing(path, private=how.private, overwrite=False)
            try:
                with made as place, closing(_open(place)) as link:
                    self._replace(link, frame, declared, overwrite=how.overwrite)
            finally:
                _recover(path)

    def _replace(self, link: sqlite3.Connection, frame: pl.DataFrame, declared: dict[str, str], *, overwrite: bool) -> None:
        """Write beside and rename, all in one transaction."""
        schema, name, beside = self.address.schema, self.address.table, self.beside()
        definition = ", ".join(f"{_quoted(column)} {word}" for column, word in declared.items())
        marks = ", ".join(["?"] * frame.width)
        link.execute("PRAGMA secure_delete = ON")  # what the old table held must not stay in the file's free pages
        link.execute("PRAGMA legacy_alter_table = ON")  # else a view on the old table forbids the renaming
        link.execute("BEGIN IMMEDIATE")
        try:
            if self._find(link) and not overwrite:
                raise self.written_first()
            link.execute(f"CREATE TABLE {_quoted(schema, beside)} ({definition})")
            for rows in row_batches(frame):
                link.executemany(f"INSERT INTO {_quoted(schema, beside)} VALUES ({marks})", rows)
            link.execute(f"DROP TABLE IF EXISTS {_quoted(schema, name)}")
            link.execute(f"ALTER TABLE {_quoted(schema, beside)} RENAME TO {_quoted(name)}")
            link.execute("COMMIT")
        except BaseException:
            if link.in_transaction:
                link.execute("ROLLBACK")
            raise

    def _find(self, link: sqlite3.Connection) -> bool:
        """Whether the table is there; raises where it is a view."""
        catalog = f"{_quoted(self.address.schema)}.sqlite_master" if self.address.schema else "sqlite_master"
        sought = f"SELECT type FROM {catalog} WHERE lower(name) = lower(?) AND type IN ('table', 'view')"
        found = link.execute(sought, (self.address.table,)).fetchone()
        if found == ("view",):
            raise self.is_view()
        return found is not None

    def _path(self, *, must_exist: bool) -> Path:
        return database_file(self.address, _MAGIC, 0, "SQLite", must_exist=must_exist)


def _open(path: Path, *, read_only: bool = False) -> sqlite3.Connection:
    mode = "ro" if read_only else "rwc"
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode={mode}", uri=True, timeout=_WAIT, isolation_level=None)


def _recover(path: Path) -> None:
    """Have SQLite take back what a writer left that was killed, or for which the disk was too full to end well."""
    if path.with_name(f"{path.name}-journal").exists():
        with suppress(sqlite3.Error), closing(_open(path)) as link:
            link.execute("SELECT count(*) FROM sqlite_master").fetchone()


def _batches(cursor: sqlite3.Cursor) -> Iterator[list[Any]]:
    while batch := cursor.fetchmany(BATCH):
        yield batch


def _declared(dtype: pl.DataType) -> str:
    if dtype == pl.Boolean:
        return "BOOLEAN"
    if dtype.is_integer():
        return "INTEGER"
    if dtype.is_float():
        return "REAL"
    return "DATE" if dtype == pl.Date else "DATETIME" if isinstance(dtype, pl.Datetime) else "TEXT"


def _storable(frame: pl.DataFrame) -> pl.DataFrame:
    """Dates and times as ISO text, whole numbers beyond 64 bits as text."""
    changes: list[pl.Expr] = printable(frame.schema)
    for name, dtype in frame.schema.items():
        too_long = dtype == pl.UInt64 and (frame[name].max() or 0) >= 2**63  # type: ignore[operator]
        if too_long or dtype in (pl.Date, pl.Time):
            changes.append(pl.col(name).cast(pl.String))
        elif isinstance(dtype, pl.Datetime):
            changes.append(pl.col(name).dt.to_string("iso:strict"))
    return frame.with_columns(changes)


def _as_declared(frame: pl.DataFrame, kinds: dict[str, Any]) -> pl.DataFrame:
    """What the declared types add to the values: truth values, dates, times."""
    truths = [
        name
        for name, kind in kinds.items()
        if type(kind).__name__ == "BOOLEAN" and frame.schema[name] == pl.Int64 and frame[name].drop_nulls().is_in([0, 1]).all()
    ]
    moments = [name for name, kind in kinds.items() if type(kind).__name__ in ("DATE", "DATETIME", "TIMESTAMP")]
    made = typed_text(frame.with_columns(pl.col(truths).cast(pl.Boolean)), moments=moments)
    return typed_if_empty(made, kinds)
