"""How many modules and functions of the package run in the first four ways of docs/architecture.md.

    python tools/walks.py

Each command runs in a process of its own, on a table of 60 records, with a policy of two risk measures, one limit and two masking
steps. A module counts where one of its functions runs; what runs while it is imported does not count.
"""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "discreet"
COMMANDS = {
    "risk": ["risk", "table.csv", "-p", "policy.yaml"],
    "mask": ["mask", "table.csv", "release.csv", "-p", "policy.yaml"],
    "assess": ["assess", "table.csv", "release.csv", "-p", "policy.yaml"],
    "select": ["select", "table.csv", "-p", "policy.yaml", "--trials", "4", "--out", "chosen.yaml"],
}
POLICY = """\
attributes:
  name: {role: identifier}
  age: {role: key, known: 0.3}
  zip: {role: key, known: 0.3}
  sex: {role: key, known: 0.5}
  ill: {role: confidential, known: 0.01, sensitivity: 0.9}
risk:
  known_sets: {alpha: 100, epsilon: 0.01, threshold: 0.01}
  k_anonymity: {}
limits: {k_anonymity.k: 2}
plan:
  steps:
    - {method: remove_identifiers}
    - {method: local_suppression, k: 2, columns: [age, zip, sex]}
"""
_OPTIMIZED = 0x1
"""The flag of code that has local variables: functions, not modules and classes."""


def functions_that_run(action: Callable[[], object]) -> set[tuple[str, str]]:
    """The package's functions that run during an action, in any thread, each with the path of its module."""
    names: set[tuple[str, str]] = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code  # comprehensions and lambdas, whose names begin with <, belong to the function that they stand in
        if event == "call" and code.co_flags & _OPTIMIZED and not code.co_name.startswith("<"):
            path = Path(code.co_filename)
            if path.is_relative_to(PACKAGE):
                names.add((path.relative_to(PACKAGE).as_posix(), code.co_qualname))

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        action()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return names


def _write_files() -> None:
    lines = [f"n{at},{20 + at % 17},{1000 + at % 7},{'fm'[at % 2]},{('flu', 'cold', 'hiv')[at % 3]}" for at in range(60)]
    Path("table.csv").write_text("\n".join(["name,age,zip,sex,ill", *lines, ""]), encoding="utf-8")
    Path("policy.yaml").write_text(POLICY, encoding="utf-8")


def _run_command(arguments: list[str]) -> None:
    from discreet.cli import main

    sys.argv = ["discreet", *arguments]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()), contextlib.suppress(SystemExit):
        main()


def main() -> None:
    if len(sys.argv) == 2:
        names = functions_that_run(lambda: _run_command(COMMANDS[sys.argv.pop()]))
        print(f"{len({module for module, _ in names})} modules, {len(names)} functions")
        return
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        _write_files()
        for name in COMMANDS:
            done = subprocess.run([sys.executable, __file__, name], capture_output=True, text=True, check=True)
            print(f"{name}: {done.stdout.strip()}", flush=True)


if __name__ == "__main__":
    main()
