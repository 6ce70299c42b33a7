"""Random tables are unchanged after writing and reading in every format, and after streaming conversions."""

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
RELAXED = settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
READ_AS_TEXT = Policy.from_dict({"read": {"text": ["text"]}})


def write_and_read(folder: Path, suffix: str, frame: pl.DataFrame, policy: Policy) -> pl.DataFrame:
    write_target(Microdata(frame), folder / f"t{suffix}")
    return read_source(folder / f"t{suffix}", policy).frame


def assert_same_values(result: pl.DataFrame, expected: pl.DataFrame) -> None:
    assert result.columns == expected.columns
    for name in expected.columns:
        for value, expected_value in zip(result[name].to_list(), expected[name].to_list(), strict=True):
            assert value == expected_value, (name, value, expected_value)


@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".feather"])
@RELAXED
@given(data=st.data())
def test_formats_with_types_keep_everything(tmp_path: Path, suffix: str, tables: Any, data: st.DataObject) -> None:
    frame = data.draw(tables(["integer", "float", "text", "boolean", "date", "moment"]))
    result = write_and_read(tmp_path, suffix, frame, Policy())
    assert result.schema == frame.schema
    assert result.equals(frame)


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz"])
@RELAXED
@given(data=st.data())
def test_delimited_text_keeps_every_value(tmp_path: Path, suffix: str, tables: Any, data: st.DataObject) -> None:
    frame = data.draw(tables(["integer", "float", "text", "boolean", "date", "moment"]))
    result = write_and_read(tmp_path, suffix, frame, READ_AS_TEXT)
    assert_same_values(result, frame)
    for name in frame.columns:
        assert result.schema[name] == (frame.schema[name] if frame[name].count() else pl.String)


@pytest.mark.parametrize("kind", ["integer", "float", "text", "boolean", "date"])
@RELAXED
@given(data=st.data())
def test_a_csv_file_with_one_column_keeps_every_value(tmp_path: Path, kind: str, tables: Any, data: st.DataObject) -> None:
    frame = data.draw(tables([kind]))
    assert_same_values(write_and_read(tmp_path, ".csv", frame, READ_AS_TEXT if kind == "text" else Policy()), frame)


@RELAXED
@given(data=st.data())
def test_json_lines_keep_every_value(tmp_path: Path, tables: Any, data: st.DataObject) -> None:
    frame = data.draw(tables(["integer", "finite", "text", "boolean", "date", "moment"], least=1))
    assert_same_values(write_and_read(tmp_path, ".jsonl", frame, READ_AS_TEXT), frame)


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
    result = write_and_read(tmp_path, ".xlsx", frame, READ_AS_TEXT)
    expected = frame.with_columns(pl.col("text").replace("", None))
    if (frame["integer"].cast(pl.Int128).abs() > 10**15).any():
        expected = expected.with_columns(pl.col("integer").cast(pl.String))
    if frame["moment"].count() and (frame["moment"].drop_nulls() == frame["moment"].drop_nulls().dt.truncate("1d")).all():
        expected = expected.with_columns(pl.col("moment").dt.date())  # Excel does not distinguish a date from its midnight
    sixteen_digits = [None if x is None else float(f"{x:.16G}") for x in frame["finite"].to_list()]  # as xlsxwriter writes
    assert_same_values(result, expected.with_columns(pl.Series("finite", sixteen_digits, dtype=pl.Float64)))


@pytest.mark.parametrize("suffix", [".sav", ".zsav", ".dta", ".xpt"])
@RELAXED
@given(data=st.data())
def test_statistical_packages_keep_every_value(tmp_path: Path, suffix: str, tables: Any, data: st.DataObject) -> None:
    """In these formats blank text means missing, a boolean is 0 or 1, and a double represents integers up to 2^53."""
    frame = data.draw(tables(["integer", "small", "finite", "text", "boolean", "date", "moment"], least=1))
    result = write_and_read(tmp_path, suffix, frame, Policy())
    long = (frame["integer"].cast(pl.Int128).abs() > EXACT).any()
    expected = frame.with_columns(
        pl.col("text").str.strip_chars_end(" ").replace("", None),
        pl.col("boolean").cast(pl.Int64),
        pl.col("integer").cast(pl.String if long else pl.Int64),
    )
    assert_same_values(result.with_columns(pl.col("text").str.strip_chars_end(" ").replace("", None)), expected)


@pytest.mark.parametrize(("source", "target"), list(itertools.product([".csv", ".parquet", ".arrow", ".jsonl"], repeat=2)))
@settings(deadline=None, max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_streaming_gives_the_same_file_as_reading_and_writing(
    tmp_path: Path, source: str, target: str, tables: Any, data: st.DataObject
) -> None:
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


def test_streaming_starts_again_with_other_types_if_a_late_value_does_not_fit(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n" + "1,2\n" * 30_000 + "x,2.5\n")
    assert convert(tmp_path / "t.csv", tmp_path / "t.parquet", Policy()) == (30_001, 2)
    assert pl.read_parquet(tmp_path / "t.parquet").schema == {"a": pl.String, "b": pl.Float64}


def test_a_file_is_never_converted_onto_itself(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a;b\n1,5;x\n")
    with pytest.raises(SourceError, match=r"would overwrite the source .*t\.csv; name another target"):
        convert(tmp_path / "t.csv", tmp_path / "t.csv", Policy(), overwrite=True)
    assert (tmp_path / "t.csv").read_text() == "a;b\n1,5;x\n"
