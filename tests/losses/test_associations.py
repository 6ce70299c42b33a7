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
from discreet.losses.associations.categories import categories_of_both
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


def slow_v_of_shares(left, right):
    """Cramér's V where each record counts for each pair of categories with the product of its shares."""
    table, records = {}, len(left)
    for first, second in zip(left, right, strict=True):
        for a, share in first.items():
            for b, other in second.items():
                table[a, b] = table.get((a, b), 0.0) + share * other
    rows = {a: sum(count for (one, _), count in table.items() if one == a) for a, _ in table}
    columns = {b: sum(count for (_, one), count in table.items() if one == b) for _, b in table}
    if min(len(rows), len(columns)) < 2:
        return 0.0
    chi = sum(
        (table.get((a, b), 0.0) - rows[a] * columns[b] / records) ** 2 / (rows[a] * columns[b] / records)
        for a in rows
        for b in columns
    )
    r, c = len(rows), len(columns)
    phi2 = max(0.0, chi / records - (r - 1) * (c - 1) / (records - 1))
    smaller = min(r - (r - 1) ** 2 / (records - 1), c - (c - 1) ** 2 / (records - 1)) - 1
    return min(1.0, math.sqrt(phi2 / smaller)) if phi2 > 1e-12 and smaller > 0 else 0.0


CELLS = st.sampled_from(["a", "b", "c", "{a|b}", "{b|c}", "{a|b|c}", "?"])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(CELLS, CELLS, st.integers(-5, 5)), min_size=3, max_size=25))
def test_a_group_counts_for_its_members_in_part_in_every_pair(rows):
    """Against the definition: members are weighted by how often they are released as they are, plus one."""
    size = len(rows)
    plain = pl.Series(["a", "b", "c"] + ["a"] * size)
    data = table({"x": plain, "y": plain, "z": [0.0] * (size + 3)}, key=["x", "y", "z"])
    columns = [[row[side] for row in rows] for side in (0, 1)]
    masked = data.take(np.arange(3, size + 3)).with_columns(
        {name: pl.Series(column).replace({"?": None}) for name, column in zip("xy", columns, strict=True)}
    )

    def shares(column):
        weights = {value: 1 + column.count(value) for value in "abc"}
        return [
            None
            if cell == "?"
            else {m: weights[m] / sum(weights[n] for n in cell.strip("{}").split("|")) for m in cell.strip("{}").split("|")}
            for cell in column
        ]

    x, y = (categories_of_both(data, masked, name)[1] for name in "xy")
    both = [(a, b, row[2]) for a, b, row in zip(shares(columns[0]), shares(columns[1]), rows, strict=True) if a and b]
    if len(both) >= 3:
        expected = slow_v_of_shares([a for a, _, _ in both], [b for _, b, _ in both])
        assert association(x, y) == pytest.approx(expected, abs=1e-6)
        assert association(y, x) == pytest.approx(expected, abs=1e-6)
    numbers = Variable(np.array([float(row[2]) for row in rows]))
    present = [(share, row[2]) for share, row in zip(shares(columns[0]), rows, strict=True) if share]
    if len(present) >= 3:
        mean = sum(number for _, number in present) / len(present)
        total = sum((number - mean) ** 2 for _, number in present)
        groups = {value for share, _ in present for value in share}
        if len(groups) < 2 or len(present) <= len(groups) or total <= 0:
            assert association(x, numbers) == 0.0
        else:
            between = 0.0
            for value in groups:
                count = sum(share.get(value, 0.0) for share, _ in present)
                between += sum(share.get(value, 0.0) * (number - mean) for share, number in present) ** 2 / count
            part = 1 - (1 - between / total) * (len(present) - 1) / (len(present) - len(groups))
            assert association(x, numbers) == pytest.approx(math.sqrt(min(1.0, max(0.0, part))), abs=1e-6)


def _independent_attributes(records=3_000):
    rng = np.random.default_rng(5)
    frame = pl.DataFrame({name: rng.choice(list("abcdef"), records) for name in ("job", "town")})
    return Microdata(frame, Policy.from_dict({"attributes": {"job": {"role": "key"}, "town": {"role": "key"}}}))


def test_labels_of_the_same_classes_are_no_association_of_their_members():
    """Classes of near records publish both labels together: independent attributes had a V of nearly 1 after it."""
    data = _independent_attributes()
    classes = np.arange(len(data)) // 5
    masked = data.with_columns({
        name: data.frame.select(
            ("{" + pl.col(name).unique().sort().str.join("|") + "}").over(pl.Series(classes)).str.replace(r"^\{([^|]*)\}$", "$1")
        ).to_series().alias(name)
        for name in data.columns
    })  # fmt: skip
    assert masked.frame["job"].n_unique() > 20
    assert Associations().measure(data, masked)["worst"] < 0.1


def test_a_coarser_attribute_keeps_more_of_its_associations_than_a_blank_one():
    data = _visits()
    coarse = data.with_columns({"race": data.frame["race"].replace({"b": "{b|c}", "c": "{b|c}"})})
    blank = data.with_columns({"race": pl.Series([None] * len(data), dtype=pl.String)})
    assert Associations().measure(data, coarse)["loss"] < Associations().measure(data, blank)["loss"]


def test_pseudonyms_keep_the_associations_of_what_they_stand_for():
    data = _visits()
    renamed = data.with_columns({"race": data.frame["race"].replace({"a": "x7", "b": "q1", "c": "m3"})})
    assert Associations().measure(data, renamed)["worst"] == pytest.approx(0.0, abs=1e-12)
