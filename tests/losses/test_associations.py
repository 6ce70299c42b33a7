"""Associations and regression effects against slow definitions and known truths."""

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet import Microdata, Policy
from discreet.errors import ParameterError
from discreet.losses.associations.measure import Associations
from discreet.losses.associations.regression import fit_effects, parse_formula
from discreet.losses.associations.strength import Variable, association
from discreet.testing import table

RNG = np.random.default_rng(8)


def slow_cramers_v(left, right):
    rows, columns, n = sorted(set(left)), sorted(set(right)), len(left)
    if min(len(rows), len(columns)) < 2:
        return 0.0
    chi = 0.0
    for row in rows:
        for column in columns:
            expected = left.count(row) * right.count(column) / n
            chi += (sum(pair == (row, column) for pair in zip(left, right, strict=True)) - expected) ** 2 / expected
    r, c = len(rows), len(columns)
    phi2 = max(0.0, chi / n - (r - 1) * (c - 1) / (n - 1))
    smaller = min(r - (r - 1) ** 2 / (n - 1), c - (c - 1) ** 2 / (n - 1)) - 1
    return min(1.0, math.sqrt(phi2 / smaller)) if smaller > 0 else 0.0


def slow_correlation_ratio(groups, numbers):
    n, k, mean = len(numbers), len(set(groups)), sum(numbers) / len(numbers)
    total = sum((number - mean) ** 2 for number in numbers)
    if k < 2 or n <= k or total <= 0:
        return 0.0
    within = 0.0
    for group in set(groups):
        own = [number for other, number in zip(groups, numbers, strict=True) if other == group]
        within += sum((number - sum(own) / len(own)) ** 2 for number in own)
    return math.sqrt(min(1.0, max(0.0, 1 - within / total * (n - 1) / (n - k))))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(-5, 5)), min_size=3, max_size=30))
def test_associations_follow_their_definitions(rows):
    first, second, numbers = (list(column) for column in zip(*rows, strict=True))
    a, b = Variable(np.array(first), 4), Variable(np.array(second), 3)
    number = Variable(np.array(numbers, dtype=np.float64))
    assert association(a, b) == pytest.approx(slow_cramers_v(first, second), abs=1e-6)
    assert association(b, a) == pytest.approx(association(a, b), abs=1e-12)
    assert association(a, number) == pytest.approx(slow_correlation_ratio(first, numbers), abs=1e-6)
    assert association(number, a) == association(a, number)
    if len(set(numbers)) > 1:
        assert association(number, number) == pytest.approx(1.0)


def test_missing_values_are_left_out():
    sex, age = np.array([0, 0, 1, 1, -1, 1]), np.array([10.0, 11.0, 20.0, 21.0, 99.0, np.nan])
    shorter = association(Variable(sex[:4], 2), Variable(age[:4]))
    assert association(Variable(sex, 2), Variable(age)) == shorter > 0.9


def _visits(records=2_000):
    sex = RNG.choice(["f", "m"], records)
    race = RNG.choice(["a", "b", "c"], records, p=[0.6, 0.3, 0.1])
    age = RNG.integers(20, 80, records)
    visits = 1 - 0.5 * (sex == "m") + 0.8 * (race == "b") + 0.02 * age + RNG.normal(0, 0.5, records)
    frame = pl.DataFrame({"sex": sex, "race": race, "age": age, "visits": visits})
    roles = {"sex": {"role": "key"}, "race": {"role": "key"}, "age": {"role": "key"}, "visits": {"role": "confidential"}}
    return Microdata(frame, Policy.from_dict({"attributes": roles}))


ANALYSES = Associations(analyses=("visits ~ sex + race + age",))


def test_known_effects_are_recovered():
    data = _visits()
    design = {
        "m": (data.frame["sex"] == "m").cast(pl.Float64).to_numpy(),
        "b": (data.frame["race"] == "b").cast(pl.Float64).to_numpy(),
        "age": data.frame["age"].cast(pl.Float64).to_numpy(),
    }
    effects = fit_effects(data.frame["visits"].to_numpy(), design)
    for name, truth in {"m": -0.5, "b": 0.8, "age": 0.02}.items():
        low, high = effects[name].interval
        assert low - (high - low) < truth < high + (high - low)
        assert effects[name].is_clear


def test_an_unchanged_table_has_no_loss():
    data = _visits(300)
    assert ANALYSES.measure(data, data).summary == {
        "loss": 0.0, "worst": 0.0, "pairs": 0, "effect": 0.0, "effects_outside": 0, "effects": 4,
    }  # fmt: skip


