"""Which labels of a masked table are refused before anything is measured: unexplained ones, and ones that look like values."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import discreet
from discreet.assessment.unexplained_labels import check_ambiguous, check_explained
from discreet.errors import UnexplainedCellError
from discreet.model.cells import ColumnCells
from discreet.model.microdata import Microdata

TOWNS = {"groups": [{"north": ["Oslo", "Umea"], "south": ["Rome"]}]}


def table(values: list[Any], *, plan: dict[str, Any] | None = None, name: str = "town", **attribute: Any) -> Microdata:
    policy = {"attributes": {name: {"role": "key", **attribute}}, "plan": plan or {}}
    return discreet.read(pl.DataFrame({name: values}), policy)


def recoding(groups: dict[str, list[Any]], **more: Any) -> dict[str, Any]:
    return {"steps": [{"method": "global_recoding", "columns": ["town"], "groups": groups, **more}]}


@pytest.mark.parametrize("released", [["Oslo", "Rome"], ["Rome", None], ["north", "south"]])
def test_values_of_the_original_blanks_and_labels_of_the_hierarchy_are_explained(released: list[str | None]) -> None:
    check_explained(table(["Oslo", "Rome"], hierarchy=TOWNS), table(released))


@pytest.mark.parametrize("released", [["Oslo", "??"], ["?? and more"]])
def test_a_text_that_is_neither_value_nor_label_is_refused_with_its_column(released: list[str]) -> None:
    with pytest.raises(UnexplainedCellError, match=r"\?\?.*'town'|'town'.*\?\?"):
        check_explained(table(["Oslo", "Rome"], hierarchy=TOWNS), table(released))


def test_a_text_of_the_original_alone_needs_no_explanation() -> None:
    check_explained(table(["Oslo", "??", "Rome"]), table(["Oslo", "Rome"]))


def test_a_column_that_the_original_lacks_is_not_looked_at() -> None:
    check_explained(table(["Oslo"]), table(["??"], name="note"))
    check_ambiguous(table([1, 2], plan=recoding({"1": [1, 2]})), table([1], name="note"), {"note"})


def test_numbers_are_values_unless_the_column_says_that_they_are_labels() -> None:
    original, masked = table([1, 2]), table([7, 8])
    check_explained(original, masked)
    cells = {"town": ColumnCells(kind="number", labels={"7": "[1, 2]"})}
    check_explained(original, masked.with_cells(cells))


@pytest.mark.parametrize(
    ("original", "groups", "released"),
    [
        ([1, 2, 3], {"1": [2, 3], "9": [1]}, [1, 9]),
        ([1, 2, 3], {"1.0": [2, 3]}, [1, 2]),
        (["1", "2", "3"], {"1": ["2", "3"]}, ["1", "Rome"]),
    ],
    ids=["numbers", "1 and 1.0", "texts"],
)
def test_a_label_that_reads_like_a_number_of_its_column_is_refused(
    original: list[Any], groups: dict[str, list[Any]], released: list[Any]
) -> None:
    with pytest.raises(UnexplainedCellError, match=r"'1' in column 'town' is a label of the plan that reads like a value"):
        check_ambiguous(table(original, plan=recoding(groups)), table(released), {"town"})


@pytest.mark.parametrize(
    ("groups", "more", "released", "recoded"),
    [
        ({"1": [2, 3]}, {}, [1], set()),
        ({"1": [2, 3]}, {"enabled": False}, [1], {"town"}),
        ({"1": [2, 3]}, {}, [2, 3], {"town"}),
        ({"1": [1], "8": [2, 3]}, {}, [1], {"town"}),
        ({"north": [2, 3]}, {}, ["north", "1"], {"town"}),
    ],
    ids=["column is not recoded", "step is off", "no label among the values", "label of itself", "label that is no number"],
)
def test_what_cannot_be_mistaken_for_a_value_is_not_refused(
    groups: dict[str, list[Any]], more: dict[str, Any], released: list[Any], recoded: set[str]
) -> None:
    check_ambiguous(table([1, 2, 3], plan=recoding(groups, **more)), table(released), recoded)


def test_labels_of_another_column_are_not_mistaken_for_this_ones() -> None:
    frame = pl.DataFrame({"town": [1, 2, 3], "age": [1, 2, 3]})
    policy = {"attributes": {"town": {"role": "key"}, "age": {"role": "key"}}, "plan": recoding({"1": [2, 3]})}
    original = discreet.read(frame, policy)
    masked = discreet.read(pl.DataFrame({"town": [2, 3, 3], "age": [1, 2, 3]}), policy)
    check_ambiguous(original, masked, {"town", "age"})


def test_a_label_of_the_hierarchy_that_reads_like_a_number_is_refused() -> None:
    original = table(["10", "11", "20"], hierarchy={"groups": [{"1": ["10", "11"], "2": ["20"]}]})
    with pytest.raises(UnexplainedCellError, match="'1' in column 'town' is a label"):
        check_ambiguous(original, table([1, 1, 2]), {"town"})


def test_a_column_whose_labels_a_file_explains_is_not_ambiguous() -> None:
    cells = {"town": ColumnCells(kind="number", labels={"1": "[2, 3]"})}
    check_ambiguous(table([1, 2, 3], plan=recoding({"1": [2, 3]})), table([1]).with_cells(cells), {"town"})
