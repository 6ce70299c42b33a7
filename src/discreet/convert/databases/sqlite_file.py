"""SQLite tables. In SQLite values have types, not columns, so column types are inferred from the values."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, nullcontext, suppress
from pathlib import Path
from typing import Any

import polars as pl

from discreet.convert.databases.database import Database, WriteOptions, database_file, identifier_quoter
from discreet.convert.databases.locking import exclusive_writer
from discreet.convert.databases.rows import (
    BATCH_ROWS,
    apply_types_to_empty_columns,
    frame_from_rows,
    parse_text_columns,
    row_batches,
)
from discreet.convert.files.column_names import unique_names
from discreet.convert.files.normalise import durations_as_text
from discreet.convert.files.tables import Table
from discreet.convert.writing.atomic import replacing
from discreet.engine.runtime.private_files import make_private

_MAGIC = b"SQLite format 3\0"
_WAIT = 15.0
_quoted = identifier_quoter("sqlite")


class SQLite(Database):
    """One table of an SQLite file."""

    def _read(self, max_rows: int | None) -> Table:
        import sqlalchemy as sa

        path = self._path(must_exist=True)
        _roll_back_journal(path)
        engine = sa.create_engine("sqlite://", creator=lambda: _open(path, read_only=True), poolclass=sa.NullPool)
        inspector = sa.inspect(engine)
        if not inspector.has_table(self.address.table, schema=self.address.schema):
            raise self.table_missing_error()
        columns = inspector.get_columns(self.address.table, schema=self.address.schema)
        names = unique_names(column["name"] for column in columns)
        types = {name: column["type"] for name, column in zip(names, columns, strict=True)}
        quoted_columns = ", ".join(_quoted(column["name"]) for column in columns)
        with closing(_open(path, read_only=True)) as connection:
            query = f"SELECT {quoted_columns} FROM {_quoted(self.address.schema, self.address.table)}"
            cursor = connection.execute(query if max_rows is None else f"{query} LIMIT {max_rows:d}")
            frame = frame_from_rows(_fetch_batches(cursor), names)
        return Table(_apply_declared_types(frame, types))

    def _exists(self) -> bool:
        path = self._path(must_exist=False)
        if not path.exists():
            return False
        _roll_back_journal(path)
        with closing(_open(path, read_only=True)) as connection:
            return self._table_exists(connection)

    def _write(self, table: Table, options: WriteOptions) -> None:
        path = self._path(must_exist=False)
        frame = _to_storable_types(table.frame)
        # values converted to text are declared TEXT; a date is stored as ISO text but declared DATE
        temporal = {column: dtype for column, dtype in table.frame.schema.items() if dtype.is_temporal()}
        types = {column: _column_type(temporal.get(column, dtype)) for column, dtype in frame.schema.items()}
        with exclusive_writer(path):  # SQLite locks the file, which does not help if two processes create it at once
            if options.private and path.exists():
                make_private(path)  # SQLite gives its journal the permissions of the database
            target = nullcontext(path) if path.exists() else replacing(path, private=options.private, overwrite=False)
            try:
                with target as file, closing(_open(file)) as connection:
                    self._replace(connection, frame, types, overwrite=options.overwrite)
            finally:
                _roll_back_journal(path)

    def _replace(self, connection: sqlite3.Connection, frame: pl.DataFrame, types: dict[str, str], *, overwrite: bool) -> None:
        """Write a temporary table and rename it, in one transaction."""
        schema, name, temporary = self.address.schema, self.address.table, self.temporary_table_name()
        definition = ", ".join(f"{_quoted(column)} {column_type}" for column, column_type in types.items())
        placeholders = ", ".join(["?"] * frame.width)
        connection.execute("PRAGMA secure_delete = ON")  # the old rows must not remain in the file's free pages
        connection.execute("PRAGMA legacy_alter_table = ON")  # otherwise a view on the old table prevents the renaming
        connection.execute("BEGIN IMMEDIATE")
        try:
            if self._table_exists(connection) and not overwrite:
                raise self.concurrent_write_error()
            connection.execute(f"CREATE TABLE {_quoted(schema, temporary)} ({definition})")
            for rows in row_batches(frame):
                connection.executemany(f"INSERT INTO {_quoted(schema, temporary)} VALUES ({placeholders})", rows)
            connection.execute(f"DROP TABLE IF EXISTS {_quoted(schema, name)}")
            connection.execute(f"ALTER TABLE {_quoted(schema, temporary)} RENAME TO {_quoted(name)}")
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise

    def _table_exists(self, connection: sqlite3.Connection) -> bool:
        """Whether the table exists; raises SourceError if it is a view."""
        catalog = f"{_quoted(self.address.schema)}.sqlite_master" if self.address.schema else "sqlite_master"
        query = f"SELECT type FROM {catalog} WHERE lower(name) = lower(?) AND type IN ('table', 'view')"
        row = connection.execute(query, (self.address.table,)).fetchone()
        if row == ("view",):
            raise self.view_error()
        return row is not None

    def _path(self, *, must_exist: bool) -> Path:
        return database_file(self.address, _MAGIC, 0, "SQLite", must_exist=must_exist)


def _open(path: Path, *, read_only: bool = False) -> sqlite3.Connection:
    mode = "ro" if read_only else "rwc"
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode={mode}", uri=True, timeout=_WAIT, isolation_level=None)


def _roll_back_journal(path: Path) -> None:
    """Let SQLite roll back the journal that a killed writer, or one with a full disk, left behind."""
    if path.with_name(f"{path.name}-journal").exists():
        with suppress(sqlite3.Error), closing(_open(path)) as connection:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()


def _fetch_batches(cursor: sqlite3.Cursor) -> Iterator[list[Any]]:
    while batch := cursor.fetchmany(BATCH_ROWS):
        yield batch


def _column_type(dtype: pl.DataType) -> str:
    if dtype == pl.Boolean:
        return "BOOLEAN"
    if dtype.is_integer():
        return "INTEGER"
    if dtype.is_float():
        return "REAL"
    return "DATE" if dtype == pl.Date else "DATETIME" if isinstance(dtype, pl.Datetime) else "TEXT"


def _to_storable_types(frame: pl.DataFrame) -> pl.DataFrame:
    """Convert dates and times to ISO text, and integers beyond 64 bits to text."""
    conversions: list[pl.Expr] = durations_as_text(frame.schema)
    for name, dtype in frame.schema.items():
        too_long = dtype == pl.UInt64 and (frame[name].max() or 0) >= 2**63  # type: ignore[operator]
        if too_long or dtype in (pl.Date, pl.Time):
            conversions.append(pl.col(name).cast(pl.String))
        elif isinstance(dtype, pl.Datetime):
            conversions.append(pl.col(name).dt.to_string("iso:strict"))
    return frame.with_columns(conversions)


def _apply_declared_types(frame: pl.DataFrame, types: dict[str, Any]) -> pl.DataFrame:
    """Convert values to the declared column types: booleans, dates, times."""
    booleans = [
        name
        for name, column_type in types.items()
        if type(column_type).__name__ == "BOOLEAN"
        and frame.schema[name] == pl.Int64
        and frame[name].drop_nulls().is_in([0, 1]).all()
    ]
    dates = [name for name, column_type in types.items() if type(column_type).__name__ in ("DATE", "DATETIME", "TIMESTAMP")]
    parsed = parse_text_columns(frame.with_columns(pl.col(booleans).cast(pl.Boolean)), dates=dates)
    return apply_types_to_empty_columns(parsed, types)
