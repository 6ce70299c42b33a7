"""Values as positions on an axis: exact at every border between the types that hold them."""

import datetime

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.engine.cells.positions import (
    DAY,
    exact_array,
    is_native,
    kind_of,
    native_positions,
    position,
    same_scale,
    text_positions,
)

EDGE = 2**53
WHOLE = st.sampled_from([0, 1, -1, EDGE - 1, EDGE, EDGE + 1, -EDGE - 1, 2**63 - 1, -(2**63), 2**63, 2**64])
NUMBERS = st.one_of(WHOLE, st.sampled_from([0.5, -0.0, 1e300, -2.25]))
D, T, H = datetime.date, datetime.datetime, datetime.time


@given(st.lists(NUMBERS, max_size=4), st.lists(NUMBERS, max_size=4))
def test_numbers_of_two_columns_compare_on_one_scale_as_they_do_in_python(left, right):
    one, other = same_scale([exact_array(left), exact_array(right)])
    assert [[a < b for b in other.tolist()] for a in one.tolist()] == [[a < b for b in right] for a in left]
    assert [[a == b for b in other.tolist()] for a in one.tolist()] == [[a == b for b in right] for a in left]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, 2**63 - 1], "i"), ([1, 2**63], "O"), ([1, 0.5, EDGE], "f"), ([EDGE + 1, 0.5], "O"), ([], "i"),
        ([-(2**63), 1], "i"), ([-(2**63) - 1], "O"), ([-EDGE, 0.5], "f"), ([-EDGE - 1, 0.5], "O"),
    ],
)  # fmt: skip
def test_an_array_is_as_narrow_as_it_can_be_without_rounding(values, kind):
    array = exact_array(values)
    assert (array.dtype.kind, array.tolist()) == (kind, values)


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        (True, pl.Boolean, 1), (7, pl.Int8, 7), (2**64 - 1, pl.UInt64, 2**64 - 1), (-0.0, pl.Float32, 0.0),
        (D(1970, 1, 3), pl.Date, 2 * DAY), (D(1969, 12, 31), pl.Date, -DAY),
        (T(1970, 1, 1, 0, 0, 1, 5), pl.Datetime("us"), 1_000_005), (T(1970, 1, 1, 0, 0, 1, 5000), pl.Datetime("ms"), 1_005_000),
        (T(1970, 1, 1, 0, 0, 1, 5), pl.Datetime("ns"), 1_000_005), (H(1, 2, 3, 4), pl.Time, 3_723_000_004),
        (datetime.timedelta(days=-1, microseconds=3), pl.Duration("us"), -DAY + 3),
        (datetime.timedelta(milliseconds=3), pl.Duration("ms"), 3000), (datetime.timedelta(microseconds=3), pl.Duration("ns"), 3),
    ],
)  # fmt: skip
def test_a_value_has_the_same_position_in_a_column_and_by_itself(value, dtype, expected):
    series = pl.Series("x", [value], dtype=dtype)
    assert native_positions(series).tolist() == [expected]
    assert position(value) == expected
    assert is_native(series.dtype, kind_of(series.dtype))


@pytest.mark.parametrize(
    ("dtype", "kind"),
    [
        (pl.Int8(), "number"), (pl.Float32(), "number"), (pl.UInt128(), "number"), (pl.Date(), "date"), (pl.Time(), "time"),
        (pl.Datetime("ms"), "datetime"), (pl.Duration("us"), "duration"), (pl.Boolean(), "boolean"), (pl.String(), "text"),
        (pl.Null(), "text"),
    ],
)  # fmt: skip
def test_the_type_of_a_column_tells_the_kind_of_its_values(dtype, kind):
    assert kind_of(dtype) == kind


def test_a_zero_has_no_sign():
    zeros = [native_positions(pl.Series([-0.0])), text_positions(pl.Series(["-0.0"]), "number")[0], exact_array([-0.0, 1])]
    assert not any(np.signbit(zero[0]) for zero in (*zeros, *same_scale([np.array([-0.0, 0.5]), np.array([2**60 + 1])])))


def test_a_date_is_native_where_datetimes_are_expected_and_a_number_is_not():
    assert is_native(pl.Date(), "datetime")
    assert is_native(pl.Datetime(), "date")
    assert not is_native(pl.Int64(), "date")
    assert not is_native(pl.Date(), "time")
    with pytest.raises(TypeError, match="has no position"):
        position("text")


@pytest.mark.parametrize(
    "texts",
    [
        ["1", " 2.5 ", "x", "nan", ""],
        [str(EDGE + 1), "7"],
        [str(EDGE + 1), "0.5"],
        [str(2**64), "1"],
        [str(-EDGE - 1), "y"],
        ["inf", "-inf"],
        [],
    ],
)
def test_texts_of_numbers_keep_every_digit_and_others_are_no_numbers(texts):
    positions, plain = text_positions(pl.Series("x", texts, dtype=pl.String), "number")

    def read(text):
        try:
            return int(text)
        except ValueError:
            try:
                return None if float(text) != float(text) else float(text)
            except ValueError:
                return None

    assert plain.tolist() == [read(text) is not None for text in texts]
    assert [one for one, flag in zip(positions.tolist(), plain, strict=True) if flag] == [
        read(text) for text in texts if read(text) is not None
    ]


def test_texts_of_dates_are_read_with_and_without_others_among_them():
    positions, plain = text_positions(pl.Series("x", ["1970-01-02", " 1970-01-03"]), "date")
    assert (positions.tolist(), plain.tolist()) == ([DAY, 2 * DAY], [True, True])
    positions, plain = text_positions(pl.Series("x", ["1970-01-02", "1970-1"]), "date")
    assert (positions[0], plain.tolist()) == (DAY, [True, False])
    for wrong in ("1970-13-45", "1970-1-2", "1970-01-2 "):
        assert text_positions(pl.Series("x", ["1970-01-02", wrong]), "date")[1].tolist() == [True, False]
    assert np.asarray(text_positions(pl.Series("x", ["01:00:00"]), "time")[0]).tolist() == [3_600_000_000]
