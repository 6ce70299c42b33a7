"""Database tables: the interface that the module of each database system implements."""

from __future__ import annotations

import secrets
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from discreet.convert.databases.address import Address, parse_address
from discreet.convert.errors import convert_errors, summarize_exception
from discreet.convert.files.tables import Table
from discreet.convert.writing.atomic import target_exists_error
from discreet.errors import SourceError

_SYSTEM_CLASSES = {
    "postgresql": "postgresql:PostgreSQL", "mysql": "mysql:MySQL", "sqlite": "sqlite_file:SQLite", "duckdb": "duckdb_file:DuckDB",
    "odbc": "odbc:Odbc",
}  # fmt: skip


@dataclass(frozen=True)
class WriteOptions:
    """Options for writing a table; see :meth:`Database.write`."""

    private: bool = False
    overwrite: bool = True
    drop_dependents: bool = False


class Database(ABC):
    """One table of a database, to be read or written."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self.name = address.name

    def read(self, max_rows: int | None = None) -> Table:
        """The whole table, or its first rows as the database returns them."""
        with self._convert_errors("cannot be read"):
            return self._read(max_rows)

    def exists(self) -> bool:
        """Whether the table exists; raises SourceError if it is a view, because views are never written."""
        with self._convert_errors("cannot be written"):
            return self._exists()

    def write(self, table: Table, *, private: bool = False, overwrite: bool = True, drop_dependents: bool = False) -> None:
        """Write a table atomically: other sessions see the old content or the new content.

        The file of an embedded database with a ``private`` table is readable only by its owner. Without ``overwrite`` an
        existing table is an error. Grants, indexes and views of a replaced table on a server are preserved; if the new
        columns do not allow this, it is an error unless ``drop_dependents`` is set.
        """
        with self._convert_errors("cannot be written"):
            if not overwrite and self._exists():
                raise target_exists_error(self.name)
            self._write(table, WriteOptions(private, overwrite, drop_dependents))

    @abstractmethod
    def _read(self, max_rows: int | None) -> Table: ...

    @abstractmethod
    def _exists(self) -> bool: ...

    @abstractmethod
    def _write(self, table: Table, options: WriteOptions) -> None: ...

    def _convert_errors(self, failure: str) -> AbstractContextManager[None]:
        """Convert any exception of the driver to one sentence without a password."""
        return convert_errors(self.name, failure, self.address.secrets, driver_message)

    def table_missing_error(self) -> SourceError:
        """The table to be read does not exist."""
        where = f" in the schema '{self.address.schema}'" if self.address.schema else ""
        return SourceError(f"{self.name}: there is no table '{self.address.table}'{where}")

    def view_error(self) -> SourceError:
        """The table to be written is a view."""
        return SourceError(f"{self.name}: '{self.address.table}' is a view; only tables can be written")

    def concurrent_write_error(self) -> SourceError:
        """Another program created the table after it was checked that it did not exist."""
        return SourceError(f"{self.name}: another program wrote it first; add --overwrite to replace it")

    def temporary_table_name(self) -> str:
        """A random name for the table that is written first and then renamed."""
        return f"discreet_{secrets.token_hex(8)}"


def identifier_quoter(dialect: str) -> Callable[..., str]:
    """A function that quotes an identifier (schema and name, or only a name) for an SQL dialect."""

    def quoted(*parts: str | None) -> str:
        module = import_module(f"sqlalchemy.dialects.{dialect}")
        # with this parameter style a % is not doubled
        quote = module.dialect(paramstyle="named").identifier_preparer.quote_identifier
        return ".".join(str(quote(part)) for part in parts if part)

    return quoted


def driver_message(error: BaseException) -> str:
    """The message of a driver's exception, without what SQLAlchemy and the server add to it."""
    inner = getattr(error, "orig", None) or error
    if type(inner).__module__.partition(".")[0] in ("pyodbc", "arrow_odbc"):
        from discreet.convert.databases.odbc_messages import odbc_message

        return summarize_exception(Exception(odbc_message(inner)))
    if len(inner.args) == 2 and isinstance(inner.args[0], int) and isinstance(inner.args[1], str):  # PyMySQL
        return summarize_exception(Exception(inner.args[1]))
    line = summarize_exception(inner)
    for prefix in ("FATAL: ", "ERROR: ", "[libpq] "):
        line = line.rpartition(prefix)[2].strip()
    return line


def database_file(address: Address, magic: bytes, offset: int, system: str, *, must_exist: bool) -> Path:
    """The path of an embedded database; raises SourceError if it does not exist or is not a file of that system.

    ``magic`` are the bytes at ``offset`` by which such a file is recognised.
    """
    path = Path(str(address.url.database)).expanduser()
    if str(path) == ":memory:":
        raise SourceError(f"{address.name}: a database in memory has no tables; name a file")
    if path.is_dir():
        raise SourceError(f"{address.name}: {path} is a folder, not a {system} database")
    if not path.exists():
        if must_exist:
            raise SourceError(f"{address.name}: the file {path} does not exist")
        if not path.parent.is_dir():
            raise SourceError(f"{address.name}: the folder {path.parent} does not exist")
        return path
    with convert_errors(address.name, "cannot be opened"), path.open("rb") as file:
        head = file.read(offset + len(magic))
    if head[offset:] != magic and (head or must_exist):
        raise SourceError(f"{address.name}: {path} is not a {system} database")
    return path


def open_database(url: str) -> Database:
    """The database table that an address refers to."""
    address = parse_address(url)
    module, _, name = _SYSTEM_CLASSES[address.system].partition(":")
    database_class: type[Database] = getattr(import_module(f"discreet.convert.databases.{module}"), name)
    return database_class(address)
