"""What a job's process says to the server, as lines of JSON, and whether it was asked to stop."""

from __future__ import annotations

import json
import math
import threading
import time
import traceback
from collections.abc import Mapping
from typing import Any, BinaryIO

PAUSE = 0.2
"""Seconds between two lines of progress at least."""


class Cancelled(BaseException):
    """Raised inside the work when somebody asked it to stop; no ``except Exception`` swallows it."""


class Voice:
    """What the process says to the server, and whether it was asked to stop."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._lock = threading.Lock()
        self._spoken = 0.0
        self.stop = threading.Event()

    def say(self, word: str, **content: Any) -> None:
        """Send a message."""
        line = json.dumps(finite({"say": word, **content}), allow_nan=False, ensure_ascii=True, default=str).encode() + b"\n"
        with self._lock:
            self._out.write(line)
            self._out.flush()

    def progress(self, what: str, done: float, total: float) -> None:
        """Say how far the work is, now and then; the place where it stops when asked to."""
        if self.stop.is_set():
            raise Cancelled
        at = time.monotonic()
        if at - self._spoken >= PAUSE or done >= total > 0:
            if at - self._spoken < PAUSE / 4:
                return
            self._spoken = at
            self.say("progress", what=what, done=done, total=total)


def finite(value: Any) -> Any:
    """The value with null for each number that JSON cannot hold."""
    if isinstance(value, Mapping):
        return {str(key): finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [finite(inner) for inner in value]
    if hasattr(value, "item") and not isinstance(value, str):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def trace(error: BaseException) -> str:
    """Where an error of the program is, for the server's log; its words are left out, since they may hold values of the data."""
    return "".join(traceback.format_tb(error.__traceback__))
