"""Each compiled kernel says what it does and what it costs, by itself or together with the other kernels of its module."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src" / "discreet"
DECORATORS = ("compiled", "compiled_unless_small", "interpreted_if_few")
COST = re.compile(r"O\(|linear|one pass|one step per|binary search|exponential", re.IGNORECASE)


def kernels(source: str) -> Iterator[tuple[str, bool, str, str]]:
    """Of each kernel: its name, whether it has a loop, what is written above and below its first line, and the module's text."""
    lines, tree = source.splitlines(), ast.parse(source)
    for function in (node for node in tree.body if isinstance(node, ast.FunctionDef)):
        if not any(ast.unparse(decorator).partition("(")[0] in DECORATORS for decorator in function.decorator_list):
            continue
        above = min(decorator.lineno for decorator in function.decorator_list) - 2
        comments = []
        while above >= 0 and lines[above].startswith("#"):
            comments.append(lines[above])
            above -= 1
        loops = any(isinstance(node, ast.For | ast.While) for node in ast.walk(function))
        yield function.name, loops, " ".join([*comments, ast.get_docstring(function) or ""]), ast.get_docstring(tree) or ""


def unexplained(source: str) -> list[str]:
    """The kernels without a text, or with loops whose cost is nowhere stated."""
    return [
        name
        for name, loops, own, of_module in kernels(source)
        if not own.strip() or (loops and not COST.search(own) and not COST.search(of_module))
    ]


@pytest.mark.parametrize(
    "path",
    [path for path in sorted(SOURCE.rglob("*.py")) if any(f"@{name}" in path.read_text(encoding="utf-8") for name in DECORATORS)],
    ids=lambda path: path.relative_to(SOURCE).as_posix(),
)
def test_every_kernel_says_what_it_does_and_what_it_costs(path):
    assert unexplained(path.read_text(encoding="utf-8")) == [], (
        "state the arrays, the complexity and the trap (docs/architecture.md)"
    )


def test_a_kernel_without_a_text_or_without_its_cost_is_noticed():
    loop = "@compiled\ndef f(a):\n    {}\n    for b in a:\n        pass\n"
    assert unexplained(loop.format("pass")) == ["f"]
    assert unexplained(loop.format('"""Add."""')) == ["f"]
    assert unexplained(loop.format('"""Add, O(a)."""')) == []
    assert unexplained('"""Loops are linear."""\n' + loop.format('"""Add."""')) == []
    assert unexplained("# O(a)\n" + loop.format("pass")) == []
    assert unexplained("@compiled\ndef f(a):\n    return a\n") == ["f"]
