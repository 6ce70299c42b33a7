"""A plug-in of another distribution runs on Spark through the public verb, by the work that its class declares."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

import discreet
from discreet import registry
from discreet.errors import DataError
from discreet.testing import hospital, table


def test_the_example_plug_in_has_the_same_numbers_on_both_engines(to_spark: Callable[..., Any]) -> None:
    data = hospital(120)
    local = discreet.risk(data, {"rare_values": {"least": 4}})["rare_values"]
    on_spark = discreet.risk(to_spark(data, 3), {"rare_values": {"least": 4}})["rare_values"]
    assert on_spark.to_dict() == pytest.approx(local.to_dict(), rel=1e-9)
    assert isinstance(local.per_record, pl.DataFrame)
    assert isinstance(on_spark.per_record, pl.DataFrame)
    assert on_spark.per_record["count"].to_list() == local.per_record["count"].to_list()
    assert on_spark.per_attribute is not None
    assert local.per_attribute is not None
    assert sorted(on_spark.per_attribute.rows()) == sorted(local.per_attribute.rows())


def test_a_null_is_one_more_value_and_a_table_without_rows_has_no_rare_record(to_spark: Callable[..., Any]) -> None:
    data = table({"a": [1, 1, None], "b": ["x", None, None]}, key=["a", "b"])
    found = [discreet.risk(one, {"rare_values": {"least": 2}})["rare_values"].to_dict() for one in (data, to_spark(data))]
    assert found[0] == found[1] == {"rare": 2, "share": pytest.approx(2 / 3), "least_count": 1}
    empty = data.replace(data.frame.head(0), data.records[:0])
    assert discreet.risk(to_spark(empty), "rare_values")["rare_values"].to_dict() == {"rare": 0, "share": 0.0, "least_count": 0}


def test_messages_and_listings_name_a_strangers_plug_in(to_spark: Callable[..., Any]) -> None:
    assert "rare_values" in registry.names_on_engine("risk", "spark")
    described = {one["name"]: one for one in registry.describe("risk")}
    assert described["rare_values"]["engines"] == {"local": "", "spark": ""}
    data = to_spark(table({"age": [1, 2]}, key=["age"]))
    with pytest.raises(DataError, match=r"record_linkage does not run on Spark; on Spark run .*rare_values"):
        discreet.risk(data, "record_linkage", original=data)
