"""How long tests wait: a busy machine is slow, which says nothing about the code.

A wait ends as soon as what it waits for is there, so patience costs nothing where a test passes. Whatever a test can ask again
and again is waited for with :func:`wait_until`, which follows the machine's load while it waits; where another program waits (a
browser, a client of HTTP, a process), it is given :func:`patient` seconds or :func:`browser_wait` milliseconds.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")
_MAY_BECOME_BUSY = 4.0
"""How many times longer a browser waits, which cannot look at the load again: the machine may become busy meanwhile."""

_LONGEST_PAUSE = 0.25
"""Seconds between two looks at what is waited for, at most."""


def busyness() -> float:
    """How many times longer things take than on an idle machine: runnable processes per core, at least 1."""
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


def patient(seconds: float) -> float:
    """Seconds to wait for what takes at most ``seconds`` on an idle machine."""
    return seconds * (1.0 + busyness())


def browser_wait(seconds: float) -> float:
    """Milliseconds that a browser waits for what takes at most ``seconds`` on an idle machine."""
    return 1_000 * _MAY_BECOME_BUSY * patient(seconds)


def wait_until(read: Callable[[], T], what: str | Callable[[], object], *, seconds: float = 60.0, pause: float = 0.05) -> T:
    """The first true result of ``read``; an error that says ``what`` was missing after ``seconds`` of an idle machine.

    Each pause counts by the load at that moment, so a machine that becomes busy during the wait is waited for, too. Pauses grow
    with the wait, to a tenth of it: asking a server twenty times a second slows down the job that is waited for.

    >>> numbers = iter([0, 0, 3])
    >>> wait_until(lambda: next(numbers), "a number", pause=0.0)
    3
    """
    left, first = seconds, time.monotonic()
    while True:
        begun = time.monotonic()
        if result := read():
            return result
        if left <= 0:
            raise AssertionError(what if isinstance(what, str) else what())
        time.sleep(min(max(pause, (begun - first) / 10), _LONGEST_PAUSE) if pause else 0)
        left -= (time.monotonic() - begun) * seconds / patient(seconds)


def make_requests_patient(httpx: Any, seconds: float = 60.0) -> None:
    """Let every request of a client library wait as long as the machine needs; its default is five seconds."""
    functions = ("request", "get", "post", "put", "patch", "delete", "head", "options", "stream")
    for function in (*(getattr(httpx, name) for name in functions), httpx.Client.__init__, httpx.AsyncClient.__init__):
        defaults = function.__kwdefaults__
        if defaults and "timeout" in defaults:
            defaults["timeout"] = _MAY_BECOME_BUSY * patient(seconds)
