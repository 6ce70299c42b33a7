"""A worker process as the supervisor sees it: non-blocking pipes, tolerance of malformed lines, guaranteed termination."""

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
MAX_LINE_BYTES = 64 << 20
"""Maximum length of a line; longer lines are discarded."""
STOP_SECONDS = 10.0
"""Seconds between asking a job to stop and killing its process."""
_STDERR_BYTES = 8192
_SECRET_VARIABLES = ("DISCREET_DATABASE", "DISCREET_PUBLISHED", "DISCREET_SOURCES")


class WorkerProcess:
    """The process of a job. Its inputs go through standard input: arguments and environment could be read by others."""

    def __init__(self, job: str, inputs: Mapping[str, Any]) -> None:
        self.job = job
        self.popen = subprocess.Popen(  # noqa: S603 - a constant command: our own worker
            COMMAND,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0,
            env={name: value for name, value in os.environ.items() if name not in _SECRET_VARIABLES},
            process_group=0,  # its children can be killed with it, and Ctrl-C in the terminal reaches only the server
        )  # fmt: skip
        self._pending = bytearray(json.dumps(inputs, allow_nan=False).encode() + b"\n")
        self._line = bytearray()
        self._skipping = False
        self.stderr_tail = bytearray()
        """The last bytes that it wrote to standard error."""
        self.stop_requested_at: float | None = None
        """When it was asked to stop."""
        for pipe in self.open_pipes:
            os.set_blocking(pipe, False)

    @property
    def open_pipes(self) -> list[int]:
        """File descriptors of its open pipes: standard input, output and error."""
        pipes = (self.popen.stdin, self.popen.stdout, self.popen.stderr)
        return [pipe.fileno() for pipe in pipes if pipe is not None and not pipe.closed]

    @property
    def output_pipes(self) -> list[int]:
        """File descriptors of its open output pipes."""
        return [pipe.fileno() for pipe in (self.popen.stdout, self.popen.stderr) if pipe is not None and not pipe.closed]

    def request_stop(self) -> None:
        """Ask it to stop at its next step."""
        if self.stop_requested_at is None:
            self.stop_requested_at = time.monotonic()
            self._pending += b'{"cancel": true}\n'

    @property
    def overdue(self) -> bool:
        """Whether it was asked to stop more than ``STOP_SECONDS`` ago."""
        return self.stop_requested_at is not None and time.monotonic() - self.stop_requested_at > STOP_SECONDS

    def pause(self) -> None:
        """Stop it and its children where they are, so that they use no CPU time; they keep their memory."""
        self._signal_group(signal.SIGSTOP)

    def resume(self) -> None:
        """Let it go on after a pause."""
        self._signal_group(signal.SIGCONT)

    def _signal_group(self, signal_number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.popen.pid, signal_number)

    def kill(self) -> None:
        """Kill it and its children immediately."""
        self._signal_group(signal.SIGKILL)

    def exchange(self) -> Iterator[dict[str, Any]]:
        """Send pending input, and yield the messages that have arrived."""
        self._send()
        if self.popen.stderr is not None:
            self.stderr_tail = bytearray((self.stderr_tail + self._read(self.popen.stderr))[-_STDERR_BYTES:])
        if self.popen.stdout is not None:
            yield from self._messages(self._read(self.popen.stdout))

    def exit_code(self) -> int | None:
        """Its exit code (negative: the signal that ended it), or None while it is running."""
        return self.popen.poll()

    def close(self) -> None:
        """Release everything: kill the process, reap it and close its pipes."""
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
                self._pending.clear()  # it no longer reads; the exit code will show how it ended

    @staticmethod
    def _read(pipe: Any) -> bytes:
        parts = []
        with contextlib.suppress(OSError, ValueError):
            # bounded, so that a process that writes a lot cannot block the supervisor
            for _ in range(64):
                part = os.read(pipe.fileno(), 65536)
                if not part:
                    pipe.close()
                    break
                parts.append(part)
        return b"".join(parts)

    def _messages(self, arrived: bytes) -> Iterator[dict[str, Any]]:
        *complete_lines, rest = arrived.split(b"\n")
        for line in complete_lines:
            self._append_part(line)
            line_bytes, self._line, skipped, self._skipping = bytes(self._line), bytearray(), self._skipping, False
            if not skipped and (message := _parse_message(line_bytes)) is not None:
                yield message
        self._append_part(rest)

    def _append_part(self, part: bytes) -> None:
        if self._skipping or len(self._line) + len(part) > MAX_LINE_BYTES:
            self._line, self._skipping = bytearray(), True
        else:
            self._line += part


def _parse_message(line: bytes) -> dict[str, Any] | None:
    """Parse a line as a message; None if it is anything else."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return message if isinstance(message, dict) and isinstance(message.get("event"), str) else None
