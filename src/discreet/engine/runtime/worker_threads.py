"""Threads of our own that stop early: where their block ends with an exception, what has not begun is not begun any more."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType


class WorkerThreads(ThreadPoolExecutor):
    """A pool of threads for one block of code.

    Ctrl-C and time limits reach the thread that waits, not the pool. Python's own pool would then run everything that is
    still queued before the exception leaves the block.

    >>> with WorkerThreads(2) as threads:
    ...     list(threads.map(abs, [-1, -2]))
    [1, 2]
    """

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.shutdown(wait=True, cancel_futures=kind is not None)
