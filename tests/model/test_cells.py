"""Coarse values as text: what is written is read again."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.model.cells import Group, Interval, parse_group, parse_interval

NUMBERS = st.one_of(st.integers(-1000, 1000).map(float), st.floats(allow_nan=False, allow_infinity=False, width=32).map(float))


@given(NUMBERS, NUMBERS, st.booleans(), st.booleans())
def test_an_interval_is_read_as_it_was_written(one: float, other: float, lower: bool, upper: bool) -> None:
    interval = Interval(min(one, other), max(one, other), lower, upper)
    assert parse_interval(str(interval)) == interval


@given(st.sets(st.text(max_size=5), min_size=1, max_size=4))
def test_a_group_round_trips_whatever_characters_its_names_contain(members: set[str]) -> None:
    group = Group(frozenset(members))
    assert parse_group(str(group)) == group


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [("<5", 4.9, 5), ("<=5", 5, 5.1), (">5", 5.1, 5), (">=5", 5, 4.9), ("1..3", 1, 3), ("[1, 3]", 3, 3.1), ("(1, 3]", 3, 1)],
)
def test_bounds_are_inside_or_outside_as_written(text: str, inside: float, outside: float) -> None:
    interval = parse_interval(text)
    assert interval is not None
    assert inside in interval
    assert outside not in interval


@pytest.mark.parametrize("text", ["", "5", "a..b", "[1, 2", "1...2", "Flu", "{a", "a|b"])
def test_texts_that_are_neither_intervals_nor_groups_parse_to_none(text: str) -> None:
    assert parse_interval(text) is None
    assert parse_group(text) is None


def test_an_interval_open_on_both_sides_is_written_as_a_star() -> None:
    assert str(Interval(-math.inf, math.inf, False, False)) == "*"


@pytest.mark.parametrize("text", ["1e999..70", "[inf, inf]", ">1e400", "<-inf", "(3, -inf]"])
def test_an_interval_beyond_all_numbers_is_a_value(text: str) -> None:
    assert parse_interval(text) is None
