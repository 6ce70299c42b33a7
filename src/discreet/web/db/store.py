"""Connections, migrations and transactions of the server's database.

The same code runs on SQLite, PostgreSQL and MySQL. On SQLite a write transaction takes the write lock when it begins: a
transaction that reads first and then writes would fail if another one wrote in between.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from sqlalchemy import Connection, Engine, ExceptionContext, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError, DataError, IntegrityError, NoSuchModuleError, OperationalError, SQLAlchemyError

from discreet.convert.databases.address import check_address
from discreet.engine.runtime.private_files import create_private_file
from discreet.errors import SourceError, redact_credentials
from discreet.web.db.audit_key import AuditKey, load_audit_key
from discreet.web.db.ballast import Ballast
from discreet.web.errors import DiskFull, InvalidRequest

if TYPE_CHECKING:
    from discreet.web.settings import Settings

DRIVERS = {
    "sqlite": "sqlite",
    "postgresql": "postgresql+psycopg",
    "postgres": "postgresql+psycopg",
    "mysql": "mysql+pymysql",
    "mariadb": "mysql+pymysql",
}
HEAD = "audit_head"
"""Where a connection remembers the last entry of the audit log that its transaction wrote."""
POOL_SIZE = 40
"""Connections kept open: one per thread that answers requests. A few more are opened when needed. Several web processes share
twice as many, because PostgreSQL accepts 100 unless it is told otherwise."""


class Store:
    """The database of users, projects and jobs."""

    def __init__(self, address: str, pool_size: int = POOL_SIZE) -> None:
        self.address = address
        self.engine = _create_engine(address, pool_size)
        self._audit_key: AuditKey | None = None
        self._writing = self.engine.execution_options(writing=True)
        self._on_full_disk: Callable[[], object] = lambda: None
        # SQLite allows one writer at a time and makes the others poll; within one process a lock is faster and fairer
        self._write_lock = threading.Lock() if self.engine.dialect.name == "sqlite" else None

    @classmethod
    def open(cls, settings: Settings) -> Self:
        """Open the database of a server, migrated, with the key of its audit log and room for it on a full disk."""
        store = cls(settings.database, max(8, 2 * POOL_SIZE // settings.workers - 10) if settings.workers > 1 else POOL_SIZE)
        try:
            store.migrate()
            with store.read() as connection:
                entries = int(connection.execute(text("SELECT number FROM discreet_chain WHERE id = 1")).scalar_one())
            store.use_audit_key(load_audit_key(settings.home, entries))
        except BaseException:
            store.close()
            raise
        store._on_full_disk = Ballast(settings.home).release
        return store

    def count_errors(self, count: Callable[[str], None]) -> None:
        """Report the kind of every error of the database, except conflicts of simultaneous changes, which are expected."""

        def report(context: ExceptionContext) -> None:
            error = context.sqlalchemy_exception
            if error is not None and not isinstance(error, IntegrityError):
                count(type(error).__name__)

        event.listen(self.engine, "handle_error", report)

    def use_audit_key(self, key: AuditKey) -> None:
        """Sign entries of the audit log with a key."""
        self._audit_key = key
        self.engine = self.engine.execution_options(audit_key=key)
        self._writing = self.engine.execution_options(writing=True)

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A read-only transaction."""
        with _refuse_unstorable(), self.engine.begin() as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A write transaction, rolled back on an exception."""
        try:
            with _refuse_unstorable(), self._write_lock or nullcontext(), self._writing.connect() as connection:
                connection.info.pop(HEAD, None)
                with connection.begin():
                    yield connection
                head = connection.info.pop(HEAD, None)
                if head is not None and self._audit_key is not None:
                    self._audit_key.write_head(head)
        except OperationalError as error:
            if is_disk_full(error):
                self._on_full_disk()
                raise DiskFull("the server's disk is full; what you did was not saved: try again, or delete something") from None
            raise

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """A read-only transaction that sees the database as it is at its first query, however long it takes."""
        # transactions of SQLite see a snapshot anyway
        options = {} if self.engine.dialect.name == "sqlite" else {"isolation_level": "REPEATABLE READ"}
        with self.engine.connect().execution_options(**options) as connection, connection.begin():
            yield connection

    def migrate(self, revision: str = "head") -> None:
        """Migrate the schema to a revision; default: the current version."""
        from alembic import command
        from alembic.config import Config

        config = Config()
        config.set_main_option("script_location", "discreet.web.db:migrations")
        try:
            with (
                self._write_lock or nullcontext(),
                self._writing.connect() as connection,
                _without_cascades(connection),
                connection.begin(),
            ):
                config.attributes["connection"] = connection
                command.upgrade(config, revision)
        except SQLAlchemyError as error:
            raise SourceError(f"{self.redacted_address}: the database schema cannot be migrated: {_first_line(error)}") from None

    def reclaim(self) -> None:
        """Rewrite the tables that held confidential content, so that no file of the database contains what was deleted."""
        from discreet.web.db.tables import answers, datasets, jobs, releases, revisions

        names = [table.name for table in (answers, datasets, jobs, releases, revisions)]
        commands = {
            "sqlite": ["PRAGMA wal_checkpoint(TRUNCATE)", "VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"],
            "postgresql": [f"VACUUM (FULL, ANALYZE) {name}" for name in names],
            "mysql": [f"OPTIMIZE TABLE {name}" for name in names],
        }[self.engine.dialect.name]
        with self._write_lock or nullcontext(), closing(self.engine.raw_connection()) as connection:
            driver_connection: Any = connection.driver_connection
            if self.engine.dialect.name == "postgresql":
                driver_connection.autocommit = True
            cursor = driver_connection.cursor()
            for command in commands:
                cursor.execute(command)
            cursor.close()
            if self.engine.dialect.name == "postgresql":
                driver_connection.autocommit = False

    @property
    def redacted_address(self) -> str:
        """The database URL without user name and password."""
        return redact_credentials(self.address)

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()


@contextmanager
def _refuse_unstorable() -> Iterator[None]:
    """Values that a database cannot store come from requests: PostgreSQL has no text with the character NUL."""
    try:
        yield
    except DataError:
        raise InvalidRequest("a text or number of the request cannot be stored, such as a text with the character NUL") from None


@contextmanager
def suppress_full_disk() -> Iterator[None]:
    """Go on without a write that is only bookkeeping, such as the time of the last use."""
    with suppress(DiskFull):
        yield


def is_disk_full(error: OperationalError) -> bool:
    """Whether the database could not write because its disk is full."""
    message = str(error.orig).lower()
    return any(phrase in message for phrase in ("disk is full", "no space left", "disk full", "disk i/o error"))


@contextmanager
def _without_cascades(connection: Connection) -> Iterator[None]:
    """On SQLite a migration copies a table and drops the old one, which must not delete the rows that refer to it."""
    if connection.dialect.name != "sqlite":
        yield
        return
    raw: Any = connection.connection
    raw.execute("PRAGMA foreign_keys=OFF")
    try:
        yield
    finally:
        raw.execute("PRAGMA foreign_keys=ON")


def now() -> float:
    """The current time in seconds since 1970 (UTC), as stored in the database."""
    return time.time()


def _create_engine(address: str, pool_size: int) -> Engine:
    check_address(address)
    try:
        url = make_url(address)
        driver = DRIVERS.get(url.get_backend_name())
        if driver is None:
            raise SourceError(
                f"'{url.get_backend_name()}' is not a supported database; use postgresql://, mysql:// or sqlite:///"
            )
        if driver == "sqlite" and url.database in (None, "", ":memory:"):
            raise SourceError(
                "a database in memory would be lost when the server stops; name a file, for example sqlite:////srv/projects.db"
            )
        options: dict[str, Any] = {
            "hide_parameters": True,
            "pool_size": pool_size,
            "max_overflow": 10 if pool_size == POOL_SIZE else 2,
        }
        if driver != "sqlite":  # a database server may have closed an idle connection
            options |= {"pool_pre_ping": True, "pool_recycle": 1800}
        if driver == "sqlite":  # created first, because SQLite gives -wal and -shm files the permissions of the database
            create_private_file(Path(str(url.database)))
        engine = create_engine(url.set(drivername=driver), **options)
    except (ArgumentError, NoSuchModuleError) as error:
        raise SourceError(f"invalid database URL: {_first_line(error)}; expected for example postgresql://host/name") from None
    if driver == "sqlite":
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # otherwise the driver would begin transactions by itself
    # SQLite's own knows the letters from A to Z alone, so that nobody called Änne could log in
    connection.create_function("lower", 1, lambda text: text.lower() if isinstance(text, str) else text, deterministic=True)
    cursor = connection.cursor()
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "busy_timeout=15000", "secure_delete=ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    writing = connection.get_execution_options().get("writing")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")


def _first_line(error: Exception) -> str:
    return str(getattr(error, "orig", None) or error).strip().split("\n", 1)[0]
