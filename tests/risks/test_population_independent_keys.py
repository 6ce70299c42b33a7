"""The model of independent keys: its margins, its likelihood and its weight beside the regression, against slow versions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.engine.population.cross_fitted import _describe_small, _slopes, estimate_sizes
from discreet.engine.population.dispersed_counts import LARGEST, log_likelihood, misfit
from discreet.engine.population.independent_keys import _SHAPES, describe_independent_keys, fit_values
from discreet.engine.population.intervals import interval
from discreet.engine.population.posterior import chance_of_no_other, posterior_parameters


def _moments(records: list[int], shape: float, q: float) -> tuple[float, float]:
    """Mean and log-likelihood of the zero-truncated negative binomial, as shares of a long sum without its closed norm."""
    n = np.arange(1, 900)
    gammas = np.array([math.lgamma(size + shape) - math.lgamma(size + 1) for size in n.tolist()])
    logs = gammas + n * math.log(q)
    logs -= np.log(np.exp(logs).sum())
    return float(n @ np.exp(logs)), float(logs[np.array(records) - 1].sum())


@settings(max_examples=8, deadline=None)
@given(st.lists(st.integers(1, 20), min_size=2, max_size=12))
def test_the_prior_of_a_key_has_the_mean_of_its_values_and_the_largest_likelihood_of_the_grid(records: list[int]) -> None:
    shape, q = fit_values(np.array(records))
    if q > 0.98:
        return
    mean, best = _moments(records, shape, q)
    assert mean == pytest.approx((sum(records) + 1) / len(records), rel=1e-6)
    for a in _SHAPES:
        low, high = 1e-9, 0.98
        for _ in range(25):  # the q at which this shape has the same mean
            middle = (low + high) / 2
            low, high = (low, middle) if _moments(records, a, middle)[0] > mean else (middle, high)
        if high < 0.979:
            assert _moments(records, a, (low + high) / 2)[1] <= best + 1e-4


def test_values_that_are_all_different_are_not_taken_to_be_different_for_everybody() -> None:
    shape, q = fit_values(np.ones(300, dtype=np.int64))
    assert 0 < q * (1 + shape) < 0.1
    assert q * (1 + shape) > 1e-4
    for records in ([1], [5, 5], [10_000_000], [1, 1_000_000]):
        shape, q = fit_values(np.array(records))
        assert -1 < shape < 100
        assert 0 < q <= 1


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=40))
def test_independent_keys_count_the_records_of_other_classes_and_one_of_the_class(rows: list[tuple[int, int]]) -> None:
    distinct = sorted(set(rows))
    counts = np.array([rows.count(row) for row in distinct])
    described = describe_independent_keys([np.array(column) for column in zip(*distinct, strict=True)], [4, 3], counts)
    for place, row in enumerate(distinct):
        mean, second = float(len(rows)), 1.0
        for key in range(2):
            shape, q = fit_values(np.array([sum(one[key] == value for one in rows) for value in {one[key] for one in rows}]))
            seen = sum(one != row and one[key] == row[key] for one in rows) + 1 + shape
            mean *= q * seen / len(rows)
            second *= 1 + 1 / seen
        assert described.mean[place] == pytest.approx(mean, rel=1e-9)
        assert described.shape[place] == pytest.approx(min(1 / (second - 1), 400), rel=1e-7)


def test_classes_that_share_a_value_err_together() -> None:
    """The variance of a sum by the uncertain shares against shares that are drawn."""
    generator = np.random.default_rng(7)
    distinct, counts = np.unique(generator.integers(0, 6, (60, 2)), axis=0, return_counts=True)
    codes = list(distinct.T)
    described = describe_independent_keys(codes, [6, 6], counts)
    own, rows = counts.astype(float), np.arange(len(counts))
    slopes = _slopes(own, described.mean, described.shape, 0.2, 1e-3, 0.0)
    step = 0.02
    sums = []
    for _ in range(4000):
        factor = np.zeros(len(counts))
        for column, precision in zip(codes, described.precisions, strict=True):
            factor += step * generator.normal(size=6)[column] / np.sqrt(precision)[column]
        alone = chance_of_no_other(*posterior_parameters(own, described.mean * np.exp(factor), described.shape, 0.2))
        sums.append(alone[own == 1].sum())
    assert np.var(sums) / step**2 == pytest.approx(described.variance(slopes, rows)[0], rel=0.1)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(1, LARGEST), st.floats(0.01, 5), st.floats(0.2, 50)), min_size=1, max_size=12))
def test_the_likelihood_of_given_means_is_that_of_each_class_written_out(classes: list[tuple[int, float, float]]) -> None:
    expected = 0.0
    for size, mean, shape in classes:
        weights = [
            math.exp(math.lgamma(k + shape) - math.lgamma(shape) - math.lgamma(k + 1))
            * (shape / (shape + mean)) ** shape
            * (mean / (shape + mean)) ** k
            / (k + 1)
            for k in range(LARGEST)
        ]
        expected += math.log(weights[size - 1] / sum(weights))
    sizes, means, shapes = (np.array(column) for column in zip(*classes, strict=True))
    assert log_likelihood(sizes, means, shapes) == pytest.approx(expected, rel=1e-8, abs=1e-10)


def test_sizes_that_the_model_does_not_have_are_a_misfit_and_those_drawn_from_it_are_none() -> None:
    generator = np.random.default_rng(3)
    mean, shape = np.exp(generator.normal(-1, 1, 2000)), np.full(2000, 3.0)
    drawn = 1 + generator.poisson(generator.gamma(shape, mean / shape))  # seen from a record; a class of f is seen f times
    kept = (drawn <= LARGEST) & (generator.random(2000) < 1 / drawn)
    assert misfit(drawn[kept], mean[kept], shape[kept]) < 1.3
    assert misfit(np.where(generator.random(2000) < 0.9, 1, 5), mean, shape) > 2


def _classes(rows: np.ndarray) -> tuple[list[np.ndarray], list[int], np.ndarray]:
    distinct, counts = np.unique(rows, axis=0, return_counts=True)
    return list(distinct.T), [int(column.max()) + 1 for column in rows.T], counts


def test_independent_keys_get_the_weight_where_keys_are_independent_and_none_where_they_are_not() -> None:
    generator = np.random.default_rng(1)
    first, second = generator.geometric(0.06, 4000).clip(1, 60), generator.geometric(0.2, 4000).clip(1, 20)
    free = _classes(np.column_stack([first, second, generator.integers(0, 5, 4000)]))
    bound = _classes(np.column_stack([first, (first + generator.integers(0, 3, 4000)) % 20, first % 5]))
    for (codes, cardinalities, counts), independent in ((free, True), (bound, False)):
        small = np.flatnonzero(counts <= LARGEST)
        models = _describe_small(codes, cardinalities, counts, small, 0.1)
        assert sum(weight for weight, _ in models) == pytest.approx(1)
        if independent:
            assert models[-1][0] > 0.8
            assert len(models) == 2 or models[0][0] == 1
        else:
            assert len(models) == 1


@pytest.mark.parametrize("fraction", [0.05, 0.2])
def test_population_uniques_of_independent_keys_are_recovered_where_some_values_are_rare(fraction: float) -> None:
    """One key has 700 values with a heavy tail, the other about equally frequent ones."""
    errors, held = [], 0
    for seed in range(5):
        generator = np.random.default_rng(seed)
        shares = 1 / np.arange(1, 701) ** 1.1
        first = generator.choice(700, 60_000, p=shares / shares.sum())
        population = np.column_stack([first, generator.integers(0, 40, 60_000), generator.integers(0, 2, 60_000)])
        _, classes, sizes = np.unique(population, axis=0, return_inverse=True, return_counts=True)
        rows = generator.choice(60_000, round(fraction * 60_000), replace=False)
        distinct, index, counts = np.unique(population[rows], axis=0, return_index=True, return_counts=True)
        estimate = estimate_sizes(list(distinct.T), [700, 40, 2], counts, fraction)
        single = counts == 1
        truth = int((sizes[classes.ravel()[rows][index[single]]] == 1).sum())
        expected = float(estimate.alone[single].sum())
        errors.append(expected / truth - 1)
        low, high = interval(expected, estimate.alone_error, int(single.sum()))
        held += low <= truth <= high
    assert abs(np.median(errors)) < 0.08
    assert held >= 4
