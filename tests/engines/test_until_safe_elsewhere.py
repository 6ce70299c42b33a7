"""Targeted suppression until all records are safe: the same values, passes and notes on both engines, for any partitioning."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import discreet
from discreet.engine.known_sets_spark import plan as known_plan
from discreet.engine.spark import value_counts as dictionaries
from discreet.errors import DataError
from discreet.testing import table

Spark = Callable[..., Any]
ROWS = 150


def people(rows: int = ROWS, *, nulls: bool = False) -> discreet.Microdata:
    """Ties, a rare value, a sensitive attribute that is known too, and one with weights by value."""
    random = np.random.default_rng(5)
    content: dict[str, list[Any]] = {
        "zip": random.choice([f"482{index:02d}" for index in range(12)], rows).tolist(),
        "age": random.integers(20, 30, rows).tolist(),
        "sex": random.choice(["f", "m"], rows).tolist(),
        "job": random.choice(["a", "b", "c", "rare"], rows, p=[0.5, 0.3, 0.19, 0.01]).tolist(),
        "ill": random.choice(["Flu", "Cold", "Cancer", "none"], rows).tolist(),
        "debt": random.choice([0.5, 1.5, 2.5], rows).tolist(),
    }
    if nulls:
        for name in ("age", "job", "ill"):
            content[name][4::13] = [None] * len(content[name][4::13])
    data = table(
        content,
        key=["zip", "age", "sex", "job"],
        confidential=["ill", "debt"],
        known={"zip": 0.4, "age": 0.5, "sex": 0.9, "job": 0.2, "debt": 0.05},
        sensitivity={"ill": 1.0, "debt": 0.25, "job": 0.1},
    )
    ill = data.attribute("ill").model_copy(update={"values": {"none": 0.0, "Cancer": 1.0}, "unlisted": 0.3})
    return data.with_policy(data.policy.model_copy(update={"attributes": {**data.policy.attributes, "ill": ill}}))


def masked_alike(data: discreet.Microdata, on_spark: Any, **step: Any) -> discreet.Release:
    """Both engines suppress the same values in the same passes and write the same notes; returns the local release."""
    plan = {"steps": [{"method": "targeted_suppression", "epsilon": 0.001, **step}]}
    local_release, spark_release = discreet.mask(data, plan), discreet.mask(on_spark, plan)
    assert_frame_equal(spark_release.masked.to_polars(), local_release.masked.frame)
    assert spark_release.log[0].values_changed == local_release.log[0].values_changed
    assert spark_release.log[0].notes == local_release.log[0].notes
    return local_release


@pytest.mark.parametrize(
    "step",
    [{"choose": "fewest"}, {"side": "sensitive", "missing": "category"}],
    ids=["fewest", "sensitive"],
)
def test_the_effective_class_size_is_reached_alike_on_both_engines(to_spark: Spark, step: dict[str, Any]) -> None:
    data = people()
    release = masked_alike(data, to_spark(data, 3), threshold={"among": 4}, **step)
    # suppressing sensitive values makes no record harder to find, so it cannot raise an effective class size
    assert (release.log[0].values_changed > 0) == (step.get("side") != "sensitive")


def test_top_sets_are_suppressed_until_all_records_are_safe(to_spark: Spark) -> None:
    data = people()
    release = masked_alike(data, to_spark(data, 1), threshold=40.0)
    assert release.log[0].values_changed > 0
    assert discreet.risk(release.masked, {"known_sets": {"missing": "wildcard", "epsilon": 0.001}})["known_sets"]["max"] <= 40.0


@pytest.mark.parametrize(
    "step",
    [
        {"choose": "fewest", "threshold": 30.0, "weights": {"zip": 2.5, "age": 0.7}},
        {"side": "sensitive", "threshold": 30.0},
        {"passes": 1, "side": "cheapest", "threshold": 40.0},
    ],
)
def test_every_choice_of_values_is_the_same_on_both_engines(to_spark: Spark, step: dict[str, Any]) -> None:
    data = people(60)
    assert masked_alike(data, to_spark(data, 3), **step).log[0].values_changed > 0


@pytest.mark.parametrize("step", [{}, {"side": "sensitive"}], ids=["known", "sensitive"])
def test_cascades_with_category_are_the_same_on_both_engines(to_spark: Spark, step: dict[str, Any]) -> None:
    data = people(80, nulls=True)
    assert masked_alike(data, to_spark(data, 3), missing="category", threshold=45.0, **step).log[0].values_changed > 0


def test_wide_attributes_and_shuffles_do_not_change_the_result(to_spark: Spark, monkeypatch: pytest.MonkeyPatch) -> None:
    """With few values in a dictionary and small tables, sets are counted by shuffles, by values that travel with the rows."""
    monkeypatch.setattr(dictionaries, "MOST_VALUES", 8)
    monkeypatch.setattr(known_plan, "LARGEST_TABLE", 20)
    data = people(80, nulls=True)
    assert masked_alike(data, to_spark(data, 1), missing="category", threshold=45.0).log[0].values_changed > 0
    data = people(80)
    assert masked_alike(data, to_spark(data, 4), threshold=40.0).log[0].values_changed > 0


def test_unsupported_cases_are_refused_on_spark(to_spark: Spark, monkeypatch: pytest.MonkeyPatch) -> None:
    data = people(60, nulls=True)
    with pytest.raises(DataError, match="targeted_suppression cannot do missing: wildcard where nulls occur on Spark"):
        discreet.mask(to_spark(data), {"steps": [{"method": "targeted_suppression"}]})
    data = people(60)
    with pytest.raises(DataError, match=r"records are still above the threshold 1, and .* the limit 0.01 allows"):
        discreet.mask(to_spark(data), {"steps": [{"method": "targeted_suppression", "threshold": 1, "limit": 0.01}]})
    monkeypatch.setattr("discreet.masking.targeted_suppression.spark_passes.MAX_COUNTS", 5)
    with pytest.raises(DataError, match="cannot do more than 500 million known sets times records above the threshold on Spark"):
        discreet.mask(to_spark(data), {"steps": [{"method": "targeted_suppression"}]})


def test_a_table_without_records_at_risk_and_an_empty_table_are_unchanged(to_spark: Spark) -> None:
    data = people(20)
    untouched = masked_alike(data, to_spark(data), threshold=1e9)
    assert untouched.masked.frame.equals(data.frame)
    empty = data.replace(data.frame.head(0), data.records[:0])
    plan = {"steps": [{"method": "targeted_suppression"}]}
    assert discreet.mask(to_spark(empty, 1), plan).masked.to_polars().equals(pl.DataFrame(schema=data.frame.schema))
