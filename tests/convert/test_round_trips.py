"""Random tables through every format and back, and from each streaming format to each."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from discreet.convert import convert, read_source, write_target
from discreet.errors import SourceError
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy

EXACT = 2**53
RELAXED = settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
TEXT_STAYS = Policy.from_dict({"read": {"text": ["text"]}})


def through(folder: Path, suffix: str, frame: pl.DataFrame, policy: Policy) -> pl.DataFrame:
    write_target(Microdata(frame), folder / f"t{suffix}")
    return read_source(folder / f"t{suffix}", policy).frame


def same_values(found: pl.DataFrame, expected: pl.DataFrame) -> None:
    assert found.columns == expected.columns
    for name in expected.columns:
        for mine, theirs in zip(found[name].to_list(), expected[name].to_list(), strict=True):
            assert mine == theirs, (name, mine, theirs)


@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".feather"])
@RELAXED
@given(data=st.data())
def test_formats_with_types_keep_everything(tmp_path: Path, suffix: str, tables: Any, data: st.DataObject) -> None:
    frame = data.draw(tables(["integer", "float", "text", "boolean", "date", "moment"]))
    found = through(tmp_path, suffix, frame, Policy())
    assert found.schema == frame.schema
    assert found.equals(frame)


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz"])
@RELAXED
@given(data=st.data())
def test_delimited_text_keeps_every_value(tmp_path: Path, suffix: str, tables: Any, data: st.DataObject) -> None:
    frame = data.draw(tables(["integer", "float", "text", "boolean", "date", "moment"]))
    found = through(tmp_path, suffix, frame, TEXT_STAYS)
    same_values(found, frame)
    for name in frame.columns:
        assert found.schema[name] == (frame.schema[name] if frame[name].count() else pl.String)


@pytest.mark.parametrize("kind", ["integer", "float", "text", "boolean", "date"])
@RELAXED
@given(data=st.data())
def test_a_single_column_of_text_keeps_every_value(tmp_path: Path, kind: str, tables: Any, data: st.DataObject) -> None:
    frame = data.draw(tables([kind]))
    same_values(through(tmp_path, ".csv", frame, TEXT_STAYS if kind == "text" else Policy()), frame)


@RELAXED
@given(data=st.data())
def test_json_lines_keep_every_value(tmp_path: Path, tables: Any, data: st.DataObject) -> None:
    frame = data.draw(tables(["integer", "finite", "text", "boolean", "date", "moment"], least=1))
    same_values(through(tmp_path, ".jsonl", frame, TEXT_STAYS), frame)


def test_json_lines_refuse_infinity(tmp_path: Path) -> None:
    frame = pl.DataFrame({"x": [1.0, float("inf")]})
    with pytest.raises(SourceError, match="'x' holds infinity"):
        write_target(Microdata(frame), tmp_path / "t.jsonl")
    frame.write_parquet(tmp_path / "t.parquet")
    with pytest.raises(SourceError, match="'x' holds infinity"):
        convert(tmp_path / "t.parquet", tmp_path / "t.jsonl", Policy(), overwrite=True)
    assert [path.name for path in tmp_path.iterdir()] == ["t.parquet"]


@RELAXED
@given(data=st.data())
def test_excel_keeps_every_value(tmp_path: Path, tables: Any, data: st.DataObject) -> None:
    frame = data.draw(tables(["integer", "small", "finite", "text", "boolean", "date", "moment"]))
    found = through(tmp_path, ".xlsx", frame, TEXT_STAYS)
    expected = frame.with_columns(pl.col("text").replace("", None))
    if (frame["integer"].cast(pl.Int128).abs() > 10**15).any():
        expected = expected.with_columns(pl.col("integer").cast(pl.String))
    if frame["moment"].count() and (frame["moment"].drop_nulls() == frame["moment"].drop_nulls().dt.truncate("1d")).all():
        expected = expected.with_columns(pl.col("moment").dt.date())  # Excel does not tell a date from its midnight
    sixteen_digits = [None if x is None else float(f"{x:.16G}") for x in frame["finite"].to_list()]  # as xlsxwriter writes
    same_values(found, expected.with_columns(pl.Series("finite", sixteen_digits, dtype=pl.Float64)))


@pytest.mark.parametrize("suffix", [".sav", ".zsav", ".dta", ".xpt"])
@RELAXED
@given(data=st.data())
def test_statistical_packages_keep_every_value(tmp_path: Path, suffix: str, tables: Any, data: st.DataObject) -> None:
    """Text of blanks is their word for missing, a truth value is 0 or 1, and a double holds whole numbers up to 2^53."""
    frame = data.draw(tables(["integer", "small", "finite", "text", "boolean", "date", "moment"], least=1))
    found = through(tmp_path, suffix, frame, Policy())
    long = (frame["integer"].cast(pl.Int128).abs() > EXACT).any()
    expected = frame.with_columns(
        pl.col("text").str.strip_chars_end(" ").replace("", None),
        pl.col("boolean").cast(pl.Int64),
        pl.col("integer").cast(pl.String if long else pl.Int64),
    )
    same_values(found.with_columns(pl.col("text").str.strip_chars_end(" ").replace("", None)), expected)


@pytest.mark.parametrize(("source", "target"), list(itertools.product([".csv", ".parquet", ".arrow", ".jsonl"], repeat=2)))
@settings(deadline=None, max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_streaming_is_reading_and_writing(tmp_path: Path, source: str, target: str, tables: Any, data: st.DataObject) -> None:
    frame = data.draw(tables(["integer", "finite", "text", "boolean", "date", "moment"], least=1))
    assume(frame["text"].count())
    write_target(Microdata(frame), tmp_path / f"in{source}")
    policy = Policy.from_dict({"missing": ["n/a"], "attributes": {"text": {"role": "key", "missing": ["true", "01234"]}}})
    shape = convert(tmp_path / f"in{source}", tmp_path / f"streamed{target}", policy, overwrite=True)
    data_read = read_source(tmp_path / f"in{source}", policy)
    write_target(data_read, tmp_path / f"whole{target}")
    assert shape == data_read.frame.shape
    streamed, whole = (read_source(tmp_path / f"{name}{target}", Policy()).frame for name in ("streamed", "whole"))
    assert streamed.schema == whole.schema
    assert streamed.equals(whole)


def test_streaming_falls_back_where_a_late_value_does_not_fit(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n" + "1,2\n" * 30_000 + "x,2.5\n")
    assert convert(tmp_path / "t.csv", tmp_path / "t.parquet", Policy()) == (30_001, 2)
    assert pl.read_parquet(tmp_path / "t.parquet").schema == {"a": pl.String, "b": pl.Float64}


def test_a_file_is_never_converted_onto_itself(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a;b\n1,5;x\n")
    with pytest.raises(SourceError, match=r"would overwrite the source .*t\.csv; name another target"):
        convert(tmp_path / "t.csv", tmp_path / "t.csv", Policy(), overwrite=True)
    assert (tmp_path / "t.csv").read_text() == "a;b\n1,5;x\n"
