"""Formulas in a release's delimited files are text; everything else stays as it is."""

from __future__ import annotations

import csv
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet
from discreet.convert.files.formulas import harmless

BAD = ["=1+1", "=cmd|' /C calc'!A0", "-2+3+cmd|' /C calc'!A0", "+SUM(A1:A9)", "@SUM(A1)", "\t=1+1", " =1", '=HYPERLINK("x")']
GOOD = ["-5", "+", "-", "=", "@name", "-10..0", "+49 40 1234", "a=b", "a(b)", "", "'quoted", "1-2(3)", None]


@pytest.mark.trust("Nothing leaks", "No text of a release runs as a formula in a spreadsheet")
@pytest.mark.parametrize("text", BAD)
def test_what_runs_gets_an_apostrophe(text: str) -> None:
    assert harmless(pl.DataFrame({"a": [text]}))["a"].to_list() == ["'" + text]
    assert harmless(pl.DataFrame({text: [1]})).columns == ["'" + text]


def test_what_does_not_stays() -> None:
    assert harmless(pl.DataFrame({"a": GOOD}))["a"].to_list() == GOOD
    assert harmless(pl.DataFrame({"a": [-1.5, None]}))["a"].to_list() == [-1.5, None]
    assert harmless(pl.DataFrame({"a": []})).height == 0


@given(st.lists(st.text(max_size=12), max_size=6))
def test_nothing_that_runs_is_left_and_nothing_is_lost(texts: list[str]) -> None:
    made = harmless(pl.DataFrame({"a": pl.Series(texts, dtype=pl.String)}))["a"].to_list()
    for before, after in zip(texts, made, strict=True):
        assert after in (before, "'" + before)
        first = after.lstrip()[:1]
        assert not (first == "=" and len(after.lstrip()) > 1 and after.lstrip()[1] != "\n") or after.startswith("'")


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz"])
def test_a_release_is_harmless_and_a_conversion_exact(tmp_path: Path, suffix: str) -> None:
    frame = pl.DataFrame({"a": [text for text in BAD if "\t" not in text], "b": 1})
    data = discreet.read(frame, {"attributes": {"a": {"role": "other"}}, "plan": {"order": "kept"}})
    discreet.write(discreet.mask(data), tmp_path / f"release{suffix}")
    discreet.write(data, tmp_path / f"own{suffix}")
    assert discreet.read(tmp_path / f"own{suffix}").frame["a"].to_list() == frame["a"].to_list()
    assert discreet.read(tmp_path / f"release{suffix}").frame["a"].to_list() == ["'" + text for text in frame["a"]]


def test_parquet_is_exact(tmp_path: Path) -> None:
    data = discreet.read(pl.DataFrame({"a": BAD}), {"plan": {"order": "kept"}})
    discreet.write(discreet.mask(data), tmp_path / "release.parquet")
    assert pl.read_parquet(tmp_path / "release.parquet")["a"].to_list() == BAD
    discreet.write(discreet.mask(data), tmp_path / "release.csv")
    with (tmp_path / "release.csv").open(newline="") as file:
        assert [row[0] for row in csv.reader(file)][1:] == ["'" + text for text in BAD]
