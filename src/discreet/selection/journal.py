"""The file that a search is kept in: a line a fact, each appended whole, under a lock that the dead do not hold."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from optuna.storages.journal import JournalFileBackend, JournalFileOpenLock

from discreet.engine.runtime.private_files import FILE_MODE, make_private

_FIRST = b'{"op_code":'


def backend(journal: Path) -> JournalFileBackend:
    """The journal, ready to be read and to go on; a line that a killed run did not finish is taken away."""
    lock = _Lock(journal)
    lock.acquire()
    make_private(journal)
    try:
        _drop_unfinished_line(journal)
    finally:
        lock.release()
    return JournalFileBackend(str(journal), lock_obj=lock)


def _drop_unfinished_line(journal: Path) -> None:
    with journal.open("rb+") as file:
        size = file.seek(0, os.SEEK_END)
        if not size:
            return
        file.seek(0)
        if file.read(len(_FIRST)) != _FIRST:  # somebody's file, but no journal: whoever reads it will say so
            return
        file.seek(size - 1)
        if file.read(1) != b"\n":
            file.seek(0)
            file.truncate(file.read().rfind(b"\n") + 1)


class _Lock(JournalFileOpenLock):
    """A lock on the journal itself, which the system gives back when its holder is killed."""

    def __init__(self, journal: Path) -> None:
        super().__init__(str(journal))
        self._journal = journal
        self._held: int | None = None

    def acquire(self) -> bool:
        # what was measured of the originals, and the plan's key: for the owner alone
        held = os.open(self._journal, os.O_RDWR | os.O_CREAT, FILE_MODE)
        fcntl.flock(held, fcntl.LOCK_EX)
        self._held = held
        return True

    def release(self) -> None:
        if self._held is not None:
            os.close(self._held)
            self._held = None
