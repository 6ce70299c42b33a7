"""Charts as Altair specifications, rendered by vl-convert as SVG without a script, or interactively by Vega.

The series have colours of Okabe & Ito (2008), which can be distinguished with any colour vision. Everything else has the text
colour of the page, so that a chart is readable on light and dark pages.
"""

from __future__ import annotations

import html
import re
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from discreet.model.extras import require_libraries

if TYPE_CHECKING:
    import altair as alt

BEFORE, AFTER, INFORMED = "#D55E00", "#0072B2", "#009E73"
DARK = {BEFORE: "#f0803c", AFTER: "#56b4e9", INFORMED: "#2fc79a"}
"""The same colours on a dark page, lighter; pages and reports have them in their styles, which a test compares."""
SERIES = {"before": BEFORE, "after": AFTER, "after (attacker knows the original values)": INFORMED}
_FONT = "system-ui, sans-serif"
_LONGEST_LINE = 62
"""Characters in a line of an axis title: a chart of few bars is about as wide."""


def load_altair() -> Any:
    """Import Altair; an error says how to install it."""
    require_libraries("a chart", "altair", "vl_convert")
    import altair

    return altair


def load_vl_convert() -> Any:
    """Import vl-convert, which renders charts; an error says how to install it."""
    require_libraries("a chart", "vl_convert")
    import vl_convert

    return vl_convert


def bar_chart(
    rows: Sequence[dict[str, Any]], x_title: str, *, log: bool = False, legend: bool = True, name: str = ""
) -> alt.Chart:
    """Grouped vertical bars; ``rows`` have label, series, records (the height) and shown (the count as text).

    The log scale is symmetric (symlog), so that a count of one still has a height. Charts of one page need different names,
    because each has a selection of its own that is bound to its legend.
    """
    alt = load_altair()
    labels = list(dict.fromkeys(row["label"] for row in rows))
    names = [name for name in SERIES if any(row["series"] == name for row in rows)]
    selection = _legend_selection(alt, name) if legend and len(names) > 1 else None
    top = max([row["records"] for row in rows], default=1)
    ticks = [0, *(10**power for power in range(len(str(max(int(top), 1))) + 1) if 10**power <= 10 * top)]
    scale = alt.Scale(type="symlog", constant=1, domain=[0, max(top, 1) * 1.3]) if log else alt.Scale()
    axis = (
        alt.Axis(values=ticks, format=",.0f", title="records, log scale", titlePadding=10)
        if log
        else alt.Axis(format=",", title="records", tickCount=5)
    )
    return (
        alt.Chart(alt.Data(values=list(rows)), width=min(780, max(300, 110 * len(labels))), height=240)
        .mark_bar()
        .encode(
            x=alt.X(
                "label:N",
                sort=labels,
                title=textwrap.wrap(x_title, _LONGEST_LINE),
                axis=alt.Axis(labelAngle=0 if len(labels) < 8 else -35, labelLimit=170),
            ),
            xOffset=alt.XOffset("series:N", sort=names),
            y=alt.Y("records:Q", scale=scale, axis=axis),
            color=_colour_encoding(alt, names, legend=legend),
            **_tooltip_encoding(alt, x_title, selection),
        )
        .add_params(*([selection] if selection is not None else []))
    )


def horizontal_bar_chart(rows: Sequence[dict[str, Any]], width: int = 270, *, legend: bool = False) -> alt.Chart:
    """Grouped horizontal bars, for long labels."""
    alt = load_altair()
    labels = list(dict.fromkeys(row["label"] for row in rows))
    names = [name for name in SERIES if any(row["series"] == name for row in rows)]
    number_format = ",.0f" if max((row["records"] for row in rows), default=0) >= 4 else "~g"
    return (
        alt.Chart(alt.Data(values=list(rows)), width=width, height=alt.Step(9))
        .mark_bar()
        .encode(
            y=alt.Y("label:N", sort=labels, title=None, axis=_label_axis(alt, labels), scale=alt.Scale(paddingInner=0.25)),
            yOffset=alt.YOffset("series:N", sort=names),
            x=alt.X("records:Q", title=None, axis=alt.Axis(format=number_format, tickCount=4)),
            color=_colour_encoding(alt, names, legend=legend),
            **_tooltip_encoding(alt, "value"),
        )
    )


def share_chart(rows: Sequence[dict[str, Any]], title: str, width: int = 480) -> alt.Chart:
    """One horizontal bar per label, from 0 to 1."""
    alt = load_altair()
    labels = [row["label"] for row in rows]
    return (
        alt.Chart(alt.Data(values=list(rows)), width=width, height=alt.Step(18))
        .mark_bar(color=AFTER)
        .encode(
            y=alt.Y("label:N", sort=labels, title=None, axis=_label_axis(alt, labels)),
            x=alt.X("value:Q", title=title, scale=alt.Scale(domain=[0, max([1.0, *(row["value"] for row in rows)])])),
            tooltip=[alt.Tooltip("label:N", title="of"), alt.Tooltip("value:Q", title=title, format=".4f")],
        )
    )


