"""Programs that are started to be stopped."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from command_line import run_command

COMMAND = (sys.executable, "-c", "from discreet.cli import main; main()")


@dataclass
class Killer:
    """Runs the command line and kills it at random moments, most of them near the end, where things are written."""

    chance: random.Random
    lasted: dict[str, float] = field(default_factory=dict)
    killed: int = 0
    finished: int = 0

    def run(self, what: str, *arguments: str) -> None:
        """Run to the end, to know how long it takes."""
        started = time.monotonic()
        done = subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, check=False)
        assert done.returncode in (0, 1), done.stderr  # 1 is a verdict, not a failure
        self.lasted[what] = time.monotonic() - started

    def kill(self, what: str, *arguments: str) -> bool:
        """Run and kill at a random moment; whether it was done before."""
        share = self.chance.uniform(0.0, 1.0) if self.chance.random() < 0.2 else self.chance.uniform(0.6, 1.05)
        process = subprocess.Popen([*COMMAND, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            process.wait(share * self.lasted[what])
        except subprocess.TimeoutExpired:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
        assert process.returncode in (0, 1, -signal.SIGKILL), process.returncode
        self.killed += process.returncode < 0
        self.finished += process.returncode >= 0
        return process.returncode >= 0


@pytest.fixture
def killer(seed: int) -> Killer:
    return Killer(random.Random(seed))


@pytest.fixture
def cli(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run the command line in a process of its own, with limits where given."""

    def run(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, check=False, cwd=tmp_path, **options)

    return run


@pytest.fixture
def quick_cli(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run the command line in this process, which saves the start of another."""
    return partial(run_command, folder=tmp_path)
