"""Class sizes of the population by class sizes of the sample: rows and chart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.model.score import Score
from discreet.report import charts

if TYPE_CHECKING:
    import altair as alt

_BANDS = (1, 2, 3, 4, 5, 10, 20, 50, 100, 1000)
TITLES = ("class size in the sample", "population class size, log scale")


def class_size_rows(score: Score) -> list[dict[str, Any]]:
    """Population class sizes by bands of sample class sizes; empty where a score does not have both.

    For each band its label, its records, and of their population classes the 10 % and 90 % quantiles and the harmonic mean, which
    is the inverse of their mean risk.
    """
    sizes = _sizes_of_both(score)
    if sizes is None:
        return []
    sample, population = sizes
    rows = []
    for low, above in zip(_BANDS, (*_BANDS[1:], np.inf), strict=True):
        chosen = population[(sample >= low - 0.5) & (sample < above - 0.5)]
        if not len(chosen):
            continue
        label = str(low) if above == low + 1 else f"{low:,} and more" if above == np.inf else f"{low:,}–{int(above) - 1:,}"
        least, most = (float(np.quantile(chosen, share, method="lower")) for share in (0.1, 0.9))
        rows.append({"label": label, "records": len(chosen), "low": least, "mean": float(1 / np.mean(1 / chosen)), "high": most})
    return rows


def _sizes_of_both(score: Score) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]] | None:
    """Sample and population class size of each record, from what a measure gives per record."""
    records = score.per_record if score.basis else None
    if records is None or not records.height:
        return None
    if {"class_size", "population_size"} <= set(records.columns):
        return records["class_size"].to_numpy(), records["population_size"].to_numpy()
    if {"prosecutor", "journalist"} <= set(records.columns):
        return 1 / records["prosecutor"].to_numpy(), 1 / records["journalist"].to_numpy()
    if {"class_size", "inverse_size"} <= set(records.columns):
        single = records.filter(records["inverse_size"].is_not_null() & (records["inverse_size"] > 0))
        return (single["class_size"].to_numpy(), 1 / single["inverse_size"].to_numpy()) if single.height else None
    return None


def class_size_chart(rows: Sequence[Mapping[str, Any]]) -> alt.LayerChart:
    """A bar from the 10 % to the 90 % quantile of population class sizes in each band, with a mark at the harmonic mean."""
    alt = charts.load_altair()
    labels = [row["label"] for row in rows]
    base = alt.Chart(
        alt.Data(values=[dict(row) for row in rows]), width=min(780, max(300, 80 * len(rows))), height=240
    ).encode(
        x=alt.X("label:N", sort=labels, title=TITLES[0], axis=alt.Axis(labelAngle=0)),
        tooltip=[
            alt.Tooltip("label:N", title=TITLES[0]), alt.Tooltip("records:Q", title="records", format=","),
            alt.Tooltip("low:Q", title="10 % quantile", format=",.4~g"),
            alt.Tooltip("mean:Q", title="harmonic mean", format=",.4~g"),
            alt.Tooltip("high:Q", title="90 % quantile", format=",.4~g"),
        ],
    )  # fmt: skip
    scale = alt.Scale(type="log", nice=True)
    span = base.mark_bar(color=charts.AFTER, opacity=0.35, width=26).encode(
        y=alt.Y("low:Q", scale=scale, title=TITLES[1], axis=alt.Axis(format="~s")), y2="high:Q"
    )
    mark = base.mark_tick(color=charts.AFTER, thickness=3, width=34).encode(y=alt.Y("mean:Q", scale=scale))
    return alt.layer(span, mark)
