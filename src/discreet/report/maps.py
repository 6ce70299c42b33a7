"""The risk-utility map of releases or plans (Duncan, Keller-McNulty & Stokes 2001), and any chart as a standalone SVG.

A standalone SVG does not see the style sheet of the page, so it contains its own light and dark colours.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from discreet.report import charts

if TYPE_CHECKING:
    import altair as alt

MET, NOT_MET, INCOMPLETE = "met", "not met", "incomplete"
_STYLES = {MET: (charts.AFTER, "circle"), NOT_MET: (charts.BEFORE, "cross"), INCOMPLETE: (charts.INFORMED, "diamond")}
"""Colour and shape of a point by its verdict."""
_AXES = ("loss", "risk")
_WIDTH = 560
_OVERLAP = (0.12, 0.05)
"""Two labels closer than these shares of the width and the height would overlap."""


def risk_utility_map(points: Sequence[Mapping[str, Any]], risk: str, loss: str, *, width: int = _WIDTH) -> alt.LayerChart:
    """A map of points with label, risk, loss, verdict (one of the three above) and dominated, which are drawn fainter.

    Less risk and less loss are better; a risk of which more is better keeps its sign, and its title says so. ``width`` is that
    of the plot without its axis.
    """
    alt = charts.load_altair()
    rows = [{**point, "place": "dominated" if point["dominated"] else "on the frontier"} for point in points]
    names = [name for name in _STYLES if any(row["verdict"] == name for row in rows)]
    colours = {"domain": names, "range": [_STYLES[name][0] for name in names]}
    shapes = {"domain": names, "range": [_STYLES[name][1] for name in names]}
    low_x, high_x = _axis_domain([point["loss"] for point in points])
    low_y, high_y = _axis_domain([point["risk"] for point in points])
    base = alt.Chart(alt.Data(values=rows), width=width, height=300)
    x = alt.X(
        "loss:Q", title=loss, scale=alt.Scale(domain=[low_x, high_x], nice=True), axis=_axis(alt, 6 if width == _WIDTH else 4)
    )
    y = alt.Y("risk:Q", title=risk, scale=alt.Scale(domain=[low_y, high_y], nice=True), axis=_axis(alt))
    frontier = (
        base.transform_filter("!datum.dominated")
        .mark_line(color="currentColor", opacity=0.45, strokeDash=[4, 3], interpolate="linear", strokeWidth=1.5)
        .encode(x=x, y=y, order="loss:Q")
    )
    dots = base.mark_point(size=110, filled=True).encode(
        x=x, y=y,
        color=alt.Color("verdict:N", scale=alt.Scale(**colours), legend=alt.Legend(title=None, orient="top")),
        shape=alt.Shape("verdict:N", scale=alt.Scale(**shapes), legend=alt.Legend(title=None, orient="top")),
        opacity=alt.Opacity(
            "place:N", scale=alt.Scale(domain=["on the frontier", "dominated"], range=[1.0, 0.4]), legend=None
        ),
    )  # fmt: skip
    labels = _merge_labels(rows, ((high_x - low_x) * _WIDTH / width, high_y - low_y))
    texts = base.properties(data=alt.Data(values=labels)).mark_text(dy=-13, fontSize=12, color="currentColor")
    return frontier + dots + texts.encode(x=x, y=y, text="label:N")


def _merge_labels(rows: Sequence[Mapping[str, Any]], spans: tuple[float, float]) -> list[dict[str, Any]]:
    """The labels, with those that would overlap merged into one at the first of their points."""
    merged: list[tuple[Mapping[str, Any], list[str]]] = []
    for row in (row for row in rows if row["label"]):
        for first, names in merged:
            if all(abs(row[axis] - first[axis]) < share * span for axis, share, span in zip(_AXES, _OVERLAP, spans, strict=True)):
                names.append(str(row["label"]))
                break
        else:
            merged.append((row, [str(row["label"])]))
    return [
        {
            "loss": row["loss"],
            "risk": row["risk"],
            "label": ", ".join(names[:3]) + (f" and {len(names) - 3} more" if names[3:] else ""),
        }
        for row, names in merged
    ]


def _axis(alt: Any, ticks: int = 6) -> Any:
    return alt.Axis(tickCount=ticks, format=".4~g", grid=True)


def _axis_domain(numbers: Sequence[float]) -> tuple[float, float]:
    """Where an axis begins and ends: a margin on both sides, but never below 0 where no number is, as no risk or loss is."""
    low, high = min(numbers, default=0.0), max(numbers, default=1.0)
    margin = (high - low) * 0.08 or abs(low) * 0.2 or 0.5
    return (max(low - margin, 0.0) if low >= 0 else low - margin), high + margin


def standalone_svg(chart: Any, title: str, description: str) -> str:
    """A chart as an SVG document that follows the light or dark setting of the reader."""
    rendered: str = charts.load_vl_convert().vegalite_to_svg(charts.apply_style(chart).to_dict())
    inner = re.sub(r"^.*?<svg[^>]*>|</svg>\s*$", "", rendered, flags=re.DOTALL)
    view_box = match[1] if (match := re.search(r'viewBox="([^"]+)"', rendered)) else "0 0 640 300"
    width, height = view_box.split()[2:4]
    dark = "".join(
        f'[{part}="{light}"]{{{part}:{lighter}}}' for light, lighter in charts.DARK.items() for part in ("fill", "stroke")
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" role="img" viewBox="{view_box}" '
        f'width="{width}" height="{height}"><title>{html.escape(title)}</title><desc>{html.escape(description)}</desc>'
        f"<style>svg{{color:#17212b}}@media (prefers-color-scheme:dark){{svg{{color:#e8edf0}}{dark}}}</style>"
        f"{inner}</svg>"
    )
