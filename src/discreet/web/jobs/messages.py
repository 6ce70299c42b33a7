"""Messages from a job's process to the server, as lines of JSON, and requests to stop."""

from __future__ import annotations

import json
import math
import threading
import time
import traceback
from collections.abc import Mapping
from typing import Any, BinaryIO

PROGRESS_SECONDS = 0.2
"""Minimum number of seconds between two progress messages."""


class Cancelled(BaseException):
    """Raised inside a job when it was asked to stop. A ``BaseException``, so that no ``except Exception`` swallows it."""


class MessageWriter:
    """Writes messages of a job's process to the server, and knows whether the job was asked to stop."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._lock = threading.Lock()
        self._sent_at = 0.0
        self.stop_requested = threading.Event()

    def send(self, event: str, **content: Any) -> None:
        """Send a message."""
        line = (
            json.dumps(replace_non_finite({"event": event, **content}), allow_nan=False, ensure_ascii=True, default=str).encode()
            + b"\n"
        )
        with self._lock:
            self._out.write(line)
            self._out.flush()

    def progress(self, what: str, done: float, total: float) -> None:
        """Report progress, at a limited rate; raises ``Cancelled`` if the job was asked to stop."""
        if self.stop_requested.is_set():
            raise Cancelled
        current_time = time.monotonic()
        if current_time - self._sent_at >= PROGRESS_SECONDS or done >= total > 0:
            if current_time - self._sent_at < PROGRESS_SECONDS / 4:
                return
            self._sent_at = current_time
            self.send("progress", what=what, done=done, total=total)


def replace_non_finite(value: Any) -> Any:
    """A copy of the value with null for numbers that JSON cannot represent (NaN and infinities)."""
    if isinstance(value, Mapping):
        return {str(key): replace_non_finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [replace_non_finite(inner) for inner in value]
    if hasattr(value, "item") and not isinstance(value, str):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def format_traceback(error: BaseException) -> str:
    """The traceback of an internal error, for the server's log, without the error's message, which may contain data values."""
    return "".join(traceback.format_tb(error.__traceback__))
