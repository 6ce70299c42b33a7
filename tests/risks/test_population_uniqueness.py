"""Estimates of population uniques against generated populations, whose truth is known, and against slow versions."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet.errors import DataError
from discreet.risks.population_uniqueness.class_size_models import dankar, pitman, shifted_negative_binomial, zayatz
from discreet.risks.population_uniqueness.log_linear import _SWEEPS, choose_parents, expected_sample_sizes, poisson_uniques
from discreet.risks.population_uniqueness.measure import PopulationUniqueness
from discreet.testing import check_risk, table


def _dependent_population(size: int, seed: int) -> pl.DataFrame:
    """Four keys, of which the second and third depend on the first."""
    generator = np.random.default_rng(seed)
    first = np.minimum(generator.geometric(0.05, size), 60)
    second = (first // 6 + generator.poisson(0.7, size)) % 12
    third = np.where(generator.random(size) < 0.8, first % 5, generator.integers(0, 5, size))
    return pl.DataFrame({"a": first, "b": second, "c": third, "d": generator.integers(0, 7, size)})


def _sample(population: pl.DataFrame, fraction: float, seed: int) -> tuple[pl.DataFrame, np.ndarray[Any, Any]]:
    sizes = population.select(pl.len().over(population.columns).alias("F"))["F"]
    rows = np.sort(np.random.default_rng(seed).choice(population.height, round(fraction * population.height), replace=False))
    return population[rows], sizes.to_numpy()[rows]


@pytest.mark.parametrize("fraction", [0.1, 0.2])
def test_the_default_model_recovers_the_population_uniques_of_dependent_keys(fraction: float) -> None:
    population = _dependent_population(60_000, 1)
    held = 0
    for seed in range(4):
        sample, sizes = _sample(population, fraction, seed)
        data = table(sample.to_dict(as_series=False), key=sample.columns)
        score = PopulationUniqueness(sampling_fraction=fraction).measure(data)
        alone = score.per_record["class_size"].to_numpy() == 1
        truth, matches = int((sizes[alone] == 1).sum()), float((1 / sizes[alone]).sum())
        assert score["population_uniques"] == pytest.approx(truth, rel=0.35)
        assert score["expected_matches"] == pytest.approx(matches, rel=0.2)
        held += score["low"] <= truth <= score["high"]
    assert held >= 3


def _gamma_population(generator: np.random.Generator) -> pl.DataFrame:
    """Intensities that are gamma around independent keys."""
    shares = np.outer(np.outer(1 / np.arange(1, 61), np.full(6, 1 / 6)).ravel(), 1 / np.arange(1, 13)).ravel()
    intensities = shares * generator.gamma(1.0, 1.0, len(shares))
    cells = generator.choice(len(shares), 40_000, p=intensities / intensities.sum())
    return pl.DataFrame(dict(zip("abc", np.unravel_index(cells, (60, 6, 12)), strict=True)))


def _clustered_population(generator: np.random.Generator) -> pl.DataFrame:
    """Keys that are independent within each of three groups of persons."""
    group = generator.choice(3, 40_000, p=[0.6, 0.3, 0.1])
    columns = {}
    for name, values in (("a", 70), ("b", 8), ("c", 12), ("d", 2)):
        shares = generator.dirichlet(np.full(values, 0.7), 3).cumsum(axis=1)
        columns[name] = np.minimum((generator.random(40_000)[:, None] > shares[group]).sum(axis=1), values - 1)
    return pl.DataFrame(columns)


@pytest.mark.parametrize("fraction", [0.05, 0.2])
@pytest.mark.parametrize("make", [_gamma_population, _clustered_population])
def test_intervals_hold_the_truth_of_generated_populations(make: Any, fraction: float) -> None:
    held = []
    for seed in range(6):
        population = make(np.random.default_rng(seed))
        sample, sizes = _sample(population, fraction, seed)
        score = PopulationUniqueness(sampling_fraction=fraction).measure(
            table(sample.to_dict(as_series=False), key=sample.columns)
        )
        alone = score.per_record["class_size"].to_numpy() == 1
        truth, matches = int((sizes[alone] == 1).sum()), float((1 / sizes[alone]).sum())
        low, high = score.bounds["expected_matches"]
        held += [score["low"] <= truth <= score["high"], low <= matches <= high]
        assert score["expected_matches"] == pytest.approx(matches, rel=0.3)
    assert sum(held) >= 10


def test_class_size_models_recover_the_model_they_describe() -> None:
    generator = np.random.default_rng(3)
    sizes = 1 + generator.negative_binomial(0.8, 0.1, 20_000)
    fraction = 0.2
    counts = generator.binomial(sizes, fraction)
    seen, numbers = np.unique(counts[counts > 0], return_counts=True)
    estimate = shifted_negative_binomial(seen, numbers, fraction)
    assert estimate.uniques == pytest.approx(((sizes == 1) & (counts == 1)).sum(), rel=0.1)
    assert estimate.matches == pytest.approx((1 / sizes[counts == 1]).sum(), rel=0.1)


def test_snb_equals_a_likelihood_and_sums_over_all_population_sizes_written_out() -> None:
    sizes, numbers, fraction = np.array([1, 2, 3, 4]), np.array([120, 40, 18, 9]), 0.3

    def describe(shape: float, p: float) -> tuple[list[float], list[float]]:
        """Chances of F = 1, 2, ... and of f = 0, 1, ..., 4: each member of a class is sampled with probability pi."""
        population, log_chance = [], shape * math.log(p)
        for x in range(200):
            population.append(math.exp(log_chance))
            log_chance += math.log((shape + x) / (x + 1)) + math.log1p(-p)
        return population, [
            sum(
                chance * math.comb(F, f) * fraction**f * (1 - fraction) ** max(F - f, 0)
                for F, chance in enumerate(population, 1)  # no chance of more records than members
            )
            for f in range(5)
        ]

    best, shape, p = -math.inf, 0.0, 0.0
    width, center = (2.0, 2.0), (0.0, 0.0)
    for _ in range(6):  # a grid that is refined around its best point
        points = [(center[0] + i * width[0] / 4, center[1] + j * width[1] / 4) for i in range(-4, 5) for j in range(-4, 5)]
        for log_shape, logit in points:
            _, seen = describe(math.exp(log_shape), 1 / (1 + math.exp(-logit)))
            value = sum(number * math.log(seen[f] / (1 - seen[0])) for f, number in zip(sizes, numbers, strict=True))
            if value > best:
                best, shape, p, center = value, math.exp(log_shape), 1 / (1 + math.exp(-logit)), (log_shape, logit)
        width = (width[0] / 3, width[1] / 3)
    population, seen = describe(shape, p)
    classes = numbers.sum() / (1 - seen[0])
    alone = [classes * chance * F * fraction * (1 - fraction) ** (F - 1) for F, chance in enumerate(population, 1)]
    estimate = shifted_negative_binomial(sizes, numbers, fraction)
    assert estimate.uniques == pytest.approx(alone[0], rel=0.01)
    assert estimate.matches == pytest.approx(sum(number / F for F, number in enumerate(alone, 1)), rel=0.01)


@pytest.mark.parametrize(("fraction", "least"), [(0.05, False), (0.1, False), (0.3, True)])
def test_dankar_decides_by_the_sampling_fraction(fraction: float, least: bool) -> None:
    sizes, numbers = np.array([1, 2, 3, 7]), np.array([60, 20, 8, 2])
    estimate = dankar(sizes, numbers, fraction)
    both = [model(sizes, numbers, fraction) for model in (zayatz, shifted_negative_binomial)]
    assert estimate == (min(both, key=lambda one: one.uniques) if least else pitman(sizes, numbers, fraction))


def test_zayatz_recovers_a_population_whose_classes_are_all_of_one_or_sampled_whole() -> None:
    """Zayatz takes the sample's classes for the population's, which holds where nearly everybody is sampled."""
    generator = np.random.default_rng(9)
    sizes = 1 + generator.poisson(0.8, 20_000)
    counts = generator.binomial(sizes, 0.97)
    seen, numbers = np.unique(counts[counts > 0], return_counts=True)
    estimate = zayatz(seen, numbers, 0.97)
    assert estimate.uniques == pytest.approx(((sizes == 1) & (counts == 1)).sum(), rel=0.05)
    assert estimate.matches == pytest.approx((1 / sizes[counts == 1]).sum(), rel=0.05)


def test_pitman_recovers_a_population_of_its_own_urn() -> None:
    generator = np.random.default_rng(11)
    theta, alpha, members = 40.0, 0.6, []
    sizes: list[int] = []
    for record in range(20_000):  # a new class with probability (theta + u alpha) / (theta + n), else that of a member less alpha
        if generator.random() * (theta + record) < theta + alpha * len(sizes):
            sizes.append(1)
            members.append(len(sizes) - 1)
            continue
        while True:
            chosen = members[generator.integers(len(members))]
            if generator.random() < 1 - alpha / sizes[chosen]:
                break
        sizes[chosen] += 1
        members.append(chosen)
    fraction = 0.1
    population = np.array(sizes)
    counts = generator.binomial(population, fraction)
    seen, numbers = np.unique(counts[counts > 0], return_counts=True)
    estimate = pitman(seen, numbers, fraction)
    assert estimate.uniques == pytest.approx(((population == 1) & (counts == 1)).sum(), rel=0.15)
    assert estimate.matches == pytest.approx((1 / population[counts == 1]).sum(), rel=0.1)


def test_zayatz_is_bayes_rule_over_the_classes_of_the_sample() -> None:
    sizes, numbers, fraction = np.array([1, 2, 5]), np.array([4, 3, 1]), 0.3
    chance = {size: size * fraction * (1 - fraction) ** (size - 1) for size in (1, 2, 5)}
    total = 4 * chance[1] + 3 * chance[2] + chance[5]
    estimate = zayatz(sizes, numbers, fraction)
    assert estimate.uniques == pytest.approx(4 * 4 * chance[1] / total)
    assert estimate.matches == pytest.approx(4 * (4 * chance[1] + 3 * chance[2] / 2 + chance[5] / 5) / total)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1), st.integers(0, 2)), min_size=1, max_size=30))
def test_two_way_terms_reproduce_every_pair_of_keys(rows: list[tuple[int, int, int]]) -> None:
    distinct = sorted(set(rows))
    counts = np.array([rows.count(row) for row in distinct])
    codes = [np.array([row[key] for row in distinct]) for key in range(3)]
    present = [sorted(set(column.tolist())) for column in codes]
    every = list(product(*present))
    fitted = _fit_by_hand(every, dict(zip(distinct, counts.tolist(), strict=True)))
    mu = expected_sample_sizes(codes, [3, 2, 3], counts, "two_way")
    assert mu == pytest.approx([fitted[row] for row in distinct], rel=1e-3, abs=1e-4)


def _fit_by_hand(every: list[tuple[int, ...]], counts: dict[tuple[int, ...], int]) -> dict[tuple[int, ...], float]:
    """Iterative proportional fitting, cell by cell."""
    fitted = {cell: sum(counts.values()) / len(every) for cell in every}
    for _ in range(_SWEEPS):
        for pair in ((0, 1), (0, 2), (1, 2)):
            for values in {(cell[pair[0]], cell[pair[1]]) for cell in every}:
                cells = [cell for cell in every if (cell[pair[0]], cell[pair[1]]) == values]
                have, want = sum(fitted[cell] for cell in cells), sum(counts.get(cell, 0) for cell in cells)
                for cell in cells:
                    fitted[cell] *= want / have if have > 0 else 0.0
    return fitted


def test_main_effects_are_products_of_shares() -> None:
    codes, counts = [np.array([0, 0, 1]), np.array([0, 1, 1])], np.array([3, 1, 2])
    assert expected_sample_sizes(codes, [2, 2], counts, "main") == pytest.approx(
        [6 * 4 / 6 * 3 / 6, 6 * 4 / 6 * 3 / 6, 6 * 2 / 6 * 3 / 6]
    )


def test_interactions_are_chosen_where_keys_depend_and_not_where_they_do_not() -> None:
    generator = np.random.default_rng(8)
    first, free = generator.integers(0, 20, 20_000), generator.integers(0, 4, 20_000)
    rows = np.column_stack([first, (first + generator.integers(0, 3, 20_000)) % 10, free])
    distinct, counts = np.unique(rows, axis=0, return_counts=True)
    parents = choose_parents(list(distinct.T), [20, 10, 4], counts)
    assert parents == {0: (), 1: (0,), 2: ()}


def test_the_poisson_model_gives_the_published_probabilities() -> None:
    alone, inverse = poisson_uniques(np.array([0.0, 0.2]), 0.1)
    assert alone == pytest.approx([1.0, math.exp(-1.8)])
    assert inverse == pytest.approx([1.0, (1 - math.exp(-1.8)) / 1.8])


@pytest.mark.parametrize("model", ["auto", "log_linear", "pitman", "zayatz", "snb", "dankar"])
@pytest.mark.parametrize("rows", [0, 1, 2])
def test_tiny_tables_have_an_estimate_between_nothing_and_all(model: str, rows: int) -> None:
    data = table({"age": [44, 55][:rows], "sex": ["f", "m"][:rows]}, key=["age", "sex"])
    score = PopulationUniqueness.model_validate({"model": model, "sampling_fraction": 0.01}).measure(data)
    assert 0 <= score["population_uniques"] <= rows
    assert score["population_uniques"] <= score["expected_matches"] + 1e-12 <= rows + 1e-9


def test_weights_and_size_say_the_sampling_fraction() -> None:
    columns = {"age": list(range(30)), "w": [10.0] * 30}
    by_weight = discreet.risk(table(columns, key=["age"], weight=["w"]), "population_uniqueness")["population_uniqueness"]
    by_size = discreet.risk(table(columns, key=["age"]), {"population_uniqueness": {"size": 300}})["population_uniqueness"]
    assert by_weight.summary == by_size.summary


def test_a_population_smaller_than_the_sample_and_no_design_at_all_are_refused_with_what_would_work() -> None:
    data = table({"age": [1, 2, 3]}, key=["age"])
    with pytest.raises(DataError, match="the population has 2 persons, but the example has 3 records"):
        PopulationUniqueness(size=2).measure(data)
    with pytest.raises(
        DataError, match="give sampling_fraction or size, the policy a section sampling, or an attribute the role weight"
    ):
        PopulationUniqueness().measure(data)


def test_a_limit_is_judged_on_the_worse_end_of_the_interval() -> None:
    data = table({"age": [i % 60 for i in range(90)], "town": [i % 41 for i in range(90)]}, key=["age", "town"])
    score = PopulationUniqueness(sampling_fraction=0.1).measure(data)
    assert score.bounds["population_uniques"] == (score["low"], score["high"])
    assert score.bounds["share"] == (score["low"] / 90, score["high"] / 90)
    assert not score.gaps
    assert PopulationUniqueness(sampling_fraction=0.1, model="zayatz").measure(data).gaps, (
        "an error that nobody knows decides no limit"
    )


def test_the_measure_conforms() -> None:
    check_risk(PopulationUniqueness)
