"""The files of a report: full or short, as HTML, PDF or JSON."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, get_args

from discreet.report.page import as_json, render, to_json
from discreet.report.printing.pdf import print_pdf
from discreet.report.short.page import render_short
from discreet.report.short.summary import summarize

Format = Literal["html", "json", "pdf"]


def format_of(file: Path | str) -> Format:
    """The format that the ending of a file name asks for; HTML unless it is .pdf or .json.

    >>> format_of("evidence.PDF"), format_of("evidence.htm")
    ('pdf', 'html')
    """
    ending = Path(file).suffix.lower().removeprefix(".")
    return next((known for known in get_args(Format) if known == ending), "html")


def write_form(evidence: Mapping[str, Any], form: Format = "html", *, short: bool = False) -> bytes:
    """The content of the file of a report, from the evidence that :func:`discreet.report.evidence.gather` returns."""
    if form == "json":
        return (to_json(summarize(evidence)) if short else as_json(evidence)).encode()
    page = render_short(evidence) if short else render(evidence)
    return page.encode() if form == "html" else page_as_pdf(page, evidence.get("marking", ""), short=short)


def page_as_pdf(page: str, marking: str = "", *, short: bool = False) -> bytes:
    """The PDF of a page that was rendered before; ``marking`` stands on each of its pages."""
    return print_pdf(page, title="Release report, short form" if short else "Release report", marking=marking, short=short)
