"""Progress of long computations: the code reports how far it is, and a caller may listen.

Without a listener a report does nothing. A listener may raise to stop the computation: it is called between steps, never within
one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[str, int, int], None]
_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


def report_progress(what: str, done: int, total: int) -> None:
    """Report that ``done`` of ``total`` parts of a computation are finished."""
    listener = _listener.get()
    if listener is not None:
        listener(what, done, total)


class OutOfTimeError(Exception):
    """A computation was stopped because its time limit passed."""


@contextmanager
def stop_after(moment: float | None) -> Iterator[None]:
    """Stop the block with ``OutOfTimeError`` at the first progress report after a moment of ``time.monotonic``; None: no limit.

    A listener that is already set still receives all reports.
    """
    outer = _listener.get()

    def listener(what: str, done: int, total: int) -> None:
        if outer is not None:
            outer(what, done, total)
        if moment is not None and time.monotonic() > moment:
            raise OutOfTimeError(what)

    if moment is None:
        yield
        return
    with progress_listener(listener):
        yield


@contextmanager
def progress_listener(listener: Listener) -> Iterator[None]:
    """Send progress reports to a listener while the block runs."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)
