"""A release compared with its original: the figures of the columns agree with the cells."""

from __future__ import annotations

import datetime as dt
import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.web.projects import comparing
from discreet.web.projects.comparing import (
    CHANGES_FILE,
    ColumnStatistics,
    compare_rows,
    describe_column,
    find_changed,
    is_changed,
    measure_changes,
    write_changes,
)

VALUES: dict[str, tuple[st.SearchStrategy[Any], Any]] = {
    "whole": (st.integers(-3, 3) | st.sampled_from([2**53, 2**53 + 1]), pl.Int64),
    "small": (st.integers(0, 3), pl.UInt8),
    "number": (st.sampled_from([0.0, 1.0, 2.5, math.nan, math.inf, 1e20, float(2**53)]), pl.Float64),
    "text": (st.sampled_from(["1", "1.0", "2.5", "a", "", "2020-01-01", "nan", "True"]), pl.String),
    "category": (st.sampled_from(["1", "a", ""]), pl.Categorical),
    "day": (st.dates(dt.date(2020, 1, 1), dt.date(2020, 1, 3)), pl.Date),
    "moment": (st.datetimes(dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 1, 0, 0, 1)), pl.Datetime("us")),
    "truth": (st.booleans(), pl.Boolean),
}


@st.composite
def column_pairs(draw: st.DrawFn) -> tuple[pl.Series, pl.Series]:
    size = draw(st.integers(0, 6))
    columns = []
    for _ in range(2):
        values, dtype = VALUES[draw(st.sampled_from(sorted(VALUES)))]
        columns.append(pl.Series(draw(st.lists(st.none() | values, min_size=size, max_size=size)), dtype=dtype))
    return columns[0], columns[1]


@given(column_pairs())
def test_columns_are_compared_as_their_cells_are(columns: tuple[pl.Series, pl.Series]) -> None:
    before, after = columns
    assert find_changed(before, after).tolist() == [is_changed(*pair) for pair in zip(before, after, strict=True)]


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path, Path]:
    """An original, a release of four of its records and a synthetic one, and the link between them."""
    original, masked, link = (tmp_path / f"{name}.parquet" for name in ("original", "masked", "link"))
    pl.DataFrame({"name": list("vwxyz"), "age": [31, 32, 33, 34, 35], "sex": list("fmfmf")}).write_parquet(original)
    released = {"age": ["30..39", "33", None, "31", "20..29"], "sex": ["f", "f", "m", "f", "m"]}
    pl.DataFrame(released).write_parquet(masked)
    pl.DataFrame({"record": [5, 3, 2, 1, None]}).write_parquet(link)
    return original, masked, link


def test_changes_are_counted_per_column_and_row(files: tuple[Path, Path, Path]) -> None:
    changes = measure_changes(*files)
    assert [(one.name, one.changed, one.suppressed, one.records) for one in changes.columns] == [
        ("age", 2, 1, 4),
        ("sex", 0, 0, 4),
    ]
    assert changes.columns[0].share == 0.5
    assert changes.rows.tolist() == [0, 2, 4]  # the synthetic record has no original


def test_stored_changes_are_those_that_a_comparison_finds(
    files: tuple[Path, Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    compared = measure_changes(*files)
    write_changes(*files)
    comparing._find_changes.cache_clear()
    monkeypatch.setattr(comparing, "_compare_tables", None)  # a page that compares millions of cells takes seconds
    stored = measure_changes(*files)
    assert stored.columns == compared.columns
    assert stored.rows.tolist() == compared.rows.tolist()
    assert files[2].with_name(CHANGES_FILE).stat().st_mode & 0o077 == 0


def test_columns_are_described_before_and_after(files: tuple[Path, Path, Path]) -> None:
    age, sex = measure_changes(*files).columns
    assert age.before == ColumnStatistics(missing=0, distinct=5, mean=33.0, most_frequent=None, most_frequent_records=0)
    assert age.after == ColumnStatistics(missing=1, distinct=4, mean=None, most_frequent="20..29", most_frequent_records=1)
    assert (sex.before, sex.after) == (describe_column(pl.Series(list("fmfmf"))), describe_column(pl.Series(list("ffmfm"))))


def test_rows_and_columns_without_changes_can_be_left_out(files: tuple[Path, Path, Path]) -> None:
    settings: Any = SimpleNamespace(home=files[0].parent)
    everything = compare_rows(settings, *files)
    assert (everything.columns, everything.removed, everything.total) == (["age", "sex"], ["name"], 5)
    page = compare_rows(settings, *files, offset=1, limit=2, changed_rows=True, changed_columns=True)
    assert (page.columns, page.total) == (["age"], 3)
    assert [(row["number"], row["record"]) for row in page.rows] == [(3, 2), (5, None)]
    assert page.rows[0]["cells"] == [{"before": 32, "after": None, "changed": True}]
