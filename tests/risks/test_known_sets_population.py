"""known_sets with class sizes of the population, against sums over all sets written out."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet.errors import DataError, DiscreetError
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.risks.known_sets.measure import KnownSets
from discreet.risks.known_sets.population.class_growth import estimate_inverse_sizes

POLICY = {
    "attributes": {
        "a": {"role": "key", "known": 0.5},
        "b": {"role": "key", "known": 0.3},
        "c": {"role": "confidential", "known": 0.2, "sensitivity": 0.8, "values": {"x": 1.0}, "default": 0.25},
        "w": {"role": "weight"},
    }
}
KNOWN = {"a": 0.5, "b": 0.3, "c": 0.2}

cells = st.tuples(
    st.one_of(st.none(), st.integers(0, 2)), st.sampled_from(["p", "q", None]), st.sampled_from("xyz"), st.integers(1, 30)
)
tables = st.lists(cells, min_size=1, max_size=12)


def microdata(rows: list[tuple[object, ...]], **sections: object) -> Microdata:
    frame = pl.DataFrame(rows, schema={"a": pl.Int64, "b": pl.String, "c": pl.String, "w": pl.Float64}, orient="row")
    return Microdata(frame, Policy.from_dict({**POLICY, **sections}))


def slow_benedetti_franconi(size: int, weighted: float) -> float:
    """E(1/F) as the sum of its definition, F being the number of trials up to the success ``size``."""
    p = size / weighted
    if p == 1:
        return 1 / size
    trials = np.arange(size, size + 20_000)
    log_terms = np.zeros(len(trials))
    log_terms[1:] = np.cumsum(np.log((trials[1:] - 1) / (trials[1:] - size) * (1 - p)))
    return float((np.exp(log_terms + size * np.log(p)) / trials).sum())


def slow_risks(data: Microdata, inverse_of: object, persons: float, epsilon: float) -> np.ndarray:
    """The sum over all sets above epsilon, one after the other; ``inverse_of(members)`` lists E(1/F) of each record."""
    rows = data.frame.select("a", "b", "c").rows()
    risks = np.zeros(len(rows))
    for size in range(len(KNOWN) + 1):
        for members in combinations(range(3), size):
            chance = float(np.prod([list(KNOWN.values())[at] for at in members]))
            if members and not chance > epsilon:
                continue
            inverse = inverse_of(members) if members else [1 / persons] * len(rows)  # type: ignore[operator]
            for at, row in enumerate(rows):
                learnt = 0.0 if 2 in members else 0.8 * (1.0 if row[2] == "x" else 0.25)
                risks[at] += chance * inverse[at] * 100 * learnt
    return risks


def part(row: tuple[object, ...], members: tuple[int, ...]) -> tuple[object, ...]:
    return tuple(row[at] for at in members)


@settings(max_examples=40, deadline=None)
@given(tables, tables)
def test_with_a_population_table_each_set_has_its_count_there(
    sample: list[tuple[object, ...]], more: list[tuple[object, ...]]
) -> None:
    data, people = microdata(sample), microdata(sample + more).frame

    def inverse_of(members: tuple[int, ...]) -> list[float]:
        counts = Counter(part(row, members) for row in people.rows())
        return [1 / counts[part(row, members)] for row in data.frame.rows()]

    measure = KnownSets(population="table", population_table=people)
    score = measure.measure(data)
    expected = slow_risks(data, inverse_of, len(people), 0.01)
    assert np.allclose(score.per_record["risk"].to_numpy(), expected, rtol=1e-9)
    assert score["mean"] == pytest.approx(expected.mean())
    assert score["mean_low"] == pytest.approx(score["mean"]) == score["mean_high"]


@settings(max_examples=30, deadline=None)
@given(tables, tables)
def test_the_sum_over_all_sets_is_within_the_bounds_of_fewer(
    sample: list[tuple[object, ...]], more: list[tuple[object, ...]]
) -> None:
    data, people = microdata(sample), microdata(sample + more).frame
    coarse = KnownSets(epsilon=0.12, population="table", population_table=people).measure(data)
    whole = KnownSets(epsilon=0, population="table", population_table=people).measure(data)
    risks = whole.per_record["risk"].to_numpy()
    assert (coarse.per_record["lower"].to_numpy() <= risks * (1 + 1e-9)).all()
    assert (risks <= coarse.per_record["upper"].to_numpy() * (1 + 1e-9)).all()
    assert coarse["all_sets_low"] <= whole["mean"] * (1 + 1e-9)
    assert whole["mean"] <= coarse["all_sets_high"] * (1 + 1e-9)


@settings(max_examples=25, deadline=None)
@given(tables)
def test_weights_give_the_risk_of_benedetti_and_franconi_for_each_set(sample: list[tuple[object, ...]]) -> None:
    data = microdata(sample)

    def inverse_of(members: tuple[int, ...]) -> list[float]:
        counts: Counter[object] = Counter()
        weights: Counter[object] = Counter()
        for row in data.frame.rows():
            counts[part(row, members)] += 1
            weights[part(row, members)] += row[3]
        return [slow_benedetti_franconi(counts[part(row, members)], weights[part(row, members)]) for row in data.frame.rows()]

    score = KnownSets(population="weights").measure(data)
    expected = slow_risks(data, inverse_of, float(data.frame["w"].sum()), 0.01)
    assert np.allclose(score.per_record["risk"].to_numpy(), expected, rtol=1e-6)
    assert score["mean_low"] <= score["mean"] <= score["mean_high"]


@settings(max_examples=25, deadline=None)
@given(tables, st.sampled_from([0.02, 0.3, 0.9]))
def test_the_model_is_fitted_to_the_class_sizes_of_each_set(sample: list[tuple[object, ...]], fraction: float) -> None:
    data = microdata(sample)

    def inverse_of(members: tuple[int, ...]) -> list[float]:
        counts = Counter(part(row, members) for row in data.frame.rows())
        numbers = Counter(counts.values())
        sizes = np.array(sorted(numbers))
        fitted = estimate_inverse_sizes(sizes, np.array([numbers[size] for size in sizes]), fraction, 1.96).value
        risk_of = dict(zip(sizes.tolist(), fitted.tolist(), strict=True))
        return [risk_of[counts[part(row, members)]] for row in data.frame.rows()]

    score = KnownSets(population="model", sampling_fraction=fraction).measure(data)
    expected = slow_risks(data, inverse_of, len(data) / fraction, 0.01)
    assert np.allclose(score.per_record["risk"].to_numpy(), expected, rtol=1e-9)
    assert score["mean_low"] <= score["mean"] <= score["mean_high"]
    assert (score.per_record["risk_low"] <= score.per_record["risk"] * (1 + 1e-12)).all()
    assert (score.per_record["risk"] <= score.per_record["risk_high"] * (1 + 1e-12)).all()


@settings(max_examples=20, deadline=None)
@given(tables)
def test_a_file_that_is_the_whole_population_has_the_plain_risk(sample: list[tuple[object, ...]]) -> None:
    data = microdata([(*row[:3], 1) for row in sample])
    plain = KnownSets().measure(data)
    for measure in (KnownSets(population="model", sampling_fraction=1.0), KnownSets(population="weights")):
        score = measure.measure(data)
        for name in ("risk", "lower", "upper", "likelihood", "consequence", "top_share"):
            assert np.allclose(score.per_record[name].to_numpy(), plain.per_record[name].to_numpy(), rtol=1e-9), name
        assert score.per_record["top_set"].to_list() == plain.per_record["top_set"].to_list()
        assert score["high_risk"] == plain["high_risk"]


def test_the_riskiest_records_are_those_of_the_table_of_all_records() -> None:
    generator = np.random.default_rng(4)
    columns = generator.integers(0, 9, 80), generator.choice(list("pqrs"), 80), generator.choice(list("xyz"), 80)
    rows: list[tuple[object, ...]] = [(int(a), str(b), str(c), 5) for a, b, c in zip(*columns, strict=True)]
    data = microdata(rows)
    score = KnownSets(population="model").measure(data)
    assert score.riskiest is not None
    first = score.riskiest(5)
    everybody = score.per_record.with_row_index("record").sort("risk", "record", descending=[True, False]).head(5)
    assert first["record"].to_list() == everybody["record"].to_list()
    assert first["top_set"].to_list() == everybody["top_set"].to_list()
    assert np.allclose(first["top_share"].to_numpy(), everybody["top_share"].to_numpy())


def test_the_sum_of_inverse_sizes_of_sample_uniques_is_the_number_of_unseen_classes() -> None:
    """The identity that the model rests on: a class of F leaves one record with F pi (1-pi)^(F-1), and none with (1-pi)^F."""
    classes, fraction = np.array([1, 1, 2, 3, 7, 40]), 0.2
    of_uniques = (classes * fraction * (1 - fraction) ** (classes - 1) / classes).sum()
    unseen = ((1 - fraction) ** classes).sum()
    assert of_uniques == pytest.approx(fraction / (1 - fraction) * unseen)


def test_the_closed_form_of_the_class_curve_is_the_integral_of_its_slope() -> None:
    sizes, numbers, fraction = np.array([1, 2, 3, 9]), np.array([40, 12, 6, 5]), 0.1
    classes, half = numbers.sum(), (numbers * (1 - 0.5**sizes)).sum()
    share, half_share = 40 / classes, (numbers * sizes * 0.5**sizes).sum() / half
    logit = np.log(share / (1 - share))
    bend = (logit - np.log(half_share / (1 - half_share))) / np.log(2)
    steps = np.linspace(0, -np.log(fraction), 200_001)
    slopes = 1 / (1 + np.exp(-(logit + bend * steps)))
    population = classes * np.exp(np.trapezoid(slopes, steps))
    expected = fraction / (1 - fraction) * (population - classes) / 40
    assert estimate_inverse_sizes(sizes, numbers, fraction, 1.96).value[0] == pytest.approx(expected, rel=1e-6)


@given(st.dictionaries(st.integers(1, 400), st.integers(1, 500), min_size=1, max_size=8), st.floats(1e-4, 1))
def test_estimates_are_probabilities_in_order_for_any_table(numbers: dict[int, int], fraction: float) -> None:
    sizes = np.array(sorted(numbers))
    found = estimate_inverse_sizes(sizes, np.array([numbers[size] for size in sizes.tolist()]), fraction, 1.96)
    for end in found:
        assert np.isfinite(end).all()
        assert (end > 0).all()
        assert (end <= 1 / sizes + 1e-15).all()
    assert (found.low <= found.value + 1e-12).all()
    assert (found.value <= found.high + 1e-12).all()


@pytest.mark.parametrize(("shape", "fraction"), [(0.3, 0.1), (1.0, 0.05), (3.0, 0.2)])
def test_the_interval_holds_the_truth_of_generated_populations(shape: float, fraction: float) -> None:
    generator = np.random.default_rng(int(10 * shape))
    held = 0
    for _ in range(10):
        share = generator.gamma(shape, size=3_000)
        people = pl.DataFrame({"a": generator.choice(3_000, 20_000, p=share / share.sum()), "b": "p", "c": "x", "w": 1.0})
        sample = people.sample(fraction=fraction, seed=int(generator.integers(1 << 30)))
        data = Microdata(sample, Policy.from_dict({**POLICY, "attributes": {**POLICY["attributes"], "w": {"role": "other"}}}))
        truth = KnownSets(population="table", population_table=people).measure(data)["mean"]
        score = KnownSets(population="model", sampling_fraction=fraction).measure(data)
        held += score["mean_low"] <= truth <= score["mean_high"]
    assert held >= 9


def test_limits_are_judged_on_the_unsafe_end_of_both_uncertainties() -> None:
    rows = [(i % 7, "pq"[i % 2], "xyz"[i % 3], 20) for i in range(60)]
    data = microdata(rows)
    score = KnownSets(population="model", epsilon=0.12).measure(data)
    low, high = score.bounds["mean"]
    assert low <= min(score["mean_low"], score["all_sets_low"])
    assert high >= max(score["mean_high"], score["all_sets_high"])
    wide = KnownSets(population="model", epsilon=0.12, confidence=0.999).measure(data)
    assert wide.bounds["mean"][1] > high


def test_attributes_of_no_kept_set_may_be_missing_in_the_population() -> None:
    data = microdata([(1, "p", "x", 1), (1, "p", "y", 1), (2, "q", "x", 1)])
    people = data.frame.drop("c")
    score = KnownSets(epsilon=0.25, population="table", population_table=people).measure(data)
    whole = KnownSets(epsilon=0, population="table", population_table=data.frame).measure(data)
    assert (whole.per_record["risk"] <= score.per_record["upper"] * (1 + 1e-9)).all()


def test_what_is_not_supported_is_refused_with_a_sentence(tmp_path: Path) -> None:
    data = microdata([(1, "p", "x", 2), (None, "q", "x", 2)])
    with pytest.raises(DataError, match="use missing: category"):
        KnownSets(population="weights", missing="wildcard").measure(data)
    with pytest.raises(DataError, match="measures the release alone"):
        KnownSets(population="weights").measure(data, original=data)
    with pytest.raises(DataError, match="needs population_table"):
        KnownSets(population="table").measure(data)
    with pytest.raises(DiscreetError, match="decide narrows counts in the file"):
        discreet.risk(data, {"known_sets": {"population": "model", "decide": True}})
    with pytest.raises(DiscreetError, match="population_table needs population: table"):
        discreet.risk(data, {"known_sets": {"population_table": "x.csv"}})
    unsaid = Microdata(data.frame.drop("w"), Policy.from_dict({"attributes": {"a": {"role": "key", "known": 0.5}}}))
    with pytest.raises(DataError, match="what share of the population"):
        KnownSets(population="model").measure(unsaid)
    with pytest.raises(DataError, match="give an attribute the role weight"):
        KnownSets(population="weights").measure(unsaid)
    pl.DataFrame({"a": [1], "b": ["p"], "c": ["x"]}).write_csv(tmp_path / "people.csv")
    with pytest.raises(DataError, match="nobody of the population has the key values of record 2"):
        discreet.risk(data, {"known_sets": {"population": "table", "population_table": str(tmp_path / "people.csv")}})
    pl.DataFrame({"a": [1]}).write_csv(tmp_path / "fewer.csv")
    with pytest.raises(DataError, match="the population has no column 'b'"):
        discreet.risk(data, {"known_sets": {"population": "table", "population_table": str(tmp_path / "fewer.csv")}})


def test_an_explanation_names_classes_of_the_sample_and_chances_in_the_population() -> None:
    data = microdata([(i % 5, "p", "x", 10) for i in range(9)])
    sentences = KnownSets(population="model").explain(data, 8)
    assert "in the population over" in sentences[0]
    assert "is right with probability" in sentences[1]
    total = KnownSets(population="model").measure(data).per_record["risk"][8]
    assert f"risk {total:.6g} " in sentences[0]
