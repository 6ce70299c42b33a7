"""Editing a hierarchy on a page: value_counts, rows and groups, and the way back."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import DataError
from discreet.model.attribute import Attribute
from discreet.model.policy import Policy
from discreet.web.projects import hierarchies

labels = st.sampled_from(["a", "b", "c"])
columns = st.lists(st.one_of(st.none(), st.sampled_from(["x", "y", "z", "é;", "0"])), max_size=20)


def write_column(folder: Path, values: list[str | None]) -> Path:
    place = folder / "column.parquet"
    pl.DataFrame({"records": pl.Series(values, dtype=pl.String)}).write_parquet(place)
    hierarchies._count_values.cache_clear()
    return place


@settings(max_examples=60)
@given(columns, st.booleans())
def test_value_counts_equal_a_plain_count_even_with_too_many_values_for_a_hierarchy(tmp_path_factory, values, many):
    place = write_column(tmp_path_factory.mktemp("column"), values)
    kept, hierarchies.MAX_LEAVES = hierarchies.MAX_LEAVES, 1 if many else 50_000
    try:
        value_counts = hierarchies.count_values(place, "records")
    finally:
        hierarchies.MAX_LEAVES = kept
    slow = Counter(value for value in values if value is not None)
    assert Counter(dict(value_counts.counts)) == slow
    assert (value_counts.nulls, value_counts.distinct, value_counts.records) == (values.count(None), len(slow), len(values))
    assert [count for _, count in value_counts.counts] == sorted(slow.values(), reverse=True)


@settings(max_examples=60)
@given(columns, st.dictionaries(st.sampled_from(["x", "y", "z", "é;", "0"]), labels))
def test_edited_groups_survive_a_round_trip_and_count_the_records_per_label(tmp_path_factory, values, chosen):
    value_counts = hierarchies.count_values(write_column(tmp_path_factory.mktemp("column"), values), "records")
    rows = [(leaf, [chosen.get(leaf, "")]) for leaf, _, _ in hierarchies.editor_rows(value_counts, None)]
    groups = hierarchies.groups_from_rows(rows)
    if not groups:
        assert all(label in ("", leaf) for leaf, (label,) in rows)
        return
    built = hierarchies.build_hierarchy(value_counts, Attribute.model_validate({"hierarchy": {"groups": groups}}))
    shown = dict(hierarchies.summarize_levels(value_counts, built)[1].largest)
    slow = Counter(chosen.get(value) or value for value in values if value is not None)
    assert shown == dict(slow)
    again = hierarchies.groups_from_rows([(leaf, marks) for leaf, _, marks in hierarchies.editor_rows(value_counts, built)])
    assert {label: set(members) for label, members in again[0].items()} == {
        label: set(members) for label, members in groups[0].items()
    }


def test_lines_of_a_hierarchy_file_are_parsed_without_the_top_level_star():
    rows = hierarchies.parse_text("48201;4820*;482**;*\n\n48202; 4820* ;482**;*\n")
    assert rows == [("48201", ["4820*", "482**"]), ("48202", ["4820*", "482**"])]
    assert hierarchies.groups_from_rows(rows) == [{"4820*": ["48201", "48202"]}, {"482**": ["4820*"]}]


def test_a_hierarchy_file_with_separators_in_its_values_survives_download_and_upload():
    rows = [("é;", 2, ['x "y"']), ("0", 1, ["", "b"]), ("z", 0, [])]
    text = hierarchies.format_text(rows)
    assert hierarchies.parse_text(text) == [("é;", ['x "y"', 'x "y"']), ("0", ["0", "b"]), ("z", ["z", "z"])]
    assert all(line.endswith(";*") for line in text.splitlines())


def test_a_file_that_is_no_csv_is_refused_in_a_sentence():
    with pytest.raises(DataError, match="cannot be read as rows value;label"):
        hierarchies.parse_text("a;" + "x" * 200_000)


def test_values_that_a_file_misses_are_named_and_values_that_the_data_lack_are_counted(tmp_path):
    counts = hierarchies.count_values(write_column(tmp_path, ["x", "y", "z", "z", None]), "records")
    rows, missing, others = hierarchies.fit_rows([("x", ["a"]), ("q", ["a"]), ("y", ["a"])], counts)
    assert rows == [("x", ("a",)), ("y", ("a",)), ("z", ())]
    assert (missing, others) == (["z"], 1)


sexes = st.sampled_from(["f", "m"])
states = st.sampled_from(["MI", "IN", "CA", None])


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(sexes, states), min_size=1, max_size=30))
def test_the_effect_of_a_level_equals_a_plain_count_of_classes(tmp_path_factory, records):
    place = tmp_path_factory.mktemp("effect") / "table.parquet"
    frame = pl.DataFrame(
        {"sex": [sex for sex, _ in records], "state": pl.Series([state for _, state in records], dtype=pl.String)}
    )
    frame.write_parquet(place)
    groups = {"Midwest": ["MI", "IN"], "West": ["CA"]}
    attribute = Attribute.model_validate({"role": "key", "hierarchy": {"groups": [groups]}})
    policy = Policy.from_dict({"attributes": {"sex": {"role": "key"}}})
    policy = policy.with_(attributes={**policy.attributes, "state": attribute})
    values = hierarchies.count_values(place, "state")
    if not values.distinct:
        return
    effect = hierarchies.measure_effect(place, policy, "state", hierarchies.build_hierarchy(values, attribute))
    coarse = {state: region for region, members in groups.items() for state in members}
    for level, recode in enumerate((lambda state: state, coarse.get, lambda state: state and "*")):
        classes = Counter((sex, recode(state)) for sex, state in records)
        shown = effect["levels"][level]
        assert shown["k"] == min(classes.values())
        assert shown["unique"] == sum(size == 1 for size in classes.values())
        assert shown["violating_5"] == sum(size for size in classes.values() if size < 5)
    assert hierarchies.measure_effect(place, policy.with_(attributes={}), "state", None) is None
