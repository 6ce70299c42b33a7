"""Interactive charts in a page that loads nothing.

The page contains each chart twice: as a static SVG, for print and for browsers without scripts, and as a Vega-Lite specification,
from which Vega (from the files of vl-convert, never downloaded) draws the interactive chart. The content security policy of the
page allows this one script by its hash, no other script, and no evaluation of text as code.
"""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from discreet.report import charts
from discreet.report.vega_bundle import vega_bundle

if TYPE_CHECKING:
    import altair as alt

_ESCAPES = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


class ChartCollection:
    """The charts of one page."""

    def __init__(self) -> None:
        self._specs: dict[str, Any] = {}

    def add(self, chart: alt.Chart, name: str, title: str, description: str) -> Any:
        """Add a chart, and return its element for the page with the static SVG inside; ``name`` is the id of the element."""
        from markupsafe import Markup

        spec = charts.to_vega_lite(chart)
        self._specs[name] = spec
        static_svg = Markup(charts.render_svg(spec, name, title, description))  # noqa: S704 - its texts are escaped
        return Markup('<div class="chart" id="{}">{}</div>').format(name, static_svg)

    def specs(self) -> str:
        """The specifications as JSON that is safe inside a page whatever values the data contain."""
        return safe_json(self._specs)


def safe_json(value: Any) -> str:
    r"""JSON without any character that could end the HTML element around it.

    >>> safe_json({"town": "</script>"})
    '{"town":"\\u003c/script\\u003e"}'
    """
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).translate(_ESCAPES)


@cache
def page_script() -> str:
    """Vega, and the few lines that start it."""
    starter = files(__package__).joinpath("live.js").read_text(encoding="utf-8")
    return f"{vega_bundle()}\n{starter}"


def content_security_policy(script: str) -> str:
    """The policy of the page: it may run this script and use its own styles, and nothing else."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
        "form-action 'none'"
    )
