import datetime as dt

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.engine.encoding.shared_codes import encode_shared, to_common_type
from discreet.errors import DataError

values = st.lists(st.none() | st.integers(-2, 2), max_size=6)


@settings(deadline=None, max_examples=80)
@given(values, values)
def test_codes_are_equal_exactly_where_values_are(left, right):
    ours = pl.DataFrame({"a": pl.Series(left, dtype=pl.Int8)})
    theirs = pl.DataFrame({"b": pl.Series(right, dtype=pl.Int64)})
    (shared,) = encode_shared(ours, theirs, [("a", "b")])
    assert len(shared.left) == len(left)
    assert len(shared.right) == len(right)
    for x, code in zip(left, shared.left, strict=True):
        assert code < shared.cardinality
        assert (code == shared.null) == (x is None)
        for y, other in zip(right, shared.right, strict=True):
            assert (code == other) == (x == y)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ([44, 45], ["44", "45"]),
        ([44.0, 1.5], ["44", "1.5"]),
        ([44, 45], [44.0, 45.0]),
        ([True, False], ["true", "false"]),
        ([dt.date(2020, 1, 2), dt.date(2020, 1, 3)], ["2020-01-02", "2020-01-03"]),
        ([dt.date(2020, 1, 2), None], [dt.datetime(2020, 1, 2), None]),
        ([None, None], ["x", "y"]),
    ],
)
def test_values_of_different_types_agree_by_their_printed_form(left, right):
    one, two = to_common_type(pl.Series("a", left), pl.Series("b", right))
    if one.null_count() < len(one):
        assert one.to_list() == two.to_list()
    assert one.dtype == two.dtype


def test_large_integers_are_not_compared_as_floats():
    ours = pl.DataFrame({"a": pl.Series([2**63 + 1], dtype=pl.UInt64)})
    theirs = pl.DataFrame({"a": pl.Series([2**62], dtype=pl.Int64)})
    (shared,) = encode_shared(ours, theirs, [("a", "a")])
    assert not np.array_equal(shared.left, shared.right)


def test_categories_agree_with_text():
    one, two = to_common_type(pl.Series(["x", "y"], dtype=pl.Categorical), pl.Series(["y", "x"]))
    assert one.to_list() == two.to_list()[::-1]


def test_a_missing_column_is_named_with_the_nearest():
    with pytest.raises(DataError, match="'aeg'; did you mean 'age'"):
        encode_shared(pl.DataFrame({"age": [1]}), pl.DataFrame({"age": [1]}), [("aeg", "age")])
