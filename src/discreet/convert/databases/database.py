"""Database tables: each system is a small module that reads a table and writes one whole."""

from __future__ import annotations

import secrets
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from discreet.convert.databases.address import Address, parse_address
from discreet.convert.errors import convert_errors, first_line
from discreet.convert.files.tables import Table
from discreet.convert.writing.atomic import exists_already
from discreet.errors import SourceError

_MODULES = {
    "postgresql": "postgresql:PostgreSQL", "mysql": "mysql:MySQL", "sqlite": "sqlite_file:SQLite", "duckdb": "duckdb_file:DuckDB",
}  # fmt: skip


@dataclass(frozen=True)
class Writing:
    """How a table is written; see :meth:`Database.write`."""

    private: bool = False
    overwrite: bool = True
    drop_dependents: bool = False


class Database(ABC):
    """One table of one database, to be read or written."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self.name = address.name

    def read(self) -> Table:
        """The whole table."""
        with self._told("cannot be read"):
            return self._read()

    def exists(self) -> bool:
        """Whether the table is there; raises where it is a view, which is never written to."""
        with self._told("cannot be written"):
            return self._exists()

    def write(self, table: Table, *, private: bool = False, overwrite: bool = True, drop_dependents: bool = False) -> None:
        """Write a table whole: a reader sees the old content or the new.

        The file of an embedded database that holds a ``private`` table can be read by its owner alone. Without ``overwrite``
        an existing table is refused. What belongs to a replaced table on a server (grants, indexes, views) is kept, and where
        the new columns do not allow that, refused unless ``drop_dependents`` gives it up.
        """
        with self._told("cannot be written"):
            if not overwrite and self._exists():
                raise exists_already(self.name)
            self._write(table, Writing(private, overwrite, drop_dependents))

    @abstractmethod
    def _read(self) -> Table: ...

    @abstractmethod
    def _exists(self) -> bool: ...

    @abstractmethod
    def _write(self, table: Table, how: Writing) -> None: ...

    def _told(self, doing: str) -> AbstractContextManager[None]:
        """Any driver's exception becomes one sentence without a password."""
        return convert_errors(self.name, doing, self.address.secrets, driver_words)

    def no_table(self) -> SourceError:
        where = f" in the schema '{self.address.schema}'" if self.address.schema else ""
        return SourceError(f"{self.name}: there is no table '{self.address.table}'{where}")

    def is_view(self) -> SourceError:
        return SourceError(f"{self.name}: '{self.address.table}' is a view; only tables can be written")

    def written_first(self) -> SourceError:
        return SourceError(f"{self.name}: another program wrote it first; add --overwrite to replace it")

    def beside(self) -> str:
        """The name of a table that is not there yet."""
        return f"discreet_{secrets.token_hex(8)}"


def quoting(dialect: str) -> Callable[..., str]:
    """A function that puts an identifier (schema and name, or a name alone) in the quotes of an SQL dialect."""

    def quoted(*parts: str | None) -> str:
        module = import_module(f"sqlalchemy.dialects.{dialect}")
        # with this parameter style a % stays a single one
        quote = module.dialect(paramstyle="named").identifier_preparer.quote_identifier
        return ".".join(str(quote(part)) for part in parts if part)

    return quoted


def driver_words(error: BaseException) -> str:
    """The words of a driver's exception, without the wrappings of the libraries around it."""
    inner = getattr(error, "orig", None) or error
    if len(inner.args) == 2 and isinstance(inner.args[0], int) and isinstance(inner.args[1], str):  # PyMySQL
        return first_line(Exception(inner.args[1]))
    line = first_line(inner)
    for prefix in ("FATAL: ", "ERROR: ", "[libpq] "):
        line = line.rpartition(prefix)[2].strip()
    return line


def database_file(address: Address, magic: bytes, at: int, system: str, *, must_exist: bool) -> Path:
    """The file of an embedded database; raises where there is none or where it is something else."""
    path = Path(str(address.url.database)).expanduser()
    if str(path) == ":memory:":
        raise SourceError(f"{address.name}: a database in memory holds nothing; name a file")
    if path.is_dir():
        raise SourceError(f"{address.name}: {path} is a folder, not a {system} database")
    if not path.exists():
        if must_exist:
            raise SourceError(f"{address.name}: there is no file {path}")
        if not path.parent.is_dir():
            raise SourceError(f"{address.name}: the folder {path.parent} does not exist")
        return path
    with convert_errors(address.name, "cannot be opened"), path.open("rb") as file:
        head = file.read(at + len(magic))
    if head[at:] != magic and (head or must_exist):
        raise SourceError(f"{address.name}: {path} is not a {system} database")
    return path


def open_database(url: str) -> Database:
    """The table behind an address."""
    address = parse_address(url)
    module, _, name = _MODULES[address.system].partition(":")
    found: type[Database] = getattr(import_module(f"discreet.convert.databases.{module}"), name)
    return found(address)
