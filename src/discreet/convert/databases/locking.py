"""One writer at a time to a database file: runs that come later wait.

A new DuckDB or SQLite file is written beside its place and moved there, so the library's own locks, which lie in the file,
cannot keep two writers apart. A lock file beside the database does; the system takes the lock from a writer that dies.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from discreet.engine.runtime.progress import tell
from discreet.errors import SourceError

_PATIENCE = 60.0
"""Seconds to wait for a lock file that belongs to another account, which we can neither lock nor remove."""


@contextmanager
def only_writer(database: Path) -> Iterator[None]:
    """Hold the lock of a database file; waits for whoever holds it."""
    place = Path(os.path.realpath(database))
    lock = place.with_name(f".{place.name}.lock")
    held = _acquire(lock, place)
    try:
        yield
    finally:
        with suppress(FileNotFoundError):
            lock.unlink()  # while it is held: whoever opened it meanwhile notices, and opens the next one
        os.close(held)


def _acquire(lock: Path, place: Path) -> int:
    started = time.monotonic()
    while True:
        try:
            held = os.open(lock, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except PermissionError:
            if not lock.exists() or time.monotonic() - started > _PATIENCE:
                raise SourceError(f"{place}: cannot be written while {lock} is there: no right to open it") from None
            time.sleep(0.1)
            continue
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            tell(f"waiting for another run that writes to {place.name}", 0, 1)
            fcntl.flock(held, fcntl.LOCK_EX)
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(held), lock.stat()):
                return held
        os.close(held)  # its holder removed it after we had opened it
