"""Tables behind ODBC drivers: rows travel as Arrow batches (arrow-odbc), what the driver can do is asked by pyodbc.

A table is written in one transaction. Where the system commits with every definition (MySQL, Oracle), a new table is filled under
another name and renamed. A table that exists is emptied and filled, which keeps its grants, indexes and policies.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any

import polars as pl
import pyarrow as pa

from discreet.convert.databases.database import Database, WriteOptions
from discreet.convert.databases.odbc_types import (
    arrow_batch,
    column_types,
    named_frame,
    restore_types,
    to_storable_types,
    widen_schema,
)
from discreet.convert.databases.rows import BATCH_ROWS, frame_from_rows
from discreet.convert.files.column_names import unique_names
from discreet.convert.files.tables import Table
from discreet.errors import SourceError

_TEXT_SIZES = (1 << 12, 1 << 16)
"""Bytes of the longest text to make room for; the next size is taken where a value does not fit, and at last single rows."""
_BATCH_BYTES = 1 << 27
_TOO_LARGE = "too large to be written into the allocated buffer"


@dataclass(frozen=True)
class _Driver:
    """What the driver says about itself and its database."""

    product: str
    quote_mark: str
    transactional_definitions: bool
    """Whether CREATE TABLE and DROP TABLE can be undone."""

    def quote(self, *parts: str | None) -> str:
        """An identifier in the driver's own quotation marks, a mark inside it doubled."""
        mark = self.quote_mark
        if not mark.strip():
            raise SourceError("the driver has no quotation mark for names, so tables cannot be named safely")
        return ".".join(f"{mark}{part.replace(mark, 2 * mark)}{mark}" for part in parts if part)


class Odbc(Database):
    """One table of a database that an ODBC driver reaches."""

    @property
    def _connection_string(self) -> str:
        return str(self.address.url.query["connection"])

    def _connect(self) -> Any:
        import arrow_odbc

        return arrow_odbc.connect(self._connection_string, autocommit=False)

    @contextmanager
    def _metadata(self) -> Iterator[tuple[Any, _Driver]]:
        try:
            import pyodbc
        except ImportError:  # the package is there, the driver manager that it calls is not
            raise SourceError(
                f"{self.name}: the driver manager unixODBC (libodbc.so.2) is missing; on Debian: apt-get install unixodbc"
            ) from None

        connection = pyodbc.connect(self._connection_string, autocommit=True, readonly=True)
        try:
            driver = _Driver(
                connection.getinfo(pyodbc.SQL_DBMS_NAME),
                connection.getinfo(pyodbc.SQL_IDENTIFIER_QUOTE_CHAR),
                connection.getinfo(pyodbc.SQL_TXN_CAPABLE) == 2,  # SQL_TC_ALL: definitions and data in one transaction
            )
            yield connection, driver
        finally:
            connection.close()

    def _columns(self, connection: Any, driver: _Driver) -> list[str] | None:
        """The names of the table's columns; None where there is no such table."""
        import pyodbc

        cursor = connection.cursor()
        try:
            cursor.execute(f"SELECT * FROM {driver.quote(self.address.schema, self.address.table)} WHERE 1 = 0")
        except pyodbc.Error:
            return None
        return [column[0] for column in cursor.description]

    def _is_view(self, connection: Any) -> bool:
        """Whether the driver lists a view of this name; a name is a pattern to it, so its answers are compared."""
        rows = connection.cursor().tables(schema=self.address.schema, tableType="VIEW").fetchall()
        return any(row.table_name == self.address.table for row in rows)

    def _declared_types(self, connection: Any) -> dict[str, str]:
        rows = connection.cursor().columns(table=self.address.table, schema=self.address.schema).fetchall()
        return {row.column_name: row.type_name for row in rows if row.table_name == self.address.table}

    def _read(self, max_rows: int | None) -> Table:
        with self._metadata() as (connection, driver):
            if self._columns(connection, driver) is None:
                raise self.table_missing_error()
            declared = self._declared_types(connection)
        query = f"SELECT * FROM {driver.quote(self.address.schema, self.address.table)}"
        for size in _TEXT_SIZES:
            try:
                table, described = _fetch(self._connect(), query, size, max_rows)
                return Table(restore_types(named_frame(table), described, declared))
            except Exception as error:
                if _TOO_LARGE not in str(error):
                    raise
        with self._metadata() as (connection, _):
            frame = _fetch_rows(connection.execute(query), max_rows)
        return Table(restore_types(frame, frame.head(0).to_arrow().schema, declared))

    def _exists(self) -> bool:
        with self._metadata() as (connection, driver):
            if self._is_view(connection):
                raise self.view_error()
            return self._columns(connection, driver) is not None

    def _write(self, table: Table, options: WriteOptions) -> None:
        with self._metadata() as (connection, driver):
            if self._is_view(connection):
                raise self.view_error()
            existing = self._columns(connection, driver)
        frame = to_storable_types(table.frame, self.name, driver.product)
        names = [driver.quote(name) for name in frame.columns]
        definition = ", ".join(f"{name} {kind}" for name, kind in zip(names, column_types(frame, driver.product), strict=True))
        target = driver.quote(self.address.schema, self.address.table)
        if existing is not None and not options.overwrite:
            raise self.concurrent_write_error()
        if existing is None and not driver.transactional_definitions:
            self._fill_and_rename(driver, frame, names, definition)
            return
        statements = [f"CREATE TABLE {target} ({definition})"]
        if existing is not None and sorted(existing) == sorted(frame.columns):
            statements = [f"DELETE FROM {target}"]
        elif existing is not None:
            self._check_replaceable(driver, options)
            statements.insert(0, f"DROP TABLE {target}")
        with _transaction(self._connect()) as session:
            for statement in statements:
                session.execute(statement)
            _insert(session, frame, names, target)

    def _check_replaceable(self, driver: _Driver, options: WriteOptions) -> None:
        """Raise where a table with other columns may not, or cannot, give way to the new one in one transaction."""
        if not driver.transactional_definitions:
            raise SourceError(
                f"{self.name}: the table has other columns, and {driver.product} cannot replace it in one transaction; "
                "drop it first, or name another table"
            )
        if not options.drop_dependents:
            raise SourceError(
                f"{self.name}: the table has other columns; to replace it would drop its grants, indexes and policies: "
                "add --drop-dependents, or name another table"
            )

    def _fill_and_rename(self, driver: _Driver, frame: pl.DataFrame, names: list[str], definition: str) -> None:
        """Create a table where every definition is committed at once: nobody sees its name before it is full."""
        temporary = driver.quote(self.address.schema, self.temporary_table_name())
        session = self._connect()
        session.execute(f"CREATE TABLE {temporary} ({definition})")
        try:
            with _transaction(session):
                _insert(session, frame, names, temporary)
            new_name = driver.quote(*((self.address.schema,) if driver.quote_mark == "`" else ()), self.address.table)
            session.execute(f"ALTER TABLE {temporary} RENAME TO {new_name}")
            session.commit()
        except BaseException:
            session.execute(f"DROP TABLE {temporary}")
            session.commit()
            raise


