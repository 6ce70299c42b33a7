"""The meanings that a masking step hands over with its labels."""

import polars as pl
import pytest

from discreet.engine.cells.handover import covers, describe_labels
from discreet.model.cells import ColumnCells, Group, Interval, Prefix, parse_cell
from discreet.model.hierarchy import Hierarchy
from discreet.testing import table

AGES = Hierarchy.from_rows((("10", "young", "*"), ("12", "young", "*"), ("40", "old", "*"), ("50", "old", "*")))


def describe(released, data=None, **options):
    data = table({"x": ["a", "b", "c"]}, key=["x"]) if data is None else data
    return describe_labels(data, "x", pl.Series("x", released), **options).labels


def test_a_list_of_plain_values_needs_no_entry_since_the_grammar_reads_it():
    assert describe(["{a|b}", "c"]) == {}


def test_a_list_of_earlier_labels_stands_for_what_these_stood_for():
    data = table({"x": ["1", "2", "c"]}, key=["x"]).with_cells({"x": ColumnCells(kind="text", labels={"1": "{a|b}", "2": "{d}"})})
    labels = describe(["{1|2}", "c"], data)
    assert parse_cell(labels["{1|2}"], "text") == Group(frozenset("abd"))


def test_a_label_without_a_meaning_of_its_own_gets_no_entry():
    assert describe(["seen", "a"], sources={"seen": []}, nominal={"seen": "seen"}) == {}


def test_leaves_without_another_between_them_become_a_closed_interval():
    data = table({"x": [10, 12, 40, 50]}, key=["x"])
    assert describe(["young", "old"], data, hierarchy=AGES) == {"young": "[10, 12]", "old": "[40, 50]"}
    between = Hierarchy.from_rows((("10", "young", "*"), ("12", "young", "*"), ("11", "old", "*"), ("50", "old", "*")))
    labels = describe(["young", "old"], data, hierarchy=between)
    assert parse_cell(labels["young"], "number") == Group(frozenset({"10", "12"})), "11 is in the other group"


def test_a_label_of_texts_stays_a_list_of_its_leaves():
    towns = Hierarchy.from_rows((("a", "north", "*"), ("b", "north", "*"), ("c", "south", "*")))
    assert parse_cell(describe(["north", "c"], hierarchy=towns)["north"], "text") == Group(frozenset("ab"))


@pytest.mark.parametrize(
    ("cell", "other", "expected"),
    [
        (Prefix("48", 4), "4810", True),
        (Prefix("48", 4), "4910", False),
        (Prefix("48", 4), "481", False),
        (Prefix("48", 4), Prefix("481", 4), True),
        (Prefix("481", 4), Prefix("48", 4), False),
        (Prefix("48", 4), Prefix("48", 5), False),
        (Group(frozenset({"4810"}), frozenset({Prefix("49", 4)})), "4911", True),
        (Group(frozenset({"4810"}), frozenset({Prefix("49", 4)}), True), "4911", False),
        (Group(frozenset({"a"})), Group(frozenset({"b"}), frozenset(), True), False),
        ("*", Group(frozenset({"b"}), frozenset(), True), True),
        ("a", "*", False),
        (Group(frozenset({"a"}), frozenset(), True), "*", False),
    ],
    ids=str,
)
def test_a_cell_covers_another_only_where_every_value_of_it_is_inside(cell, other, expected):
    assert covers(cell, other, "text") is expected


@pytest.mark.parametrize(
    ("cell", "other", "expected"),
    [
        (Interval(1, 5, True, False), "1", True),
        (Interval(1, 5, True, False), "5", False),
        (Interval(1, 5, True, False), Interval(1, 5, True, True), False),
        (Interval(1, 5, True, True), Interval(2, 5, True, False), True),
        ("5", "5.0", True),
        ("5", "6", False),
        (Interval(1, 5, True, False), "no number", False),
    ],
    ids=str,
)
def test_a_cell_of_numbers_covers_another_by_its_ends(cell, other, expected):
    assert covers(cell, other, "number") is expected
