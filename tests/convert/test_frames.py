"""Frames of other libraries are read unchanged."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import discreet
from discreet.convert import convert, read_source
from discreet.errors import SourceError
from discreet.model.policy import Policy

FRAME = pl.DataFrame({"i": [1, None, 3], "f": [0.5, None, 2.0], "s": ["01", None, "x"], "d": [dt.date(2020, 1, 2), None, None]})


class Capsule:
    """An object with the Arrow PyCapsule interface."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.table.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize(
    "source",
    [
        FRAME,
        FRAME.lazy(),
        FRAME.to_arrow(),
        Capsule(FRAME.to_arrow()),
        FRAME.to_arrow().to_reader(),
        FRAME.to_arrow().to_batches()[0],
    ],
    ids=["polars", "lazy", "pyarrow", "capsule", "reader", "batch"],
)
def test_frames_are_read_unchanged(source: Any) -> None:
    assert read_source(source, Policy()).frame.equals(FRAME)


def test_the_index_of_a_pandas_frame_is_ignored() -> None:
    frame = pd.DataFrame(
        {"i": [1, 2, 3], "s": ["01", None, "x"], "f": [0.5, float("nan"), 1.0], "b": [True, False, True]}, index=[7, 7, 1]
    )
    frame["c"] = pd.Categorical(["u", "v", "u"])
    frame["t"] = pd.to_datetime(["2020-01-02", None, "2020-01-03"])
    result = read_source(frame.iloc[[2, 0, 1]], Policy()).frame
    assert result.drop("t").rows() == [(3, "x", 1.0, True, "u"), (1, "01", 0.5, True, "u"), (2, None, None, False, "v")]
    assert result.schema["t"].is_temporal()


def test_pandas_object_columns_and_duplicate_names_are_read() -> None:
    frame = pd.DataFrame([[1, "a", Decimal("1.5")], ["x", None, None]], columns=["a", "a", 7])
    result = read_source(frame, Policy()).frame
    assert result.columns == ["a", "a_2", "7"]
    assert result.rows() == [("1", "a", 1.5), ("x", None, None)]


def test_column_types_are_normalised() -> None:
    table = pa.table(
        {
            "category": pa.array(["u", None]).dictionary_encode(),
            "cents": pa.array([Decimal("1.25"), None], pa.decimal128(10, 2)),
            "whole": pa.array([Decimal(7), None], pa.decimal128(10, 0)),
            "long": pa.array([Decimal(10**30), None], pa.decimal128(38, 0)),
            "none": pa.nulls(2),
            "bytes": pa.array([b"text", None]),
        }
    )
    assert read_source(table, Policy()).frame.rows() == [("u", 1.25, 7, str(10**30), None, "text"), (None,) * 6]
    with pytest.raises(SourceError, match="'m' holds nested values"):
        read_source(pa.table({"m": pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int64()))}), Policy())


def test_an_object_that_is_not_a_table_is_an_error() -> None:
    for thing in (42, None, [1, 2], object()):
        with pytest.raises(SourceError, match="is not a table"):
            read_source(thing, Policy())


def test_paths_strings_and_frames_give_the_same_table(tmp_path: Path) -> None:
    FRAME.write_parquet(tmp_path / "t.parquet")
    for source in (tmp_path / "t.parquet", str(tmp_path / "t.parquet"), FRAME):
        assert discreet.read(source).frame.equals(FRAME)
    assert discreet.read(tmp_path / "t.parquet").source == str(tmp_path / "t.parquet")
    assert convert(FRAME, tmp_path / "out.csv", Policy()) == (3, 4)