def _label_axis(alt: Any, labels: Sequence[str]) -> Any:
    """An axis of texts with space for any font, because the font of the reader is not the one measured here."""
    return alt.Axis(labelLimit=165, minExtent=min(170, 10 + 7 * max(map(len, labels), default=0)), labelFontSize=10.5)


def _colour_encoding(alt: Any, names: list[str], *, legend: bool = True) -> Any:
    legend_style = alt.Legend(title=None, orient="top", symbolType="square", labelLimit=320) if legend else None
    return alt.Color("series:N", scale=alt.Scale(domain=names, range=[SERIES[name] for name in names]), legend=legend_style)


def _legend_selection(alt: Any, name: str) -> Any:
    """A click on a name in the legend selects its series; shift-click adds another."""
    return alt.selection_point(name=re.sub(r"\W", "_", f"picked_{name}"), fields=["series"], bind="legend")


def _tooltip_encoding(alt: Any, title: str, selection: Any = None) -> dict[str, Any]:
    """The tooltip of a bar, and its opacity where another series is selected."""
    tooltip = [
        alt.Tooltip("label:N", title=title), alt.Tooltip("series:N", title="when"),
        alt.Tooltip("shown:N", title="records"),
    ]  # fmt: skip
    opacity = {} if selection is None else {"opacity": alt.condition(selection, alt.value(1.0), alt.value(0.15))}
    return {"tooltip": tooltip} | opacity


def apply_style(chart: alt.Chart) -> alt.Chart:
    """A chart that takes the text colour of the page for everything but its marks."""
    text_style: dict[str, Any] = {
        "labelColor": "currentColor",
        "titleColor": "currentColor",
        "labelFont": _FONT,
        "titleFont": _FONT,
    }
    return (
        chart.configure(background="transparent", font=_FONT)
        .configure_view(stroke=None)
        .configure_axis(
            **text_style, domainColor="currentColor", tickColor="currentColor", gridColor="currentColor", gridOpacity=0.15,
            domainOpacity=0.4, tickOpacity=0.4, labelFontSize=11, titleFontSize=12, titleFontWeight="normal",
        )
        .configure_axisX(grid=False)
        .configure_legend(**text_style, labelFontSize=12)
    )  # fmt: skip


def to_vega_lite(chart: alt.Chart) -> dict[str, Any]:
    """A chart as a Vega-Lite specification, in the style of the page."""
    load_altair()
    from altair.utils.schemapi import debug_mode

    with debug_mode(False):  # our own charts need no validation, which takes longer than rendering
        spec: dict[str, Any] = apply_style(chart).to_dict(validate=False)
    del spec["$schema"]  # a URL, and reports must not contain any
    return spec


def display_offline(chart: alt.Chart) -> alt.Chart:
    """The same chart, which a notebook shows as an image, because Altair's own view loads scripts from the network."""

    def draw(*_: object, **__: object) -> dict[str, str]:
        return {"image/svg+xml": load_vl_convert().vegalite_to_svg(chart.to_dict())}

    object.__setattr__(chart, "_repr_mimebundle_", draw)  # a plain assignment would become part of the specification
    return chart


def to_svg(chart: alt.Chart, name: str, title: str, description: str) -> str:
    """A chart as SVG for a page: no script, no URL, ids of its own, and a text alternative."""
    return render_svg(to_vega_lite(chart), name, title, description)


def render_svg(spec: dict[str, Any], name: str, title: str, description: str) -> str:
    """A Vega-Lite specification as SVG for a page."""
    rendered: str = load_vl_convert().vegalite_to_svg(spec)
    inner = re.sub(r"^.*?<svg[^>]*>|</svg>\s*$", "", rendered, flags=re.DOTALL)
    inner = re.sub(r'\s(?:aria-[a-z]+|role|class|xmlns(?::\w+)?)="[^"]*"', "", inner)
    inner = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', inner)
    inner = re.sub(r"url\(#([^)]+)\)", rf"url(#{name}-\1)", inner)
    view_box = match[1] if (match := re.search(r'viewBox="([^"]+)"', rendered)) else "0 0 640 300"
    width, height = view_box.split()[2:4]
    return (
        f'<svg class="still" role="img" aria-labelledby="{name}-title {name}-desc" viewBox="{view_box}" '
        f'width="{width}" height="{height}">'
        f'<title id="{name}-title">{html.escape(title)}</title>'
        f'<desc id="{name}-desc">{html.escape(description)}</desc>{inner}</svg>'
    )
