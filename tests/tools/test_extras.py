"""What the base install needs, and what it says where a command needs more."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest
from scripts import load_tool

from discreet.errors import MissingExtraError
from discreet.model.extras import EXTRAS, format_missing, require_libraries

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
RUN_WITHOUT = """
import contextlib, io, json, os, sys
for name in {missing!r}:
    sys.modules[name] = None
from discreet.cli import main
outcomes = []
for command in json.load(sys.stdin):
    sys.argv = ["discreet", *command]
    with contextlib.redirect_stderr(io.StringIO()) as errors, contextlib.redirect_stdout(io.StringIO()):
        try:
            main()
            code = 0
        except SystemExit as stop:
            code = stop.code
        except BaseException as error:
            code = repr(error)
    outcomes.append([code, errors.getvalue()])
print(json.dumps(outcomes))
"""


@pytest.fixture(scope="module")
def extra_needed() -> ModuleType:
    return load_tool("extra_needed")


def run_without_extras(folder: Path, commands: list[tuple[str, ...]]) -> list[tuple[int, str]]:
    missing = [name for names in EXTRAS.values() for name in names]
    done = subprocess.run(
        [sys.executable, "-c", RUN_WITHOUT.format(missing=missing)], cwd=folder, input=json.dumps(commands),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return [(code, text) for code, text in json.loads(done.stdout.splitlines()[-1])]


def test_a_command_that_needs_an_extra_says_which(extra_needed: ModuleType, tmp_path: Path) -> None:
    extra_needed.write_inputs(tmp_path)
    before = sorted(path.name for path in tmp_path.iterdir())
    outcomes = run_without_extras(tmp_path, [command for command, _ in extra_needed.COMMANDS])
    for (command, extra), (code, text) in zip(extra_needed.COMMANDS, outcomes, strict=True):
        assert code == 2, (command, code, text)
        assert f"pip install 'discreet[{extra}]'" in text.splitlines()[-1], (command, text)
        assert "Traceback" not in text, (command, text)
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_files_are_measured_masked_and_assessed_without_any_extra(extra_needed: ModuleType, tmp_path: Path) -> None:
    extra_needed.write_inputs(tmp_path)
    outcomes = run_without_extras(tmp_path, list(extra_needed.BASE_COMMANDS))
    for command, (code, text) in zip(extra_needed.BASE_COMMANDS, outcomes, strict=True):
        assert code in (0, 1), (command, code, text)
    assert (tmp_path / "masked.csv").exists()


def test_every_extra_of_the_table_is_an_extra_of_the_distribution_with_its_libraries() -> None:
    extras = PROJECT["optional-dependencies"]
    for extra, libraries in EXTRAS.items():
        requirements = " ".join(extras[extra]).lower().replace("-", "_")
        for library in libraries:
            assert library.partition("_")[0] in requirements, (extra, library)


def test_the_base_is_light() -> None:
    names = {requirement.split(">")[0].split("[")[0] for requirement in PROJECT["dependencies"]}
    assert names == {
        "numba", "numpy", "polars", "pyarrow", "pydantic", "python-stdnum", "pyyaml", "rapidfuzz", "rich",
        "threadpoolctl", "typer", "tzdata",
    }  # fmt: skip


def test_a_missing_library_is_named_with_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(MissingExtraError, match=r"select needs optuna.*: pip install 'discreet\[select\]'"):
        require_libraries("select", "optuna")
    assert format_missing("it", "unheard") == "it needs unheard, which is not installed; install it with: pip install unheard"
