"""The database opened, brought up to date, and read and written in transactions.

The same code runs on SQLite, PostgreSQL and MySQL. On SQLite a transaction that will write takes the write lock when it begins:
one that reads first and then wants to write would fail where another wrote in between.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError

from discreet.convert.databases.address import check_address
from discreet.engine.runtime.private_files import create_private_file
from discreet.errors import SourceError, redact_credentials

DRIVERS = {
    "sqlite": "sqlite",
    "postgresql": "postgresql+psycopg",
    "postgres": "postgresql+psycopg",
    "mysql": "mysql+pymysql",
    "mariadb": "mysql+pymysql",
}
POOL = 40
"""Connections that are kept for the next request, as many as there are threads to answer; a few more come and go."""


class Store:
    """A database of users, projects and jobs."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.engine = _open(address)
        self._writing = self.engine.execution_options(writing=True)
        # SQLite lets one write at a time and wakes the others by polling; within one process a lock is fair and at once
        self._one = threading.Lock() if self.engine.dialect.name == "sqlite" else None

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A transaction that only reads."""
        with self.engine.begin() as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction that writes: all of it or nothing."""
        if self._one is None:
            with self._writing.begin() as connection:
                yield connection
            return
        with self._one, self._writing.begin() as connection:
            yield connection

    def migrate(self) -> None:
        """Bring the schema to this version of the program."""
        from alembic import command
        from alembic.config import Config

        config = Config()
        config.set_main_option("script_location", "discreet.web.db:migrations")
        try:
            with self.write() as connection:
                config.attributes["connection"] = connection
                command.upgrade(config, "head")
        except SQLAlchemyError as error:
            raise SourceError(f"{self.shown}: the database cannot be prepared: {_first_line(error)}") from None

    @property
    def shown(self) -> str:
        """The address without its password."""
        return redact_credentials(self.address)

    def close(self) -> None:
        """Give every connection back."""
        self.engine.dispose()


def now() -> float:
    """The time as the database keeps it."""
    return time.time()


def _open(address: str) -> Engine:
    check_address(address)
    try:
        url = make_url(address)
        driver = DRIVERS.get(url.get_backend_name())
        if driver is None:
            raise SourceError(
                f"'{url.get_backend_name()}' is no database that projects can be kept in; use postgresql://, mysql:// or sqlite:///"
            )
        if driver == "sqlite" and url.database in (None, "", ":memory:"):
            raise SourceError(
                "a database in memory would be gone with the server; name a file, such as sqlite:////srv/projects.db"
            )
        options: dict[str, Any] = {"hide_parameters": True, "pool_size": POOL, "max_overflow": 10}
        if driver != "sqlite":  # a server may have hung up in the meantime, a file not
            options |= {"pool_pre_ping": True, "pool_recycle": 1800}
        if driver == "sqlite":  # made first, because SQLite gives -wal and -shm the rights of the database
            create_private_file(Path(str(url.database)))
        engine = create_engine(url.set(drivername=driver), **options)
    except (ArgumentError, NoSuchModuleError) as error:
        raise SourceError(
            f"the database address is not one: {_first_line(error)}; it is such as postgresql://host/name"
        ) from None
    if driver == "sqlite":
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # the driver would begin transactions at moments of its own
    cursor = connection.cursor()
    for line in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "busy_timeout=15000"):
        cursor.execute(f"PRAGMA {line}")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    writing = connection.get_execution_options().get("writing")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")


def _first_line(error: Exception) -> str:
    return str(getattr(error, "orig", None) or error).strip().split("\n", 1)[0]
