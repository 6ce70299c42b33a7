"""Every snippet of the documentation runs: page by page, in an empty folder, blocks in their order.

A ``python`` block is executed in the page's namespace. In a ``console`` (or ``bash``) block each line that begins with
``$ discreet`` is run, and what it is told to print below is compared where the fence says ``console exact``. A fence
may say ``exit=1`` (the last command's status, 0 where it does not) or ``no-run`` (a server, a database elsewhere).
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from command_line import run_command

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), ROOT / "examples" / "plugin" / "README.md"]
FENCE = re.compile(r"^(?P<indent> *)```(?P<info>[^\n`]*)\n(?P<body>.*?)^(?P=indent)```\s*$", re.MULTILINE | re.DOTALL)
NEVER = "no-run"


@dataclass(frozen=True)
class Block:
    """One fenced block: its language, the words behind it, its first line and its text."""

    language: str
    words: tuple[str, ...]
    line: int
    text: str


def blocks(page: str) -> Iterator[Block]:
    for match in FENCE.finditer(page):
        language, *words = match["info"].split() or [""]
        indent = len(match["indent"])
        text = "".join(line[indent:] if line.strip() else line for line in match["body"].splitlines(keepends=True))
        yield Block(language, tuple(words), page[: match.start()].count("\n") + 2, text)


def run_page(path: Path, folder: Path) -> None:
    """Run the blocks of a page; what goes wrong names the page and the line."""
    namespace: dict[str, object] = {"__name__": "__main__"}
    for block in blocks(path.read_text(encoding="utf-8")):
        if block.language == "python":
            code = compile("\n" * (block.line - 1) + block.text, str(path), "exec", dont_inherit=True)
            exec(code, namespace)
        elif block.language in ("console", "bash", "sh", "shell") and NEVER not in block.words:
            run_console(path, block, folder)


def run_console(path: Path, block: Block, folder: Path) -> None:
    commands = list(
        re.finditer(r"^\$ (discreet\b(?:[^\n]*\\\n)*[^\n]*)\n?(?P<told>(?:(?!\$ )[^\n]*\n?)*)", block.text, re.MULTILINE)
    )
    for number, match in enumerate(commands, 1):
        words = shlex.split(match[1].replace("\\\n", " "), comments=True)
        done = run_command(*words[1:], folder=folder, environment={"COLUMNS": "120", "NO_COLOR": "1"})
        wanted = next((int(word[5:]) for word in block.words if word.startswith("exit=")), 0) if number == len(commands) else 0
        where = f"{path.name}, line {block.line}: {' '.join(words)}"
        assert done.returncode == wanted, f"{where} ends with {done.returncode}, not {wanted}:\n{done.stdout}{done.stderr}"
        if "exact" in block.words:
            assert done.stdout.strip() == match["told"].strip(), f"{where} prints something else"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if any("spark" in block.text for block in blocks(page.read_text(encoding="utf-8")) if NEVER not in block.words):
        run_in_new_process(page)
    else:
        run_page(page, tmp_path)


def run_in_new_process(page: Path) -> None:
    """Spark looks for files where its own process was started, which for a running Spark is not this folder."""
    code = "import runpy, sys; from pathlib import Path; runpy.run_path(sys.argv[1])['run_page'](Path(sys.argv[2]), Path.cwd())"
    shared = os.pathsep.join([str(ROOT / "tests" / "shared"), os.environ["SPARK_CONF_DIR"]])
    done = subprocess.run(
        [sys.executable, "-c", code, __file__, str(page)],
        env={**os.environ, "PYTHONPATH": shared},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]


def test_a_snippet_that_fails_is_told_with_its_page_and_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = tmp_path / "page.md"
    page.write_text("# Page\n\n```python\na = 1\n```\n\nText.\n\n```python\nassert a == 1\nassert a == 2\n```\n")
    with pytest.raises(AssertionError) as caught:
        run_page(page, tmp_path)
    last = caught.traceback[-1]
    assert (last.path, last.lineno + 1) == (page, 11)


def test_console_blocks_are_run_and_their_status_is_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = tmp_path / "page.md"
    page.write_text(
        "```console exit=2\n$ discreet risk nowhere.csv \\\n    -p nothing.yaml\n```\n\n"
        "```bash no-run\n$ discreet nonsense\n```\n"
    )
    run_page(page, tmp_path)
    page.write_text("```console\n$ discreet risk nowhere.csv -p nothing.yaml\n```\n")
    with pytest.raises(AssertionError, match=r"page\.md, line 2: discreet risk nowhere\.csv .* ends with 2, not 0"):
        run_page(page, tmp_path)
