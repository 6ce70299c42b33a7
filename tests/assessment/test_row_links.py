"""A masked table beside its original: when the pairing of rows is in doubt, and where the meaning of labels comes from."""

from __future__ import annotations

import dataclasses
import pickle
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

import discreet
from discreet.assessment.row_links import (
    _doubt_of_unmasked_columns,
    _doubts_about_order,
    masked_columns,
    with_policy_labels,
)
from discreet.engine.cells.comparison import link_rows
from discreet.engine.encoding.record_links import original_rows
from discreet.model.microdata import Microdata

ROUNDING = {"method": "rounding", "columns": ["age"], "base": 10}


def table(columns: dict[str, list[Any]], records: list[int] | None = None, **sections: Any) -> Microdata:
    attributes = {name: {"role": "key"} for name in columns}
    data = discreet.read(pl.DataFrame(columns), {"attributes": attributes, **sections})
    return data if records is None else data.replace(data.frame, np.array(records))


ORIGINAL = table({"age": [31, 42, 53], "town": [1, 2, 3]}, plan={"steps": [ROUNDING]})


@pytest.mark.parametrize(
    ("town", "records"),
    [([1, 3, 2], [0, 1, 2]), ([1.0, 3.0, 2.0], [0, 1, 2]), ([1, 2, 3], [0, 2, 1]), ([None, 1, 2], [0, 1, 2])],
    ids=["reordered", "reordered and read as floats", "linked otherwise", "with a blank"],
)
def test_an_unmasked_column_with_the_originals_values_in_other_rows_is_a_doubt(town: list[Any], records: list[int]) -> None:
    original = table({"age": [31, 42, 53], "town": [1, 2, None]}, plan={"steps": [ROUNDING]}) if None in town else ORIGINAL
    doubt = _doubt_of_unmasked_columns(table({"age": [30, 40, 50], "town": town}, records), original)
    assert doubt is not None
    assert doubt.startswith("column 'town' of the frame has the values of the frame, but in other rows")


@pytest.mark.parametrize(
    ("columns", "records"),
    [
        ({"age": [42, 31, 53]}, [0, 1, 2]),
        ({"town": [1, 3, 2]}, [0, 2, 1]),
        ({"town": [1, 3, 9]}, [0, 1, 2]),
        ({"town": [2, 1]}, [0, 1]),
        ({"town": [1, 3, 2]}, [0, -1, 2]),
        ({"town": [1, 3, 2]}, [0, 1, 1]),
        ({"town": [1, 3, 2]}, [2, 0, 1]),
        ({"note": [1, 3, 2]}, [0, 1, 2]),
        ({"town": ["2", "1", "3"]}, [0, 1, 2]),
    ],
    ids=[
        "masked column", "in the rows of their records", "other values", "fewer rows", "simulated row", "record twice",
        "linked to other rows throughout", "column of the release alone", "other type",
    ],
)  # fmt: skip
def test_rows_are_not_doubted_where_nothing_shows_that_they_were_reordered(
    columns: dict[str, list[Any]], records: list[int]
) -> None:
    assert _doubt_of_unmasked_columns(table(columns, records), ORIGINAL) is None


def test_the_columns_that_steps_mask_are_those_they_name_and_those_they_choose() -> None:
    data = ORIGINAL.with_policy(ORIGINAL.policy.with_(plan=_plan(ROUNDING, {"method": "local_suppression", "k": 2})))
    assert masked_columns(data) == {"age", "town"}
    assert masked_columns(ORIGINAL) == {"age"}
    off = ORIGINAL.with_policy(ORIGINAL.policy.with_(plan=_plan({**ROUNDING, "enabled": False})))
    assert masked_columns(off) == set()


def _plan(*steps: dict[str, Any]) -> Any:
    return type(ORIGINAL.policy).from_dict({"plan": {"steps": list(steps)}}).plan


CELLS = {"town": {"kind": "number", "labels": {"low": "[1, 2]"}}, "age": {"kind": "number"}, "gone": {"kind": "text"}}


