"""Columns on Spark whose names mean something else in its expressions: backticks, dots, quotes and blanks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest
from compare_scores import same
from polars.testing import assert_frame_equal

import discreet
from discreet.risks.known_sets import spark_gather

Spark = Callable[..., Any]
AGE, SEX, ILL, PAY = "a`ge", "`s.e.x`", "ill ``\"of'", "pay`"
POLICY: dict[str, Any] = {
    "attributes": {
        AGE: {"role": "key", "known": 0.5, "missing": ["99"]},
        SEX: {"role": "key", "known": 0.8, "missing": ["unknown"]},
        ILL: {"role": "confidential", "sensitivity": 1.0},
        PAY: {"role": "confidential", "sensitivity": 0.5},
    }
}


@pytest.fixture
def people() -> pl.DataFrame:
    random = np.random.default_rng(11)
    return pl.DataFrame(
        {
            AGE: random.choice([20, 30, 40, 99], 60),
            SEX: random.choice(["f", "m", "unknown"], 60),
            ILL: random.choice(["flu", "cold", "cancer"], 60),
            PAY: random.choice([10.5, 20.5, float("nan")], 60),
        }
    )


def test_markers_of_missing_values_are_nulls_and_measures_have_the_same_numbers(
    spark: Any, people: pl.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spark_gather, "MOST_CELLS", 0)
    on_spark, local = discreet.read(spark.createDataFrame(people.to_arrow()), POLICY), discreet.read(people, POLICY)
    assert_frame_equal(on_spark.to_local().frame, local.frame)
    measures: dict[str, Any] = {
        "known_sets": {}, "k_anonymity": {}, "l_diversity": {}, "t_closeness": {}, "special_uniques": {}, "rare_combinations": {},
        "individual_risk": {"sampling_fraction": 0.1}, "target_linkage": {"model": "empirical", "population": 5000},
    }  # fmt: skip
    scores = discreet.risk(on_spark, measures)
    for name, wanted in discreet.risk(local, measures).items():
        same(scores[name], wanted)


def test_a_release_and_its_losses_are_those_of_one_machine(spark: Any, people: pl.DataFrame) -> None:
    steps = [
        {"method": "noise", "columns": [PAY], "level": 0.1},
        {"method": "swapping", "columns": [ILL], "how": "random", "strata": [SEX]},
        {"method": "global_recoding", "columns": [AGE], "width": 20},
        {"method": "sampling", "fraction": 0.9, "strata": [SEX]},
    ]
    plan = {"steps": steps, "seed": 3}
    tables = discreet.read(spark.createDataFrame(people.to_arrow()), POLICY), discreet.read(people, POLICY)
    released, wanted = (discreet.mask(data, plan) for data in tables)
    assert_frame_equal(released.masked.to_polars(), wanted.masked.frame, check_exact=False, rel_tol=1e-9)
    losses = discreet.loss(tables[0], released, ("integrity", "ncp"))
    for name, score in discreet.loss(tables[1], wanted, ("integrity", "ncp")).items():
        same(losses[name], score, records=name == "ncp")
