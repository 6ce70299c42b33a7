"""Local suppression: k records agree with each, counted record by record; few values are suppressed, and the right ones."""

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from discreet.engine.classes.groups import class_sizes
from discreet.engine.draws.draw import KeyedDraw
from discreet.engine.encoding.columns import encode
from discreet.errors import DataError, ParameterError
from discreet.masking.local_suppression.method import LocalSuppression
from discreet.masking.local_suppression.search import sets_by_cost
from discreet.testing import table

DRAW = KeyedDraw(7)
NAMES = ["a", "b", "c"]
cell = st.one_of(st.none(), st.integers(0, 3), st.integers(0, 1))
rows_of = st.lists(st.tuples(cell, cell, cell), min_size=1, max_size=14)


def data_of(rows):
    frame = {name: pl.Series([row[column] for row in rows], dtype=pl.Int64) for column, name in enumerate(NAMES)}
    return table(frame, key=NAMES)


def agreeing(rows):
    """The number of rows that agree with each row in all values that neither row lacks."""
    return [sum(all(x is None or y is None or x == y for x, y in zip(r, s, strict=True)) for s in rows) for r in rows]


@settings(deadline=None, max_examples=120)
@given(rows_of, st.integers(1, 4), st.sampled_from(["match", "discount"]))
def test_k_records_agree_with_each_where_a_blank_agrees_with_anything(rows, k, blanks):
    assume(len(rows) >= k)
    masked = LocalSuppression(k=k, blanks=blanks).mask(data_of(rows), NAMES, DRAW).frame.rows()
    assert min(agreeing(masked)) >= k
    for before, after in zip(rows, masked, strict=True):
        assert all(new in (old, None) for old, new in zip(before, after, strict=True))


@settings(deadline=None, max_examples=60)
@given(rows_of, st.integers(1, 4))
def test_with_discount_k_records_share_the_remaining_values(rows, k):
    assume(len(rows) >= k)
    masked = LocalSuppression(k=k, blanks="discount").mask(data_of(rows), NAMES, DRAW).frame.rows()
    for row in masked:
        shared = sum(all(x is None or x == y for x, y in zip(row, other, strict=True)) for other in rows)
        assert shared >= k


@settings(deadline=None, max_examples=300)
@given(rows_of, st.integers(2, 4))
def test_a_key_that_costs_far_more_is_left_alone_where_its_own_values_are_frequent_enough(rows, k):
    rows = rows * 2
    values = [row[0] for row in rows]
    assume(min(values.count(value) for value in values) >= k)
    method = LocalSuppression(k=k, blanks="category", importance={"a": 1e6})
    masked = method.mask(data_of(rows), NAMES, DRAW).frame.rows()
    assert [row[0] for row in masked] == values
    assert min(masked.count(row) for row in masked) >= k


@settings(deadline=None, max_examples=300)
@given(rows_of, st.integers(1, 4))
def test_where_a_blank_is_a_value_of_its_own_k_records_share_every_released_combination(rows, k):
    assume(len(rows) >= k)
    masked = LocalSuppression(k=k, blanks="category").mask(data_of(rows), NAMES, DRAW).frame.rows()
    assert min(masked.count(row) for row in masked) >= k
    for before, after in zip(rows, masked, strict=True):
        assert all(new in (old, None) for old, new in zip(before, after, strict=True))
    safe = {row for row in rows if rows.count(row) >= k}
    assert sum(before in safe and before != after for before, after in zip(rows, masked, strict=True)) < 2 * k


@settings(deadline=None, max_examples=60)
@given(rows_of, st.integers(1, 4))
def test_counting_blanks_as_agreement_never_suppresses_more(rows, k):
    assume(len(rows) >= k)
    suppressed = {
        blanks: sum(
            x is None for row in LocalSuppression(k=k, blanks=blanks).mask(data_of(rows), NAMES, DRAW).frame.rows() for x in row
        )
        for blanks in ("match", "discount")
    }
    assert suppressed["match"] <= suppressed["discount"]


