"""One worker process, as the supervisor sees it: pipes that never block, lines that may be garbage, an end that is certain."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from typing import Any

COMMAND = [sys.executable, "-P", "-m", "discreet.web.jobs.worker"]
LONGEST = 64 << 20
"""Bytes that one line may have; a longer one is thrown away."""
PATIENCE = 10.0
"""Seconds between asking a job to stop and ending its process."""
_KEPT = 8192
_HIDDEN = ("DISCREET_DATABASE", "DISCREET_SOURCES")


class Process:
    """A job's process. What it needs goes through its standard input, never through arguments or the environment."""

    def __init__(self, job: str, brief: Mapping[str, Any]) -> None:
        self.job = job
        self.popen = subprocess.Popen(  # noqa: S603 - the command is our own worker, always the same
            COMMAND,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0,
            env={name: value for name, value in os.environ.items() if name not in _HIDDEN},
            process_group=0,  # so that all it started ends with it, and Ctrl-C on the server's terminal is the server's alone
        )  # fmt: skip
        self._pending = bytearray(json.dumps(brief, allow_nan=False).encode() + b"\n")
        self._line = bytearray()
        self._skipping = False
        self.complaints = bytearray()
        """The end of what it wrote to standard error."""
        self.asked_at: float | None = None
        """When it was asked to stop."""
        for pipe in self.pipes:
            os.set_blocking(pipe, False)

    @property
    def pipes(self) -> list[int]:
        """The numbers of its pipes that are open: input, output, errors."""
        held = (self.popen.stdin, self.popen.stdout, self.popen.stderr)
        return [pipe.fileno() for pipe in held if pipe is not None and not pipe.closed]

    @property
    def heard(self) -> list[int]:
        """The pipes that something may come out of."""
        return [pipe.fileno() for pipe in (self.popen.stdout, self.popen.stderr) if pipe is not None and not pipe.closed]

    def ask_to_stop(self) -> None:
        """Tell it to stop at its next step."""
        if self.asked_at is None:
            self.asked_at = time.monotonic()
            self._pending += b'{"cancel": true}\n'

    @property
    def overdue(self) -> bool:
        """Whether it was asked to stop and has not, for long enough."""
        return self.asked_at is not None and time.monotonic() - self.asked_at > PATIENCE

    def kill(self) -> None:
        """End it and all it started, at once."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.popen.pid, signal.SIGKILL)

    def pump(self) -> Iterator[dict[str, Any]]:
        """Send what waits to be sent; the messages that have come since."""
        self._send()
        if self.popen.stderr is not None:
            self.complaints = bytearray((self.complaints + self._read(self.popen.stderr))[-_KEPT:])
        if self.popen.stdout is not None:
            yield from self._messages(self._read(self.popen.stdout))

    def ended(self) -> int | None:
        """Its exit code once it is over (negative: the signal that ended it); None before."""
        return self.popen.poll()

    def close(self) -> None:
        """Make sure that nothing of it is left: no process, no zombie, no pipe."""
        self.kill()
        self.popen.wait()
        for pipe in (self.popen.stdin, self.popen.stdout, self.popen.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()

    def _send(self) -> None:
        pipe = self.popen.stdin
        if pipe is None or pipe.closed:
            return
        with contextlib.suppress(BlockingIOError):
            try:
                while self._pending:
                    del self._pending[: os.write(pipe.fileno(), self._pending[:65536])]
            except OSError as error:
                if isinstance(error, BlockingIOError):
                    raise
                self._pending.clear()  # it reads no more; how it ended is told by its exit code

    @staticmethod
    def _read(pipe: Any) -> bytes:
        parts = []
        with contextlib.suppress(OSError, ValueError):
            # a bounded share of the supervisor's time, however much somebody writes
            for _ in range(64):
                part = os.read(pipe.fileno(), 65536)
                if not part:
                    pipe.close()
                    break
                parts.append(part)
        return b"".join(parts)

    def _messages(self, arrived: bytes) -> Iterator[dict[str, Any]]:
        *whole, rest = arrived.split(b"\n")
        for line in whole:
            self._take(line)
            found, self._line, skipped, self._skipping = bytes(self._line), bytearray(), self._skipping, False
            if not skipped and (message := _message(found)) is not None:
                yield message
        self._take(rest)

    def _take(self, part: bytes) -> None:
        if self._skipping or len(self._line) + len(part) > LONGEST:
            self._line, self._skipping = bytearray(), True
        else:
            self._line += part


def _message(line: bytes) -> dict[str, Any] | None:
    """A line as a message, or None where it is something else."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and isinstance(found.get("say"), str) else None
