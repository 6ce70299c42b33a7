"""A report says which number speaks of the population and what it rests on, and draws class sizes of both."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import discreet
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.model.score import Score
from discreet.report.evidence import gather
from discreet.report.page import render
from discreet.report.population.class_sizes import class_size_rows


@pytest.fixture(scope="module")
def data() -> Microdata:
    generator = np.random.default_rng(3)
    frame = pl.DataFrame({"age": generator.integers(20, 50, 300), "town": generator.integers(0, 6, 300), "job": "a"})
    policy = {
        "attributes": {"age": {"role": "key", "known": 0.4}, "town": {"role": "key", "known": 0.4}},
        "risk": {"individual_risk": {}, "k_anonymity": {}, "known_sets": {"population": "model"}},
        "limits": {"individual_risk.max": 1.0, "k_anonymity.k": 1, "known_sets.mean": 50},
        "sampling": {"population": 9_000},
        "plan": {"seed": 2, "steps": [{"method": "sampling", "fraction": 0.9}]},
    }
    policy["attributes"]["job"] = {"role": "confidential", "sensitivity": 1.0, "default": 1.0}  # type: ignore[index]
    return Microdata(frame, Policy.from_dict(policy))


def test_the_internal_report_lists_numbers_of_the_population_with_their_basis(data: Microdata) -> None:
    evidence = gather(data, discreet.mask(data), internal=True)
    numbers = {(row["measure"], row["field"]): row for row in evidence["population"]["numbers"]}
    assert not any(measure == "k_anonymity" for measure, _ in numbers)
    assert "sampling weights" in numbers["individual_risk", "mean"]["basis"]
    mean = numbers["known_sets", "mean"]
    assert "model" in mean["basis"]
    assert "95%" in mean["basis"]
    assert mean["low"] < mean["value"] < mean["high"]
    page = render(evidence)
    assert "Numbers about the population" in page
    assert 'id="classes0"' in page


def test_the_public_report_names_the_basis_and_withholds_numbers_and_class_sizes(data: Microdata) -> None:
    evidence = gather(data, discreet.mask(data))
    assert evidence["population"]["classes"] == []
    assert all(set(row) == {"measure", "field", "basis"} for row in evidence["population"]["numbers"])
    assert not any("9,000 persons" in row["basis"] for row in evidence["population"]["numbers"])
    assert not any("9,000 persons" in note for entry in evidence["adversaries"] for note in entry["notes"])
    assert "Numbers about the population" in render(evidence)


def test_rows_by_band_hold_quantiles_and_the_inverse_of_the_mean_risk() -> None:
    records = pl.DataFrame({"class_size": [1, 1, 1, 2, 2, 7], "population_size": [4.0, 2.0, 4.0, 9.0, 9.0, 50.0]})
    rows = class_size_rows(Score("any", {"mean": 1.0}, records, basis={"mean": "weights"}))
    assert [(row["label"], row["records"]) for row in rows] == [("1", 3), ("2", 2), ("5–9", 1)]
    assert rows[0]["mean"] == pytest.approx(3.0)
    assert (rows[0]["low"], rows[0]["high"]) == (2.0, 4.0)
    assert class_size_rows(Score("any", {"mean": 1.0}, records)) == []


def test_a_score_of_the_population_draws_its_class_sizes_below_its_histogram(data: Microdata) -> None:
    chart = discreet.risk(data, {"individual_risk": {}})["individual_risk"].plot()
    assert "population" in chart.to_json()
