"""Progress of long work: kernels tell how far they are, and whoever started them may listen.

Nothing is told where nobody listens. A listener may raise to stop the work: kernels call it between steps, never in one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[str, int, int], None]
_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


def tell(what: str, done: int, total: int) -> None:
    """Say that ``done`` of ``total`` parts of some work are finished."""
    listener = _listener.get()
    if listener is not None:
        listener(what, done, total)


class OutOfTimeError(Exception):
    """Work was stopped because its time is over."""


@contextmanager
def until(moment: float | None) -> Iterator[None]:
    """Stop the work of the block by ``OutOfTimeError`` when something is told after a moment of ``time.monotonic``.

    Whoever listens already is told as before. None stops nothing.
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
    with listening(listener):
        yield


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Have a listener told while the block runs."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)