def _fetch(session: Any, query: str, text_size: int, max_rows: int | None) -> tuple[pa.Table, pa.Schema]:
    """The first rows of a query, batch by batch, and the schema as the driver describes it."""
    described: list[pa.Schema] = []

    def widen(schema: pa.Schema) -> pa.Schema:
        described.append(schema)
        return widen_schema(schema)

    size = BATCH_ROWS if max_rows is None else max(1, min(max_rows, BATCH_ROWS))
    reader = session.read_arrow_batches(
        query, batch_size=size, max_text_size=text_size, max_binary_size=text_size, max_bytes_per_batch=_BATCH_BYTES,
        map_schema=widen, fetch_concurrently=False,
    )  # fmt: skip
    batches = list(reader if max_rows is None else islice(reader, -(-max_rows // size)))
    return pa.Table.from_batches(batches, reader.schema)[:max_rows], described[0]


def _fetch_rows(cursor: Any, max_rows: int | None) -> pl.DataFrame:
    """The first rows of a query, for texts longer than the driver's description of their column says."""
    names = unique_names([column[0] for column in cursor.description])
    if max_rows is not None:
        return frame_from_rows(iter([[tuple(row) for row in cursor.fetchmany(max_rows)]]), names)
    batches = iter(lambda: [tuple(row) for row in cursor.fetchmany(BATCH_ROWS)], [])
    return frame_from_rows(batches, names)


def _insert(session: Any, frame: pl.DataFrame, names: list[str], target: str) -> None:
    schema = arrow_batch(frame.head(0), names).schema
    batches = (batch for part in frame.iter_slices(BATCH_ROWS) for batch in arrow_batch(part, names).to_batches())
    session.insert_into_table(pa.RecordBatchReader.from_batches(schema, batches), table=target, chunk_size=1000)


@contextmanager
def _transaction(session: Any) -> Iterator[Any]:
    """Commit at the end of the block; undo everything where it raises."""
    try:
        yield session
        session.commit()
    except BaseException:
        session.rollback()
        raise
