from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.engine.draws.draw import KeyedDraw
from discreet.errors import DiscreetError, ParameterError
from discreet.masking.swapping.method import Swapping
from discreet.masking.swapping.partners import pair_by_rank, random_bits
from discreet.registry import create
from discreet.testing import table


@settings(deadline=None, max_examples=150)
@given(st.integers(2, 60), st.integers(1, 60), st.integers(0, 1000))
def test_partners_are_mutual_and_within_the_window_and_nearly_all_have_one(number, window, seed):
    bits = random_bits(KeyedDraw(seed).uniform(np.arange(number)))
    partners = pair_by_rank(bits, window)
    assert (partners[partners] == np.arange(number)).all()
    assert (np.abs(partners - np.arange(number)) <= window).all()
    if window >= number - 1:
        assert (partners == np.arange(number)).sum() == number % 2


def test_partners_are_drawn_uniformly_from_the_whole_window():
    gaps = np.zeros(11)
    for seed in range(400):
        partners = pair_by_rank(random_bits(KeyedDraw(seed).uniform(np.arange(100))), 10)
        gaps[partners[0]] += 1
    assert (gaps[1:] > 15).all(), "the first record has ten free partners, each with chance 1/10"


def test_rank_swapping_stays_within_the_window_and_keeps_the_margin():
    values = np.random.default_rng(1).permutation(1000).astype(float)
    data = table({"x": values}, confidential=["x"])
    swapped = Swapping(window=3).mask(data, ["x"], KeyedDraw(2)).frame["x"].to_numpy()
    assert sorted(swapped) == sorted(values)
    assert np.abs(swapped - values).max() <= 30, "values are their own ranks"
    assert (swapped != values).mean() > 0.95


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(st.none() | st.integers(0, 9), st.sampled_from("ab")), min_size=4, max_size=30), st.randoms())
def test_the_release_does_not_depend_on_the_order_of_the_rows_and_margins_stay(rows, random):
    data = table({"x": [a for a, _ in rows], "s": [b for _, b in rows], "t": [a == 1 for a, _ in rows]}, key=["x", "s", "t"])
    if all(a is None for a, _ in rows):
        return
    order = list(range(len(rows)))
    random.shuffle(order)
    cases = [
        (Swapping(window=100), ["x"]),
        (Swapping(how="random", strata=("s",)), ["x"]),
        (Swapping(how="targeted", keys=("x",), smaller_than=3), ["s"]),
    ]
    for method, columns in cases:
        masked = method.mask(data, columns, KeyedDraw(5)).frame
        masked_shuffled = method.mask(data.take(np.array(order)), columns, KeyedDraw(5)).frame
        assert masked[order].equals(masked_shuffled)
        for name in data.columns:
            assert masked[name].sort().equals(data.frame[name].sort(), null_equal=True)
        if method.how == "rank":
            assert masked["x"].is_null().equals(data.frame["x"].is_null())


def test_random_swaps_stay_in_their_stratum_move_columns_together_and_reach_the_requested_share():
    n = 2000
    data = table({"a": list(range(n)), "b": [-i for i in range(n)], "s": [i % 4 for i in range(n)]}, key=["a", "b", "s"])
    swapped = Swapping(how="random", share=0.4, strata=("s",)).mask(data, ["a", "b"], KeyedDraw(3)).frame
    a = swapped["a"].to_numpy()
    assert (swapped["b"].to_numpy() == -a).all()
    assert (a % 4 == swapped["s"].to_numpy()).all()
    moved = a != np.arange(n)
    assert [int(moved[s::4].sum()) for s in range(4)] == [200] * 4


def test_targeted_swaps_move_every_record_at_risk_to_another_place_and_keep_the_counts_by_match():
    rng = np.random.default_rng(6)
    n = 3000
    data = table(
        {"place": rng.integers(0, 30, n), "age": rng.integers(0, 40, n), "sex": rng.integers(0, 2, n)},
        key=["place", "age", "sex"],
    )
    method = Swapping(how="targeted", smaller_than=2, match=("sex",))
    after = method.mask(data, ["place"], KeyedDraw(1))
    classes = data.frame.with_columns(size=pl.len().over("place", "age", "sex"))["size"].to_numpy()
    moved = (after.frame["place"] != data.frame["place"]).to_numpy()
    assert (classes == 1).sum() > 500
    assert moved[classes == 1].all()
    assert moved[classes > 1].mean() < 0.7, "others move only as partners"
    assert (
        after.frame.group_by("place", "sex")
        .len()
        .sort("place", "sex")
        .equals(data.frame.group_by("place", "sex").len().sort("place", "sex"))
    )
    notes = method.notes(data, after, ["place"])
    assert notes == [f"{(classes == 1).sum()} records at risk, {(classes == 1).sum()} of them swapped"]


def test_a_record_at_risk_without_a_partner_is_reported():
    data = table({"place": ["x", "x", "y", "y"], "age": [1, 2, 3, 3], "sex": ["f", "f", "m", "m"]}, key=["place", "age", "sex"])
    method = Swapping(how="targeted", smaller_than=2, match=("sex",))
    after = method.mask(data, ["place"], KeyedDraw(1))
    assert after.frame.equals(data.frame)
    assert "2 records at risk were not swapped" in method.notes(data, after, ["place"])[1]


@pytest.mark.parametrize(
    ("parameters", "rule"),
    [
        ({"window": 0}, "greater than 0"),
        ({"window": 101}, "less than or equal to 100"),
        ({"how": "random", "window": 5}, "window is allowed only with how: rank"),
        ({"strata": ["s"]}, "strata is allowed only with how: random"),
        ({"how": "targeted", "smaller_than": 1}, "greater than or equal to 2"),
        ({"how": "random", "share": 0}, "greater than 0"),
    ],
)
def test_an_invalid_parameter_is_named_in_the_error(parameters, rule):
    with pytest.raises(ParameterError, match=rule):
        create("masking", "swapping", parameters)


@pytest.mark.parametrize(
    ("values", "method", "message"),
    [
        ([1, 2, 3], Swapping(window=5), "less than 1 rank"),
        ([1], Swapping(), "at least 2 records"),
        (["a", "b"], Swapping(), "needs an order"),
        ([None, None], Swapping(), "null in every record"),
        ([1, 2], Swapping(how="random", strata=("x",)), "the step itself changes"),
        ([1, 2], Swapping(how="targeted"), "role key"),
    ],
)
def test_unsuitable_data_are_an_error_before_anything_changes(values, method, message):
    with pytest.raises(DiscreetError, match=message):
        method.check(table({"x": values}, key=["x"]), ["x"])