def test_recoding_keeps_effects_that_shuffling_destroys():
    data = _visits()
    recoded = data.with_columns(
        {"age": (data.frame["age"] // 10 * 10).cast(pl.String) + ".." + ((data.frame["age"] // 10 + 1) * 10).cast(pl.String)}
    )
    shuffled = data.with_columns({"sex": data.frame["sex"].gather(RNG.permutation(len(data)))})
    assert ANALYSES.measure(data, recoded)["effect"] < 0.1
    assert ANALYSES.measure(data, recoded)["effects_outside"] == 0
    score = ANALYSES.measure(data, shuffled)
    assert score["effect"] > 0.8
    assert score["effects_outside"] >= 1
    assert any("effect of sex=" in note and "becomes" in note for note in score.notes)


def test_a_merged_category_counts_for_its_members_in_part():
    data = _visits()
    merged = data.with_columns({"race": data.frame["race"].replace({"b": "{b|c}", "c": "{b|c}"})})
    score = ANALYSES.measure(data, merged)
    assert score["effect"] >= 0.99  # b and c cannot be told apart any more
    partly = data.with_columns(
        {"race": pl.Series([v if i % 10 else "{b|c}" if v != "a" else v for i, v in enumerate(data.frame["race"].to_list())])}
    )
    assert ANALYSES.measure(data, partly)["effect"] < 0.25


def test_a_suppressed_attribute_loses_all_its_associations():
    data = _visits()
    blank = data.with_columns({"sex": pl.Series([None] * len(data), dtype=pl.String)})
    score = ANALYSES.measure(data, blank)
    before = {other: abs(_association(data, "sex", other)) for other in ("race", "age", "visits")}
    row = score.per_attribute.filter(pl.col("attribute") == "sex")
    assert row["worst"][0] == pytest.approx(max(before.values()))
    assert score["effect"] == 1.0


def _association(data, first, second):
    variables = []
    for name in (first, second):
        column = data.frame[name]
        if column.dtype.is_numeric():
            variables.append(Variable(column.cast(pl.Float64).to_numpy()))
        else:
            values = sorted(set(column.to_list()))
            variables.append(Variable(np.array([values.index(v) for v in column.to_list()]), len(values)))
    return association(*variables)


def test_a_removed_column_cannot_be_estimated():
    data = _visits(200)
    assert ANALYSES.measure(data, Microdata(data.frame.drop("age")))["effect"] == 1.0


@pytest.mark.parametrize("text", ["visits", "~ sex", "visits ~", "visits ~ sex +", "visits ~ + sex"])
def test_a_malformed_formula_is_refused(text):
    with pytest.raises((ParameterError, ValueError), match="is not of the form"):
        parse_formula(text)


def test_a_formula_that_names_no_column_is_an_error():
    with pytest.raises(ParameterError, match="'vists', which is no column; did you mean 'visits'"):
        Associations(analyses=("vists ~ sex",)).measure(_visits(50), _visits(50))
    with pytest.raises(ParameterError, match="must be a number"):
        Associations(analyses=("sex ~ age",)).measure(_visits(50), _visits(50))


def test_policies_can_name_it():
    policy = {"attributes": {"sex": {"role": "key"}}, "loss": {"associations": {"analyses": ["visits ~ sex"]}},
              "limits": {"associations.effect": 0.25}, "risk": {"k_anonymity": {}}}  # fmt: skip
    data = _visits(200).with_policy(Policy.from_dict(policy))
    assessment = discreet.assess(data, data)
    assert assessment.verdicts[0].status == "met"


def test_the_effect_of_a_category_with_few_records_is_reported_but_not_counted():
    rng = np.random.default_rng(3)
    office = ["sales"] * 60 + ["it"] * 40 + ["board"] * 4
    pay = [{"sales": 30.0, "it": 50.0, "board": 200.0}[name] for name in office] + rng.normal(0, 1, 104)
    before = table({"office": office, "pay": pay.tolist()}, key=["office"])
    merged = ["{board|it}" if name == "board" or number == 60 else name for number, name in enumerate(office)]
    after = before.with_columns({"office": pl.Series(merged)})
    every, counted = (Associations(analyses=("pay ~ office",), fewest=fewest).measure(before, after) for fewest in (1, 5))
    assert every.summary["effect"] > 0.25
    assert counted.summary["effect"] < 0.05
    assert (every.summary["effects"], counted.summary["effects"]) == (2, 1)
    assert [note for note in map(str, counted.notes) if "office=board" in note and "fewer than 5 records" in note]
    assert not [note for note in map(str, every.notes) if "fewer than" in note]


@pytest.mark.parametrize("kept", [500, 320])
def test_the_order_of_a_release_changes_nothing_where_only_some_records_are_compared(kept: int) -> None:
    """A written release is shuffled: of other records than those of the original, associations differ by chance alone."""
    original = _visits(500)
    ages = original.frame["age"].sort()
    masked = original.with_columns({"age": ages}).take(np.arange(500)[:kept])
    measure = Associations(records=100)
    in_order = measure.measure(original, masked).summary
    shuffled = measure.measure(original, masked.take(RNG.permutation(kept))).summary
    assert in_order["loss"] > 0
    assert shuffled == pytest.approx(in_order)
    unchanged = original.take(RNG.permutation(500))
    assert measure.measure(original, unchanged).summary["worst"] == pytest.approx(0)
