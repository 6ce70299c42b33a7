"""How long tests wait: a busy machine is slow, which says nothing about the code.

A wait ends as soon as what it waits for is there, so patience costs nothing where a test passes.
"""

from __future__ import annotations

import os
from typing import Any


def busyness() -> float:
    """How many times longer things take than on an idle machine: runnable processes per core, at least 1."""
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


def patient(seconds: float) -> float:
    """Seconds to wait for what takes at most ``seconds`` on an idle machine."""
    return seconds * (1.0 + busyness())


def make_requests_patient(httpx: Any, seconds: float = 60.0) -> None:
    """Let every request of a client library wait as long as the machine needs; its default is five seconds."""
    functions = ("request", "get", "post", "put", "patch", "delete", "head", "options", "stream")
    for function in (*(getattr(httpx, name) for name in functions), httpx.Client.__init__, httpx.AsyncClient.__init__):
        defaults = function.__kwdefaults__
        if defaults and "timeout" in defaults:
            defaults["timeout"] = patient(seconds)
