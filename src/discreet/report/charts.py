"""Charts made by Altair; drawn by vl-convert as SVG, which needs no script, and alive where Vega runs.

Colours are two of Okabe & Ito's, which people of every colour vision tell apart, and everything else has the colour of the page's
text, so that a chart reads on light and dark alike.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from discreet.errors import DiscreetError

if TYPE_CHECKING:
    import altair as alt

BEFORE, AFTER, INFORMED = "#D55E00", "#0072B2", "#009E73"
SERIES = {"before": BEFORE, "after": AFTER, "after (attacker knows the original values)": INFORMED}
_FONT = "system-ui, sans-serif"


def altair() -> Any:
    """The library, or one sentence on how to have it."""
    try:
        import altair as found
    except ImportError:
        raise DiscreetError(
            "charts need Altair and vl-convert, which are not installed: pip install 'discreet[report]'"
        ) from None
    return found


def drawer() -> Any:
    """The library that draws, or one sentence on how to have it."""
    try:
        import vl_convert as found
    except ImportError:
        raise DiscreetError("charts need vl-convert, which is not installed: pip install 'discreet[report]'") from None
    return found


def bars(rows: Sequence[dict[str, Any]], x_title: str, *, log: bool = False, legend: bool = True, name: str = "") -> alt.Chart:
    """Grouped bars: ``rows`` hold label, series, records (the height) and shown (the count in words).

    On a log scale one record still has a height.

    Charts that stand together need names, for each has a legend of its own to pick from.
    """
    alt = altair()
    labels = list(dict.fromkeys(row["label"] for row in rows))
    names = [name for name in SERIES if any(row["series"] == name for row in rows)]
    picked = _picked(alt, name) if legend and len(names) > 1 else None
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
                "label:N", sort=labels, title=x_title, axis=alt.Axis(labelAngle=0 if len(labels) < 8 else -35, labelLimit=170)
            ),
            xOffset=alt.XOffset("series:N", sort=names),
            y=alt.Y("records:Q", scale=scale, axis=axis),
            color=_colour(alt, names, legend=legend),
            **_answers(alt, x_title, picked),
        )
        .add_params(*([picked] if picked is not None else []))
    )


def sideways(rows: Sequence[dict[str, Any]], width: int = 270) -> alt.Chart:
    """Grouped bars that lie, for labels that are long."""
    alt = altair()
    labels = list(dict.fromkeys(row["label"] for row in rows))
    names = [name for name in SERIES if any(row["series"] == name for row in rows)]
    return (
        alt.Chart(alt.Data(values=list(rows)), width=width, height=alt.Step(9))
        .mark_bar()
        .encode(
            y=alt.Y("label:N", sort=labels, title=None, axis=_words(alt, labels), scale=alt.Scale(paddingInner=0.25)),
            yOffset=alt.YOffset("series:N", sort=names),
            x=alt.X("records:Q", title=None, axis=alt.Axis(format=",.0f", tickCount=4)),
            color=_colour(alt, names, legend=False),
            **_answers(alt, "value"),
        )
    )


def shares(rows: Sequence[dict[str, Any]], title: str, width: int = 480) -> alt.Chart:
    """One bar an attribute, 0 to 1."""
    alt = altair()
    labels = [row["label"] for row in rows]
    return (
        alt.Chart(alt.Data(values=list(rows)), width=width, height=alt.Step(18))
        .mark_bar(color=AFTER)
        .encode(
            y=alt.Y("label:N", sort=labels, title=None, axis=_words(alt, labels)),
            x=alt.X("value:Q", title=title, scale=alt.Scale(domain=[0, max([1.0, *(row["value"] for row in rows)])])),
            tooltip=[alt.Tooltip("label:N", title="of"), alt.Tooltip("value:Q", title=title, format=".4f")],
        )
    )


def _words(alt: Any, labels: Sequence[str]) -> Any:
    """An axis of words with room for them in any font: the reader's is not the one that measures them here."""
    return alt.Axis(labelLimit=165, minExtent=min(170, 10 + 7 * max(map(len, labels), default=0)), labelFontSize=10.5)


def _colour(alt: Any, names: list[str], *, legend: bool = True) -> Any:
    shown = alt.Legend(title=None, orient="top", symbolType="square", labelLimit=320) if legend else None
    return alt.Color("series:N", scale=alt.Scale(domain=names, range=[SERIES[name] for name in names]), legend=shown)


def _picked(alt: Any, name: str) -> Any:
    """A click on a name in the legend shows it alone; with shift it is added."""
    return alt.selection_point(name=re.sub(r"\W", "_", f"picked_{name}"), fields=["series"], bind="legend")


def _answers(alt: Any, title: str, picked: Any = None) -> dict[str, Any]:
    """What a bar tells when pointed at, and how it fades when another is picked."""
    told = [
        alt.Tooltip("label:N", title=title), alt.Tooltip("series:N", title="when"),
        alt.Tooltip("shown:N", title="records"),
    ]  # fmt: skip
    return {"tooltip": told} | ({} if picked is None else {"opacity": alt.condition(picked, alt.value(1.0), alt.value(0.15))})


def styled(chart: alt.Chart) -> alt.Chart:
    """A chart that takes the page's colour for everything but its marks."""
    quiet: dict[str, Any] = {"labelColor": "currentColor", "titleColor": "currentColor", "labelFont": _FONT, "titleFont": _FONT}
    return (
        chart.configure(background="transparent", font=_FONT)
        .configure_view(stroke=None)
        .configure_axis(
            **quiet, domainColor="currentColor", tickColor="currentColor", gridColor="currentColor", gridOpacity=0.15,
            domainOpacity=0.4, tickOpacity=0.4, labelFontSize=11, titleFontSize=12, titleFontWeight="normal",
        )
        .configure_axisX(grid=False)
        .configure_legend(**quiet, labelFontSize=12)
    )  # fmt: skip


def described(chart: alt.Chart) -> dict[str, Any]:
    """A chart as Vega-Lite, in the page's colours."""
    altair()
    from altair.utils.schemapi import debug_mode

    with debug_mode(False):  # charts of our own need no check against the schema, which takes longer than drawing them
        made: dict[str, Any] = styled(chart).to_dict(validate=False)
    del made["$schema"]  # an address
    return made


def svg(chart: alt.Chart, name: str, title: str, description: str) -> str:
    """A chart as SVG to stand in a page: no script, no address, its own ids, and a text for those who do not see it."""
    return drawing(described(chart), name, title, description)


def drawing(spec: dict[str, Any], name: str, title: str, description: str) -> str:
    """The same of a chart that is described already."""
    drawn: str = drawer().vegalite_to_svg(spec)
    inner = re.sub(r"^.*?<svg[^>]*>|</svg>\s*$", "", drawn, flags=re.DOTALL)
    inner = re.sub(r'\s(?:aria-[a-z]+|role|class|xmlns(?::\w+)?)="[^"]*"', "", inner)
    inner = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', inner)
    inner = re.sub(r"url\(#([^)]+)\)", rf"url(#{name}-\1)", inner)
    box = re.search(r'viewBox="([^"]+)"', drawn)
    width, height = (box[1].split()[2:4]) if box else ("640", "300")
    return (
        f'<svg class="still" role="img" aria-labelledby="{name}-title {name}-desc" viewBox="{box[1] if box else "0 0 640 300"}" '
        f'width="{width}" height="{height}">'
        f'<title id="{name}-title">{html.escape(title)}</title>'
        f'<desc id="{name}-desc">{html.escape(description)}</desc>{inner}</svg>'
    )
