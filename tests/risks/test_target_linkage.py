"""Linking target units: (4.10) against the definition, pair by pair."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import OSA, JaroWinkler

import discreet
from discreet.errors import DataError, ParameterError
from discreet.model.attribute import Attribute, Role
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.registry import create
from discreet.risks.target_linkage import attack as linkage
from discreet.risks.target_linkage.blocking import choose_pairs
from discreet.risks.target_linkage.measure import TargetLinkage
from discreet.testing import table

ages = st.one_of(st.none(), st.integers(0, 5))
names = st.one_of(st.none(), st.sampled_from(["anna", "anne", "bert", "berta"]))
rows = st.lists(st.tuples(ages, names), min_size=1, max_size=8)


def plainly(targets, records, pi, chances, agree, errors=None):
    """(4.10) as it is printed: one row per target, one column per record, and the last column 'not in the file'."""
    t = len(records)
    made = []
    for target in targets:
        ratios = []
        for record in records:
            ratio = 1.0
            for at, (value, cell) in enumerate(zip(target, record, strict=True)):
                if value is None:
                    continue
                u = chances[at](value)
                if errors is None:
                    ratio *= (1 / u) if cell is None or agree[at](value, cell) else 0.0
                elif cell is not None:
                    e = errors[at]
                    ratio *= (1 - e) / u if agree[at](value, cell) else e / max(1 - u, 1 / (t + 1))
            ratios.append(ratio)
        below = pi / t * sum(ratios) + 1 - pi
        made.append([pi / t * ratio / below if below else 0.0 for ratio in ratios] + [(1 - pi) / below if below else 0.0])
    return np.array(made)


def frame(records):
    return pl.DataFrame(records, schema={"age": pl.Int64, "name": pl.String}, orient="row")


def keyed(records, **policy):
    attributes = {"age": Attribute(role=Role.KEY), "name": Attribute(role=Role.KEY)}
    return Microdata(frame(records), Policy(attributes=attributes, **policy))


def share(records, at, agree):
    cells = [record[at] for record in records if record[at] is not None]
    if not cells:
        return lambda value: 1.0
    return lambda value: max(sum(agree(value, cell) for cell in cells) / len(cells), 1 / (len(cells) + 1))


def same(value, cell):
    return value == cell


@settings(deadline=None, max_examples=80)
@given(rows, rows, st.sampled_from([0.05, 0.5, 1.0]), st.sampled_from(["uniform", "independent"]), st.sampled_from([0, 1]))
def test_probability_is_that_of_the_formula_with_nulls_and_tolerances(targets, records, pi, model, tolerance):
    agree = [lambda value, cell: abs(value - cell) <= tolerance, same]
    if model == "uniform":
        sizes = [max(len({record[at] for record in records} - {None}), 1) for at in (0, 1)]
        chances = [lambda value: 1 / sizes[0], lambda value: 1 / sizes[1]]
    else:
        chances = [share(records, at, agree[at]) for at in (0, 1)]
    expected = plainly(targets, records, pi, chances, agree)
    measure = TargetLinkage(sampling_fraction=pi, model=model, tolerance={"age": tolerance}, attributes=("age", "name"))
    score = measure_list(measure, records, targets)
    compare_with(score, expected)


def measure_list(measure, records, targets, **policy):
    """Measure with a list that is a frame, by way of the original: its records are the targets."""
    data = keyed(records, **policy)
    data.records[:] = -1 - np.arange(len(records))  # strangers, so that nobody knows the truth
    return measure.measure(data, original=keyed(targets))


def compare_with(score, expected):
    inside = expected[:, :-1]
    # (4.10) sums over all records and 'not in the file' to 1, wherever the intruder is not left with nothing
    whole = expected.sum(axis=1)
    assert np.allclose(whole[whole > 0], 1.0, rtol=1e-9)
    found = score.per_record
    assert np.allclose(found["probability"].to_numpy(), inside.max(axis=1), rtol=1e-9, atol=1e-300)
    ordered = np.sort(inside, axis=1)
    assert np.allclose(found["runner_up"].to_numpy(), ordered[:, -2] if inside.shape[1] > 1 else 0.0, rtol=1e-9, atol=1e-300)
    for row, best in enumerate(found["best"].to_list()):
        if inside[row].max() > 0:
            assert inside[row][best] == pytest.approx(inside[row].max(), rel=1e-9)
        else:
            assert best is None
    assert score["targets"] == len(expected)
    assert score["mean"] == pytest.approx(inside.max(axis=1).mean())
    assert score["over_threshold"] == pytest.approx((inside.max(axis=1) > 0.05).mean())


@settings(deadline=None, max_examples=60)
@given(rows, rows, st.sampled_from([0.05, 1.0]))
def test_the_empirical_model_is_inclusion_over_agreeing_records(targets, records, pi):
    score = measure_list(TargetLinkage(sampling_fraction=pi, model="empirical"), records, targets)
    for row, target in enumerate(targets):
        count = sum(all(v is None or c is None or v == c for v, c in zip(target, record, strict=True)) for record in records)
        assert score.per_record["candidates"][row] == count
        assert score.per_record["probability"][row] == pytest.approx(pi / count if count else 0.0, rel=1e-9)


@settings(deadline=None, max_examples=80)
@given(rows, rows, st.sampled_from([0.05, 1.0]), st.sampled_from([("similarity", 0.85), ("edits", 1)]), st.booleans())
def test_error_rates_and_similar_texts_follow_fellegi_and_sunter(targets, records, pi, fuzzy, errors):
    kind, limit = fuzzy
    scores = {"similarity": lambda v, c: JaroWinkler.similarity(v, c) >= limit, "edits": lambda v, c: OSA.distance(v, c) <= limit}
    near = scores[kind]
    rates = [0.1, 0.02]
    asked, held = [t[1] for t in targets if t[1] is not None], [r[1] for r in records if r[1] is not None]
    pairs = [(v, c) for v in asked for c in held]
    extra = sum(v != c and near(v, c) for v, c in pairs) / len(pairs) if pairs else 0.0
    exact = share(records, 1, same)
    chances = [share(records, 0, same), lambda value: min(1.0, exact(value) + extra) if held else 1.0]
    expected = plainly(targets, records, pi, chances, [same, near], rates if errors else None)
    given_rates = {"age": 0.1, "name": 0.02} if errors else None
    measure = TargetLinkage(sampling_fraction=pi, attributes=("age", "name"), errors=given_rates, **{kind: {"name": limit}})
    compare_with(measure_list(measure, records, targets), expected)


@settings(max_examples=300)
@given(st.integers(1, 60), st.integers(1, 10**6), st.floats(1e-9, 1.0), st.floats(1.0, 1e30))
def test_rounding_never_raises_a_probability_above_one_over_the_agreeing_records(count, records, inclusion, ratio):
    """As it stands, the formula can give more than 1 / count: a limit of 0.2 was missed by 3e-17."""
    arguments = [np.array([value]) for value in (ratio, count, inclusion)]
    (probability,) = linkage.posterior_of_equals(*arguments, records)
    assert probability <= 1 / count
    assert probability == pytest.approx(inclusion * ratio / (count * inclusion * ratio + records * (1 - inclusion)), rel=1e-9)


def test_targets_with_rare_values_meet_a_limit_of_one_over_their_class():
    ratios = np.geomspace(1e15, 1e25, 1000)  # of many keys: then the inclusion probability hardly matters
    counts, inclusion = np.full(1000, 5), np.full(1000, 1 / 1700)
    assert (linkage.posterior(ratios, 5 * ratios, inclusion, 199_523) > 0.2).any()  # what rounding does
    assert (linkage.posterior_of_equals(ratios, counts, inclusion, 199_523) <= 0.2).all()


def test_the_link_is_used_where_the_truth_is_known():
    data = table({"age": [1, 1, 2, 3], "sex": ["m", "m", "f", "f"]}, key=["age", "sex"])
    swapped = data.with_columns({"age": pl.Series([1, 1, 3, 2])})
    before, after = TargetLinkage().measure(data, original=data), TargetLinkage().measure(swapped, original=data)
    assert before["expected_links"] == pytest.approx(3.0)
    assert before.per_record["correct"].to_list() == [0.5, 0.5, 1.0, 1.0]
    assert after["expected_links"] == pytest.approx(1.0)  # the intruder is sure of the two swapped ones, and wrong
    assert after["claimed_links"] == pytest.approx(3.0)


def test_the_plans_own_sampling_factor_is_the_inclusion_probability():
    data = table({"age": list(range(10))}, key=["age"])
    sample = data.take(np.array([0, 4, 7, 9]))
    score = TargetLinkage(model="empirical").measure(sample, original=data)
    assert score["max"] == pytest.approx(0.4)
    assert score["expected_links"] == pytest.approx(4.0)
    assert score["guessing"] == pytest.approx(0.4 / 4)


def test_simulated_records_count_in_the_file_and_not_in_the_sampling_factor():
    data = table({"age": [1, 2]}, key=["age"])
    mixed = Microdata(pl.DataFrame({"age": [1, 2, 1, 1]}), data.policy, records=np.array([0, 1, -1, -2]))
    score = TargetLinkage(model="empirical").measure(mixed, original=data)
    assert score.per_record["probability"].to_list() == pytest.approx([1 / 3, 1.0])
    assert score["expected_links"] == pytest.approx(1 / 3 + 1)
    assert TargetLinkage(population=20, model="empirical").measure(mixed)["max"] == pytest.approx(0.1)


def test_survey_weights_are_inverse_inclusion_probabilities():
    data = table({"age": [1, 1, 2], "w": [10.0, 20.0, 50.0]}, key=["age"], weight=["w"])
    score = TargetLinkage(model="empirical").measure(data)
    assert score.per_record["probability"].to_list() == pytest.approx([1 / 20, 1 / 40, 1 / 50])
    with pytest.raises(DataError, match="at least 1"):
        TargetLinkage().measure(table({"age": [1], "w": [0.5]}, key=["age"], weight=["w"]))


def test_masked_intervals_groups_and_labels_agree_with_what_they_contain():
    attributes = {
        "age": Attribute(role=Role.KEY),
        "zip": Attribute(role=Role.KEY, hierarchy={"prefixes": [3]}),
        "job": Attribute(role=Role.KEY),
    }
    original = Microdata(
        pl.DataFrame({"age": [21, 25, 31], "zip": ["48201", "48202", "50001"], "job": ["cook", "maid", "smith"]}),
        Policy(attributes=attributes),
    )
    masked = original.with_columns(
        {
            "age": pl.Series(["20..30", "20..30", "30..40"]),
            "zip": pl.Series(["482**", "482**", "500**"]),
            "job": pl.Series(["{cook|maid}", None, "smith"]),
        }
    )
    score = TargetLinkage().measure(masked, original=original)
    assert score.per_record["candidates"].to_list() == [2, 2, 1]
    assert score["expected_links"] == pytest.approx(2.0)


def test_a_list_has_its_own_columns_and_unknown_fields(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pl.DataFrame({"who": ["a", "b", "c"], "age": [1, None, 9], "illness": [None, "flu", None]}).write_csv("list.csv")
    data = table({"age": [1, 1, 2], "illness": ["flu", "cold", "flu"]}, key=["age"], confidential=["illness"])
    score = TargetLinkage(targets="list.csv").measure(data)
    assert score.per_record["candidates"].to_list() == [2, 2, 0]
    assert score.per_record["best"].to_list() == [0, 0, None]
    assert score.per_record["probability"].to_list() == pytest.approx([0.5, 0.5, 0.0])
    assert score["expected_links"] == pytest.approx(1.0)
    assert "correct" not in score.per_record.columns


def test_blocking_finds_the_best_of_all_pairs_and_counts_what_it_left_out(monkeypatch):
    rng = np.random.default_rng(5)
    size = 400
    values = {name: rng.integers(0, 60, size) for name in ("a", "b", "c", "d", "e")}
    data = table({name: column.tolist() for name, column in values.items()}, key=list(values))
    dirty = {
        name: np.where(rng.random(size) < 0.1, rng.integers(0, 60, size), column).tolist() for name, column in values.items()
    }
    targets = table(dirty, key=list(values))
    measure = TargetLinkage(errors="estimate")
    whole = measure.measure(data, original=targets)
    assert whole["pairs_left_out"] == 0
    monkeypatch.setattr(linkage, "choose_pairs", lambda *args: choose_pairs(*args, all_pairs=0))
    some = measure.measure(data, original=targets)
    assert some["pairs_left_out"] > size * size / 2
    assert f"{some['pairs_left_out']:,} were left out" in some.notes[-1]
    assert (some.per_record["best"] == whole.per_record["best"]).mean() > 0.99
    assert some["expected_links"] == pytest.approx(whole["expected_links"], rel=0.01)
    assert some["expected_links"] > 0.97 * size


def test_error_rates_are_recovered_from_generated_data():
    rng = np.random.default_rng(11)
    size, rates = 900, {"a": 0.05, "b": 0.2, "c": 0.1, "d": 0.02}
    values = {name: rng.integers(0, 100, size) for name in rates}
    data = table({name: column.tolist() for name, column in values.items()}, key=list(rates))
    wrong = {name: (column + rng.integers(1, 100, size)) % 100 for name, column in values.items()}
    dirty = {name: np.where(rng.random(size) < rates[name], wrong[name], values[name]).tolist() for name in rates}
    score = TargetLinkage(errors="estimate").measure(data, original=table(dirty, key=list(rates)))
    found = dict(zip(score.per_attribute["attribute"], score.per_attribute["error"], strict=True))
    assert found == pytest.approx(rates, abs=0.03)


def test_no_records_and_no_targets_are_no_risk():
    empty = table({"age": []}, key=["age"])
    assert TargetLinkage().measure(empty)["max"] == 0.0
    assert TargetLinkage(errors="estimate").measure(empty)["targets"] == 0
    assert TargetLinkage().measure(empty, original=table({"age": [1]}, key=["age"]))["expected_links"] == 0.0


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"population": 10, "sampling_fraction": 0.1}, "give population or sampling_fraction"),
        ({"tolerance": {"a": 1}, "edits": {"a": 1}}, "more than one of tolerance"),
        ({"domain": {"a": 5}, "density": {"a": {"1": 0.5}}}, "a domain and a density"),
        ({"errors": {"a": 1.5}}, "errors"),
        ({"model": "normal"}, "model"),
    ],
)
def test_invalid_parameters_are_errors(parameters, sentence):
    with pytest.raises(ParameterError, match=sentence):
        create("risk", "target_linkage", parameters)


def test_parameters_that_the_data_do_not_allow_are_errors():
    data = table({"age": [1, 2], "city": ["x", "y"]}, key=["age"])
    with pytest.raises(DataError, match="less than the 2 records"):
        TargetLinkage(population=1).measure(data)
    with pytest.raises(DataError, match="domain names 'city', which the intruder does not use"):
        TargetLinkage(domain={"city": 5}).measure(data)
    with pytest.raises(DataError, match="no probability to 2"):
        TargetLinkage(density={"age": {"0..2": 0.5}}).measure(data)
    with pytest.raises(DataError, match="role key"):
        TargetLinkage().measure(table({"age": [1]}))


def test_the_risk_verb_loads_target_linkage_by_name():
    data = table({"age": [1, 1]}, key=["age"])
    assert discreet.risk(data, ["target_linkage"])["target_linkage"]["mean"] == pytest.approx(0.5)
