"""The risk-utility map of releases or plans (Duncan, Keller-McNulty & Stokes 2001), and any chart as an image of its own.

An image is a document apart: it takes nothing from the page's style sheet, so it says itself what light and dark look like.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from discreet.report import charts

if TYPE_CHECKING:
    import altair as alt

KEPT, MISSED, OPEN = "met", "not met", "incomplete"
_LOOKS = {KEPT: (charts.AFTER, "circle"), MISSED: (charts.BEFORE, "cross"), OPEN: (charts.INFORMED, "diamond")}
_AXES = ("loss", "risk")
_CLOSE = (0.12, 0.05)
"""Shares of the width and of the height within which two names would be written over each other."""


def map_of(points: Sequence[Mapping[str, Any]], risk: str, loss: str) -> alt.LayerChart:
    """Points with label, risk, loss, verdict (one of the three above) and dominated, which are fainter.

    Less risk and less loss are better; a risk that is better high comes with its own sign and says so in its title.
    """
    alt = charts.altair()
    rows = [{**one, "place": "dominated" if one["dominated"] else "on the frontier"} for one in points]
    names = [name for name in _LOOKS if any(row["verdict"] == name for row in rows)]
    looks = {"domain": names, "range": [_LOOKS[name][0] for name in names]}
    shapes = {"domain": names, "range": [_LOOKS[name][1] for name in names]}
    low_x, high_x = _ends([one["loss"] for one in points])
    low_y, high_y = _ends([one["risk"] for one in points])
    base = alt.Chart(alt.Data(values=rows), width=560, height=300)
    x = alt.X("loss:Q", title=loss, scale=alt.Scale(domain=[low_x, high_x], nice=True, padding=24), axis=_axis(alt))
    y = alt.Y("risk:Q", title=risk, scale=alt.Scale(domain=[low_y, high_y], nice=True, padding=24), axis=_axis(alt))
    edge = (
        base.transform_filter("!datum.dominated")
        .mark_line(color="currentColor", opacity=0.45, strokeDash=[4, 3], interpolate="linear", strokeWidth=1.5)
        .encode(x=x, y=y, order="loss:Q")
    )
    dots = base.mark_point(size=110, filled=True).encode(
        x=x, y=y,
        color=alt.Color("verdict:N", scale=alt.Scale(**looks), legend=alt.Legend(title=None, orient="top")),
        shape=alt.Shape("verdict:N", scale=alt.Scale(**shapes), legend=alt.Legend(title=None, orient="top")),
        opacity=alt.Opacity(
            "place:N", scale=alt.Scale(domain=["on the frontier", "dominated"], range=[1.0, 0.4]), legend=None
        ),
    )  # fmt: skip
    told = _labels(rows, (high_x - low_x, high_y - low_y))
    words = base.properties(data=alt.Data(values=told)).mark_text(dy=-13, fontSize=12, color="currentColor")
    return edge + dots + words.encode(x=x, y=y, text="label:N")


def _labels(rows: Sequence[Mapping[str, Any]], spans: tuple[float, float]) -> list[dict[str, Any]]:
    """One label a place: names that would be written over each other stand side by side above the first of them."""
    made: list[tuple[Mapping[str, Any], list[str]]] = []
    for row in (one for one in rows if one["label"]):
        for first, names in made:
            if all(abs(row[axis] - first[axis]) < share * span for axis, share, span in zip(_AXES, _CLOSE, spans, strict=True)):
                names.append(str(row["label"]))
                break
        else:
            made.append((row, [str(row["label"])]))
    return [
        {
            "loss": row["loss"],
            "risk": row["risk"],
            "label": ", ".join(names[:3]) + (f" and {len(names) - 3} more" if names[3:] else ""),
        }
        for row, names in made
    ]


def _axis(alt: Any) -> Any:
    return alt.Axis(tickCount=6, format=".4~g", grid=True)


def _ends(numbers: Sequence[float]) -> tuple[float, float]:
    """Where an axis begins and ends; a single place is given room on both sides."""
    low, high = min(numbers, default=0.0), max(numbers, default=1.0)
    if low < high:
        return low, high
    room = abs(low) * 0.2 or 0.5
    return low - room, high + room


def image(chart: Any, title: str, description: str) -> str:
    """A chart as an SVG document that reads on light and on dark, by the reader's own setting."""
    drawn: str = charts.drawer().vegalite_to_svg(charts.styled(chart).to_dict())
    inner = re.sub(r"^.*?<svg[^>]*>|</svg>\s*$", "", drawn, flags=re.DOTALL)
    box = re.search(r'viewBox="([^"]+)"', drawn)
    shown = box[1] if box else "0 0 640 300"
    width, height = shown.split()[2:4]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" role="img" viewBox="{shown}" '
        f'width="{width}" height="{height}"><title>{html.escape(title)}</title><desc>{html.escape(description)}</desc>'
        "<style>svg{color:#17212b}@media (prefers-color-scheme:dark){svg{color:#e8edf0}}</style>"
        f"{inner}</svg>"
    )
