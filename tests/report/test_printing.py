"""Reports as PDF: any value arrives as text, nothing of it is read as markup, and every element of the page is placed."""

from __future__ import annotations

import html
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.report.formats import page_as_pdf
from discreet.report.printing.elements import Element, break_words, parse_page, printable


def text_of(nodes: list[str | Element]) -> str:
    return "".join(node if isinstance(node, str) else text_of(node["k"]) for node in nodes)


@given(st.text())
def test_breaking_words_changes_no_text(text: str) -> None:
    assert text_of(break_words(text)) == text


@given(st.text())
def test_an_escaped_value_of_the_page_arrives_as_its_text_alone(value: str) -> None:
    (paragraph,) = parse_page(f"<main>\n<p>{html.escape(value)}|</p>\n</main>")
    # the parser of HTML reads the ends of lines as one, as browsers do
    expected = " ".join(printable(value).replace("\r", "\n").split())
    assert " ".join(text_of(paragraph["k"]).removesuffix("|").split()) == expected


@settings(max_examples=20)
@given(st.text())
def test_any_value_can_be_typeset(value: str) -> None:
    cell = html.escape(value)
    rows = f"<thead><tr><th>{cell}</th></tr></thead><tbody><tr><td>{cell}</td></tr></tbody>"
    assert page_as_pdf(f"<main><h1>{cell}</h1><table>{rows}</table></main>").startswith(b"%PDF-")


def test_commands_of_the_typesetter_in_a_value_are_not_executed() -> None:
    hostile = '#panic("read") #read("/etc/passwd") $ #import "@preview/x:0.1.0" *'
    assert page_as_pdf(f"<main><p>{html.escape(hostile)}</p><ul><li>{html.escape(hostile)}</li></ul></main>")


def test_a_chart_is_placed_and_folded_tables_and_scripts_are_not() -> None:
    drawing = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><title>bars</title><clipPath id="a"/></svg>'
    page = (
        f"<main><figure><div>{drawing}</div><details><summary>x</summary>{drawing}</details></figure><script>no</script></main>"
    )
    tree: list[Any] = parse_page(page)
    (figure,) = tree
    (chart,) = figure["k"]
    assert chart["k"] == [{"t": "svg", "c": [], "k": [], "svg": drawing, "alt": "bars", "w": 9.0}]
    assert figure["w"] == 9.0  # narrow charts stand side by side
    assert page_as_pdf(page).startswith(b"%PDF-")
