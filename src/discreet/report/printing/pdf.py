"""A report page as PDF, typeset by Typst: no browser, no network, and its fonts come with it.

Everything that the page says is handed over as data (JSON), never as markup, so no value can be read as a command. Characters
that Typst's own fonts lack are taken from the fonts of the machine; where none has them, an empty box is printed.
"""

from __future__ import annotations

import json
from importlib.resources import files

from discreet.errors import DiscreetError
from discreet.model.extras import require_libraries
from discreet.report.charts import AFTER, BEFORE
from discreet.report.printing.elements import parse_page


def print_pdf(page: str, *, title: str = "Release report", marking: str = "", short: bool = False) -> bytes:
    """The PDF of a report page; ``marking`` stands on every page, ``short`` sets it in small type, for two pages."""
    require_libraries("a PDF", "typst")
    import typst

    content = {"title": title, "marking": marking, "short": short, "main": parse_page(page)} | {"before": BEFORE, "after": AFTER}
    template = files(__package__).joinpath("page.typ").read_bytes()
    try:
        written: bytes = typst.compile(template, sys_inputs={"report": json.dumps(content)})
    except typst.TypstError as error:
        raise DiscreetError(f"the report could not be typeset as PDF: {error.message}") from None
    return written
