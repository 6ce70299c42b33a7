"""A fuzzer that is led by the branches it reaches, on whatever takes bytes from outside."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from scripts import load_script

PROGRAM = Path(__file__).with_name("fuzzing.py")
TARGETS = ("policy", "mapping", "csv", "csv.gz", "tsv", "jsonl", "hierarchy", "dictionary", "cells", "address", "rest")
QUICK = ("policy", "csv", "jsonl", "hierarchy", "cells", "address", "rest")
"""Those that `make test` fuzzes: the others read with the same code."""


def fuzzed(target: str, folder: Path, *arguments: object) -> dict[str, int]:
    call = [sys.executable, str(PROGRAM), target, str(folder), *map(str, arguments)]
    done = subprocess.run(call, capture_output=True, text=True, errors="replace", check=False)
    kept = {path.name: path.read_bytes()[:2000] for path in folder.glob("fault-*")}
    assert done.returncode == 0, f"{kept}\n{done.stdout[-2000:]}\n{done.stderr[-8000:]}"
    found: dict[str, int] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.parametrize("target", TARGETS if os.environ.get("DISCREET_TRUST") == "long" else QUICK)
@pytest.mark.trust(
    "Bad input",
    "A fuzzer led by the branches it reaches finds no input of policies, readers, hierarchies, dictionaries, cells, addresses "
    "and requests that ends in a traceback, a hang or half a file",
)
def test_a_fuzzer_finds_no_fault(
    target: str, tmp_path: Path, effort: Callable[[int, int], int], seed: int, record_property: Callable[[str, object], None]
) -> None:
    long = effort(0, 1) == 1
    # `make test` says the same thing each time; what is new is found by `make trust`
    found = fuzzed(target, tmp_path, effort(2, 40), 10**9 if long else 300, seed if long else 1)
    assert found["inputs"] > 10
    record_property("inputs tried", found["inputs"])
    record_property("edges reached", found.get("edges", 0))


def test_every_target_is_fuzzed() -> None:
    program = load_script(PROGRAM.with_name("fuzz_targets.py"))
    assert set(program.TARGETS) == set(TARGETS) > set(QUICK)


def test_without_atheris_inputs_are_changed_at_random(tmp_path: Path) -> None:
    assert fuzzed("cells", tmp_path, 30, 2000, 1, "plain") == {"inputs": 2000}
