"""The journal file of a search: one line per event, each appended whole, under a lock that ends with its process."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from optuna.storages.journal import JournalFileBackend, JournalFileOpenLock

from discreet.engine.runtime.private_files import FILE_MODE, make_private

_JOURNAL_START = b'{"op_code":'


def open_journal(journal: Path) -> JournalFileBackend:
    """The journal, ready to be read and continued; an incomplete last line, left by a killed run, is removed."""
    lock = _JournalLock(journal)
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
        if file.read(len(_JOURNAL_START)) != _JOURNAL_START:  # not a journal: reading it will raise an error
            return
        file.seek(size - 1)
        if file.read(1) != b"\n":
            file.seek(0)
            file.truncate(file.read().rfind(b"\n") + 1)


class _JournalLock(JournalFileOpenLock):
    """A lock on the journal file itself, which the operating system releases if its holder is killed."""

    def __init__(self, journal: Path) -> None:
        super().__init__(str(journal))
        self._journal = journal
        self._descriptor: int | None = None

    def acquire(self) -> bool:
        # the journal holds numbers measured on the original data and the id of the key: readable by its owner only
        descriptor = os.open(self._journal, os.O_RDWR | os.O_CREAT, FILE_MODE)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        self._descriptor = descriptor
        return True

    def release(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
