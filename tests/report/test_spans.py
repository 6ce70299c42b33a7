"""Distributions of released intervals: their records are spread over the bins, and suppressed ones are counted as missing."""

from __future__ import annotations

import datetime as dt

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet
from discreet.report.distributions import distributions
from discreet.report.redaction import Redactor
from discreet.report.spans import Spans, released_spans


def slow_counts(cells: list[tuple[float, float]], edges: list[float]) -> list[float]:
    counts = [0.0] * (len(edges) + 1)
    for low, high in cells:
        for place in range(len(counts)):
            start = -np.inf if place == 0 else edges[place - 1]
            end = np.inf if place == len(edges) else edges[place]
            if low == high:
                counts[place] += start <= low < end
            else:
                counts[place] += max(0.0, min(high, end) - max(low, start)) / (high - low)
    return counts


ENDS = st.integers(-20, 20).map(float)


@given(st.lists(st.tuples(ENDS, ENDS), max_size=12), st.lists(ENDS, min_size=1, max_size=5, unique=True).map(sorted))
def test_records_of_intervals_are_spread_evenly_over_the_bins(ends: list[tuple[float, float]], edges: list[float]) -> None:
    cells = [(min(pair), max(pair)) for pair in ends]
    low, high = (np.array([cell[side] for cell in cells] + [np.nan]) for side in (0, 1))
    spans = Spans(low, high, np.array([1] * len(cells) + [3]))
    counts = spans.count_in_bins(np.array(edges))
    assert spans.missing == 3
    assert counts.sum() == len(cells)
    assert np.abs(counts - np.array(slow_counts(cells, edges))).max() <= 1.0 + 1e-9, "rounded"


def test_suppressed_numbers_are_counted_as_missing_and_intervals_fill_their_bins() -> None:
    """A report showed 26,850 suppressed years of 60,000 nowhere, and all latitudes of two bins in one."""
    years = list(range(1950, 2010)) * 20
    data = discreet.read(pl.DataFrame({"year": years}), {"attributes": {"year": {"role": "key"}}})
    released = ["*" if year % 2 else f"{year // 20 * 20}..{year // 20 * 20 + 20}" for year in years]
    masked = data.with_columns({"year": pl.Series(released)})
    entry = next(e for e in distributions(data, masked, Redactor(data, internal=True)) if e["attribute"] == "year")
    assert entry["missing"] == {"before": 0, "after": 600}
    after = [row["after"] for row in entry["rows"]]
    assert sum(after) == 600
    assert min(after) > 0, entry["rows"]


@pytest.mark.parametrize("first", [dt.date(2021, 1, 1), dt.datetime(2021, 1, 1)])
def test_spans_of_dates_are_in_days(first: dt.date) -> None:
    values = [first + dt.timedelta(days=day) for day in range(10)]
    data = discreet.read(pl.DataFrame({"seen": values}), {"attributes": {"seen": {"role": "key"}}})
    masked = data.with_columns({"seen": pl.Series(["[2021-01-01, 2021-01-05]"] * 5 + ["2021-01-08"] * 4 + [None])})
    spans = released_spans(data, masked, "seen")
    day = (dt.date(2021, 1, 1) - dt.date(1970, 1, 1)).days
    known = sorted(zip(spans.low[:2].tolist(), spans.high[:2].tolist(), strict=True))
    assert known == [(day, day + 4), (day + 7, day + 7)]
    assert spans.missing == 1
