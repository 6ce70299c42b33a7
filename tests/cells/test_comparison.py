"""Released cells beside the original values: remembered comparisons, ordinal attributes, and equal values of other types."""

import dataclasses

import numpy as np
import polars as pl
import pytest

from discreet.engine.cells.comparison import LinkedRows, compare_cells, is_unchanged, link_rows
from discreet.model.attribute import Level
from discreet.model.cells import ColumnCells
from discreet.model.hierarchy import HierarchySpec
from discreet.testing import table


def linked(data):
    return LinkedRows(np.arange(len(data)), np.arange(len(data)))


def released(data, **columns):
    """The table with other values in some columns."""
    return data.with_columns({name: pl.Series(name, values) for name, values in columns.items()})


def test_a_remembered_comparison_is_the_one_that_would_be_made_again():
    data = table({"age": [20, 35, 50]}, key=["age"])
    masked = released(data, age=["20", "30..40", "60..70"])
    once = compare_cells(data, masked, "age", linked(data))
    masked.remember_derived()
    first = compare_cells(data, masked, "age", linked(data))
    assert compare_cells(data, masked, "age", linked(data)) is first
    assert (first.false.tolist(), first.same.tolist()) == (once.false.tolist(), once.same.tolist()) == (
        [False, False, True], [True, False, False],
    )  # fmt: skip


def test_a_comparison_with_one_original_does_not_answer_for_another():
    data, other = table({"age": [20, 35]}, key=["age"]), table({"age": [21, 35]}, key=["age"])
    masked = released(data, age=["20", "30..40"])
    masked.remember_derived()
    assert compare_cells(data, masked, "age", linked(data)).false.tolist() == [False, False]
    assert compare_cells(other, masked, "age", linked(other)).false.tolist() == [True, False]


def test_a_label_outside_the_owners_order_is_compared_all_the_same():
    data = table({"size": ["small", "large", "medium"]}, key=["size"])
    ordered = data.policy.attributes["size"].model_copy(update={"order": ["small", "medium", "large"]})
    data = data.with_policy(data.policy.with_(attributes={"size": ordered}))
    masked = released(data, size=["{small|medium}", "large", "small"])
    assert compare_cells(data, masked, "size", linked(data)).false.tolist() == [False, False, True]


def test_a_label_of_the_hierarchy_is_compared_though_the_owners_order_does_not_list_it():
    data = table({"size": ["small", "large", "medium"]}, key=["size"])
    spec = HierarchySpec(groups=[{"big": ["medium", "large"], "little": ["small"]}])
    ordered = data.policy.attributes["size"].model_copy(update={"order": ["small", "medium", "large"], "hierarchy": spec})
    data = data.with_policy(data.policy.with_(attributes={"size": ordered}))
    assert compare_cells(data, released(data, size=["big"] * 3), "size", linked(data)).false.tolist() == [True, False, False]


def test_a_comparison_of_some_rows_is_not_answered_by_that_of_all():
    data = table({"age": [20, 35, 50]}, key=["age"])
    masked = released(data, age=["20", "30..40", "60..70"])
    masked.remember_derived()
    assert compare_cells(data, masked, "age", linked(data)).false.tolist() == [False, False, True]
    some = LinkedRows(np.array([2, 1]), np.array([2, 1]))
    assert compare_cells(data, masked, "age", some).false.tolist() == [True, False]


def test_declared_labels_and_the_level_of_an_attribute_decide_what_its_cells_are():
    data = table({"code": [1, 2, 5]}, key=["code"])
    nominal = data.policy.attributes["code"].model_copy(update={"level": Level.NOMINAL})
    for policy, share in ((data.policy, 0.25), (data.policy.with_(attributes={"code": nominal}), 2 / 3)):
        original = data.with_policy(policy)
        masked = released(original, code=["low", "low", "5"]).with_cells(
            {"code": ColumnCells(kind="number", labels={"low": "[1, 2]"})}
        )
        compared = compare_cells(original, masked, "code", linked(original))
        assert compared.false.tolist() == [False] * 3
        assert compared.containment.share[compared.new].tolist() == pytest.approx([share, share, 0.0])


@pytest.mark.parametrize("values", [[20, 35], ["20", "35"], [20.0, 35.0]], ids=["same type", "text", "float"])
def test_a_value_written_in_another_type_is_contained(values):
    data = table({"age": [20, 35]}, key=["age"])
    compared = compare_cells(data, released(data, age=values), "age", linked(data))
    assert compared.contained.tolist() == [True, True]
    assert compared.same.tolist() == ([False, False] if isinstance(values[0], float) else [True, True])


def test_only_a_table_that_is_the_original_row_by_row_is_unchanged():
    data = table({"age": [20, 20, 35]}, key=["age"])
    assert is_unchanged(data, data, "age", linked(data))
    assert is_unchanged(data, released(data, age=[20, 20, 35]), "age", linked(data))
    assert not is_unchanged(data, released(data, age=[20, 20, 36]), "age", linked(data))
    assert not is_unchanged(data, released(data, age=[20.0, 20.0, 35.0]), "age", linked(data))
    shuffled = data.take(np.array([1, 0, 2]))
    assert shuffled.frame["age"].equals(data.frame["age"])
    assert not is_unchanged(data, shuffled, "age", link_rows(data, shuffled))
    assert not is_unchanged(shuffled, data, "age", link_rows(shuffled, data))
    assert not is_unchanged(data, data, "age", LinkedRows(np.arange(2), np.arange(2))), "only some records are linked"


def test_tables_of_other_files_and_lengths_are_not_linked():
    data = table({"age": [20, 35, 50]}, key=["age"])
    assert link_rows(data, dataclasses.replace(table({"age": [20, 35]}, key=["age"]), source="another file")) is None
    some = link_rows(data, data.take(np.array([2, 0])))
    assert (some.masked.tolist(), some.original.tolist()) == ([0, 1], [2, 0])
