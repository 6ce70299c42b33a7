"""The short report as HTML that prints on two A4 pages."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from discreet import registry
from discreet.model.extras import require_libraries
from discreet.report.page import format_number, format_time
from discreet.report.printable import show_text
from discreet.report.short.summary import summarize

if TYPE_CHECKING:
    from jinja2 import Template

CONTENT_SECURITY_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def render_short(evidence: Mapping[str, Any]) -> str:
    """The HTML page of the short report, from the evidence of the full one."""
    require_libraries("the report", "jinja2")
    content = summarize(evidence)
    named = {limit["limit"] for limit in content["verdict"]["limits"]}
    named |= {row["limit"] for group in ("criteria", "attackers") for entry in content[group] for row in entry["rows"]}
    return page_template().render(
        e=content,
        csp=CONTENT_SECURITY_POLICY,
        comparisons={name: "≥" if registry.resolve_limit(name)[3] == "high" else "≤" for name in named},
    )


@cache
def page_template() -> Template:
    """The template of the short report, compiled once per process."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined, finalize=show_text
    )
    environment.filters.update(number=format_number, moment=format_time)
    return environment.from_string(files(__package__).joinpath("short.html").read_text(encoding="utf-8"))
