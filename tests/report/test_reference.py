"""The reference is generated from the code: every public name is in it, and a name without a docstring stops the build."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from scripts import load_tool

import discreet
import discreet.testing
from discreet import errors
from discreet.cli.app import app
from discreet.model import contracts

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def reference() -> ModuleType:
    return load_tool("reference")


@pytest.fixture(scope="module")
def pages(reference: ModuleType) -> dict[str, str]:
    pages: dict[str, str] = reference.pages()
    return pages


def test_every_public_name_is_in_the_reference(pages: dict[str, str]) -> None:
    for page, names in (
        ("package", discreet.__all__),
        ("testing", discreet.testing.__all__),
        ("contracts", ["Draw", "LossMeasure", "MaskingMethod", "Plugin", "RiskMeasure", "Scope"]),
        ("errors", [name for name, value in vars(errors).items() if isinstance(value, type) and issubclass(value, Exception)]),
    ):
        for name in names:
            assert f"\n## {name}\n" in pages[page], f"{name} is not on the page {page}"


def test_signatures_fields_and_docstrings_are_those_of_the_code(pages: dict[str, str]) -> None:
    plan = "plan: Plan | Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None"
    assert f"mask(\n    data: Microdata,\n    {plan},\n    *,\n" in pages["package"]
    assert "| `known` | " in pages["package"]
    assert discreet.Policy.__doc__ is not None
    assert contracts.RiskMeasure.needs_original.__doc__ in pages["contracts"]
    assert "### Score.plot" in pages["package"]
    assert ">>>" in pages["testing"]


def test_every_command_and_every_option_is_in_the_reference(pages: dict[str, str]) -> None:
    from typer.main import get_command

    root: Any = get_command(app)
    for name, command in root.commands.items():
        assert f"\n## discreet {name}" in pages["command_line"]
        for parameter in getattr(command, "params", ()):
            if parameter.param_type_name == "option" and parameter.name != "help":
                assert f"`{parameter.opts[0]}`" in pages["command_line"], f"discreet {name} {parameter.opts[0]}"


def test_no_page_cites_a_paper_by_an_internal_number(pages: dict[str, str]) -> None:
    for name, page in pages.items():
        assert "seed 00" not in page, name


def test_a_public_name_without_a_docstring_is_an_error(
    reference: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "silent.py").write_text('__all__ = ["add"]\n\n\ndef add(a: int) -> int:\n    return a\n')
    monkeypatch.syspath_prepend(tmp_path)
    try:
        with pytest.raises(reference.UndocumentedError, match=r"silent\.add has no docstring"):
            reference.module_page("Silent", "silent", "x")
    finally:
        sys.modules.pop("silent", None)


def test_a_docstring_becomes_markdown_with_everything_else_escaped(reference: ModuleType) -> None:
    markdown = reference.prose("Counts ``a|b`` of <b> and a_b_c.\n\n    x = 1\n\n>>> 1 + 1\n2")
    assert markdown == "Counts `a|b` of \\<b> and a\\_b\\_c.\n\n```text\nx = 1\n```\n\n```pycon\n>>> 1 + 1\n2\n```"
