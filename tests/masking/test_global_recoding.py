from __future__ import annotations

import datetime
import itertools
import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import Policy
from discreet.engine.cells.hierarchies import hierarchy_of
from discreet.engine.draws.draw import KeyedDraw
from discreet.errors import DataError, DiscreetError, ParameterError
from discreet.masking.global_recoding.method import GlobalRecoding
from discreet.model.cells import parse_interval
from discreet.model.microdata import Microdata
from discreet.registry import create
from discreet.testing import table

DRAW = KeyedDraw(1)
numbers = st.lists(st.none() | st.floats(-1e6, 1e6) | st.integers(-50, 50).map(lambda n: n / 10), min_size=1, max_size=30)


def recode(method: GlobalRecoding, values: list, **roles) -> list:
    data = table({"x": values}, key=["x"])
    method.check(data, ["x"])
    return method.mask(data, ["x"], DRAW).frame["x"].to_list()


@settings(deadline=None, max_examples=60)
@given(numbers, st.sampled_from([0.1, 0.3, 1, 2.5, 10, 1000]), st.sampled_from([0.0, 0.05, -3.0]))
def test_every_number_is_in_its_interval_of_the_given_width(values, width, origin):
    if all(value is None for value in values):
        return
    for value, label in zip(values, recode(GlobalRecoding(width=width, origin=origin), values), strict=True):
        if value is None:
            assert label is None
        else:
            interval = parse_interval(label)
            assert value in interval
            assert math.isclose(interval.width, width, rel_tol=1e-5)


@settings(deadline=None, max_examples=100)
@given(numbers, st.lists(st.integers(-100, 100), min_size=1, max_size=4, unique=True))
def test_intervals_between_breaks_contain_their_numbers(values, breaks):
    if all(value is None for value in values):
        return
    bounds = [-math.inf, *sorted(breaks), math.inf]
    for value, label in zip(values, recode(GlobalRecoding(breaks=tuple(sorted(breaks))), values), strict=True):
        if value is None:
            assert label is None
        else:
            low, high = next((a, b) for a, b in itertools.pairwise(bounds) if a <= value < b)
            interval = parse_interval(label)
            assert (interval.lower, interval.upper) == (low, high)
            assert value in interval


def test_integers_and_floats_get_the_same_labels():
    method = GlobalRecoding(width=5)
    assert recode(method, [1, 7, None, -3]) == recode(method, [1.0, 7.0, None, -3.0]) == ["0..5", "5..10", None, "-5..0"]


def test_values_in_no_group_stay_or_become_other():
    values = ["Flu", "Cold", "HIV", None]
    assert recode(GlobalRecoding(groups={"mild": ("Flu", "Cold")}), values) == ["mild", "mild", "HIV", None]
    assert recode(GlobalRecoding(groups={"mild": ("Flu", "Cold")}, other="severe"), values) == ["mild", "mild", "severe", None]


def test_groups_without_a_name_are_written_as_their_members():
    assert recode(GlobalRecoding(groups=(("Flu", "Cold"),)), ["Flu", "Cold", "HIV"]) == ["{Cold|Flu}", "{Cold|Flu}", "HIV"]


def test_groups_of_numbers_match_their_texts():
    method = create("masking", "global_recoding", {"groups": {"low": [1, 2], "yes": [True]}})
    assert method.groups == {"low": ("1", "2"), "yes": ("true",)}
    assert recode(GlobalRecoding(groups={"low": ("1", "2")}), [1, 2, 3]) == ["low", "low", "3"]


def test_a_level_gives_the_labels_of_the_hierarchy():
    policy = Policy.from_dict({"attributes": {"zip": {"role": "key", "hierarchy": {"prefixes": [4, 3]}}}})
    data = Microdata(pl.DataFrame({"zip": ["48201", None, "49999"]}), policy)
    assert GlobalRecoding(level=2).mask(data, ["zip"], DRAW).frame["zip"].to_list() == ["482**", None, "499**"]
    with pytest.raises(ParameterError, match="has 3 levels"):
        GlobalRecoding(level=4).check(data, ["zip"])


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.dates(datetime.date(1000, 1, 1)), min_size=1, max_size=20),
    st.sampled_from(["week", "month", "quarter", "year", "decade"]),
)
def test_dates_get_the_labels_that_a_hierarchy_of_dates_has(days, unit):
    policy = Policy.from_dict({"attributes": {"day": {"role": "key", "hierarchy": {"dates": [unit]}}}})
    data = Microdata(pl.DataFrame({"day": days}), policy)
    hierarchy = hierarchy_of(data, "day")
    by_leaf = dict(zip(hierarchy.leaves, hierarchy.labels[1], strict=True))
    labels = GlobalRecoding(unit=unit).mask(data, ["day"], DRAW).frame["day"].to_list()
    assert labels == [by_leaf[str(day)] for day in days]


@pytest.mark.parametrize(
    ("parameters", "rule"),
    [
        ({}, "exactly one"),
        ({"width": 5, "breaks": [1]}, "exactly one"),
        ({"width": 0}, "greater than 0"),
        ({"breaks": [3, 1]}, "increasing"),
        ({"groups": {"a": ["x"], "b": ["x"]}}, "is in the groups"),
        ({"width": 5, "other": "rest"}, "other can only be used with groups"),
        ({"unit": "hour"}, "week"),
        ({"widht": 5}, "width"),
    ],
)
def test_an_invalid_parameter_is_named_in_the_error(parameters, rule):
    with pytest.raises(ParameterError, match=rule):
        create("masking", "global_recoding", parameters)


def test_unsuitable_data_are_refused_before_anything_changes():
    text, empty = table({"x": ["a"]}, key=["x"]), table({"x": [None, None]}, key=["x"])
    for method, data, message in [
        (GlobalRecoding(width=5), text, "needs numbers"),
        (GlobalRecoding(unit="year"), text, "needs dates"),
        (GlobalRecoding(groups={"g": ("b",)}), text, "no value of 'x'"),
        (GlobalRecoding(groups={"g": ("b",)}), empty, "null in every record"),
    ]:
        with pytest.raises(DiscreetError, match=message):
            method.check(data, ["x"])
    with pytest.raises(DataError, match="needs columns"):
        GlobalRecoding(width=5).check(text, [])
    with pytest.raises(DataError, match="infinite"):
        GlobalRecoding(width=5).check(table({"x": [1.0, np.inf]}, key=["x"]), ["x"])
