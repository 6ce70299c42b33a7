"""Guesses given as ranges: best and worst cases against every corner of the box and points inside it."""

from __future__ import annotations

import itertools
import pickle
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import discreet
from discreet.errors import PolicyError
from discreet.model.guess import Guess
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy, parse_policy
from discreet.risks.known_sets.measure import KnownSets

ENDS = st.sampled_from([0.0, 0.05, 0.3, 0.5, 0.8, 1.0])
CELLS = st.sampled_from([None, "a", "a", "b", "c"])


@st.composite
def guesses(draw: st.DrawFn) -> Any:
    low, high = sorted((draw(ENDS), draw(ENDS)))
    return [low, high] if draw(st.booleans()) else high


@st.composite
def tables(draw: st.DrawFn) -> Microdata:
    height = draw(st.integers(1, 8))
    names = [f"x{at}" for at in range(draw(st.integers(1, 4)))]
    columns = {name: pl.Series([draw(CELLS) for _ in range(height)], dtype=pl.String) for name in names}
    attributes = {name: {"known": draw(guesses()), "sensitivity": draw(guesses())} for name in names}
    if draw(st.booleans()):
        attributes["x0"]["values"] = {"a": draw(guesses()), "b": 0.4}
    attributes["x0"]["known"] = [0.1, 0.5]
    attributes["x0"]["sensitivity"] = attributes["x0"]["sensitivity"] or 0.5
    return Microdata(pl.DataFrame(columns), Policy.from_dict({"attributes": attributes, "missing": []}))


def at(data: Microdata, policy: Policy, measure: KnownSets) -> pl.DataFrame:
    """The risks under one policy without ranges."""
    assert not policy.ranges
    return measure.measure(data.with_policy(policy)).per_record


def inner_policy(policy: Policy, place: float) -> Policy:
    """A policy inside the box: every range at this share of the way from its lower to its upper end."""

    def inside(value: float) -> float:
        return value.low + place * (float(value) - value.low) if isinstance(value, Guess) else value

    attributes = {
        name: attribute.model_copy(
            update={
                "known": inside(attribute.known),
                "sensitivity": inside(attribute.sensitivity),
                "values": {key: inside(value) for key, value in attribute.values.items()},
            }
        )
        for name, attribute in policy.attributes.items()
    }
    return policy.with_(attributes=attributes)


@settings(max_examples=40, deadline=None)
@given(tables(), st.sampled_from([0.0, 0.1]), st.sampled_from(["category", "wildcard"]))
def test_best_and_worst_risks_are_those_of_the_corners(data: Microdata, epsilon: float, missing: Any) -> None:
    measure = KnownSets(epsilon=epsilon, missing=missing)
    both = measure.measure(data).per_record
    corners = list(data.policy.corners())
    assert len(corners) == 2**data.policy.ranges
    risks = np.array([at(data, corner, measure)["risk"].to_numpy() for corner in corners[:64]])
    np.testing.assert_allclose(both["risk_best"], risks[0], atol=1e-12)
    assert (both["risk_best"].to_numpy() <= risks.min(axis=0) + 1e-9).all()
    if len(corners) <= 64:
        np.testing.assert_allclose(both["risk_worst"], risks.max(axis=0), atol=1e-12)
    np.testing.assert_allclose(both["risk"], both["risk_worst"], atol=1e-12)


@settings(max_examples=40, deadline=None)
@given(tables(), st.floats(0, 1))
def test_no_guess_inside_the_ranges_has_a_size_outside_the_bounds(data: Microdata, place: float) -> None:
    measure = KnownSets(epsilon=0)
    both = measure.measure(data).per_record
    low, high = (both[name].fill_null(np.nan).to_numpy() for name in ("effective_k_low", "effective_k_high"))
    policies = [*itertools.islice(data.policy.corners(), 64), inner_policy(data.policy, place)]
    for policy in policies:
        size = at(data, policy, measure)["effective_k"].fill_null(np.nan).to_numpy()
        defined = ~np.isnan(size)
        assert (size[defined] >= low[defined] - 1e-9).all()
        assert (size[defined] <= high[defined] + 1e-9).all()


