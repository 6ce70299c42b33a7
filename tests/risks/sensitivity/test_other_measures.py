"""How far verdicts of other measures hold: every answer against the measure itself at values inside and at the flips."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import discreet
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.model.sensitivity import Reach, Sensitivity
from discreet.risks.decision.measure import Decision
from discreet.risks.decision.sensitivity import worst_prior
from discreet.risks.individual_risk.measure import IndividualRisk
from discreet.risks.target_linkage.measure import TargetLinkage

CELLS = st.sampled_from([None, "a", "a", "b", "c"])


@st.composite
def samples(draw: st.DrawFn) -> Microdata:
    height = draw(st.integers(1, 9))
    columns = {name: pl.Series([draw(CELLS) for _ in range(height)], dtype=pl.String) for name in ("x", "y")}
    columns["w"] = pl.Series([draw(st.sampled_from([1.0, 1.5, 4.0, 20.0])) for _ in range(height)])
    columns["hh"] = pl.Series([draw(st.integers(1, 3)) for _ in range(height)])
    roles = {"x": {"role": "key"}, "y": {"role": "key"}, "w": {"role": "weight"}, "hh": {"role": "household"}}
    return Microdata(pl.DataFrame(columns), Policy.from_dict({"attributes": roles}))


def check(result: Sensitivity, reach: Reach, is_met: Any, seed: int) -> None:
    """The verdict is the same at random values inside, and another one where it is said to flip."""
    values = np.random.default_rng(seed).uniform(reach.low, min(reach.high, reach.low + 50), 20)
    expected = reach.status == "met"
    assert all(is_met(float(value)) == expected for value in (*values, reach.low, reach.given)), reach
    for flipped in (reach.below, reach.above):
        assert flipped is None or is_met(flipped) != expected, reach


@settings(max_examples=40, deadline=None, phases=[Phase.explicit, Phase.generate])
@given(
    samples(), st.sampled_from(["mean", "max", "high_risk", "expected", "household_max"]), st.sampled_from([0.6, 0.93, 1.1, 1.9]),
    st.sampled_from(["category", "wildcard"]), st.integers(0, 99),
)  # fmt: skip
def test_individual_risks_hold_as_far_as_weights_say(data: Microdata, field: str, share: float, missing: Any, seed: int) -> None:
    measure = IndividualRisk(missing=missing)
    required = float(measure.measure(data).summary[field]) * share + 1e-7
    result = measure.examine_guesses(data, {field: required})

    def is_met(factor: Any) -> bool:
        moved = Microdata(data.frame.with_columns((pl.col("w") * factor).alias("w")), data.policy)
        return bool(measure.measure(moved).summary[field] <= required)

    (reach,) = result.reaches
    check(result, reach, is_met, seed)
    random, half_width = np.random.default_rng(seed), result.box.half_width
    for _ in range(20):
        factor = np.maximum(random.uniform(1 - half_width, 1 + half_width, len(data)), 1 / data.frame["w"].to_numpy())
        assert is_met(pl.Series(factor)) == (reach.status == "met")


@settings(max_examples=30, deadline=None)
@given(
    samples(), st.sampled_from(["phi1", "phi3", "phi4", "phi5"]), st.sampled_from(["risk", "worst"]),
    st.sampled_from([0.6, 1.1, 1.9]), st.integers(0, 99),
)  # fmt: skip
def test_decisions_hold_as_far_as_weights_say(data: Microdata, form: Any, field: str, share: float, seed: int) -> None:
    weights = {"x": 1.0, "y": 0.5}
    measure = Decision(sensitivity=form, weights=weights)
    required = float(measure.measure(data).summary[field]) * share + 1e-7
    result = measure.examine_guesses(data, {field: required})
    assert {reach.kind for reach in result.reaches} == {"factor on all weights", "weight"}
    for reach in result.reaches:

        def is_met(value: float, reach: Reach = reach) -> bool:
            moved = {
                name: weight * value if reach.attribute is None else value if name == reach.attribute else weight
                for name, weight in weights.items()
            }
            return bool(measure.model_copy(update={"weights": moved}).measure(data).summary[field] <= required)

        check(result, reach, is_met, seed)


@settings(max_examples=100, deadline=None)
@given(st.integers(2, 4), st.integers(0, 10_000), st.floats(0, 1))
def test_no_prior_within_the_distance_is_worse_than_the_worst(number: int, seed: int, distance: float) -> None:
    random = np.random.default_rng(seed)
    risks, prior = random.uniform(size=number), random.dirichlet(np.ones(number))
    worst = np.array(worst_prior(risks.tolist(), prior.tolist(), distance))
    assert worst.sum() == pytest.approx(1.0)
    assert (worst >= 0).all()
    assert np.abs(worst - prior).sum() / 2 <= distance + 1e-9
    others = random.dirichlet(np.ones(number), 500)
    away = np.abs(others - prior).sum(axis=1) / 2
    inside = prior + (others - prior) * np.minimum(1, distance / np.maximum(away, 1e-12))[:, None]
    assert (inside @ risks <= worst @ risks + 1e-12).all()


def test_the_worst_prior_flips_a_verdict_on_the_bayes_risk(tmp_path: Path) -> None:
    for name, ages in (("small", [30, 41]), ("large", [30, 30, 30, 30, 41, 41, 41, 41])):
        pl.DataFrame({"age": ages}).write_csv(tmp_path / f"{name}.csv")
    data = discreet.read(pl.DataFrame({"age": [30, 41]}), {"attributes": {"age": {"role": "key"}}})
    files = [str(tmp_path / "small.csv"), str(tmp_path / "large.csv")]
    measure = Decision(dictionary=files, prior=dict(zip(files, (0.2, 0.8), strict=True)), weights={"age": 1.0})
    assert measure.measure(data).summary["bayes"] == pytest.approx(0.2 + 0.8 / 4)
    result = measure.examine_guesses(data, {"bayes": 0.7})
    distance = next(reach for reach in result.reaches if reach.kind.startswith("distance"))
    assert distance.flips_up[0] == pytest.approx(0.4, rel=2e-3)  # 0.2 + h + (0.8 - h) / 4 = 0.7


@settings(max_examples=25, deadline=None)
@given(
    samples(), st.sampled_from(["mean", "max", "over_threshold", "gain"]), st.sampled_from([0.5, 0.9, 1.3]), st.integers(0, 99)
)
def test_linkage_holds_as_far_as_the_sampling_fraction_says(data: Microdata, field: str, share: float, seed: int) -> None:
    measure = TargetLinkage(sampling_fraction=0.4, threshold=0.1)
    required = float(measure.measure(data).summary[field]) * share + 1e-7
    result = measure.examine_guesses(data, {field: required})
    (reach,) = result.reaches
    assert reach.guarantee == ("grid" if field == "gain" else "certified")

    def is_met(value: float) -> bool:
        return bool(measure.model_copy(update={"sampling_fraction": value}).measure(data).summary[field] <= required)

    if reach.guarantee == "certified":
        check(result, reach, is_met, seed)
    else:
        assert is_met(reach.given) == (reach.status == "met")
        assert all(is_met(value) != is_met(reach.given) for value in (reach.below, reach.above) if value is not None)


def test_error_rates_are_tried_on_a_grid_and_the_answer_says_so() -> None:
    data = discreet.read(
        pl.DataFrame({"age": [30, 30, 41, 52], "sex": ["f", "m", "m", "f"]}),
        {"attributes": {"age": {"role": "key"}, "sex": {"role": "key"}}},
    )
    measure = TargetLinkage(errors={"age": 0.1, "sex": 0.05}, sampling_fraction=0.5)
    result = measure.examine_guesses(data, {"mean": 0.5})
    tried = [reach for reach in result.reaches if "error" in reach.kind]
    assert {reach.guarantee for reach in tried} == {"grid"}
    assert {reach.attribute for reach in tried} == {None, "age", "sex"}
    assert all("not proved in between" in reach.sentence for reach in tried)


def test_a_measure_without_guesses_has_no_answer() -> None:
    data = discreet.read(pl.DataFrame({"age": [1, 1]}), {"attributes": {"age": {"role": "key"}}, "limits": {"k_anonymity.k": 2}})
    assert discreet.sensitivity(data) == {}
    with pytest.raises(discreet.DiscreetError, match="rests on a guess"):
        discreet.risk(data)["k_anonymity"].sensitivity()
