"""One server per data directory and per database: a second one would run the jobs of the first a second time.

The lock of the data directory is a file, that of the database what the database offers: a session-level advisory lock of
PostgreSQL, a named lock of MySQL, a file beside a database of SQLite. The system or the database releases them when the process
ends, however it ends.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import threading
from pathlib import Path
from typing import Self

from sqlalchemy import Connection, Engine, create_engine, make_url, text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import NullPool

from discreet.convert.databases.address import check_address
from discreet.errors import SourceError, redact_credentials
from discreet.web.db.store import DRIVERS
from discreet.web.settings import Settings

HOME_LOCK = ".server.lock"
ADVISORY_KEY = 0x6469736372656574
"""The key of PostgreSQL's lock, which holds within one database: the bytes of "discreet"."""


class ServerLock:
    """The locks of one running server."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._files: list[int] = []
        self._engine: Engine | None = None
        self._connection: Connection | None = None
        self._mutex = threading.Lock()

    @classmethod
    def acquire(cls, settings: Settings) -> Self:
        """Lock the data directory and the database; raises where another server has one of them."""
        lock = cls(settings)
        try:
            lock._lock_file(
                settings.home / HOME_LOCK,
                f"{settings.home}: another server is running on this data directory; stop it first, or name another with --home",
            )
            lock._lock_database()
        except BaseException:
            lock.release()
            raise
        return lock

    def is_held(self) -> bool:
        """Whether the database's lock is still held; after a lost connection it is taken again, unless another server has it."""
        with self._mutex:
            if self._engine is None:
                return bool(self._files)
            with contextlib.suppress(SQLAlchemyError):
                if self._connection is not None:
                    self._connection.execute(text("SELECT 1"))
                    return True
            self._close_connection()
            with contextlib.suppress(SQLAlchemyError):
                return self._take_database_lock()
            return False

    def release(self) -> None:
        """Release both locks."""
        with self._mutex:
            self._close_connection()
            if self._engine is not None:
                self._engine.dispose()
                self._engine = None
            while self._files:
                os.close(self._files.pop())

    def _lock_file(self, path: Path, refusal: str) -> None:
        descriptor = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            raise SourceError(refusal) from None
        self._files.append(descriptor)

    def _lock_database(self) -> None:
        address = self._settings.database
        check_address(address)
        url = make_url(address)
        shown = redact_credentials(address)
        refusal = f"{shown}: another server with another data directory is running on this database; stop it or name another one"
        driver = DRIVERS.get(url.get_backend_name())
        if driver is None:  # an unknown system is refused when the database is opened
            return
        if driver == "sqlite":
            path = Path(url.database or "")
            # not the database itself: closing a file of it would end the locks that SQLite holds on it
            if (
                url.database not in (None, "", ":memory:")
                and path.parent.resolve() != self._settings.home
                and path.parent.is_dir()
            ):
                self._lock_file(path.with_name(f"{path.name}.server.lock"), refusal)
            return
        self._engine = create_engine(
            url.set(drivername=driver), poolclass=NullPool, hide_parameters=True, isolation_level="AUTOCOMMIT"
        )
        try:
            taken = self._take_database_lock()
        except SQLAlchemyError as error:
            reason = str(getattr(error, "orig", None) or error).strip().split("\n", 1)[0]
            raise SourceError(f"{shown}: cannot connect to the database: {reason}") from None
        if not taken:
            raise SourceError(refusal)

    def _take_database_lock(self) -> bool:
        assert self._engine is not None
        connection = self._engine.connect()
        try:
            if self._engine.dialect.name == "postgresql":
                taken = connection.execute(text("SELECT pg_try_advisory_lock(:key)"), {"key": ADVISORY_KEY}).scalar()
            else:  # the names of MySQL's locks are those of a whole server, and at most 64 characters long
                name = text("SELECT GET_LOCK(CONCAT('discreet ', SHA1(DATABASE())), 0)")
                taken = connection.execute(name).scalar()
        except BaseException:
            connection.close()
            raise
        if taken:
            self._connection = connection
        else:
            connection.close()
        return bool(taken)

    def _close_connection(self) -> None:
        if self._connection is not None:
            with contextlib.suppress(SQLAlchemyError):
                self._connection.close()
            self._connection = None
