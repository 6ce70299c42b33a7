"""Charts that answer the pointer, in a page that asks nobody for anything.

Each chart stands in the page twice: as a drawing, for paper and for readers without script, and as its description, from which
Vega (out of vl-convert's own files, never fetched) makes the one that answers. The page's policy allows this one script by its
hash and no other, and no code made from text.
"""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from discreet.report import charts
from discreet.report.bundle import bundle

if TYPE_CHECKING:
    import altair as alt

_ESCAPES = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}


class Gallery:
    """The charts of one page."""

    def __init__(self) -> None:
        self._specs: dict[str, Any] = {}

    def hang(self, chart: alt.Chart, name: str, title: str, description: str) -> Any:
        """A chart's place in the page as markup, with its drawing inside; ``name`` is its id."""
        from markupsafe import Markup

        spec = charts.described(chart)
        self._specs[name] = spec
        drawing = Markup(charts.drawing(spec, name, title, description))  # noqa: S704 - its texts are escaped
        return Markup('<div class="chart" id="{}">{}</div>').format(name, drawing)

    def specs(self) -> str:
        """The descriptions as JSON that can stand in a page whatever the data hold."""
        return safe_json(self._specs)


def safe_json(value: Any) -> str:
    r"""JSON without a sign that could end the element it stands in.

    >>> safe_json({"town": "</script>"})
    '{"town":"\\u003c/script\\u003e"}'
    """
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).translate(_ESCAPES)


@cache
def script() -> str:
    """Vega with all it needs, and the few lines that use it."""
    own = files(__package__).joinpath("live.js").read_text(encoding="utf-8")
    return f"{bundle()}\n{own}"


def policy(code: str) -> str:
    """What the page may do: run this script, show its own styles, and nothing else."""
    digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
        "form-action 'none'"
    )
