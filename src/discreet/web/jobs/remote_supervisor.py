"""The job supervisor as a web process sees it that is one of several: it runs in the process that started them all."""

from __future__ import annotations

import contextlib
from multiprocessing.connection import Connection


class RemoteSupervisor:
    """Wakes the supervisor of another process; the jobs themselves are rows of the database that both use."""

    def __init__(self, to: Connection) -> None:
        self._to = to

    def start(self) -> None:
        """Nothing: it runs already."""

    def stop(self) -> None:
        """Nothing: it runs until the last web process has ended."""

    def wake(self) -> None:
        """Check the queue now; without the message it would be checked within half a second."""
        with contextlib.suppress(OSError):
            self._to.send_bytes(b"!")
