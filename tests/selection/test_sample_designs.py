"""The sample that ``select`` searches first stands for the same population as the table it is drawn from."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import discreet
from discreet.assessment.designs import with_designs
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.selection.evaluation.evaluator import Evaluator
from discreet.selection.options import SelectOptions
from discreet.selection.sampling import draw_sample, sampled_policy


def _people(**sections: Any) -> Microdata:
    generator = np.random.default_rng(3)
    size = 6_000
    columns = {
        "age": generator.integers(18, 90, size),
        "town": np.minimum(generator.geometric(0.15, size), 30),
        "w": generator.choice([5.0, 10.0, 40.0], size),
        "region": generator.choice(["north", "south"], size),
    }
    attributes = {"age": {"role": "key", "known": 0.5}, "town": {"role": "key", "known": 0.5}}
    return Microdata(pl.DataFrame(columns), Policy.from_dict({"attributes": attributes, **sections}))


@pytest.mark.parametrize(
    ("design", "thinned"),
    [
        ({"fraction": 0.1}, {"fraction": 0.05}),
        ({"population": 60_000}, {"population": 60_000}),
        (
            {"strata": ["region"], "fraction": {"north": 0.1, "south": 0.2}},
            {"strata": ["region"], "fraction": {"north": 0.05, "south": 0.1}},
        ),
    ],
)
def test_a_drawn_sample_has_the_thinned_design_of_its_table(design: dict[str, Any], thinned: dict[str, Any]) -> None:
    sample = draw_sample(_people(sampling=design), 0.5, 1)
    assert len(sample) == 3_000
    assert sample.policy.sampling == Policy.from_dict({"sampling": thinned}).sampling


def test_risks_in_the_population_are_about_the_same_in_the_sample_and_the_table() -> None:
    data = _people(sampling={"fraction": 0.1})
    sample = draw_sample(data, 0.5, 1)
    names: dict[str, dict[str, Any]] = {"reidentification": {}, "individual_risk": {}}
    whole, part = discreet.risk(data, names), discreet.risk(sample, names)
    for measure, field in (("reidentification", "marketer"), ("individual_risk", "mean")):
        assert part[measure][field] == pytest.approx(whole[measure][field], rel=0.3), (measure, field)
    unthinned = discreet.risk(sample.with_policy(data.policy), names)
    assert unthinned["reidentification"]["marketer"] > 1.5 * whole["reidentification"]["marketer"]


def test_sampling_weights_of_a_drawn_sample_stand_for_the_same_population() -> None:
    data = _people()
    policy = data.policy.with_(attributes={**data.policy.attributes, "w": Policy.from_dict(
        {"attributes": {"w": {"role": "weight"}}}).attributes["w"]})  # fmt: skip
    sample = draw_sample(data.with_policy(policy), 0.25, 1)
    assert sample.frame["w"].sum() == pytest.approx(data.frame["w"].sum(), rel=0.1)
    assert data.frame["w"].max() == 40.0, "the table itself is unchanged"


def test_a_table_without_a_design_stays_without_one() -> None:
    assert not draw_sample(_people(), 0.5, 1).policy.sampling.is_stated


def test_limits_on_risks_in_the_population_are_not_scaled_and_those_on_records_are() -> None:
    policy = Policy.from_dict(
        {
            "risk": {
                "known_sets": {"population": "model", "sampling_fraction": 0.1, "threshold": 0.02},
                "reidentification": {"sampling_fraction": 0.1},
            },
            "limits": {
                "known_sets.mean": 0.03,
                "reidentification.marketer": 0.2,
                "population_uniqueness.population_uniques": 40,
                "k_anonymity.k": 8,
            },
        }
    )
    scaled = sampled_policy(policy, 0.25)
    assert scaled.limits == {
        "known_sets.mean": 0.03,
        "reidentification.marketer": 0.2,
        "population_uniqueness.population_uniques": 10,
        "k_anonymity.k": 2,
    }
    assert scaled.risk["known_sets"]["sampling_fraction"] == pytest.approx(0.025)
    assert scaled.risk["known_sets"]["threshold"] == 0.02
    assert scaled.risk["reidentification"]["sampling_fraction"] == pytest.approx(0.025)


def test_select_searches_a_sample_for_a_limit_on_the_population() -> None:
    data = _people(sampling={"fraction": 0.05}, limits={"reidentification.marketer": 0.03}, select={"trials": 6, "sample": 1_500})
    selection = discreet.select(data)
    assert selection.tried_on_sample > 0
    measured = selection.assessment.after["reidentification"]
    assert measured.bounds["marketer"][1] <= 0.03


def test_select_measures_the_release_of_a_plan_that_draws_a_sample_by_the_share_drawn() -> None:
    """No section sampling and no weights: the table is the whole population, and the policy's own plan draws a fifth of it."""
    limits = {"reidentification.marketer": 0.9, "population_uniqueness.population_uniques": 3_000}
    plan = {"seed": 1, "steps": [{"method": "sampling", "fraction": 0.2}]}
    data = _people(limits=limits, plan=plan, select={"trials": 3})
    assert discreet.select(data).tried > 0
    evaluate = Evaluator(with_designs(data, data, data.policy.plan)[0], SelectOptions(), secret=b"x" * 32)
    outcome = evaluate(data.policy.plan)
    assert outcome.error is None
    release = discreet.mask(data).masked
    score = discreet.risk(release, {"reidentification": {"sampling_fraction": 0.2}})["reidentification"]
    assert outcome.measured["reidentification.marketer"] == pytest.approx(score.bounds["marketer"][1])
    assert score["marketer"] < 0.6 * score["prosecutor_mean"]
