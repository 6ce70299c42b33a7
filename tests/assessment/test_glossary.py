"""One glossary: the documentation's table of terms is that of the pages, and the colours of pages are those of charts."""

from __future__ import annotations

import re
from pathlib import Path

import discreet
from discreet.assessment.glossary import TERMS
from discreet.report import charts

ROOT = Path(__file__).parents[2]
STYLE = Path(discreet.__file__).parent / "web" / "static" / "style.css"
REPORT = Path(discreet.__file__).parent / "report" / "page.html"


def test_the_documented_terms_are_those_of_the_pages():
    section = (ROOT / "docs" / "notation.md").read_text(encoding="utf-8").split("## Terms\n")[1].split("\n## ")[0]
    rows = [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in section.splitlines() if line.startswith("|")]
    assert dict(rows[2:]) == dict(TERMS)


def test_before_and_after_have_one_pair_of_colours_on_pages_and_in_reports():
    light, dark = STYLE.read_text(encoding="utf-8").split("@media (prefers-color-scheme: dark)")[:2]
    for name, colour in (("before", charts.BEFORE), ("after", charts.AFTER), ("informed", charts.INFORMED)):
        assert f"--{name}: {colour.lower()};" in light
        report = re.search(rf'\[fill="{colour}"\] {{ fill: (#[0-9a-f]+)', REPORT.read_text(encoding="utf-8"))
        assert report[1] == charts.DARK[colour]
        assert f"--{name}: {report[1]};" in dark, "the same colour in the dark"
