"""Charts of how far verdicts hold: a tornado of the guesses, and the share of high-risk records against the threshold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from discreet.errors import DataError
from discreet.model.sensitivity import Reach, Sensitivity
from discreet.report import charts

if TYPE_CHECKING:
    import altair as alt

STEP = 0.1
"""The relative change of a guess that the tornado shows."""
_MOST_BARS = 20
_WIDTH = 480


def plot_sensitivity(result: Sensitivity) -> alt.Chart:
    """The tornado, the curve and where verdicts flip, one below the other, as far as the result has them."""
    parts = []
    if tornado_rows(result):
        parts.append(tornado_chart(tornado_rows(result)))
    if result.curve is not None and len(result.curve):
        parts.append(curve_chart(result))
    if reach_rows(result):
        parts.append(reach_chart(result))
    if not parts:
        raise DataError(f"there is nothing to draw of {result.measure}: no verdict rests on a guess")
    return parts[0] if len(parts) == 1 else charts.load_altair().vconcat(*parts)


def tornado_rows(result: Sensitivity) -> list[dict[str, Any]]:
    """By how much of itself the mean risk changes where one guess is ten percent less, and more, the largest first.

    The mean is linear in each guess, so the change is the elasticity times that of the guess; a guess is at most 1.
    """
    if result.influence is None:
        return []
    table = result.influence.sort("mean", descending=True).head(_MOST_BARS)
    return [
        {
            "label": f"{row['attribute']} ({row['guess']})",
            "less": -STEP * row["mean"],
            "more": (min(row["given"] * (1 + STEP), 1.0) / row["given"] - 1) * row["mean"],
        }
        for row in table.iter_rows(named=True)
        if row["mean"] > 0
    ]


def tornado_chart(guesses: Sequence[Mapping[str, Any]]) -> alt.Chart:
    """A bar per guess, from the change where it is less to that where it is more; see :func:`tornado_rows`."""
    alt = charts.load_altair()
    rows = [
        {"label": row["label"], "series": series, "start": 0.0, "change": row[side]}
        for row in guesses
        for side, series in (("less", "10 % less"), ("more", "10 % more"))
    ]
    labels = list(dict.fromkeys(row["label"] for row in rows))
    colours = alt.Scale(domain=["10 % less", "10 % more"], range=[charts.INFORMED, charts.BEFORE])
    return (
        alt.Chart(alt.Data(values=rows), width=_WIDTH, height=alt.Step(18))
        .mark_bar()
        .encode(
            y=alt.Y("label:N", sort=labels, title=None, axis=alt.Axis(labelLimit=220, minExtent=150)),
            x=alt.X("start:Q", title="change of the mean risk, if the guess is", axis=alt.Axis(format="+.1%")),
            x2=alt.X2("change:Q"),
            color=alt.Color("series:N", scale=colours, legend=alt.Legend(title=None, orient="top", symbolType="square")),
            tooltip=[
                alt.Tooltip("label:N", title="guess"),
                alt.Tooltip("series:N", title="if it is"),
                alt.Tooltip("change:Q", title="change of the mean risk", format="+.2%"),
            ],
        )
    )


def curve_chart(result: Sensitivity) -> alt.Chart:
    """The share of high-risk records against the threshold, with the band that is certain over all known sets."""
    alt = charts.load_altair()
    assert result.curve is not None
    rows = result.curve.to_dicts()
    title = f"threshold of {result.measure} (log scale)"
    x = alt.X("threshold:Q", title=title, scale=alt.Scale(type="log"), axis=alt.Axis(format="~g", tickCount=8, labelOverlap=True))
    y = alt.Y("share:Q", title="share of high-risk records", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format=".0%"))
    base = alt.Chart(alt.Data(values=rows), width=_WIDTH, height=220)
    band = base.mark_area(opacity=0.25, color=charts.AFTER, interpolate="step-after").encode(
        x=x, y=alt.Y("low:Q", title="share of high-risk records", scale=alt.Scale(domain=[0, 1])), y2=alt.Y2("high:Q")
    )
    line = base.mark_line(color=charts.AFTER, interpolate="step-after").encode(x=x, y=y)
    layers = [band, line]
    if result.threshold:
        given = alt.Data(values=[{"threshold": result.threshold, "shown": f"threshold {result.threshold:g}"}])
        rule = alt.Chart(given).mark_rule(color=charts.BEFORE, strokeDash=[5, 3]).encode(x="threshold:Q", tooltip="shown:N")
        label = alt.Chart(given).mark_text(align="left", dx=5, y=8, color=charts.BEFORE).encode(x="threshold:Q", text="shown:N")
        layers += [rule, label]
    return alt.layer(*layers)


def reach_rows(result: Sensitivity) -> list[dict[str, Any]]:
    """For each guess from where to where all decided verdicts hold; only guesses that can flip one."""
    guesses: dict[str, list[Reach]] = {}
    for reach in result.reaches:
        if reach.kind != "factor" and reach.status != "incomplete":
            guesses.setdefault(reach.subject, []).append(reach)
    rows: list[dict[str, Any]] = [
        {
            "label": subject,
            "low": max(reach.low for reach in reaches),
            "high": min(reach.high for reach in reaches),
            "given": reaches[0].given,
            "start": reaches[0].span[0],
            "end": reaches[0].span[1],
        }
        for subject, reaches in guesses.items()
    ]
    return [row for row in rows if row["low"] > row["start"] or row["high"] < row["end"]]


def reach_chart(result: Sensitivity) -> alt.Chart:
    """A bar per guess over the values at which every verdict holds, with a mark at the guess as given."""
    alt = charts.load_altair()
    rows = reach_rows(result)
    labels = [row["label"] for row in rows]
    domain = [min(row["start"] for row in rows), max(row["end"] for row in rows)]
    y = alt.Y("label:N", sort=labels, title=None, axis=alt.Axis(labelLimit=220, minExtent=150))
    base = alt.Chart(alt.Data(values=rows), width=_WIDTH, height=alt.Step(18))
    x = alt.X("low:Q", title="values at which every verdict holds (mark: as given)", scale=alt.Scale(domain=domain))
    tooltip = [
        alt.Tooltip("label:N", title="guess"), alt.Tooltip("given:Q"), alt.Tooltip("low:Q", format=".4g"),
        alt.Tooltip("high:Q", format=".4g"),
    ]  # fmt: skip
    bars = base.mark_bar(color=charts.AFTER, opacity=0.55).encode(y=y, x=x, x2=alt.X2("high:Q"), tooltip=tooltip)
    marks = base.mark_tick(color=charts.BEFORE, thickness=3, size=14).encode(y=y, x=alt.X("given:Q"))
    return alt.layer(bars, marks)
