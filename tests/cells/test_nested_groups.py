"""Groups of values that a later step groups again are published as one group, and mean what they meant."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import discreet
from discreet.engine.cells.containment import read_containment
from discreet.engine.cells.nested_groups import flatten_groups
from discreet.engine.encoding.columns import encode_series
from discreet.masking.generate import generate
from discreet.model.cells import ColumnCells
from discreet.model.policy import Policy

STATUS = ["single", "married", "divorced", "widowed"]
RECODE = {"method": "global_recoding", "columns": ["status"], "groups": [["married", "single"]]}
GROUPING = [
    {"method": "microaggregation", "columns": ["age", "status"], "size": 8, "how": "mdav", "publish": "ranges"},
    {"method": "generalization", "columns": ["age", "status"], "k": 8, "algorithm": "partition"},
]


def people(records: int = 60) -> Any:
    rng = np.random.default_rng(3)
    frame = pl.DataFrame({"age": rng.integers(20, 30, records), "status": rng.choice(STATUS, records, p=[0.2, 0.2, 0.5, 0.1])})
    return discreet.read(frame, {"attributes": {"age": {"role": "key"}, "status": {"role": "key"}}})


@pytest.mark.parametrize("step", GROUPING, ids=lambda step: str(step["method"]))
def test_a_group_of_a_recoded_column_lists_values_and_no_groups(step: dict[str, Any]) -> None:
    """A stranger read labels such as '{single|\\{divorced\\|widowed\\}}' in a release."""
    data = people()
    release = generate(data, Policy.from_dict({"plan": {"steps": [RECODE, step]}}).plan).masked
    status = release.frame["status"]
    assert {"{married|single|widowed}", "{divorced|married|single}"} & set(status.to_list())
    assert not status.drop_nulls().str.contains("\\", literal=True).any()
    before, after = encode_series(data.frame["status"]), encode_series(status)
    contains = read_containment(before, after, cells=release.cells.get("status")).contains
    assert contains(after.codes, before.codes[release.records]).all(), "every label holds the true value"


def test_labels_of_a_hierarchy_are_written_as_their_members_in_ranges_of_categories() -> None:
    """Balanced ranges published '{5020|6\\*\\*\\*|7000}' and '{Cook|\\{direction\\|Waiter\\}}'."""
    codes = ["5020", "6010", "6020", "7000", "8000"]
    groups = [{"5020": ["5020"], "6***": ["6010", "6020"], "{7000|8000}": ["7000", "8000"]}]
    rng = np.random.default_rng(5)
    frame = pl.DataFrame({"code": rng.choice(codes, 40, p=[0.6, 0.1, 0.1, 0.1, 0.1])})
    data = discreet.read(frame, {"attributes": {"code": {"role": "key", "hierarchy": {"groups": groups}}}})
    step = {"method": "balanced_partition", "columns": ["code"], "criterion": "records", "k": 12}
    release = generate(data, Policy.from_dict({"plan": {"steps": [step]}}).plan).masked
    labels = release.frame["code"].unique().to_list()
    assert not any("\\" in label for label in labels), labels
    before, after = encode_series(data.frame["code"]), encode_series(release.frame["code"])
    contains = read_containment(before, after, cells=release.cells.get("code")).contains
    assert contains(after.codes, before.codes[release.records]).all()
    assert "{6***|7000|8000}" in labels


def test_a_value_of_the_original_that_looks_like_a_group_stays_a_value() -> None:
    data = discreet.read(pl.DataFrame({"code": ["{a|b}", "c", "c"]}), {"attributes": {"code": {"role": "key"}}})
    labels = pl.Series("code", [r"{c|\{a\|b\}}"] * 3)
    assert flatten_groups(data, "code", labels).to_list() == labels.to_list()
    of_a_step = data.with_columns({"code": pl.Series(["{a|b}", "c", "c"])}, {"code": ColumnCells(kind="text")})
    assert flatten_groups(of_a_step, "code", labels).to_list() == ["{a|b|c}"] * 3


def test_nested_intervals_are_joined() -> None:
    data = discreet.read(pl.DataFrame({"age": ["{1..5|9}", "20..30"]}), {"attributes": {"age": {"role": "key"}}})
    data = data.with_columns({"age": data.frame["age"]}, {"age": ColumnCells(kind="number")})
    labels = pl.Series("age", [r"{20..30|\{1..5\|9\}}", None])
    assert flatten_groups(data, "age", labels).to_list() == ["{1..5|20..30|9}", None]
