"""The chart of Figure 2 in both papers of Orooji & Knapp (2018): records by risk, before masking or before and after."""

from __future__ import annotations

from typing import Any

from discreet.model.score import Score
from discreet.report import charts
from discreet.report.histograms import histogram


def risk_histogram(before: Score, after: Score | None = None) -> Any:
    """Records by risk on a log scale: one series, or two where there is a score after masking."""
    counts = histogram(before, before if after is None else after)
    rows = [
        {"label": row["label"], "series": series, "records": row[series]}
        for row in (counts["rows"] if counts else ())
        for series in (("before",) if after is None else ("before", "after"))
    ]
    return charts.bar_chart(rows, "risk of a record", log=True, legend=after is not None)
