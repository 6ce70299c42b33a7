"""A lock that admits one writer at a time to a database file; others wait.

A new DuckDB or SQLite file is written under a temporary name and moved into place, so the library's own lock, which is on
the file, does not protect against two writers. A lock file next to the database does. The operating system releases the
lock of a process that dies.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from discreet.engine.runtime.progress import report_progress
from discreet.errors import SourceError

_FOREIGN_LOCK_TIMEOUT = 60.0
"""Seconds to wait for a lock file of another account, which this process can neither lock nor remove."""


@contextmanager
def exclusive_writer(database: Path) -> Iterator[None]:
    """Hold the lock of a database file, after waiting for the process that holds it."""
    path = Path(os.path.realpath(database))
    lock = path.with_name(f".{path.name}.lock")
    descriptor = _acquire(lock, path)
    try:
        yield
    finally:
        with suppress(FileNotFoundError):
            lock.unlink()  # while it is still locked: a waiting process notices, and creates a new one
        os.close(descriptor)


def _acquire(lock: Path, path: Path) -> int:
    started = time.monotonic()
    while True:
        try:
            descriptor = os.open(lock, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except PermissionError:
            if not lock.exists() or time.monotonic() - started > _FOREIGN_LOCK_TIMEOUT:
                raise SourceError(f"{path}: cannot be written: no permission to open the lock file {lock}") from None
            time.sleep(0.1)
            continue
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            report_progress(f"waiting for another process that writes to {path.name}", 0, 1)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(descriptor), lock.stat()):
                return descriptor
        os.close(descriptor)  # the previous holder removed it after this process had opened it
