"""The command line in this process: what a user would get, without the seconds that a new process needs to import everything."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest

from discreet.cli import main


def run_command(
    *arguments: str, folder: Path, environment: Mapping[str, str] | None = None, stdin: bytes = b""
) -> subprocess.CompletedProcess[str]:
    """Run ``discreet`` in a folder; returns its exit code and what it printed, also from below Python."""
    done = run_on_bytes(*arguments, folder=folder, environment=environment, stdin=stdin)
    return subprocess.CompletedProcess(arguments, done.returncode, done.stdout.decode(), done.stderr.decode())


def run_on_bytes(
    *arguments: str, folder: Path, environment: Mapping[str, str] | None = None, stdin: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    """The same with bytes on standard input and output."""
    with (
        pytest.MonkeyPatch.context() as patch,
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
        warnings.catch_warnings(),
    ):
        warnings.resetwarnings()
        patch.chdir(folder)
        patch.setattr(sys, "argv", ["discreet", *arguments])
        patch.setattr(sys, "unraisablehook", sys.unraisablehook)  # which the command line changes
        for name, value in (environment or {}).items():
            patch.setenv(name, value)
        with _read_from(stdin), _written_to(1, "stdout", out), _written_to(2, "stderr", err):
            code = _run_main()
        return subprocess.CompletedProcess(arguments, code, _bytes_of(out), _bytes_of(err))


def _run_main() -> int:
    try:
        main()
    except SystemExit as stop:
        if isinstance(stop.code, str):
            print(stop.code, file=sys.stderr)
            return 1
        return int(stop.code or 0)
    return 0


@contextmanager
def _written_to(descriptor: int, name: str, file: IO[bytes]) -> Iterator[None]:
    """Send a standard stream to a file: its descriptor, and Python's own object."""
    before, kept = getattr(sys, name), os.dup(descriptor)
    before.flush()
    os.dup2(file.fileno(), descriptor)
    stream = io.TextIOWrapper(os.fdopen(os.dup(descriptor), "wb"), encoding="utf-8", write_through=True)
    setattr(sys, name, stream)
    try:
        yield
    finally:
        stream.close()
        setattr(sys, name, before)
        os.dup2(kept, descriptor)
        os.close(kept)


@contextmanager
def _read_from(content: bytes) -> Iterator[None]:
    """Let the descriptor of standard input hold some bytes."""
    kept = os.dup(0)
    try:
        with tempfile.TemporaryFile() as file:
            file.write(content)
            file.seek(0)
            os.dup2(file.fileno(), 0)
            yield
    finally:
        os.dup2(kept, 0)
        os.close(kept)


def _bytes_of(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read()
