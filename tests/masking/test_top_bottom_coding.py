from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.engine.draws.draw import KeyedDraw
from discreet.errors import DiscreetError, ParameterError
from discreet.masking.top_bottom_coding.method import TopBottomCoding
from discreet.registry import create
from discreet.testing import table

DRAW = KeyedDraw(1)
values_ = st.lists(st.none() | st.integers(-20, 20), min_size=1, max_size=25).filter(lambda v: any(x is not None for x in v))


def code(method: TopBottomCoding, values: list) -> list:
    data = table({"x": values}, key=["x"])
    method.check(data, ["x"])
    return method.mask(data, ["x"], DRAW).frame["x"].to_list()


@settings(deadline=None, max_examples=100)
@given(values_, st.integers(-10, 0), st.integers(1, 10))
def test_values_beyond_a_limit_become_the_limit_and_others_stay(values, low, high):
    expected = [None if x is None else low if x <= low else high if x >= high else x for x in values]
    assert code(TopBottomCoding(bottom=low, top=high), values) == expected


@settings(deadline=None, max_examples=100)
@given(values_, st.integers(1, 5))
def test_a_count_codes_this_number_of_largest_values_and_their_ties(values, count):
    present = sorted(x for x in values if x is not None)
    if count >= len(present):
        with pytest.raises(ParameterError, match="top_count"):
            code(TopBottomCoding(top_count=count), values)
        return
    limit = present[-count]
    top = [x for x in present if x >= limit]
    coded = code(TopBottomCoding(top_count=count, replace="mean"), values)
    mean = math.fsum(top) / len(top)
    for old, new in zip(values, coded, strict=True):
        assert new == (None if old is None else pytest.approx(mean) if old >= limit else old)
    assert math.fsum(x for x in coded if x is not None) == pytest.approx(sum(present))


@settings(deadline=None, max_examples=60)
@given(values_, st.sampled_from([0.05, 0.1, 0.25, 0.5]))
def test_a_share_codes_the_rounded_up_number_of_values(values, share):
    present = sorted(x for x in values if x is not None)
    limit = present[math.ceil(round(share * len(present), 9)) - 1]
    assert code(TopBottomCoding(bottom_share=share), values) == [None if x is None else max(x, limit) for x in values]


def test_a_label_names_the_side_and_the_limit():
    assert code(TopBottomCoding(top=70, bottom=10, replace="label"), [5, 40, 80, None]) == ["<=10", "40", ">=70", None]


def test_coded_values_can_be_replaced_by_their_median():
    assert code(TopBottomCoding(top_count=3, replace="median"), [1, 2, 10, 20, 60]) == [1, 2, 20, 20, 20]


def test_a_later_step_that_restores_extremes_is_reported():
    data = table({"x": [1, 5, 9]}, key=["x"])
    method = TopBottomCoding(top=6)
    after = method.mask(data, ["x"], DRAW)
    assert method.broken(data, after, after, ["x"]) == []
    assert method.broken(data, after, data, ["x"]) == ["1 value of 'x' now lies beyond the coded extremes"]


@pytest.mark.parametrize(
    ("parameters", "rule"),
    [
        ({}, "needs a limit"),
        ({"top": 1, "top_share": 0.1}, "one limit per side"),
        ({"top": 1, "bottom": 2}, "below top"),
        ({"top_share": 0}, "greater than 0"),
        ({"top_count": 0}, "greater than or equal to 1"),
        ({"top": float("nan")}, "finite"),
    ],
)
def test_an_invalid_parameter_is_named_in_the_error(parameters, rule):
    with pytest.raises(ParameterError, match=rule):
        create("masking", "top_bottom_coding", parameters)


def test_unsuitable_data_are_an_error_before_anything_changes():
    for values, message in [(["a"], "needs numbers"), ([None], "needs"), ([3, 3, 3], "is not below")]:
        with pytest.raises(DiscreetError, match=message):
            code(TopBottomCoding(top_share=0.3, bottom_share=0.3), values)
