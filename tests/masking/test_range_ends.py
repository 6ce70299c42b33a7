"""Ends of published ranges: they hold every value of the group, and are no member's own value."""

from __future__ import annotations

import datetime
from collections import defaultdict
from decimal import Decimal

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.masking.microaggregation.method import Microaggregation
from discreet.masking.microaggregation.range_ends import nice_step, round_ends_outward
from discreet.model.cells import parse_interval
from discreet.testing import table

NOBODY = 10**9
"""More records than any value has, so that every end is rounded."""


def round_all(values):
    column = pl.Series(values).unique().sort()
    pairs = [(low, high) for low in range(len(column)) for high in range(low + 1, len(column))]
    low, high = (np.array(side, dtype=np.int64) for side in zip(*pairs, strict=True))
    first, last = round_ends_outward(column, low, high, np.ones(len(column), dtype=np.int64), NOBODY)
    return [
        (column[one], column[other], below, above)
        for one, other, below, above in zip(low.tolist(), high.tolist(), first, last, strict=True)
    ]


NUMBERS = [
    st.integers(-1000, 1000),
    st.integers(0, 400).map(lambda number: 25 * number),
    st.integers(-(2**62), 2**62),
    st.floats(-1e6, 1e6).map(lambda number: round(number, 2)),
    st.floats(allow_nan=False, allow_infinity=False),
    st.decimals(-1000, 1000, places=2),
    st.dates(datetime.date(1900, 1, 1), datetime.date(2100, 1, 1)),
    st.datetimes(datetime.datetime(1900, 1, 1), datetime.datetime(2100, 1, 1)),
]


@settings(deadline=None, max_examples=200)
@given(st.one_of(*(st.lists(numbers, min_size=2, max_size=6, unique=True) for numbers in NUMBERS)))
def test_a_rounded_range_holds_the_range_and_its_type_stays(values):
    if len(pl.Series(values).unique()) < 2:
        return
    for low, high, below, above in round_all(values):
        assert below <= low < high <= above
        assert type(below) is type(low)
        assert type(above) is type(high)


@settings(deadline=None, max_examples=100)
@given(st.lists(st.integers(0, 300), min_size=2, max_size=8, unique=True))
def test_the_ends_of_numbers_are_those_of_the_definition(values):
    unit = int(np.gcd.reduce(values)) or 1
    for low, high, below, above in round_all(values):
        widest = (high - low) // unit // 5
        step = unit * max(
            [multiple * 10**power for multiple in (1, 2, 5) for power in range(4) if 2 <= multiple * 10**power <= widest] or [2]
        )
        step = 5 * unit if low // step == high // step else step
        assert below == max(edge for edge in range(0, 301, step) if edge <= low)
        assert above + unit == min(edge for edge in range(0, 2000, step) if edge > high)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([23, 27], (22, 27)),
        ([6, 7], (5, 9)),
        ([7, 8], (6, 9)),
        ([21, 68], (20, 69)),
        ([1000, 9000, 4000], (0, 9000)),
        ([12.37, 18.02], (12.0, 18.99)),
        ([Decimal("0.10"), Decimal("0.25")], (Decimal("0.10"), Decimal("0.25"))),
        ([datetime.date(1949, 7, 6), datetime.date(1951, 3, 2)], (datetime.date(1949, 7, 1), datetime.date(1951, 3, 31))),
        ([datetime.date(1949, 7, 6), datetime.date(1981, 3, 2)], (datetime.date(1949, 1, 1), datetime.date(1981, 12, 31))),
    ],
)
def test_ends_are_written_down_for_some_ranges(values, expected):
    assert round_all(values)[0 if len(values) == 2 else 1][2:] == expected


def test_a_published_range_leaves_at_least_two_values_possible_at_each_end():
    """Whoever knows how ends are rounded still cannot tell the least or the largest value from the two published ends."""
    least, most = defaultdict(set), defaultdict(set)
    values = pl.Series(range(260))
    low, high = (np.array(side) for side in zip(*((a, b) for a in range(160) for b in range(a + 1, 260)), strict=True))
    below, above = round_ends_outward(values, low, high, np.ones(260, np.int64), 3)
    for own_low, own_high, end_low, end_high in zip(low.tolist(), high.tolist(), below, above, strict=True):
        least[end_low, end_high].add(own_low)
        most[end_low, end_high].add(own_high)
    inside = [ends for ends in least if ends[0] < 120 and ends[1] < 220]  # the other pairs are not all among those tried
    assert len(inside) > 500
    assert all(len(least[ends]) >= 2 and len(most[ends]) >= 2 for ends in inside)


def test_an_end_that_enough_records_hold_stays():
    data = table({"age": [20, 20, 20, 23, 24, 31]}, key=["age"])
    labels = Microaggregation(size=3, publish="ranges").mask(data, ["age"], draw=None).frame["age"].to_list()
    assert labels == ["20", "20", "20", "[22, 31]", "[22, 31]", "[22, 31]"]
    wide = Microaggregation(size=6, publish="ranges").mask(data, ["age"], draw=None).frame["age"].to_list()
    assert wide == ["[20, 31]"] * 6
    exact = Microaggregation(size=3, publish="ranges", ends="exact").mask(data, ["age"], draw=None).frame["age"].to_list()
    assert exact[3:] == ["[23, 31]"] * 3


def test_an_income_of_one_person_is_no_end_of_a_published_range():
    rng = np.random.default_rng(5)
    incomes = np.round(rng.lognormal(10, 0.7, 300), 2)
    data = table({"income": incomes.tolist(), "age": rng.integers(20, 80, 300).tolist()}, key=["income", "age"])
    release = Microaggregation(size=5, how="mdav", publish="ranges").mask(data, ["income", "age"], draw=None)
    intervals = [parse_interval(label) for label in release.frame["income"]]
    assert all(value in interval for value, interval in zip(incomes, intervals, strict=True))
    ends = {end for interval in intervals for end in (interval.lower, interval.upper)}
    assert len(ends & set(incomes.tolist())) <= 2, "an end may be a true value only by chance"


@pytest.mark.parametrize("most", range(60))
def test_a_nice_step_is_the_largest_that_fits(most):
    steps = [step for step in (2, 5, 10, 20, 50) if step <= most]
    assert nice_step(most) == (steps[-1] if steps else 2)