def test_labels_of_a_release_stand_for_what_the_policy_says_unless_a_file_says_so() -> None:
    original = table({"age": [31, 42], "town": [1, 2]}, cells=CELLS)
    masked = table({"age": [30, 40], "town": ["low", "low"]})
    assert dict(with_policy_labels(masked, original).cells) == {name: original.policy.cells[name] for name in ("town", "age")}
    own = masked.with_cells({"town": original.policy.cells["age"]})
    assert with_policy_labels(own, original).cells["town"] == original.policy.cells["age"]


def test_a_table_measured_alone_holds_labels_in_columns_of_text_only() -> None:
    alone = table({"age": [31, 42], "town": ["low", "low"]}, cells=CELLS)
    assert set(with_policy_labels(alone).cells) == {"town"}
    plain = table({"age": [31, 42], "town": [1, 2]}, cells=CELLS)
    assert with_policy_labels(plain) is plain


def test_the_apostrophe_before_a_formula_is_taken_off_and_other_columns_stay() -> None:
    original = table({"town": ["=A1", "Rome"], "age": ["x", "y"]})
    masked = table({"town": ["'=A1", "Rome"], "age": ["x", "y"], "note": ["'=B2", "n"]})
    labelled = with_policy_labels(masked, original)
    assert labelled.frame["town"].to_list() == ["=A1", "Rome"]
    assert labelled.frame["note"].to_list() == ["'=B2", "n"]


@pytest.mark.parametrize(
    ("changes", "steps", "doubted"),
    [
        ({}, [ROUNDING], True),
        ({"is_initial": False}, [ROUNDING], False),
        ({"source": "original.csv"}, [ROUNDING], False),
        ({"order": "kept"}, [ROUNDING], False),
        ({}, [], False),
    ],
    ids=["read again", "made here", "the original itself", "order kept", "no plan"],
)
def test_a_release_read_again_on_another_engine_may_have_another_order(
    changes: dict[str, Any], steps: list[dict[str, Any]], doubted: bool
) -> None:
    plan = _plan(*steps).model_copy(update={"order": changes.get("order", "shuffled")})
    masked: Any = SimpleNamespace(is_initial=changes.get("is_initial", True), source=changes.get("source", "release.csv"))
    original: Any = SimpleNamespace(source="original.csv", policy=ORIGINAL.policy.with_(plan=plan))
    doubts = _doubts_about_order(masked, original)
    assert bool(doubts) is doubted
    assert all("the rows of release.csv are taken for those of original.csv in their order" in doubt for doubt in doubts)


def test_a_release_without_the_last_records_is_linked_and_a_file_as_short_is_not() -> None:
    """Sampling 8 of 10 records keeps the first 8 in one draw of 45, and its assessment was incomplete then."""
    first = ORIGINAL.take(np.array([0, 1]))
    for release in (first, first.with_policy(ORIGINAL.policy), pickle.loads(pickle.dumps(first))):
        assert original_rows(release, ORIGINAL).tolist() == [0, 1]
        assert link_rows(ORIGINAL, release) is not None
    short = table({"age": [31, 42], "town": [1, 2]})
    for file in (short, short.with_policy(ORIGINAL.policy), pickle.loads(pickle.dumps(short))):
        assert original_rows(file, ORIGINAL) is None
        assert link_rows(ORIGINAL, file) is None


def test_an_assessment_is_complete_whichever_records_a_sample_leaves_out() -> None:
    numbers = {"age": [20 + 10 * (row // 4) for row in range(12)], "town": [row // 6 for row in range(12)]}
    data = table(numbers, plan={"steps": [ROUNDING]}, limits={"k_anonymity.k": 1})
    for left_out in (0, 5, 11):
        release = discreet.mask(data)
        kept = np.delete(np.arange(12), left_out)
        shorter = dataclasses.replace(release, masked=release.masked.take(kept))
        assert discreet.assess(data, shorter).gaps == discreet.assess(data, release).gaps
