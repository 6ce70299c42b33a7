"""The page of promises is made from what ran, and says where one was broken."""

from __future__ import annotations

import ast
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from scripts import TOOLS, load_tool

RUN = """<testsuites><testsuite>
<testcase file="tests/trust/a.py" name="test_a[1]"><properties><property name="area" value="Nothing lost"/>
<property name="promise" value="P"/><property name="runs killed" value="7"/><property name="seed" value="5"/></properties>
</testcase>
<testcase file="tests/trust/a.py" name="test_a[2]"><properties><property name="area" value="Nothing lost"/>
<property name="promise" value="P"/><property name="runs killed" value="5"/></properties><failure/></testcase>
<testcase file="tests/b.py" name="test_b"/>
</testsuite></testsuites>"""


def test_what_was_broken_and_tried_again_takes_the_old_ones_place() -> None:
    tool = load_tool("trust")
    kept, fresh = ET.fromstring(RUN), ET.fromstring(RUN.replace("<failure/>", ""))
    for case in list(fresh[0]):
        if case.get("name") != "test_a[2]":
            fresh[0].remove(case)
    assert [tool.name(case) for case in kept.iter("testcase") if tool.is_broken(case)] == ["tests/trust/a.py::test_a[2]"]
    page = tool.page(tool.read(tool.put([kept], fresh)), 90.0)
    assert "| P | `trust/a.py::test_a` | 12 runs killed; 1 tried again; seed 5; kept |" in page


def test_cases_of_one_promise_are_counted_together_and_a_broken_one_shows() -> None:
    tool = load_tool("trust")
    promises = tool.read([ET.fromstring(RUN), ET.fromstring(RUN.replace('"P"', '"Q"'))])
    page = tool.page(promises, 90.0)
    assert "| P | `trust/a.py::test_a` | 12 runs killed; seed 5; **1 broken** |" in page
    assert "| Q | `trust/a.py::test_a` | 12 runs killed; seed 5; **1 broken** |" in page
    assert page.count("| P |") == 1
    assert all((TOOLS.parent / file).exists() for file in tool.ALONE)


def test_every_promise_has_a_row_that_names_tests_that_exist() -> None:
    """The page is written by a long run; promises that were added and tests that were renamed since must be on it too."""
    root = Path(__file__).parents[2]
    page = (root / "docs" / "trust.md").read_text(encoding="utf-8")
    rows = {
        row[0]: set(re.findall(r"`([^`]+\.py::\w+)`", row[1])) for row in re.findall(r"^\| (.+?) \| (`.+?) \| .+ \|$", page, re.M)
    }
    promises: dict[str, set[str]] = {}
    for file in sorted((root / "tests").rglob("test_*.py")):
        module = ast.parse(file.read_text(encoding="utf-8"))
        constants = {
            ast.unparse(line.targets[0]): line.value
            for line in module.body
            if isinstance(line, ast.Assign) and len(line.targets) == 1
        }
        for function in ast.walk(module):
            for mark in getattr(function, "decorator_list", []):
                if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.trust":
                    promise = str(ast.literal_eval(constants.get(ast.unparse(mark.args[1]), mark.args[1])))
                    name = f"{file.relative_to(root / 'tests')}::{getattr(function, 'name', '')}"
                    promises.setdefault(promise, set()).add(name)
    assert {promise: rows.get(promise) for promise in promises} == promises


def test_nothing_can_be_repeated_before_a_first_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tool = load_tool("trust")
    monkeypatch.setattr(tool, "KEPT", tmp_path)
    assert tool.main(["--again"]) == 2
    assert "no earlier run" in capsys.readouterr().out
