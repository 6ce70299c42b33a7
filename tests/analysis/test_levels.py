"""Levels, orders, and the hierarchies that follow from them."""

from datetime import date

import polars as pl
import pytest

from discreet.analysis.hierarchies import propose_hierarchy
from discreet.analysis.levels import propose_level
from discreet.analysis.markers import find_missing_markers
from discreet.analysis.orders import SCALES, _ranks_of, detect_order, parse_band
from discreet.engine.cells.hierarchies import hierarchy_of
from discreet.engine.recognition.value_facts import facts_of
from discreet.model.attribute import Attribute, Level
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy


def facts(name, values):
    (column_facts,) = facts_of(Microdata(pl.DataFrame({name: pl.Series(values, strict=False)})))
    return column_facts


@pytest.mark.parametrize(
    ("name", "values", "level"),
    [
        ("height", [1.7, 1.8, 1.65], Level.NUMERIC),
        ("flag", [True, False], Level.NOMINAL),
        ("flag", [0, 1, 0], Level.NOMINAL),
        ("income", [45_500, 37_900], Level.NUMERIC),
        ("age", [4, 5], Level.NUMERIC),
        ("sex", [1, 2, 9], Level.NOMINAL),
        ("icd_code", [250, 401, 410], Level.NOMINAL),
        ("admission_type_id", [1, 2, 3, 4], Level.NOMINAL),
        ("q1", [11, 23, 98, 99], Level.NOMINAL),
        ("children", [0, 1, 2, 3], Level.NUMERIC),
        ("amount", [100, 200, 5000], Level.NUMERIC),
        ("num_medications", [1, 5, 18], Level.NUMERIC),
        ("when", [date(2020, 1, 1)], Level.DATE),
        ("when", ["2020-01-31", "1999-12-01"], Level.DATE),
        ("when", ["31.01.2020", "01.12.1999"], Level.DATE),
        ("when", ["2020-01-31 10:00:00"], Level.DATE),
        ("birth", [19791231, 20000101], Level.DATE),
        ("birth", [19791331, 20000101], Level.NUMERIC),
        ("zip", ["48201", "01234"], Level.NOMINAL),
        ("mood", ["low", "high"], Level.ORDINAL),
        ("colour", ["red", "blue"], Level.NOMINAL),
        ("empty", [None, None], Level.NOMINAL),
        ("none", [], Level.NOMINAL),
    ],
)
def test_the_level_follows_from_type_name_and_values(name, values, level):
    assert propose_level(facts(name, values)).level is level


def test_text_that_is_mostly_dates_stays_nominal_and_says_so():
    values = [f"2020-01-{day:02d}" for day in range(1, 29)] + ["unknown"]
    proposed = propose_level(facts("dob", values))
    assert proposed.level is Level.NOMINAL
    assert "are dates" in proposed.reason
    assert propose_hierarchy(facts("dob", values), proposed).prefixes == (7, 4, 3)


@pytest.mark.parametrize(
    "order",
    [
        ["low", "Medium", "HIGH"],
        ["niedrig", "mittel", "hoch"],
        ["Strongly disagree", "Disagree", "Neutral", "Agree", "Strongly agree"],
        ["never", "rarely", "sometimes", "often", "always"],
        ["jamais", "parfois", "toujours"],
        ["S", "M", "L", "XL"],
        ["Mon", "Tue", "Wed", "Sun"],
        ["Januar", "März", "Dezember"],
        ["Preschool", "9th", "HS-grad", "Some-college", "Bachelors", "Masters", "Doctorate"],
        ["primary", "secondary", "tertiary"],
        ["F", "D", "C", "B", "A", "A+"],
        ["<18", "18-64", "65+"],
        ["[0-10)", "[10-20)", "[90-100)"],
        ["<=50K", ">50K"],
        ["under 1,000", "1,000 - 1,999", "2,000 or more"],
        ["0", "1", "2", "3+"],
    ],
)
def test_values_on_a_known_scale_are_put_in_its_order(order):
    detected = detect_order(sorted(order))
    assert detected is not None
    assert list(detected[0]) == order


@pytest.mark.parametrize(
    "values",
    [["m", "f"], ["m", "s"], ["red", "low"], ["10", "20", "30"], ["yes", "no"], ["12345-6789", "48201-0001"], ["0-10", "5-8"]],
)
def test_other_words_have_no_order(values):
    assert detect_order(sorted(values)) is None


def test_a_scale_names_every_step_once():
    for scale in SCALES:
        names = [name for step in scale.steps.split(",") for name in step.split("|")]
        assert len(names) == len(_ranks_of(scale)), scale.name


def test_bands_of_numbers_are_parsed():
    assert parse_band("10-19") == (10, 19)
    assert parse_band("$1,000 to $2,000") == (1000, 2000)
    assert parse_band("50K-100K") == (50_000, 100_000)
    assert parse_band("20-10") is None
    assert parse_band("Q1") is None


@pytest.mark.parametrize(
    ("name", "values", "field", "expected"),
    [
        ("age", list(range(18, 90)), "widths", (5, 10, 20, 40)),
        ("birth_month", list(range(1, 13)), "widths", (3, 6)),
        ("zip", ["48201", "48202", "10001"], "prefixes", (4, 3, 2, 1)),
        ("zip", [1234, 48201, 99999], "widths", (10, 100, 1000, 10_000)),
        ("dob", [date(1980, 1, 1), date(1981, 1, 1), date(1999, 3, 4)], "dates", ("month", "quarter", "year", "decade")),
        ("dob", ["1980-01-01", "1981-01-01", "1999-03-04"], "dates", ("month", "quarter", "year", "decade")),
        ("dob", ["19800101", "19810101", "19990304"], "prefixes", (6, 4, 3)),
        ("dob", [19800101, 19810101, 19990304], "widths", (100, 10_000, 100_000)),
        ("height", [1.5, 1.62, 1.7, 2.01], "widths", (0.05, 0.1, 0.2, 0.4)),
        ("hours", [0, 20, 40, 99], "widths", (10, 20, 40, 80)),
    ],
)
def test_hierarchies_are_proposed_and_can_be_built(name, values, field, expected):
    column = facts(name, values)
    spec = propose_hierarchy(column, propose_level(column))
    assert getattr(spec, field) == expected
    data = Microdata(pl.DataFrame({name: values}), Policy(attributes={name: Attribute(hierarchy=spec)}))
    assert hierarchy_of(data, name).height == len(expected) + 1


def test_no_hierarchy_is_proposed_for_categories():
    column = facts("race", ["a", "b", "c"])
    assert propose_hierarchy(column, propose_level(column)) is None


def test_markers_of_missing_values_are_found_in_text():
    assert find_missing_markers(facts("x", ["?", "a", "b", "N/A"])) == ("?", "N/A")
    assert find_missing_markers(facts("country", ["NA", "DE", "?"])) == ("?",)
    assert find_missing_markers(facts("x", [1, 2])) == ()
