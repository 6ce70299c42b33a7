"""Encoded columns against a dictionary made by sorting."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.engine.encoding.columns import encode_series

KINDS: dict[str, tuple[pl.DataType | type[pl.DataType], st.SearchStrategy[Any]]] = {
    "small integers": (pl.Int64, st.integers(-5, 5)),
    "large integers": (pl.Int64, st.integers(-(2**63), 2**63 - 1)),
    "unsigned": (pl.UInt64, st.integers(0, 2**64 - 1)),
    "floats": (pl.Float64, st.floats(allow_nan=False)),
    "text": (pl.String, st.text(max_size=3)),
    "booleans": (pl.Boolean, st.booleans()),
    "dates": (pl.Date, st.dates(datetime.date(1, 1, 1), datetime.date(9999, 12, 31))),
    "times": (pl.Datetime("us"), st.datetimes(datetime.datetime(1900, 1, 1), datetime.datetime(2100, 1, 1))),
}


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=30)
@given(draw=st.data())
def test_codes_are_dense_and_ordered_and_decode_to_the_values(kind: str, draw: st.DataObject) -> None:
    dtype, values = KINDS[kind]
    rows = draw.draw(st.lists(st.one_of(st.none(), values), max_size=12))
    column = encode_series(pl.Series("x", rows, dtype=dtype))
    distinct = sorted({value + 0.0 if isinstance(value, float) else value for value in rows if value is not None})
    assert column.values.to_list() == distinct
    assert column.has_null == (None in rows)
    expected = [len(distinct) if value is None else distinct.index(value) for value in rows]
    assert column.codes.tolist() == expected
    assert column.is_null.tolist() == [value is None for value in rows]
    assert column.cardinality == len(set(expected)) or not rows


def test_codes_have_the_narrowest_integer_type() -> None:
    for size, width in ((255, np.uint8), (257, np.uint16), (70_000, np.uint32)):
        assert encode_series(pl.Series("x", range(size))).codes.dtype == width


def test_a_column_of_nulls_has_one_code() -> None:
    for dtype in (pl.Null, pl.Int64, pl.String, pl.Float64):
        column = encode_series(pl.Series("x", [None, None], dtype=dtype))
        assert column.codes.tolist() == [0, 0]
        assert column.cardinality == 1
