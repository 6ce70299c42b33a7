"""Microdata: frozen tables that know who their records are."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from discreet.engine.encoding.columns import encode
from discreet.errors import DataError, PolicyError
from discreet.model.attribute import Level
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy


def policy(**attributes: dict[str, object]) -> Policy:
    return Policy.from_dict({"attributes": attributes})


def test_an_unknown_attribute_in_a_policy_is_reported_with_the_nearest_column() -> None:
    with pytest.raises(PolicyError, match="'agee' is not a column of the data; did you mean 'age'"):
        Microdata(pl.DataFrame({"age": [1]}), policy(agee={"role": "key"}))


def test_a_release_may_lack_its_identifiers() -> None:
    assert Microdata(pl.DataFrame({"age": [1]}), policy(name={"role": "identifier"})).columns == ["age"]


def test_nested_values_are_refused_by_name() -> None:
    with pytest.raises(DataError, match="'list' holds nested values"):
        Microdata(pl.DataFrame({"list": [[1, 2]]}))


def test_not_a_number_is_missing() -> None:
    assert Microdata(pl.DataFrame({"x": [1.0, float("nan")]})).frame["x"].null_count() == 1


def test_changing_a_column_leaves_the_old_table_and_keeps_other_codes() -> None:
    data = Microdata(pl.DataFrame({"a": [1, 2], "b": [3, 3]}))
    first, second = encode(data, ["a", "b"])
    changed = data.with_columns({"a": pl.Series("a", [9, 9])})
    assert data.frame["a"].to_list() == [1, 2]
    assert encode(changed, ["b"])[0] is second
    assert encode(changed, ["a"])[0] is not first


def test_taking_rows_keeps_their_record_numbers() -> None:
    data = Microdata(pl.DataFrame({"a": [1, 2, 3]}))
    assert data.take(np.array([2, 0])).records.tolist() == [2, 0]


def test_another_order_of_values_makes_other_codes() -> None:
    data = Microdata(pl.DataFrame({"a": ["low", "high"]}), policy(a={"order": ["low", "high"]}))
    assert encode(data, ["a"])[0].codes.tolist() == [0, 1]
    assert encode(data.with_policy(policy(a={"order": ["high", "low"]})), ["a"])[0].codes.tolist() == [1, 0]
    assert data.level("a") is Level.ORDINAL


def test_a_value_outside_the_order_is_named() -> None:
    data = Microdata(pl.DataFrame({"a": ["low", "mid"]}), policy(a={"order": ["low", "high"]}))
    with pytest.raises(DataError, match="'mid' of 'a'"):
        encode(data, ["a"])
