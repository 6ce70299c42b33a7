"""Ends of published ranges: they hold every value of the group, and are no member's own value."""

from __future__ import annotations

import datetime
import math
from collections import Counter, defaultdict
from decimal import Decimal

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.engine.cells.range_ends import grid_cells, round_ends_outward
from discreet.engine.draws.draw import KeyedDraw
from discreet.masking.balanced_partition.method import BalancedPartition
from discreet.masking.generalization.method import Generalization
from discreet.masking.microaggregation.method import Microaggregation
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


STEPS = (2, 10, 50, 100, 500)


def slow_ends(low, high, keeps_low, keeps_high):
    """The definition: cells as sets, the largest step that is at most a fifth of the distance between both cells."""

    def cell(value, step, kept):
        return [value] if kept else [one for one in range(value - step, value + step) if one // step == value // step]

    fitting = [step for step in STEPS if 5 * step <= min(cell(high, step, keeps_high)) - max(cell(low, step, keeps_low))]
    step = max(fitting, default=2)
    first, last = cell(low, step, False), cell(high, step, False)
    if first == last and not (keeps_low and keeps_high):
        if not (keeps_low or keeps_high):
            first = last = cell(low, 2 * step, False)
        else:
            first, last = cell(low - step, step, False), cell(high + step, step, False)
    return min(first), max(last)


@settings(deadline=None, max_examples=300)
@given(st.integers(-600, 600), st.integers(1, 900), st.booleans(), st.booleans())
def test_the_ends_of_numbers_are_those_of_the_definition(low, width, keeps_low, keeps_high):
    kept = {"keeps_low": keeps_low, "keeps_high": keeps_high}
    assert grid_cells(low, low + width, **kept) == slow_ends(low, low + width, *kept.values())


@given(st.integers(-600, 600), st.integers(2, 900), st.booleans(), st.booleans())
def test_only_the_end_that_enough_records_hold_stays(low, width, keeps_low, keeps_high):
    values, frequencies = pl.Series([low, low + 1, low + width]), np.array([3 if keeps_low else 1, 1, 3 if keeps_high else 1])
    first, last = round_ends_outward(values, np.array([0]), np.array([2]), frequencies, 3)
    below, above = slow_ends(low, low + width, keeps_low, keeps_high)
    assert (first, last) == ([low if keeps_low else below], [low + width if keeps_high else above])


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([23, 27], (22, 27)),
        ([6, 7], (4, 7)),
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


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0.5, 0.75, 3.25], (0.5, 3.25)),
        ([float("-inf"), float("inf")], (float("-inf"), float("inf"))),
        ([datetime.time(1), datetime.time(2)], (datetime.time(1), datetime.time(2))),
        ([datetime.date(1, 1, 2), datetime.date(1, 1, 5)], (datetime.date(1, 1, 1), datetime.date(1, 1, 6))),
        ([datetime.date(9999, 12, 28), datetime.date(9999, 12, 31)], (datetime.date(9999, 12, 27), datetime.date(9999, 12, 31))),
        ([datetime.date(3, 5, 1), datetime.date(9998, 5, 1)], (datetime.date(1, 1, 1), datetime.date(9999, 12, 31))),
    ],
    ids=str,
)
def test_ends_without_a_next_number_or_day_stay(values, expected):
    ((below, above),) = [ends[2:] for ends in round_all(values) if ends[:2] == (min(values), max(values))]
    assert (below, above) == expected


def test_an_infinite_end_stays_and_finite_ends_of_the_same_column_are_rounded():
    for low, high, below, above in round_all([float("-inf"), 1.0, 8.0, float("inf")]):
        assert math.isfinite(low) or below == low
        assert math.isfinite(high) or above == high
        assert (low, high) != (1.0, 8.0) or (below, above) == (0.0, 9.0)


UNIT = datetime.timedelta(microseconds=1)
PERIODS = [
    *((f"{number}us", number * UNIT) for number in (2, 10, 100)),
    *((f"{number}ms", number * 1000 * UNIT) for number in (1, 2, 10, 100)),
    *((f"{number}s", datetime.timedelta(seconds=number)) for number in (1, 2, 10)),
    *((f"{number}m", datetime.timedelta(minutes=number)) for number in (1, 2, 10)),
    *((f"{number}h", datetime.timedelta(hours=number)) for number in (1, 2, 6)),
    *((name, datetime.timedelta(days=days)) for name, days in (("1d", 1), ("2d", 2), ("1w", 7))),
    *((name, datetime.timedelta(days=days)) for name, days in (("1mo", 31), ("1q", 92), ("1y", 366), ("10y", 3653))),
]


def cells_of(low, high, every, unit):
    """The first moment of the lower end's calendar period and the last one of the upper end's."""
    ends = pl.Series([low, high]).dt.truncate(every)
    return ends[0], ends.dt.offset_by(every)[1] - unit


@pytest.mark.parametrize("place", range(len(PERIODS)), ids=[name for name, _ in PERIODS])
def test_moments_are_rounded_to_the_longest_period_that_is_at_most_a_fifth_of_the_range(place):
    low = datetime.datetime(2014, 5, 13, 10, 47, 33, 123457)
    high = low + 5 * PERIODS[place][1]
    assert round_all([low, high])[0][2:] == cells_of(low, high, PERIODS[place][0], UNIT)
    if place:
        assert round_all([low, high - UNIT])[0][2:] == cells_of(low, high - UNIT, PERIODS[place - 1][0], UNIT)


