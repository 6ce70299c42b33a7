"""Value labels and variable labels are preserved by conversions."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest

from discreet.convert import convert, read_source, write_target
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy

FRAME = pl.DataFrame({"sex": [1, 2, None], "state": ["MI", "IN", None], "income": [45500.5, None, 1.0]})
LABELS = {"sex": {1: "male", 2: "female", 9: "not stated"}, "state": {"MI": "Michigan", "IN": "Indiana"}}
TITLES = {"sex": "Sex of the respondent", "income": "Income, in dollars"}
DATA = Microdata(FRAME, labels=LABELS, variable_labels=TITLES)


def test_labels_are_converted_from_spss_to_stata_and_back(tmp_path: Path) -> None:
    write_target(DATA, tmp_path / "a.sav")
    convert(tmp_path / "a.sav", tmp_path / "b.dta", Policy())
    convert(tmp_path / "b.dta", tmp_path / "c.sav", Policy())
    first, last = (read_source(tmp_path / name, Policy()) for name in ("a.sav", "c.sav"))
    assert first.labels == LABELS
    assert first.variable_labels == TITLES
    assert last.labels == {"sex": LABELS["sex"]}  # Stata labels numbers only
    assert last.variable_labels == TITLES
    assert last.frame.equals(FRAME)


@pytest.mark.parametrize("suffix", [".sav", ".zsav"])
def test_spss_keeps_labels_of_text_and_numbers(tmp_path: Path, suffix: str) -> None:
    write_target(DATA, tmp_path / f"t{suffix}")
    data = read_source(tmp_path / f"t{suffix}", Policy())
    assert (data.labels, data.variable_labels) == (LABELS, TITLES)
    assert data.frame.equals(FRAME)


def test_a_sas_transport_file_keeps_variable_labels(tmp_path: Path) -> None:
    write_target(DATA, tmp_path / "t.xpt")
    assert read_source(tmp_path / "t.xpt", Policy()).variable_labels == TITLES


def test_value_labels_are_dropped_only_for_masked_columns_that_became_text(tmp_path: Path) -> None:
    masked = DATA.with_columns({"sex": pl.Series(["{1|2}", "*", None])}).drop(["income"])
    write_target(masked, tmp_path / "t.sav")
    data = read_source(tmp_path / "t.sav", Policy())
    assert data.labels == {"state": LABELS["state"]}
    assert data.frame["sex"].to_list() == ["{1|2}", "*", None]


def test_a_column_name_that_a_package_does_not_allow_becomes_the_variable_label(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {"birth year": [1], "Age": [2], "age": [3], "1st": [4], "x" * 70: [5], "größe": [6], "int": [7], "": [8]}
    )
    for suffix in (".sav", ".dta", ".xpt"):
        write_target(Microdata(frame), tmp_path / f"t{suffix}")
        data = read_source(tmp_path / f"t{suffix}", Policy())
        assert data.frame.row(0) == (1, 2, 3, 4, 5, 6, 7, 8)
        assert data.columns[0] == "birth_year"
        assert data.variable_labels["birth_year"] == "birth year"
        assert len({name.lower() for name in data.columns}) == 8


def test_value_labels_of_a_sas_table_come_from_its_catalog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No library writes these two formats, so the readers are mocked; the test is about combining their results."""
    table = SimpleNamespace(
        variable_value_labels={}, column_names_to_labels={"sex": "Sex"}, variable_to_label={"sex": "SEXF", "age": "BEST"}
    )
    catalog = SimpleNamespace(value_labels={"SEXF": {1.0: "male", 2.0: "female"}, "OTHER": {1.0: "x"}})
    monkeypatch.setattr(
        "pyreadstat.read_sas7bdat", lambda *_, **__: (pl.DataFrame({"sex": [1.0, 2.0], "age": [44.5, None]}), table)
    )
    monkeypatch.setattr("pyreadstat.read_sas7bcat", lambda *_, **__: (None, catalog))
    for name in ("t.sas7bdat", "t.sas7bcat"):
        (tmp_path / name).write_bytes(b"\0")
    data = read_source(tmp_path / "t.sas7bdat", Policy())
    assert data.labels == {"sex": {1: "male", 2: "female"}}
    assert data.variable_labels == {"sex": "Sex"}
    assert data.frame.rows() == [(1, 44.5), (2, None)]
