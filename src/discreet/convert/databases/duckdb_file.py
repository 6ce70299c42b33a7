"""DuckDB tables. A connection can access only its own file: no other files, no Python variables, no downloads."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from discreet.convert.databases.database import Database, WriteOptions, database_file, identifier_quoter
from discreet.convert.databases.locking import exclusive_writer
from discreet.convert.databases.rows import parse_text_columns
from discreet.convert.files.column_names import unique_names
from discreet.convert.files.tables import Table
from discreet.convert.writing.atomic import in_work_folder, replacing
from discreet.errors import SourceError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_MAGIC, _MAGIC_OFFSET = b"DUCK", 8
_NO_EXTENSIONS = {
    "autoinstall_known_extensions": "false", "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
}  # fmt: skip
_TYPES_READ_AS_TEXT = ("HUGEINT", "UHUGEINT", "BIGNUM", "VARINT", "INTERVAL", "BIT", "TIME WITH TIME ZONE", "UUID", "JSON")
_BIG_NUMBER_TYPES = ("HUGEINT", "UHUGEINT", "BIGNUM", "VARINT")
_WAIT = 15.0
_NEW_ROWS = "discreet_given"
_quoted = identifier_quoter("postgresql")


class DuckDB(Database):
    """One table of a DuckDB file."""

    def _read(self, max_rows: int | None) -> Table:
        path = database_file(self.address, _MAGIC, _MAGIC_OFFSET, "DuckDB", must_exist=True)
        with closing(_retry_while_locked(_open_for_reading, path)) as connection:
            relation_type, schema = self._find_relation(connection)
            if relation_type is None:
                raise self.table_missing_error()
            qualified_name = _quoted(schema, self.address.table)
            empty = connection.sql(f"SELECT * FROM {qualified_name} LIMIT 0")
            types = dict(zip(empty.columns, map(str, empty.types), strict=True))
            expressions = [
                f"{_quoted(name)}::VARCHAR AS {_quoted(name)}" if type_name in _TYPES_READ_AS_TEXT else _quoted(name)
                for name, type_name in types.items()
            ]
            query = f"SELECT {', '.join(expressions)} FROM {qualified_name}"
            content = connection.sql(query if max_rows is None else f"{query} LIMIT {max_rows:d}").to_arrow_table()
        frame = pl.DataFrame(content.rename_columns(unique_names(content.column_names)))
        return Table(
            parse_text_columns(frame, numbers=[name for name, type_name in types.items() if type_name in _BIG_NUMBER_TYPES])
        )

    def _exists(self) -> bool:
        path = database_file(self.address, _MAGIC, _MAGIC_OFFSET, "DuckDB", must_exist=False)
        if not path.exists() or not path.stat().st_size:
            return False
        with closing(_retry_while_locked(_open_for_reading, path)) as connection:
            relation_type, _ = self._find_relation(connection)
        if relation_type == "view":
            raise self.view_error()
        return relation_type is not None

    def _write(self, table: Table, options: WriteOptions) -> None:
        """Write a new file that replaces the old one, because DuckDB leaves dropped tables in its free pages.

        One process at a time copies, changes and replaces the file, so that no table of another process is lost.
        """
        path = database_file(self.address, _MAGIC, _MAGIC_OFFSET, "DuckDB", must_exist=False)
        with exclusive_writer(path):
            self._write_locked(path, table, options)

    def _write_locked(self, path: Path, table: Table, options: WriteOptions) -> None:
        exists = path.exists()
        with (
            _open_existing(path) as existing,
            replacing(path, private=options.private, overwrite=exists) as temporary,
            in_work_folder(temporary) as final,
        ):
            if existing is None:
                with closing(_open_for_writing(final)) as connection:
                    _confine(connection, final.parent)
                    self._replace(connection, table.frame, overwrite=options.overwrite)
                return
            working_copy = final.with_name("new.duckdb")
            _confine(existing, final.parent)
            self._copy(existing, working_copy)
            with closing(_open_for_writing(working_copy)) as connection:
                _confine(connection, final.parent)
                self._replace(connection, table.frame, overwrite=options.overwrite)
                self._copy(connection, final)

    def _copy(self, connection: DuckDBPyConnection, file: Path) -> None:
        """Copy all tables and other objects of a database to a new file."""
        (name,) = connection.execute("SELECT current_database()").fetchall()[0]
        alias, path_literal = _quoted(self.temporary_table_name()), str(file).replace("'", "''")
        connection.execute(f"ATTACH '{path_literal}' AS {alias}")
        connection.execute(f"COPY FROM DATABASE {_quoted(name)} TO {alias}")
        connection.execute(f"CHECKPOINT {alias}")
        connection.execute(f"DETACH {alias}")

    def _replace(self, connection: DuckDBPyConnection, frame: pl.DataFrame, *, overwrite: bool) -> None:
        """Write a temporary table and rename it, in one transaction."""
        relation_type, schema = self._find_relation(connection)
        if relation_type == "view":
            raise self.view_error()
        if relation_type is not None and not overwrite:
            raise self.concurrent_write_error()
        counts = Counter(name.lower() for name in frame.columns)
        if duplicate := next((name for name in frame.columns if counts[name.lower()] > 1), None):
            raise SourceError(
                f"{self.name}: DuckDB does not distinguish case: the column '{duplicate}' occurs twice; rename one of them"
            )
        temporary = self.temporary_table_name()
        connection.register(_NEW_ROWS, frame.to_arrow(compat_level=pl.CompatLevel.oldest()))
        connection.execute("BEGIN TRANSACTION")
        try:
            connection.execute(f"CREATE TABLE {_quoted(schema, temporary)} AS SELECT * FROM {_NEW_ROWS}")
            connection.execute(f"DROP TABLE IF EXISTS {_quoted(schema, self.address.table)}")
            connection.execute(f"ALTER TABLE {_quoted(schema, temporary)} RENAME TO {_quoted(self.address.table)}")
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise

    def _find_relation(self, connection: DuckDBPyConnection) -> tuple[str | None, str]:
        """'table', 'view' or None if the name does not exist; and its schema."""
        schema = self.address.schema or "main"
        parameters = [schema, self.address.table]
        for relation_type, catalog, column in (
            ("table", "duckdb_tables()", "table_name"),
            ("view", "duckdb_views()", "view_name"),
        ):
            query = f"SELECT 1 FROM {catalog} WHERE lower(schema_name) = lower(?) AND lower({column}) = lower(?)"
            if connection.execute(query, parameters).fetchall():
                return relation_type, schema
        return None, schema


@contextmanager
def _open_existing(path: Path) -> Iterator[DuckDBPyConnection | None]:
    """Open an existing database, which locks it for other processes; None if there is none yet."""
    if not path.exists() or not path.stat().st_size:
        yield None
        return
    with closing(_retry_while_locked(_open_for_writing, path)) as connection:
        connection.execute("CHECKPOINT")  # apply the write-ahead log of a killed writer, which would not fit the new file
        yield connection


def _retry_while_locked(open_file: Callable[[Path], DuckDBPyConnection], path: Path) -> DuckDBPyConnection:
    """Open a file, waiting while another process or thread has it open."""
    import duckdb

    started = time.monotonic()
    while True:
        try:
            return open_file(path)
        except (duckdb.IOException, duckdb.ConnectionException) as error:
            locked = "lock" in str(error) or "different configuration" in str(error)
            if not locked or time.monotonic() - started > _WAIT:
                raise
            time.sleep(0.05)


def _open_for_reading(path: Path) -> DuckDBPyConnection:
    """Open a file read-only; the connection cannot access other files."""
    import duckdb

    return duckdb.connect(str(path), read_only=True, config={**_NO_EXTENSIONS, "enable_external_access": "false"})


def _open_for_writing(path: Path) -> DuckDBPyConnection:
    """Open a file for writing; callers confine the connection before they run anything from it."""
    import duckdb

    return duckdb.connect(str(path), config=dict(_NO_EXTENSIONS))


def _confine(connection: DuckDBPyConnection, folder: Path) -> None:
    """Restrict the connection to its own file and those in one folder."""
    connection.execute("SET allowed_directories = [$1]", [str(folder)])
    connection.execute("SET enable_external_access = false")