@settings(deadline=None, max_examples=40)
@given(rows_of, st.integers(1, 4), st.randoms())
def test_the_result_does_not_depend_on_the_order_of_the_records(rows, k, random):
    assume(len(rows) >= k)
    order = list(range(len(rows)))
    random.shuffle(order)
    straight = LocalSuppression(k=k).mask(data_of(rows), NAMES, DRAW).frame.rows()
    shuffled = LocalSuppression(k=k).mask(data_of([rows[row] for row in order]), NAMES, DRAW).frame.rows()
    assert [straight[row] for row in order] == shuffled


def test_a_larger_table_is_k_anonymous_by_the_measures_own_count():
    rng = np.random.default_rng(5)
    data = table({f"k{i}": rng.zipf(1.7, 2000).clip(max=12) for i in range(5)}, key=[f"k{i}" for i in range(5)])
    masked = LocalSuppression(k=3).mask(data, data.columns, DRAW)
    assert class_sizes(encode(masked, data.columns), len(data), wildcard=True).min() >= 3
    discounted = LocalSuppression(k=3, blanks="discount").mask(data, data.columns, DRAW)
    assert sum(masked.frame.null_count().row(0)) < sum(discounted.frame.null_count().row(0))


def test_important_attributes_are_suppressed_last():
    data = table({"b": [1, 1, 2, 2, 1], "c": [1, 1, 2, 2, 2]}, key=["b", "c"])
    assert LocalSuppression(k=2, importance={"c": 2}).mask(data, ["b", "c"], DRAW).frame["b"].to_list() == [1, 1, 2, 2, None]
    assert LocalSuppression(k=2, importance={"b": 2}).mask(data, ["b", "c"], DRAW).frame["c"].to_list() == [1, 1, 2, 2, None]


def test_a_risk_threshold_determines_k():
    assert [LocalSuppression(threshold=t).required_k for t in (1.0, 0.5, 0.3, 1 / 3, 0.2)] == [1, 2, 4, 3, 5]
    with pytest.raises(ValueError, match="either k or threshold"):
        LocalSuppression()
    with pytest.raises(ValueError, match="either k or threshold"):
        LocalSuppression(k=2, threshold=0.5)


def test_combinations_of_many_keys_and_values_are_distinguished():
    rng = np.random.default_rng(2)
    names = [f"k{i}" for i in range(64)]
    frame = {name: rng.integers(0, 40, 30) for name in names}
    frame["k0"] = np.zeros(30, dtype=np.int64)
    masked = LocalSuppression(k=3).mask(table(frame, key=names), names, DRAW)
    assert min(agreeing(masked.frame.rows())) >= 3


def test_sets_are_tried_in_increasing_order_of_cost():
    levels = list(sets_by_cost([1.0, 1.0, 3.0], 3))
    assert levels == [[(0,), (1,)], [(0, 1)], [(2,)], [(0, 2), (1, 2)], [(0, 1, 2)]]


def test_the_log_counts_suppressed_values_and_a_warning_names_unsafe_records():
    data = table({"sex": ["f", "f", "m", "m"], "town": ["A", "A", "A", "B"]}, key=["sex", "town"])
    method, keys = LocalSuppression(k=2), ["sex", "town"]
    masked = method.mask(data, keys, DRAW)
    assert "of 8 values suppressed" in method.notes(data, masked, keys)[0]
    assert method.broken(data, masked, masked, keys) == []
    assert "agree with fewer than 2" in method.broken(data, masked, data, keys)[0]
    assert method.notes(data, data, keys) == []


def test_impossible_requirements_raise_errors_that_say_why():
    data = table({"a": [1, 2]}, key=["a"])
    with pytest.raises(DataError, match="2 records cannot form a class of 3"):
        LocalSuppression(k=3).mask(data, ["a"], DRAW)
    with pytest.raises(DataError, match="needs keys"):
        LocalSuppression(k=3).check(data, [])
    with pytest.raises(ParameterError, match="names 'b', which is not a key"):
        LocalSuppression(k=2, importance={"b": 1}).check(data, ["a"])
    empty = table({"a": pl.Series([], dtype=pl.Int64)}, key=["a"])
    assert len(LocalSuppression(k=3).mask(empty, ["a"], DRAW)) == 0
