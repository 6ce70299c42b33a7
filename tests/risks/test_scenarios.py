"""Scenarios of what an intruder knows: measured side by side, the worst one counting."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet.errors import DataError
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.risks.known_sets.measure import KnownSets

CHANCES = st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0])
BETTER_LOW = ("high_risk", "high_risk_share", "mean", "max", "below_5", "undecided")


@st.composite
def tables(draw: st.DrawFn) -> Microdata:
    names = [f"x{at}" for at in range(draw(st.integers(1, 3)))]
    height = draw(st.integers(1, 6))
    cells = st.sampled_from([None, "a", "a", "b"])
    frame = pl.DataFrame({name: pl.Series([draw(cells) for _ in range(height)], dtype=pl.String) for name in names})
    attributes = {name: {"known": draw(CHANCES), "sensitivity": draw(st.sampled_from([0.0, 1.0]))} for name in names}
    attributes["x0"]["sensitivity"] = 0.5
    scenarios = {name: {other: draw(CHANCES) for other in names if draw(st.booleans())} for name in ("neighbour", "insurer")}
    return Microdata(frame, Policy.from_dict({"attributes": attributes, "scenarios": scenarios}))


@settings(max_examples=40, deadline=None)
@given(tables(), st.sampled_from([0.0, 0.05]), st.sampled_from(["products", "independent"]))
def test_every_field_is_the_worst_of_all_scenarios(data: Microdata, epsilon: float, knowledge: Any) -> None:
    measure = KnownSets(epsilon=epsilon, threshold=20.0, knowledge=knowledge)
    score = measure.measure(data)
    single = {}
    for name in ("attributes", "neighbour", "insurer"):
        known = data.policy.scenarios.get(name, {})
        attributes = {
            other: attribute.model_copy(update={"known": known[other]}) if other in known else attribute
            for other, attribute in data.policy.attributes.items()
        }
        single[name] = measure.measure(data.with_policy(data.policy.with_(attributes=attributes, scenarios={})))
    for field in BETTER_LOW:
        assert score[field] == max(one[field] for one in single.values()), field
        if field in score.bounds:
            assert score.bounds[field][1] == max(one.bounds[field][1] for one in single.values())
    sizes = [one["effective_k_min"] for one in single.values() if one["effective_k_min"] is not None]
    assert score["effective_k_min"] == (min(sizes) if sizes else None)
    assert score["mean_by_scenario"] == {name: one["mean"] for name, one in single.items()}
    (worst,) = score["worst_scenario"]
    assert single[worst]["high_risk"] == max(one["high_risk"] for one in single.values())
    rows = score.per_record
    risks = np.array([one.per_record["risk"].to_numpy() for one in single.values()])
    np.testing.assert_allclose(rows["scenario_risk"], risks.max(axis=0))
    for at, name in enumerate(rows["scenario"]):
        assert single[name].per_record["risk"][at] == risks[:, at].max()
    np.testing.assert_allclose(rows["risk"], single[worst].per_record["risk"])


FRAME = pl.DataFrame({"age": [30, 30, 40, 50], "zip": ["A", "B", "A", "A"], "ill": ["x", "y", "y", "x"]})
POLICY: dict[str, Any] = {
    "attributes": {"age": {"known": 0.0}, "zip": {"known": 0.1}, "ill": {"sensitivity": 1.0}},
    "scenarios": {"neighbour": {"age": 0.9, "zip": 1.0}, "insurer": {"zip": 0.5}},
    "risk": {"known_sets": {"threshold": 60}},
}


def test_the_summary_and_a_note_name_the_worst_scenario() -> None:
    score = discreet.risk(discreet.read(FRAME, POLICY))["known_sets"]
    assert list(score["worst_scenario"]) == ["neighbour"]
    assert list(score["high_risk_by_scenario"]) == ["attributes", "neighbour", "insurer"]
    assert "in the scenario neighbour" in score.notes[0]


def test_a_limit_is_judged_on_the_worst_scenario() -> None:
    data = discreet.read(FRAME, POLICY | {"limits": {"known_sets.high_risk": 1}})
    alone = discreet.risk(discreet.read(FRAME, {**POLICY, "scenarios": {}}))["known_sets"]
    assert alone["high_risk"] <= 1
    release = discreet.mask(data, plan={"steps": [{"method": "rounding", "columns": ["age"], "base": 1}]})
    assessment = discreet.assess(data, release)
    (verdict,) = assessment.verdicts
    assert verdict.status == "not met"


def test_an_attribute_known_in_a_scenario_alone_is_read_from_a_file(tmp_path: Any) -> None:
    """A streamed table holds the codes of the attributes that some scenario needs."""
    path = tmp_path / "table.csv"
    FRAME.write_csv(path)
    streamed = discreet.risk(discreet.scan(str(path), POLICY))["known_sets"]
    whole = discreet.risk(discreet.read(FRAME, POLICY))["known_sets"]
    for field in ("high_risk", "mean", "max", "sets"):
        assert streamed[field] == pytest.approx(whole[field])


def test_explain_speaks_of_the_scenario_that_is_worst_for_the_record() -> None:
    sentences = discreet.explain(discreet.read(FRAME, POLICY), 3)
    text = " ".join(sentences) if isinstance(sentences, list) else str(sentences)
    assert "neighbour is the worst for this record" in text


def test_targeted_suppression_makes_records_safe_in_every_scenario() -> None:
    policy = POLICY | {
        "risk": {"known_sets": {"threshold": 100, "epsilon": 0, "missing": "wildcard"}},
        "plan": {"seed": 1, "steps": [{"method": "targeted_suppression"}]},
    }
    data = discreet.read(FRAME, policy)
    before = discreet.risk(data)["known_sets"]
    after = discreet.risk(discreet.mask(data).masked)["known_sets"]
    assert max(before["high_risk_by_scenario"].values()) > 0
    assert set(after["high_risk_by_scenario"].values()) == {0}


@pytest.mark.parametrize("method", ["targeted_suppression", "targeted_generalization"])
@pytest.mark.parametrize(
    "change",
    [{"known_together": [["age", "zip"]]}, {"risk": {"known_sets": {"knowledge": "independent"}}}],
)
def test_targeted_methods_refuse_other_readings_by_name(method: str, change: dict[str, Any]) -> None:
    policy = POLICY | {"scenarios": {}, "plan": {"seed": 1, "steps": [{"method": method, "columns": ["zip"]}]}} | change
    with pytest.raises(DataError, match="lowers the risk of the paper's products"):
        discreet.mask(discreet.read(FRAME, policy))


def test_population_refuses_scenarios_by_name() -> None:
    policy = POLICY | {"risk": {"known_sets": {"population": "model", "size": 100}}}
    with pytest.raises(DataError, match="the policy has scenarios"):
        discreet.risk(discreet.read(FRAME, policy))
