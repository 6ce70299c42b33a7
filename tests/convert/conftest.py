"""Databases for the converter's tests, and tables to send through it."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import strategies as st

ODD = ["01234", "true", "", " ", "NaN", '"', "=1+1", "2020-01-02", "1,5", "\\N"]
MOMENTS = st.datetimes(dt.datetime(1902, 1, 1), dt.datetime(2999, 12, 31)).map(lambda x: x.replace(microsecond=0))
WORDS = st.text(st.characters(exclude_categories=("Cs", "Cc"), include_characters="\n\t"), max_size=12)
COLUMNS: dict[str, tuple[Any, st.SearchStrategy[Any]]] = {
    "integer": (pl.Int64, st.integers(-(2**63), 2**63 - 1)),
    "small": (pl.Int64, st.integers(-9, 9)),
    "float": (pl.Float64, st.floats(allow_nan=False)),
    "finite": (pl.Float64, st.floats(-1e60, 1e60).filter(lambda x: x == 0 or abs(x) > 1e-60)),
    "text": (pl.String, st.one_of(WORDS, st.sampled_from(ODD))),
    "boolean": (pl.Boolean, st.booleans()),
    "date": (pl.Date, st.dates(dt.date(1902, 1, 1), dt.date(2999, 12, 31))),
    "moment": (pl.Datetime("us"), MOMENTS),
}  # fmt: skip


@pytest.fixture(scope="session")
def tables() -> Any:
    """A strategy that draws small tables with columns of the given types, each with nulls."""

    def draw_tables(kinds: list[str], least: int = 0) -> st.SearchStrategy[pl.DataFrame]:
        rows = st.integers(least, 8)
        return rows.flatmap(
            lambda n: st.fixed_dictionaries(
                {kind: st.lists(st.none() | COLUMNS[kind][1], min_size=n, max_size=n) for kind in kinds}
            ).map(
                lambda columns: pl.DataFrame(
                    {kind: pl.Series(values, dtype=COLUMNS[kind][0]) for kind, values in columns.items()}
                )
            )
        )

    return draw_tables


@pytest.fixture(params=["sqlite", "duckdb", "postgresql", "mysql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a database of each system."""
    if request.param in ("sqlite", "duckdb"):
        return f"{request.param}:///{tmp_path}/file.db"
    return str(request.getfixturevalue(request.param))
