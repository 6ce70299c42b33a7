"""Population class sizes given sample class sizes, against sums and integrals written out."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.engine.population.dispersed_counts import CENSORED, _evaluate, fit_counts
from discreet.engine.population.intervals import interval
from discreet.engine.population.posterior import chance_of_no_other, expected_inverse


def _inverse_by_summation(f: int, shape: float, p: float) -> float:
    """Sum over x of P(X = x) / (f + x), X negative binomial."""
    total, log_term, x = 0.0, shape * math.log(p), 0
    while x < 300_000:
        total += math.exp(log_term) / (f + x)
        log_term += math.log((shape + x) / (x + 1)) + math.log1p(-p)
        x += 1
        if log_term < -50 and x > 3 * shape * (1 - p) / p:
            break
    return total


@settings(max_examples=60)
@given(st.integers(1, 60), st.floats(0.01, 120), st.floats(0.002, 0.9999))
def test_the_expected_inverse_is_the_sum_over_all_population_sizes(f: int, shape: float, p: float) -> None:
    value = expected_inverse(np.array([float(f)]), np.array([shape]), np.array([p]))[0]
    assert value == pytest.approx(_inverse_by_summation(f, shape, p), rel=1e-6)
    assert 0 < value <= 1 / f
    assert chance_of_no_other(np.array([shape]), np.array([p]))[0] == pytest.approx(p**shape, rel=1e-9)


def test_a_class_that_was_sampled_whole_has_its_own_size() -> None:
    assert expected_inverse(np.array([1.0, 4.0]), np.array([2.0, 2.0]), np.array([1.0, 1.0])).tolist() == [1.0, 0.25]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 9), min_size=1, max_size=12), st.floats(-2, 2), st.floats(-1, 1), st.floats(-2, 2))
def test_the_score_is_the_derivative_of_the_likelihood(
    counts: list[int], intercept: float, slope: float, log_shape: float
) -> None:
    rows = len(counts)
    design = np.column_stack([np.ones(rows), np.linspace(-1, 1, rows)])
    arguments = (np.array(counts), np.ones(rows), design, np.ones((rows, 1)), np.zeros(rows))
    point = np.array([intercept, slope, log_shape])
    _, score, information = _evaluate(point, *arguments)
    assert np.allclose(information, information.T)
    for place in range(3):
        step = np.zeros(3)
        step[place] = 1e-5
        numeric = (_evaluate(point + step, *arguments)[0] - _evaluate(point - step, *arguments)[0]) / 2e-5
        assert score.sum(axis=0)[place] == pytest.approx(numeric, rel=1e-4, abs=1e-4)


def test_the_likelihood_is_that_of_the_negative_binomial_with_the_large_counts_as_one() -> None:
    mean, shape = 1.3, 0.7
    chances = [
        math.gamma(k + shape)
        / math.gamma(shape)
        / math.factorial(k)
        * (shape / (shape + mean)) ** shape
        * (mean / (shape + mean)) ** k
        for k in range(CENSORED)
    ]
    for count in range(CENSORED + 3):
        value, _, _ = _evaluate(
            np.array([math.log(mean), math.log(shape)]),
            np.array([count]),
            np.ones(1),
            np.ones((1, 1)),
            np.ones((1, 1)),
            np.zeros(1),
        )
        expected = chances[count] if count < CENSORED else 1 - sum(chances)
        assert value == pytest.approx(math.log(expected), rel=1e-9)


def test_the_regression_recovers_the_parameters_it_was_drawn_from() -> None:
    generator = np.random.default_rng(5)
    x = generator.normal(size=20_000)
    mean, shape = np.exp(-0.5 + 0.8 * x), 1.6
    counts = generator.poisson(generator.gamma(shape, mean / shape))
    design = np.column_stack([np.ones_like(x), x])
    model = fit_counts(counts, np.ones(len(x)), design, np.ones((len(x), 1)), np.zeros(len(x)), np.zeros(3), np.full(3, 1e-6))
    errors = np.sqrt(np.diag(model.covariance))
    assert np.all(np.abs(model.parameters - [-0.5, 0.8, math.log(shape)]) < 3.5 * errors)
    assert np.all(errors < 0.05)


def test_an_interval_stays_between_nothing_and_all() -> None:
    assert interval(0.0, 2.0, 100)[0] == 0.0
    low, high = interval(50.0, 40.0, 100)
    assert 0 < low < 50 < high <= 100