@settings(max_examples=30, deadline=None)
@given(tables())
def test_sizes_are_exact_where_every_corner_is_summed(data: Microdata) -> None:
    assume(data.policy.ranges <= 4)
    measure = KnownSets(epsilon=0)
    both = measure.measure(data).per_record
    sizes = [at(data, corner, measure)["effective_k"].fill_null(np.nan).to_numpy() for corner in data.policy.corners()]
    np.testing.assert_allclose(both["effective_k_low"].fill_null(np.nan), np.fmin.reduce(sizes), rtol=1e-9)
    np.testing.assert_allclose(both["effective_k_high"].fill_null(np.nan), np.fmax.reduce(sizes), rtol=1e-9)


def _survey(known: Any) -> dict[str, Any]:
    return {
        "attributes": {"age": {"role": "key", "known": known}, "disease": {"role": "confidential", "sensitivity": 1.0}},
        "risk": {"known_sets": {"alpha": 1, "epsilon": 0, "threshold": 0.4}},
        "limits": {"known_sets.high_risk": 0},
    }


FRAME = pl.DataFrame({"age": [30, 30, 41, 41, 52], "disease": ["Flu", "HIV", "Flu", "Flu", "HIV"]})


@pytest.mark.parametrize(("known", "status"), [(0.1, "met"), (0.9, "not met"), ([0.1, 0.9], "not met"), ([0.05, 0.1], "met")])
def test_a_limit_is_judged_on_the_worst_end_of_a_range(known: Any, status: str) -> None:
    data = discreet.read(FRAME, _survey(known))
    assessment = discreet.assess(data, data)
    assert [verdict.status for verdict in assessment.verdicts if verdict.limit == "known_sets.high_risk"] == [status]


def test_the_summary_has_both_ends() -> None:
    score = discreet.risk(discreet.read(FRAME, _survey([0.1, 0.9])))["known_sets"]
    low = discreet.risk(discreet.read(FRAME, _survey(0.1)))["known_sets"]
    high = discreet.risk(discreet.read(FRAME, _survey(0.9)))["known_sets"]
    assert (score["high_risk_low"], score["high_risk_high"]) == (low["high_risk"], high["high_risk"]) == (0, 5)
    assert score["mean_best"] == pytest.approx(low["mean"])
    assert score["mean"] == score["mean_worst"] == pytest.approx(high["mean"])
    assert score["effective_k_low"] == pytest.approx(high["effective_k_min"])
    assert any("ranges" in note for note in score.notes)


def test_lower_ends_at_which_nothing_is_known_or_sensitive_give_no_risk_beside_an_identifier_that_is_known() -> None:
    attributes = {"id": {"role": "identifier", "known": 0.9}, "age": {"known": [0, 0.5], "sensitivity": [0, 1]}}
    frame = pl.DataFrame({"id": ["a", "b", "c"], "age": [1, 1, 2]})
    records = KnownSets().measure(discreet.read(frame, {"attributes": attributes})).per_record
    assert records["risk_best"].to_list() == [0.0, 0.0, 0.0]
    assert min(records["risk_worst"]) > 0


def test_a_range_survives_yaml_pickling_and_the_digest_tells_it_from_its_ends() -> None:
    policy = parse_policy("attributes: {age: {known: [0.1, 0.5]}, d: {sensitivity: 0.2 to 0.4, values: {HIV: [0.8, 1]}}}")
    again = parse_policy(policy.to_yaml())
    assert again == policy == pickle.loads(pickle.dumps(policy))
    assert again.attributes["age"].known == Guess(0.1, 0.5)
    assert again.attributes["d"].values["HIV"] == Guess(0.8, 1.0)
    assert policy.ranges == 3
    assert len({policy.digest(), policy.at_low_ends().digest(), parse_policy("attributes: {age: {known: 0.5}}").digest()}) == 3


@pytest.mark.parametrize(
    ("known", "message"),
    [([0.5, 0.1], "from its lower to its upper end"), ([0.1], "two ends"), ([0.1, 1.5], "less than or equal to 1")],
)
def test_a_wrong_range_is_refused_with_what_would_work(known: Any, message: str) -> None:
    with pytest.raises(PolicyError, match=message):
        Policy.from_dict({"attributes": {"age": {"known": known}}})
