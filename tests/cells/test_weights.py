"""The sensitivity of a coarse cell is the largest weight of a value that it may stand for, value by value."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.engine.cells.weights import cell_weights, largest_weight
from discreet.engine.encoding.columns import encode_series, value_weights
from discreet.model.attribute import Attribute
from discreet.model.cells import ColumnCells, Group, Interval, Prefix, parse_cell

NUMBERS = [number / 2 for number in range(-8, 30)]
PAY = Attribute(sensitivity=0.5, values={"<2": 0.9, "4..6": 0.6, "8": 0.3}, default=0.1)
WORDS = ["Flu", "Fever", "Cold", "Mumps", "HIV"]
ILLNESS = Attribute(sensitivity=0.5, values={"Flu": 0.2, "HIV": 1.0, "Fever": 0.4}, default=0.1)


def of_values(inside: list[float | str], attribute: Attribute) -> float:
    """The definition; a cell may always stand for a value that is not listed."""
    return max([attribute.unlisted, *(attribute.value_weight(value) for value in inside)])


@given(st.integers(-4, 12), st.integers(1, 8), st.booleans(), st.booleans())
def test_an_interval_weighs_as_much_as_its_heaviest_number(low: int, width: int, first: bool, last: bool) -> None:
    interval = Interval(low, low + width, first, last)
    inside = [number for number in NUMBERS if number in interval]
    assert largest_weight(interval, PAY, "number") == of_values(inside, PAY)
    several = Group(frozenset({"8"}), frozenset({interval}))
    assert largest_weight(several, PAY, "number") == max(0.3, of_values(inside, PAY))


@given(st.sets(st.sampled_from(WORDS), min_size=1))
def test_a_group_weighs_as_much_as_its_heaviest_member(members: set[str]) -> None:
    assert largest_weight(Group(frozenset(members)), ILLNESS, "text") == max(ILLNESS.value_weight(word) for word in members)
    assert largest_weight(Group(frozenset(members), others=True), ILLNESS, "text") == 1.0


def test_a_group_of_light_members_weighs_little_though_unlisted_values_weigh_more() -> None:
    light = Attribute(sensitivity=1.0, values={"Cold": 0.05}, default=0.5)
    assert largest_weight(Group(frozenset({"Cold"})), light, "text") == 0.05


@pytest.mark.parametrize(("cell", "weight"), [("F", 0.4), ("H", 1.0), ("C", 0.1)])
def test_a_prefix_weighs_as_much_as_the_heaviest_listed_value_that_begins_so(cell: str, weight: float) -> None:
    longest = max(len(word) for word in WORDS)
    weights = [largest_weight(Prefix(cell, length), ILLNESS, "text") for length in range(1, longest + 1)]
    assert max(weights) == weight


def test_a_value_weighs_what_its_text_or_its_number_does() -> None:
    assert [largest_weight(text, PAY, "number") for text in ("8", "8.0", "5", "7")] == [0.3, 0.3, 0.6, 0.1]


def test_the_codes_of_a_column_weigh_by_what_their_labels_stand_for() -> None:
    column = encode_series(pl.Series("pay", ["low", "8", None, "*"]))
    cells = ColumnCells(kind="number", labels={"low": "<2"})
    weights = dict(zip([*column.values.to_list(), None], cell_weights(column, PAY, cells), strict=True))
    assert weights["low"] == pytest.approx(0.45)
    assert weights["8"] == pytest.approx(0.15)
    assert weights["*"] == weights[None] == pytest.approx(0.05), "what is not shown has the default"
    assert cell_weights(column, PAY, None).tolist() == value_weights(column, PAY).tolist()
    unweighted = PAY.model_copy(update={"values": {}})
    assert set(cell_weights(column, unweighted, cells)) == {unweighted.sensitivity * unweighted.unlisted}


def test_a_text_without_a_meaning_weighs_what_it_would_without_declared_labels() -> None:
    column, cells = encode_series(pl.Series("pay", ["low", "words"])), ColumnCells(kind="number", labels={"low": "<2"})
    assert cell_weights(column, PAY, cells)[1] == value_weights(column, PAY)[1]


def test_an_interval_of_days_is_not_compared_with_listed_intervals_of_numbers() -> None:
    may = parse_cell("2014-05", "date")
    assert isinstance(may, Interval)
    assert largest_weight(may, PAY, "date") == PAY.unlisted
