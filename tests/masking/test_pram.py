from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.engine.draws.draw import KeyedDraw
from discreet.errors import DiscreetError, ParameterError
from discreet.masking.pram.method import Pram
from discreet.masking.pram.transitions import change_categories, invariant_matrix, retention_matrix
from discreet.registry import create
from discreet.testing import table

N = 60_000
CATEGORIES = np.array(["a", "b", "c", "d"])
DATA = table(
    {"k": CATEGORIES[np.random.default_rng(4).choice(4, size=N, p=[0.5, 0.3, 0.15, 0.05])], "s": ["x", "y", "y"] * (N // 3)},
    key=["k", "s"],
)
MATRIX = {"a": {"a": 0.7, "b": 0.3}, "b": {"b": 1.0}, "c": {"a": 0.5, "c": 0.5}, "d": {"d": 0.9, "c": 0.1}}


def crossed(masked: pl.DataFrame) -> np.ndarray:
    """Shares of the new categories by old one."""
    old, new = (np.searchsorted(CATEGORIES, frame["k"].to_numpy()) for frame in (DATA.frame, masked))
    table_ = np.bincount(old * 4 + new, minlength=16).reshape(4, 4)
    return table_ / table_.sum(axis=1, keepdims=True)


def test_categories_change_with_the_probabilities_of_the_matrix_and_never_with_probability_0():
    shares = crossed(Pram(matrix=MATRIX).mask(DATA, ["k"], KeyedDraw(2)).frame)
    truth = np.array([[MATRIX[old].get(new, 0.0) for new in "abcd"] for old in "abcd"])
    assert np.allclose(shares, truth, atol=0.04)
    assert (shares[truth == 0] == 0).all()


def test_retention_keeps_that_share_and_spreads_the_rest_evenly():
    shares = crossed(Pram(retention=0.6).mask(DATA, ["k"], KeyedDraw(3)).frame)
    assert np.allclose(shares, retention_matrix(0.6, 4), atol=0.04)


def counted(frame: pl.DataFrame) -> np.ndarray:
    return np.bincount(np.searchsorted(CATEGORIES, frame["k"].to_numpy()), minlength=4)


@pytest.mark.parametrize("parameters", [{"retention": 0.5}, {"matrix": MATRIX}])
def test_invariant_pram_keeps_expected_frequencies(parameters):
    old, new = counted(DATA.frame), counted(Pram(**parameters, invariant=True).mask(DATA, ["k"], KeyedDraw(5)).frame)
    assert (np.abs(new - old) < 4 * np.sqrt(old)).all()
    plain = counted(Pram(**parameters).mask(DATA, ["k"], KeyedDraw(5)).frame)
    assert (np.abs(plain - old) > 4 * np.sqrt(old)).any(), "which a plain matrix does not"


@settings(deadline=None, max_examples=100)
@given(st.lists(st.integers(0, 50), min_size=1, max_size=6), st.data())
def test_the_invariant_matrix_has_the_counts_as_a_fixed_point(counts, data):
    size = len(counts)
    raw = np.array([data.draw(st.lists(st.integers(0, 9), min_size=size, max_size=size)) for _ in range(size)], dtype=float)
    raw += np.eye(size)
    matrix = invariant_matrix(raw / raw.sum(axis=1, keepdims=True), np.array(counts))
    assert np.allclose(matrix.sum(axis=1), 1)
    assert np.allclose(np.array(counts) @ matrix, counts, atol=1e-9)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(0, 9), min_size=1, max_size=7))
def test_equally_spaced_draws_give_each_category_with_its_probability(weights):
    if not sum(weights):
        return
    row, draws = np.array(weights) / sum(weights), 7 * 2000
    drawn = change_categories(np.zeros(draws, np.uint8), row[None, :], (np.arange(draws) + 0.5) / draws)
    counts = np.bincount(drawn, minlength=len(row))
    assert np.abs(counts - row * draws).max() <= len(row) + 1
    assert (counts[row == 0] == 0).all()


def test_within_strata_categories_stay_among_those_of_the_stratum_and_keep_frequencies():
    k = ["a", "b"] * 3000 + ["c", "d", "d"] * 2000
    data = table({"k": k, "s": ["one"] * 6000 + ["two"] * 6000}, key=["k", "s"])
    masked = Pram(retention=0.5, invariant=True, strata=("s",)).mask(data, ["k"], KeyedDraw(1)).frame
    counts = dict(masked.group_by("s", "k").len().select(pl.concat_str("s", "k"), "len").iter_rows())
    assert set(counts) == {"onea", "oneb", "twoc", "twod"}
    assert abs(counts["twoc"] - 2000) < 4 * np.sqrt(2000)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.none() | st.sampled_from("abc"), min_size=2, max_size=30), st.randoms())
def test_nulls_stay_and_the_release_does_not_depend_on_the_order_of_the_rows(values, random):
    data = table({"k": values, "s": [v == "a" for v in values]}, key=["k"])
    if len({v for v in values if v is not None}) < 2:
        return
    order = list(range(len(values)))
    random.shuffle(order)
    for method in (Pram(retention=0.5), Pram(invariant=True), Pram(invariant=True, strata=("s",))):
        masked = method.mask(data, ["k"], KeyedDraw(5)).frame["k"]
        masked_shuffled = method.mask(data.take(np.array(order)), ["k"], KeyedDraw(5)).frame["k"]
        assert masked[order].equals(masked_shuffled, null_equal=True)
        assert masked.is_null().to_list() == [value is None for value in values]


def test_numeric_codes_stay_numbers_and_booleans_stay_booleans():
    data = table({"k": [1, 2, 3] * 20, "b": [True, False, None] * 20}, key=["k", "b"])
    masked = Pram(retention=0.2).mask(data, ["k", "b"], KeyedDraw(1)).frame
    assert masked.schema == data.frame.schema
    assert not masked["k"].equals(data.frame["k"])
    all_true = Pram(matrix={"true": {"true": 1}, "false": {"true": 1}}).mask(data, ["b"], KeyedDraw(1)).frame["b"]
    assert all_true.drop_nulls().all()


@pytest.mark.parametrize(
    ("parameters", "rule"),
    [
        ({"matrix": {"a": {"a": 0.5, "b": 0.4}}}, "that of 'a' sums to 0.9"),
        ({"matrix": {"a": {"a": 2, "b": -1}}}, "less than or equal to 1"),
        ({"retention": 1.5}, "less than or equal to 1"),
        ({"retention": 0.5, "matrix": {"a": {"a": 1}}}, "not both"),
    ],
)
def test_an_invalid_parameter_is_named_in_the_error(parameters, rule):
    with pytest.raises(ParameterError, match=rule):
        create("masking", "pram", parameters)


@pytest.mark.parametrize(
    ("values", "method", "message"),
    [
        (["a", "b"], Pram(matrix={"a": {"a": 0.5, "z": 0.5}, "b": {"b": 1}}), "names 'z', which is not a category of 'x'"),
        (["a", "b"], Pram(matrix={"a": {"a": 1}}), "no row for the category 'b'"),
        (["a"], Pram(), "at least 2 categories"),
        ([None, None], Pram(), "null in every record"),
        ([1.5, 2.5], Pram(), "decimal"),
        (["a", "b"], Pram(strata=("x",)), "the step itself changes"),
    ],
)
def test_unsuitable_data_are_an_error_before_anything_changes(values, method, message):
    with pytest.raises(DiscreetError, match=message):
        method.check(table({"x": values}, key=["x"]), ["x"])
