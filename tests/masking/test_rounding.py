from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.engine.draws.draw import KeyedDraw
from discreet.errors import DiscreetError, ParameterError
from discreet.masking.rounding.method import Rounding
from discreet.registry import create
from discreet.testing import table

values_ = st.lists(st.none() | st.integers(-(10**6), 10**6), min_size=1, max_size=30).filter(
    lambda v: any(x is not None for x in v)
)


@settings(deadline=None, max_examples=40)
@given(values_, st.sampled_from([1, 3, 10, 1000]), st.integers(0, 99))
def test_every_value_becomes_the_multiple_below_or_above_and_multiples_are_unchanged(values, base, seed):
    data = table({"x": values}, confidential=["x"])
    for how in ("nearest", "random", "controlled"):
        rounded = Rounding(base=base, how=how).mask(data, ["x"], KeyedDraw(seed)).frame["x"]
        assert rounded.dtype == data.frame.schema["x"]
        for old, new in zip(values, rounded.to_list(), strict=True):
            if old is None:
                assert new is None
                continue
            assert new in (math.floor(old / base) * base, math.ceil(old / base) * base)
            if how == "nearest":
                assert new == math.floor(old / base + 0.5) * base


@settings(deadline=None, max_examples=100)
@given(st.lists(st.tuples(st.floats(-50, 50), st.sampled_from("abc")), min_size=1, max_size=40), st.integers(0, 99))
def test_controlled_rounding_keeps_the_total_and_every_stratums_sum_within_base(rows, seed):
    data = table({"x": [a for a, _ in rows], "s": [b for _, b in rows]}, confidential=["x"], key=["s"])
    method = Rounding(base=7, how="controlled", strata=("s",))
    rounded = method.mask(data, ["x"], KeyedDraw(seed))
    for stratum in {None, *data.frame["s"]}:
        rows_ = [stratum in (None, s) for s in data.frame["s"]]
        assert abs(rounded.frame["x"].filter(rows_).sum() - data.frame["x"].filter(rows_).sum()) < 7 + 1e-9
    assert method.broken(data, rounded, rounded, ["x"]) == []


@pytest.mark.parametrize("how", ["random", "controlled"])
@pytest.mark.parametrize("values", [[1, 2, 3, 7, 9, 10, -4], [0.1, 2.25, 9.9, -3.5]])
def test_random_and_controlled_rounding_are_unbiased(how, values):
    data = table({"x": values}, confidential=["x"])
    draws = 1500
    total = sum(Rounding(base=10, how=how).mask(data, ["x"], KeyedDraw(seed)).frame["x"].to_numpy() for seed in range(draws))
    part = np.mod(values, 10) / 10
    assert (np.abs(total / draws - np.array(values)) <= 4.5 * 10 * np.sqrt(part * (1 - part) / draws) + 1e-9).all()


def test_large_whole_numbers_are_rounded_exactly_and_decimals_print_as_written():
    big = 2**60 + 7
    assert Rounding(base=10).mask(table({"x": [big]}, key=["x"]), ["x"], KeyedDraw(1)).frame["x"][0] == (big + 5) // 10 * 10
    assert Rounding(base=0.1).mask(table({"x": [0.32, 0.68]}, key=["x"]), ["x"], KeyedDraw(1)).frame["x"].to_list() == [0.3, 0.7]
    assert Rounding(base=0.5).mask(table({"x": [1, 2]}, key=["x"]), ["x"], KeyedDraw(1)).frame["x"].dtype == pl.Float64


@settings(deadline=None, max_examples=40)
@given(values_, st.randoms())
def test_the_release_does_not_depend_on_the_order_of_the_rows(values, random):
    data = table({"x": values}, confidential=["x"])
    order = list(range(len(values)))
    random.shuffle(order)
    for how in ("nearest", "random", "controlled"):
        method = Rounding(base=10, how=how)
        rounded = method.mask(data, ["x"], KeyedDraw(4)).frame
        assert rounded[order].equals(method.mask(data.take(np.array(order)), ["x"], KeyedDraw(4)).frame)


def test_a_later_step_that_changes_multiples_or_sums_is_reported():
    data = table({"x": [14, 23, 31], "s": ["a", "a", "b"]}, confidential=["x"])
    method = Rounding(base=10, how="controlled", strata=("s",))
    after = method.mask(data, ["x"], KeyedDraw(1))
    final = after.with_columns({"x": after.frame["x"] + 11})
    assert method.broken(data, after, after.take(np.array([0, 1])), ["x"]) != []
    assert method.broken(data, after, final, ["x"])[0] == "3 values of 'x' are no longer multiples of 10"
    assert "the sum of 'x' moved by 10 or more" in method.broken(data, after, final, ["x"])[1]


@pytest.mark.parametrize(
    ("parameters", "rule"),
    [
        ({}, "required"),
        ({"base": 0}, "greater than 0"),
        ({"base": 5, "how": "up"}, "nearest"),
        ({"base": 5, "strata": ["s"]}, "controlled"),
    ],
)
def test_an_invalid_parameter_is_named_in_the_error(parameters, rule):
    with pytest.raises(ParameterError, match=rule):
        create("masking", "rounding", parameters)


@pytest.mark.parametrize(("values", "message"), [(["a"], "needs numbers"), ([None], "needs"), ([float("inf")], "infinite")])
def test_unsuitable_data_are_an_error_before_anything_changes(values, message):
    with pytest.raises(DiscreetError, match=message):
        Rounding(base=5).check(table({"x": values}, key=["x"]), ["x"])
