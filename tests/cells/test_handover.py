"""The meanings that a masking step hands over with its labels."""

import datetime
import math

import polars as pl
import pytest

from discreet.engine.cells.handover import covers, describe_labels, local_time_units_in_utc
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


@pytest.mark.parametrize(
    ("cell", "other", "expected"),
    [
        (Interval(0, 10), Group(frozenset({"1", "9"})), True),
        (Interval(0, 10), Group(frozenset({"1", "11"})), False),
        (Interval(0, 10), Group(frozenset({"1"}), frozenset({Interval(2, 3)})), True),
        (Interval(0, 10), Group(frozenset({"1"}), frozenset({Interval(2, 30)})), False),
        (Interval(0, 10), Group(frozenset({"1"}), frozenset({Interval(2, 3), Interval(2, 30)})), False),
        (Interval(0, 10), Group(frozenset({"11"}), frozenset({Interval(2, 3)})), False),
        (Interval(0, 10), Group(frozenset({"1"}), frozenset(), True), False),
        (Group(frozenset({"9"}), frozenset({Interval(1, 5)})), "3", True),
        (Group(frozenset({"9"}), frozenset({Interval(1, 5)})), "9", True),
        (Group(frozenset({"9"}), frozenset({Interval(1, 5)})), "7", False),
        (Group(frozenset({"1", "2", "3"})), Group(frozenset({"1", "3"})), True),
        (Group(frozenset({"1"}), frozenset({Interval(0, 5)})), Interval(1, 2), False),
        ("5", Interval(5, 5, True, True), False),
    ],
    ids=str,
)
def test_a_cell_of_numbers_covers_a_list_only_with_all_its_parts(cell, other, expected):
    assert covers(cell, other, "number") is expected


@pytest.mark.parametrize(("cell", "other"), [(Prefix("4", 2), Interval(1, 5)), (Interval(1, 5), Prefix("4", 2))], ids=str)
def test_cells_of_different_forms_do_not_cover_each_other(cell, other):
    assert covers(cell, other, "text") is False


NUMBERS = table({"x": [3, 12, 40]}, key=["x"])
STEPS = table({"x": ["low", "high", "12", "40"]}, key=["x"]).with_cells(
    {"x": ColumnCells(kind="number", labels={"low": "0..5", "high": "{60|70}"})}
)


@pytest.mark.parametrize(
    ("data", "options", "labels"),
    [
        # the grammar says the same, or more than is needed
        (NUMBERS, {"sources": {"0..10": ["3"]}}, {}),
        (NUMBERS, {"sources": {"12": ["12", "12.0"]}}, {}),
        (NUMBERS, {"sources": {"seen": []}}, {}),
        (NUMBERS, {"sources": {"*": ["3"]}, "nominal": {"few": Interval(0, 20)}}, {"few": "0..20"}),
        # it does not hold all that was replaced
        (NUMBERS, {"sources": {"0..10": ["3", "12"]}}, {"0..10": "{12|3}"}),
        (NUMBERS, {"sources": {"few": ["3", "12"]}, "nominal": {"few": Interval(0, 10)}}, {"few": "{12|0..10}"}),
        (NUMBERS, {"sources": {"few": ["3", "8"]}, "nominal": {"few": Interval(0, 10)}}, {"few": "0..10"}),
        # labels of an earlier step stand for what they stood for
        (STEPS, {"released": ["low", "12"]}, {"low": "0..5"}),
        (STEPS, {"sources": {"some": ["high", "12"]}}, {"some": "{12|60|70}"}),
        (STEPS, {"released": ["{low|12}"]}, {"{low|12}": "{12|0..5}"}),
        (STEPS, {"released": ["{12|40}"]}, {}),
        (STEPS, {"sources": {"0..10": ["0..2", "3"]}}, {}),
        (STEPS, {"sources": {"few": ["0..2", "12"]}, "hierarchy": AGES}, {"few": "{12|0..2}"}),
        (STEPS, {"nominal": {"few": Interval(0, 20)}}, {"few": "0..20"}),
        # leaves of a hierarchy become an interval that holds no other leaf
        (NUMBERS, {"sources": {"few": ["young", "40"]}, "hierarchy": AGES}, {"few": "[10, 40]"}),
        (NUMBERS, {"sources": {"few": ["young", "50"]}, "hierarchy": AGES}, {"few": "{10|12|50}"}),
        (NUMBERS, {"sources": {"one": ["10"]}, "hierarchy": AGES}, {"one": "10"}),
        (STEPS, {"sources": {"few": ["low", "10", "12"]}, "hierarchy": AGES}, {"few": "{10|12|0..5}"}),
    ],
    ids=str,
)
def test_a_label_stands_for_all_that_it_replaces(data, options, labels):
    released = options.get("released", [*options.get("sources", ()), *options.get("nominal", ())])
    found = describe(released, data, **{name: value for name, value in options.items() if name != "released"})
    assert {text: parse_cell(cell, "number") or cell for text, cell in found.items()} == {
        text: parse_cell(cell, "number") or cell for text, cell in labels.items()
    }


def test_labels_of_a_later_step_have_the_kind_of_the_original_values():
    assert [describe_labels(data, "x", pl.Series("x", ["low"])).kind for data in (STEPS, NUMBERS)] == ["number", "number"]


def test_a_label_that_is_also_a_leaf_is_the_leaf_where_another_label_replaces_it():
    tree = Hierarchy.from_rows((("a", "a", "*"), ("b", "a", "*"), ("c", "c", "*")))
    assert describe(["x", "a"], sources={"x": ["a", "c"]}, hierarchy=tree) == {"a": "{a|b}", "x": "{a|c}"}


def test_a_leaf_that_is_no_number_says_nothing_about_a_label_of_numbers():
    """A hierarchy file may have a line for missing values, which a column of numbers holds as nulls."""
    mixed = Hierarchy.from_rows((("10", "young", "*"), ("12", "young", "*"), ("NA", "young", "*"), ("40", "old", "*")))
    assert describe(["young"], table({"x": [10, 40]}, key=["x"]), hierarchy=mixed) == {"young": "[10, 12]"}


def test_truths_stay_a_list():
    truths = Hierarchy.from_rows((("true", "any", "*"), ("false", "any", "*")))
    assert describe(["any"], table({"x": [True, False]}, key=["x"]), hierarchy=truths) == {"any": "{false|true}"}


def test_days_of_a_time_zone_are_intervals_in_utc():
    found = local_time_units_in_utc(["2014-05", "2014", "words"], "Europe/Berlin")
    assert found == {
        "2014-05": Interval(datetime.datetime(2014, 4, 30, 22), datetime.datetime(2014, 5, 31, 22)),
        "2014": Interval(datetime.datetime(2013, 12, 31, 23), datetime.datetime(2014, 12, 31, 23)),
    }
    assert [local_time_units_in_utc(["2014-05"], zone) for zone in (None, "UTC")] == [{}, {}]


def test_days_at_both_ends_of_the_calendar_are_open_in_utc():
    (first,) = local_time_units_in_utc(["0001"], "Europe/Berlin").values()
    assert (first.lower, first.upper.year) == (-math.inf, 1)
    (last,) = local_time_units_in_utc(["9999-12-30T22:00..9999-12-31T22:00"], "America/New_York").values()
    assert (last.lower, last.upper) == (datetime.datetime(9999, 12, 31, 3), math.inf)
    (ever,) = local_time_units_in_utc([">=2014-01-05T10:00"], "Europe/Berlin").values()
    assert (ever.lower, ever.upper) == (datetime.datetime(2014, 1, 5, 9), math.inf)