@pytest.mark.parametrize(
    ("unit", "shortest", "next_one"),
    [
        (datetime.timedelta(days=1), "2d", "1w"),
        (datetime.timedelta(hours=1), "2h", "6h"),
        (datetime.timedelta(minutes=1), "2m", "10m"),
        (datetime.timedelta(seconds=1), "2s", "10s"),
        (1000 * UNIT, "2ms", "10ms"),
        (UNIT, "2us", "10us"),
    ],
    ids=str,
)
def test_a_cell_holds_two_units_and_two_values_that_fill_it_are_told_apart_from_others(unit, shortest, next_one):
    low = pl.Series([datetime.datetime(2014, 5, 13) + 7 * unit]).dt.truncate(shortest)[0]
    assert round_all([low, low + 3 * unit])[0][2:] == cells_of(low, low + 3 * unit, shortest, unit)
    values = pl.Series([low, low + unit])
    for frequencies, expected in (
        ([1, 1], cells_of(low, low + unit, next_one, unit)),
        ([3, 1], (low, low + 3 * unit)),
        ([1, 3], (low - 2 * unit, low + unit)),
        ([3, 3], (low, low + unit)),
    ):
        first, last = round_ends_outward(values, np.array([0]), np.array([1]), np.array(frequencies), 3)
        assert (first[0], last[0]) == expected


def test_the_unit_divides_every_moment_and_not_only_some():
    low, high = datetime.datetime(2014, 5, 13), datetime.datetime(2014, 5, 16, 5)
    assert round_all([low, high])[0][2:] == cells_of(low, high, "6h", datetime.timedelta(hours=1))


@pytest.mark.parametrize(("keeps_low", "keeps_high"), [(False, False), (True, False), (False, True)])
def test_a_published_range_leaves_at_least_two_values_possible_at_each_end(keeps_low, keeps_high):
    """Whoever knows how ends are rounded still cannot tell an end that few records hold from the two published ends."""
    least, most = defaultdict(set), defaultdict(set)
    for low in range(-60, 300):
        for high in range(low + 1, 420):
            below, above = grid_cells(low, high, keeps_low=keeps_low, keeps_high=keeps_high)
            ends = (low if keeps_low else below, high if keeps_high else above)
            least[ends].add(low)
            most[ends].add(high)
    inside = [ends for ends in least if ends[0] > 0 and ends[1] < 300]  # the other pairs are not all among those tried
    assert len(inside) > 500
    assert keeps_low or all(len(least[ends]) >= 2 for ends in inside)
    assert keeps_high or all(len(most[ends]) >= 2 for ends in inside)


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


def release_of(method, data):
    return method.mask(data, ["age", "income"], KeyedDraw(7)).frame


RANGE_METHODS = [
    pytest.param(lambda k, **ends: Generalization(k=k, algorithm="partition", **ends), id="Mondrian"),
    pytest.param(lambda k, **ends: Generalization(k=k, algorithm="partition", strict=False, **ends), id="relaxed Mondrian"),
    pytest.param(lambda k, **ends: BalancedPartition(criterion="records", k=k, **ends), id="balanced_partition"),
    pytest.param(lambda k, **ends: Microaggregation(size=k, how="mdav", publish="ranges", **ends), id="microaggregation"),
]


@pytest.mark.parametrize("make", RANGE_METHODS)
@settings(deadline=None, max_examples=25)
@given(rows=st.lists(st.tuples(st.integers(0, 30), st.integers(0, 60)), min_size=4, max_size=30), k=st.integers(2, 4))
def test_every_method_rounds_the_ends_that_fewer_than_k_records_hold(make, rows, k):
    data = table({"age": [age for age, _ in rows], "income": [income for _, income in rows]}, key=["age", "income"])
    exact, rounded = (release_of(make(k, ends=ends), data) for ends in ("exact", "rounded"))
    for name in ("age", "income"):
        values = data.frame[name]
        count = Counter(values)
        unit = int(np.gcd.reduce(values.to_numpy())) or 1
        for value, own, label in zip(values, exact[name].cast(pl.String), rounded[name].cast(pl.String), strict=True):
            if label is None or not label.startswith("["):
                assert label == own
                continue
            true, published = parse_interval(own), parse_interval(label)
            assert value in published
            kept = [count[true.lower] >= k, count[true.upper] >= k]
            ends = slow_ends(int(true.lower) // unit, int(true.upper) // unit, *kept)
            expected = [
                own_end if stays else unit * end for own_end, end, stays in zip((true.lower, true.upper), ends, kept, strict=True)
            ]
            assert [published.lower, published.upper] == expected


@pytest.mark.parametrize("make", RANGE_METHODS)
def test_no_method_publishes_the_income_of_one_person_as_an_end(make):
    rng = np.random.default_rng(5)
    incomes = np.round(rng.lognormal(10, 0.7, 300), 2)
    data = table({"income": incomes.tolist(), "age": rng.integers(20, 80, 300).tolist()}, key=["income", "age"])
    intervals = [parse_interval(label) for label in release_of(make(5), data)["income"]]
    assert all(value in interval for value, interval in zip(incomes, intervals, strict=True))
    ends = {end for interval in intervals for end in (interval.lower, interval.upper)}
    assert len(ends & set(incomes.tolist())) <= 2, "an end may be a true value only by chance"


def test_persons_that_hold_an_end_are_counted_once_where_groups_are_of_persons():
    """One person has the least age in three records: no reason to publish it."""
    data = table({"who": [1, 1, 1, 2, 3, 4], "age": [21, 21, 21, 24, 30, 33]}, person=["who"], key=["age"])
    by_person = BalancedPartition(criterion="persons", k=3).mask(data, ["age"], KeyedDraw(7)).frame["age"].to_list()
    assert by_person == ["[18, 33]"] * 6  # all ages are multiples of 3: 18 or 21
    by_record = BalancedPartition(criterion="records", k=3).mask(data, ["age"], KeyedDraw(7)).frame["age"].to_list()
    assert by_record[:3] == ["21"] * 3
