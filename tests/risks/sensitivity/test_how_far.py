"""How far verdicts hold: brute force on small tables, thousands of policies inside every certified box and interval."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracle import Guesses, Oracle, sample_box

import discreet
from discreet.errors import DataError
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.model.sensitivity import Sensitivity
from discreet.model.threshold import Among
from discreet.risks.known_sets.measure import KnownSets
from discreet.risks.known_sets.sensitivity import counted
from discreet.risks.known_sets.sensitivity.guesses import with_known, with_sensitivity

TRIES = 10_000
SHARES = st.sampled_from([0.0, 0.05, 0.2, 0.3, 0.5, 0.8, 1.0])
CELLS = st.sampled_from([None, "a", "a", "b", "c"])
FIELDS = ["high_risk", "high_risk_share", "mean", "max", "effective_k_min", "effective_k_median", "below_5"]


@st.composite
def tables(draw: st.DrawFn) -> Microdata:
    height = draw(st.integers(1, 9))
    names = [f"x{at}" for at in range(draw(st.integers(1, 4)))]
    columns = {name: pl.Series([draw(CELLS) for _ in range(height)], dtype=pl.String) for name in names}
    attributes: dict[str, Any] = {name: {"known": draw(SHARES), "sensitivity": draw(SHARES)} for name in names}
    if draw(st.booleans()):
        attributes["x0"]["values"] = {"a": draw(SHARES), "b": 0.4}
        if draw(st.booleans()):
            attributes["x0"]["default"] = 0.3
    attributes["x0"]["known"] = attributes["x0"]["known"] or 0.2
    attributes[names[-1]]["sensitivity"] = attributes[names[-1]]["sensitivity"] or 0.5
    return Microdata(pl.DataFrame(columns), Policy.from_dict({"attributes": attributes}))


@st.composite
def cases(draw: st.DrawFn) -> tuple[Microdata, KnownSets, str, float]:
    """A table, the measure, a field, and a number that is required of it, somewhere about what the field is."""
    data = draw(tables())
    threshold: Any = Among(among=2.5) if draw(st.booleans()) else draw(st.sampled_from([0.10003, 0.40007, 0.90001]))
    measure = KnownSets(alpha=draw(st.sampled_from([1.0, 10.0])), epsilon=draw(st.sampled_from([0.0, 0.1])), threshold=threshold,
                        missing=draw(st.sampled_from(["category", "wildcard"])))  # fmt: skip
    field = draw(st.sampled_from(FIELDS))
    oracle = Oracle(data, measure.missing)
    number = oracle.field(oracle.guesses(data.policy), field, threshold, measure.alpha)[0]
    assume(not np.isnan(number))
    required = float(number) * draw(st.sampled_from([0.5, 0.9, 1.0, 1.2, 2.0])) + draw(st.sampled_from([0.0, 1e-6, 0.5]))
    if field in ("mean", "max", "effective_k_min", "effective_k_median"):
        required += 3e-7  # rounding must not decide
    return data, measure, field, required


def examined(case: tuple[Microdata, KnownSets, str, float]) -> tuple[Sensitivity, Any]:
    """The result, and which of many policies meet the limit by the definition."""
    data, measure, field, required = case
    oracle = Oracle(data, measure.missing)
    result = measure.examine_guesses(data, {field: required})
    assert result is not None

    def is_met(guesses: Guesses) -> Any:
        return oracle.is_met(guesses, field, required, measure.threshold, measure.alpha, measure.better[field])

    return result, is_met


@settings(max_examples=40, deadline=None)
@given(cases(), st.integers(0, 1000))
def test_no_policy_inside_the_box_flips_a_verdict(case: Any, seed: int) -> None:
    data = case[0]
    oracle = Oracle(data, case[1].missing)
    result, is_met = examined(case)
    assert result.box is not None
    (verdict,) = result.verdicts
    if verdict.status == "incomplete":
        return
    for half_width in {result.box.half_width, result.box.half_width / 2}:
        inside = is_met(sample_box(oracle, data.policy, half_width, TRIES // 2, seed))
        assert inside.all() if verdict.status == "met" else not inside.any()


@settings(max_examples=40, deadline=None)
@given(cases(), st.integers(0, 1000), st.booleans())
def test_verdicts_hold_between_the_ends_and_are_others_where_they_flip(case: Any, seed: int, sparse: bool) -> None:
    data, measure = case[0], case[1]
    oracle = Oracle(data, measure.missing)
    with pytest.MonkeyPatch.context() as patch:
        if sparse:  # sets are left out, so that only bounds are certain
            patch.setattr(counted, "_MOST_SETS", 2)
        result, is_met = examined(case)
    (verdict,) = result.verdicts
    random = np.random.default_rng(seed)
    given = known_of(data.policy, oracle.names)
    for reach in result.reaches:
        assert reach.low <= reach.given <= reach.high
        values = np.concatenate([random.uniform(reach.low, reach.high, 40), [reach.low, reach.given, reach.high]])

        def policy_at(value: float, reach: Any = reach) -> Policy:
            if reach.kind == "factor":
                known = {name: min(1.0, value * own) for name, own in zip(oracle.names, given, strict=True)}
                return with_known(data.policy, known)
            change = with_known(data.policy, {reach.attribute: value}) if reach.kind == "known" else None
            return change or with_sensitivity(data.policy, reach.attribute, value)

        holds = is_met(oracle.guesses(*(policy_at(float(value)) for value in values)))
        assert holds.all() if verdict.status == "met" else not holds.any(), reach
        flipped = [value for value in (reach.below, reach.above) if value is not None]
        if flipped:
            others = is_met(oracle.guesses(*(policy_at(value) for value in flipped)))
            assert not others.any() if verdict.status == "met" else others.all(), reach


@settings(max_examples=40, deadline=None)
@given(cases())
def test_risks_flip_where_bisection_finds_it_and_every_set_is_counted(case: Any) -> None:
    """Nothing is left open along risks that rise: the bracket is narrow, or there is none because nothing flips."""
    _, measure, field, _ = case
    assume(field in ("mean", "max") or (field.startswith("high_risk") and not isinstance(measure.threshold, Among)))
    result, _ = examined(case)
    (verdict,) = result.verdicts
    assert verdict.status != "incomplete" or verdict.high == 0
    assert verdict.low == pytest.approx(verdict.high, rel=1e-9)
    for reach in result.reaches:
        for held, flipped, end in ((reach.low, reach.below, reach.span[0]), (reach.high, reach.above, reach.span[1])):
            if flipped is None:
                assert held == pytest.approx(end) or abs(held - end) < 1e-3
            else:
                assert abs(flipped - held) <= 2e-3 * max(flipped, held) + 1e-6


def known_of(policy: Policy, names: list[str]) -> list[float]:
    return [float(policy.attributes[name].known) if name in policy.attributes else 0.0 for name in names]


@settings(max_examples=30, deadline=None)
@given(tables(), st.sampled_from(["category", "wildcard"]), SHARES, SHARES, st.integers(1, 40))
def test_bounds_from_counts_taken_once_hold_under_other_guesses(
    data: Microdata, missing: Any, known: float, sensitivity: float, most: int
) -> None:
    """Counted under one policy, the bounds hold under another, and are exact where every set was counted."""
    oracle = Oracle(data, missing)
    names = [name for name in oracle.names if name in data.policy.attributes]
    used = [name for name in names if data.attribute(name).known > 0 or data.attribute(name).sensitivity > 0]
    spec = counted.Spec(data, None, used, 0.1, 10_000, missing)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counted, "_MOST_SETS", most)
        one = counted.Counted(spec, np.array([data.attribute(name).known for name in used], dtype=float))
    other = with_known(data.policy, {name: known for name in used if data.attribute(name).known > 0})
    other = other.with_(
        attributes={
            name: attribute.model_copy(update={"sensitivity": sensitivity * attribute.sensitivity})
            for name, attribute in other.attributes.items()
        }
    )
    point = one.point_at(other)
    total, mass, alone = (values[0] for values in oracle.sums(oracle.guesses(other)))
    kind = np.arange(len(one.slots)) if one.kind is None else one.kind
    assert (point.lower[kind] <= total[one.slots] + 1e-12).all()
    assert (point.upper[kind] >= total[one.slots] - 1e-12).all()
    np.testing.assert_allclose(point.mass[kind], mass[one.slots], atol=1e-12)
    np.testing.assert_allclose(point.alone[kind], alone[one.slots], atol=1e-12)
    if one.is_complete:
        np.testing.assert_allclose(point.lower, point.upper, atol=1e-12)


@settings(max_examples=30, deadline=None)
@given(tables(), st.sampled_from([0.0, 0.1]), st.booleans())
def test_the_curve_is_the_share_of_records_above_every_threshold(data: Microdata, epsilon: float, among: bool) -> None:
    threshold: Any = Among(among=2.0) if among else 0.3
    measure = KnownSets(alpha=1, epsilon=epsilon, threshold=threshold)
    curve = measure.examine_guesses(data, {}).curve
    records = measure.measure(data).per_record
    for row in curve.iter_rows(named=True):
        if among:
            expected = (records["effective_k"] < row["threshold"] * (1 - 1e-9)).fill_null(False).mean()
            assert row["share"] == pytest.approx(expected, abs=1e-12)
        else:
            assert row["share"] == pytest.approx((records["risk"] > row["threshold"]).mean(), abs=1e-12)
        assert row["low"] <= row["high"]
    assert (threshold.among if among else threshold) in curve["threshold"].to_list()


FRAME = pl.DataFrame({"age": [30, 30, 41, 41, 52], "disease": ["Flu", "HIV", "Flu", "Flu", "HIV"]})


def survey(limits: dict[str, float], **extra: Any) -> dict[str, Any]:
    return {
        "attributes": {"age": {"role": "key", "known": 0.2}, "disease": {"role": "confidential", "sensitivity": 1.0, **extra}},
        "risk": {"known_sets": {"alpha": 1, "epsilon": 0, "threshold": 0.4}},
        "limits": limits,
    }


def test_the_value_at_which_a_probability_flips_the_verdict_is_that_of_the_formula() -> None:
    """The record that is alone has the risk 1/5 + p, which is greater than 0.4 from p = 0.2 on."""
    data = discreet.read(
        FRAME, survey({"known_sets.high_risk": 0}) | {"attributes": {"age": {"known": 0.1}, "disease": {"sensitivity": 1.0}}}
    )
    result = discreet.risk(data)["known_sets"].sensitivity()
    flips = {(reach.kind, reach.attribute): reach.flips_up for reach in result.reaches}
    assert flips["known", "age"][0] == pytest.approx(0.2, rel=2e-3)
    assert flips["factor", None][0] == pytest.approx(2.0, rel=2e-3)
    assert result.strongest == "age"
    assert "The verdict rests most on your guess for age." in result.sentences


def test_a_score_without_its_table_says_what_to_call() -> None:
    data = discreet.read(FRAME, survey({}))
    score = discreet.assess(data, data).after["known_sets"]
    with pytest.raises(DataError, match=r"discreet\.sensitivity"):
        score.sensitivity()
    assert set(discreet.sensitivity(data)) == {"known_sets"}


def test_the_worse_intruder_decides_where_a_release_is_examined() -> None:
    policy = survey({"known_sets.max": 0.75}) | {"plan": {"steps": []}}
    original = discreet.read(FRAME, policy)
    masked = discreet.read(FRAME.with_columns(pl.lit(None, dtype=pl.Int64).alias("age")), policy)
    informed = discreet.sensitivity(original, original)["known_sets"]
    assert [verdict.status for verdict in informed.verdicts] == ["met"]
    assert discreet.sensitivity(original, masked)["known_sets"].verdicts[0].high < informed.verdicts[0].high


def test_limits_that_do_not_measure_risk_and_populations_are_refused_by_name() -> None:
    result = discreet.read(FRAME, survey({"known_sets.sets": 5}))
    notes = discreet.sensitivity(result)["known_sets"].notes
    assert any("known_sets.sets does not measure risk" in note for note in notes)
    data = discreet.read(FRAME, survey({}))
    with pytest.raises(DataError, match="population: none"):
        KnownSets(population="model", sampling_fraction=0.1).examine_guesses(data, {})


def test_a_table_of_which_nothing_can_be_learnt_is_not_said_to_hold() -> None:
    data = discreet.read(FRAME, {"attributes": {"age": {"known": 0.5}}, "limits": {"known_sets.max": 1}})
    result = discreet.sensitivity(data)["known_sets"]
    assert [verdict.status for verdict in result.verdicts] == ["incomplete"]
    assert "nothing can be learnt" in result.sentences[0]
    assert not result.box.limits
    assert not result.reaches


def test_what_there_was_no_time_for_is_said() -> None:
    result = KnownSets(alpha=1, threshold=0.4).examine_guesses(discreet.read(FRAME, survey({})), {"high_risk": 3.0}, seconds=0.0)
    assert any("time was up" in note for note in result.notes)
    assert not result.box.complete
    assert result.curve is not None


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"risk": {"known_sets": {"knowledge": "independent"}}}, "knowledge: independent"),
        ({"known_together": [["age", "disease"]]}, "known_together"),
        ({"scenarios": {"neighbour": {"age": 0.9}}}, "scenarios"),
    ],
)
def test_readings_of_knowledge_that_the_proofs_do_not_cover_are_refused(change: dict[str, Any], named: str) -> None:
    data = discreet.read(FRAME, survey({"known_sets.mean": 1}) | change)
    with pytest.raises(DataError, match=named):
        discreet.sensitivity(data)
