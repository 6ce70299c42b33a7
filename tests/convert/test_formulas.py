"""Formulas in released delimited files are marked as text; everything else is unchanged."""

from __future__ import annotations

import csv
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet
from discreet.convert.files.formulas import guard_formulas

FORMULAS = ["=1+1", "=cmd|' /C calc'!A0", "-2+3+cmd|' /C calc'!A0", "+SUM(A1:A9)", "@SUM(A1)", "\t=1+1", " =1", '=HYPERLINK("x")']
NOT_FORMULAS = ["-5", "+", "-", "=", "@name", "-10..0", "+49 40 1234", "a=b", "a(b)", "", "'quoted", "1-2(3)", None]


@pytest.mark.trust("Nothing leaks", "A spreadsheet evaluates no text of a release as a formula")
@pytest.mark.parametrize("text", FORMULAS)
def test_formulas_get_an_apostrophe(text: str) -> None:
    assert guard_formulas(pl.DataFrame({"a": [text]}))["a"].to_list() == ["'" + text]
    assert guard_formulas(pl.DataFrame({text: [1]})).columns == ["'" + text]


def test_other_texts_are_unchanged() -> None:
    assert guard_formulas(pl.DataFrame({"a": NOT_FORMULAS}))["a"].to_list() == NOT_FORMULAS
    assert guard_formulas(pl.DataFrame({"a": [-1.5, None]}))["a"].to_list() == [-1.5, None]
    assert guard_formulas(pl.DataFrame({"a": []})).height == 0


@given(st.lists(st.text(max_size=12), max_size=6))
def test_no_formula_remains_and_no_text_is_lost(texts: list[str]) -> None:
    guarded = guard_formulas(pl.DataFrame({"a": pl.Series(texts, dtype=pl.String)}))["a"].to_list()
    for before, after in zip(texts, guarded, strict=True):
        assert after in (before, "'" + before)
        first = after.lstrip()[:1]
        assert not (first == "=" and len(after.lstrip()) > 1 and after.lstrip()[1] != "\n") or after.startswith("'")


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz"])
def test_a_release_is_guarded_and_a_conversion_is_exact(tmp_path: Path, suffix: str) -> None:
    frame = pl.DataFrame({"a": [text for text in FORMULAS if "\t" not in text], "b": 1})
    data = discreet.read(frame, {"attributes": {"a": {"role": "other"}}, "plan": {"order": "kept"}})
    discreet.write(discreet.mask(data), tmp_path / f"release{suffix}")
    discreet.write(data, tmp_path / f"own{suffix}")
    assert discreet.read(tmp_path / f"own{suffix}").frame["a"].to_list() == frame["a"].to_list()
    assert discreet.read(tmp_path / f"release{suffix}").frame["a"].to_list() == ["'" + text for text in frame["a"]]


def test_texts_in_parquet_are_unchanged(tmp_path: Path) -> None:
    data = discreet.read(pl.DataFrame({"a": FORMULAS}), {"plan": {"order": "kept"}})
    discreet.write(discreet.mask(data), tmp_path / "release.parquet")
    assert pl.read_parquet(tmp_path / "release.parquet")["a"].to_list() == FORMULAS
    discreet.write(discreet.mask(data), tmp_path / "release.csv")
    with (tmp_path / "release.csv").open(newline="") as file:
        assert [row[0] for row in csv.reader(file)][1:] == ["'" + text for text in FORMULAS]
