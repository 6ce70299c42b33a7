"""Columns that are encoded chunk by chunk, compared with the same columns encoded whole."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.engine.encoding.columns import Column, encode_series
from discreet.engine.encoding.growing_columns import GrowingColumn
from discreet.model.attribute import Attribute

KINDS: dict[str, tuple[Any, st.SearchStrategy[Any]]] = {
    "integers": (pl.Int64, st.one_of(st.integers(-3, 3), st.integers(-(2**63), 2**63 - 1))),
    "bytes": (pl.UInt8, st.integers(0, 255)),
    "floats": (pl.Float64, st.one_of(st.sampled_from([0.0, -0.0, 1.5, float("nan")]), st.floats())),
    "text": (pl.String, st.text(max_size=2)),
    "booleans": (pl.Boolean, st.booleans()),
    "dates": (pl.Date, st.dates(datetime.date(1, 1, 1), datetime.date(9999, 12, 31))),
    "moments": (pl.Datetime("us"), st.datetimes(datetime.datetime(1900, 1, 1), datetime.datetime(2100, 1, 1))),
    "spans": (pl.Duration("ms"), st.timedeltas(datetime.timedelta(-9), datetime.timedelta(9))),
}


def encode_in_chunks(parts: list[pl.Series], attribute: Attribute | None = None, expected: int = 0) -> Column:
    growing = GrowingColumn(parts[0].name, expected)
    for part in parts:
        growing.append(part)
    return growing.finish(attribute)


def assert_same_column(column: Column, expected: Column) -> None:
    assert column.values.equals(expected.values)
    assert column.values.dtype == expected.values.dtype
    assert column.has_null == expected.has_null
    assert column.codes.dtype == expected.codes.dtype
    assert column.codes.tolist() == expected.codes.tolist()


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=30)
@given(draw=st.data())
def test_chunks_give_the_same_codes_as_the_whole_column(kind: str, draw: st.DataObject) -> None:
    dtype, values = KINDS[kind]
    rows = st.lists(st.one_of(st.none(), values), max_size=6)
    parts = [pl.Series("x", part, dtype=dtype) for part in draw.draw(st.lists(rows, min_size=1, max_size=5))]
    assert_same_column(encode_in_chunks(parts, expected=draw.draw(st.integers(0, 40))), encode_series(pl.concat(parts)))


@settings(max_examples=40)
@given(parts=st.lists(st.lists(st.sampled_from(["low", "mid", "high", None]), max_size=4), min_size=1, max_size=4))
def test_the_order_of_the_policy_applies_to_chunks(parts: list[list[str | None]]) -> None:
    attribute = Attribute(order=("low", "mid", "high"))
    series = [pl.Series("x", part, dtype=pl.String) for part in parts]
    assert_same_column(encode_in_chunks(series, attribute), encode_series(pl.concat(series), attribute))


@pytest.mark.parametrize("values", [255, 256, 257, 65_535, 65_536, 70_000])
@pytest.mark.parametrize("null", [False, True])
def test_codes_widen_when_the_number_of_values_requires_it(values: int, null: bool) -> None:
    whole = pl.Series("x", [*range(values), *([None] if null else []), 3, 1, 2], dtype=pl.Int64)
    parts = [whole.slice(0, 100), whole.slice(100, 30_000), whole.slice(30_100)] if values > 30_000 else [whole[:9], whole[9:]]
    assert_same_column(encode_in_chunks(parts, expected=10), encode_series(whole))


def test_a_wrong_estimate_of_the_number_of_records_does_not_change_the_length() -> None:
    parts = [pl.Series("x", [number, number + 1]) for number in range(50)]
    for expected in (0, 7, 1000):
        assert len(encode_in_chunks(parts, expected=expected).codes) == 100
    assert np.array_equal(encode_in_chunks(parts).codes, encode_in_chunks(parts, expected=1000).codes)
