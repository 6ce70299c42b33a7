"""Measures of all equivalence classes at once, on Spark: the local engine's numbers, and a refusal where the keys do not fit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import discreet
from discreet.engine.runtime import dispatch
from discreet.errors import MemoryLimitError
from discreet.registry import load

Spark = Callable[..., Any]
COLLECTED = ["delta_presence", "individual_risk", "population_uniqueness", "reidentification"]


@pytest.fixture
def survey() -> discreet.Microdata:
    random = np.random.default_rng(7)
    size = 240
    frame = pl.DataFrame(
        {
            "age": random.integers(20, 40, size),
            "sex": random.choice(["f", "m", None], size, p=[0.5, 0.45, 0.05]),
            "place": random.choice(["north", "south", "east"], size),
            "hh": random.integers(0, 90, size),
            "w": random.uniform(2, 30, size).round(2),
            "income": random.normal(30_000, 5000, size).round(),
        }
    )
    roles = {"age": "key", "sex": "key", "place": "key", "hh": "household", "w": "weight", "income": "confidential"}
    return discreet.read(frame, {"attributes": {name: {"role": role} for name, role in roles.items()}})


def test_collected_measures_have_the_numbers_of_the_local_engine(to_spark: Spark, survey: Any, tmp_path: Any) -> None:
    people = pl.concat([survey.frame.select("age", "sex", "place")] * 3)
    people.write_parquet(tmp_path / "population.parquet")
    population = str(tmp_path / "population.parquet")
    measures: dict[str, Any] = {
        "delta_presence": {"population": population},
        "individual_risk": {"threshold": 0.05, "missing": "wildcard"},
        "population_uniqueness": {"model": "zayatz"},
        "reidentification": {"population": population},
    }
    assert sorted(measures) == COLLECTED
    found, wanted = discreet.risk(to_spark(survey, 5), measures), discreet.risk(survey, measures)
    for name in COLLECTED:
        for field, number in wanted[name].summary.items():
            assert found[name][field] == (None if number is None else pytest.approx(number, rel=1e-9)), field
        assert found[name].gaps == wanted[name].gaps
        assert found[name].notes == wanted[name].notes
        assert found[name].bounds == wanted[name].bounds
        rows, expected = found[name].per_record, wanted[name].per_record
        assert rows is not None
        assert expected is not None
        assert_frame_equal(rows.select(expected.columns), expected, check_exact=False, rel_tol=1e-9, check_dtypes=False)


def test_an_interval_of_population_uniqueness_is_the_same_on_spark(to_spark: Spark, survey: Any) -> None:
    measures = {"population_uniqueness": {"sampling_fraction": 0.2}}
    found, wanted = (discreet.risk(one, measures)["population_uniqueness"] for one in (to_spark(survey, 3), survey))
    assert found["population_uniques"] == pytest.approx(wanted["population_uniques"], rel=1e-9)
    assert found.bounds["population_uniques"] == pytest.approx(wanted.bounds["population_uniques"], rel=1e-9)


def test_keys_that_do_not_fit_on_one_machine_are_refused_before_they_are_collected(
    to_spark: Spark, survey: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_spark = to_spark(survey)
    monkeypatch.setenv("DISCREET_MEMORY", "300MB")
    for name in COLLECTED:
        with pytest.raises(MemoryLimitError, match=f"measuring {name} of 240 records on one machine needs about .* not started"):
            discreet.risk(on_spark, {name: {}})


@pytest.mark.parametrize("name", COLLECTED)
def test_the_limit_of_collected_measures_is_listed(name: str) -> None:
    assert dispatch.describe_engines(load("risk", name))["spark"] == "tables whose keys do not fit on one machine"  # type: ignore[arg-type]
