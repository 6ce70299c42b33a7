"""Nothing is undocumented: each measure and method has its page, each parameter its description and its place on the page."""

from __future__ import annotations

import re
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, cast

import pytest

from discreet import registry
from discreet.model.contracts import Plugin

DOCS = Path(__file__).resolve().parents[1] / "docs"
OWN = [
    (kind, point.name)
    for kind in registry.PLUGIN_TYPES
    for point in entry_points(group=f"discreet.{kind}")
    if point.dist is not None and point.dist.name == "discreet"
]


def loaded(kind: str, name: str) -> type[Plugin]:
    return cast("type[Plugin]", registry.load(cast("Any", kind), name))


def page_of(name: str) -> str:
    path = DOCS / "methods" / f"{name}.md"
    assert path.exists(), f"docs/methods/{name}.md is missing"
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize(("kind", "name"), OWN, ids=lambda word: word)
def test_the_plug_in_has_a_page_with_an_example_that_runs(kind: str, name: str) -> None:
    page = page_of(name)
    assert page.startswith("# "), f"docs/methods/{name}.md has no title"
    assert "```python" in page, f"docs/methods/{name}.md has no example that runs"


@pytest.mark.parametrize(("kind", "name"), OWN, ids=lambda word: word)
def test_the_page_names_every_parameter_and_every_parameter_has_a_description(kind: str, name: str) -> None:
    page = page_of(name)
    for attribute, field in loaded(kind, name).model_fields.items():
        parameter = field.alias or attribute
        assert field.description, f"the parameter '{parameter}' of {name} has no description"
        assert re.search(rf"`{re.escape(parameter)}\b", page), f"docs/methods/{name}.md does not name the parameter `{parameter}`"


@pytest.mark.parametrize(("kind", "name"), OWN, ids=lambda word: word)
def test_the_page_cites_what_the_code_cites(kind: str, name: str) -> None:
    citation = loaded(kind, name).citation
    years = re.findall(r"\b(?:19|20)\d\d\b", citation)
    surname = re.split(r"[,\s]", citation, maxsplit=1)[0]
    page = page_of(name)
    assert surname in page, f"docs/methods/{name}.md does not name {surname}, whom the code cites"
    assert not years or any(year in page for year in years), f"docs/methods/{name}.md gives no year of what the code cites"


@pytest.mark.parametrize(("kind", "name"), OWN, ids=lambda word: word)
def test_the_docstring_has_an_example(kind: str, name: str) -> None:
    assert ">>>" in (loaded(kind, name).__doc__ or ""), f"the docstring of {name} has no example"


def test_a_page_of_a_method_that_does_not_exist_is_noticed() -> None:
    known = {name for _, name in OWN}
    stale = [path.stem for path in (DOCS / "methods").glob("*.md") if path.stem not in known and path.stem != "index"]
    assert not stale, f"docs/methods has pages of nothing: {stale}"


@pytest.mark.parametrize(
    "path", [DOCS.parent / "README.md", *sorted(DOCS.rglob("*.md"))], ids=lambda path: str(path.relative_to(DOCS.parent))
)
def test_links_to_other_pages_lead_somewhere(path: Path) -> None:
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\((?!https?://|mailto:|#)([^)#\s]+)", text):
        assert (path.parent / target).exists(), f"{path.name} links to {target}, which is not there"
