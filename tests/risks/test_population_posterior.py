"""Population class sizes given sample class sizes, against sums and integrals written out."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.engine.population.dispersed_counts import LARGEST, evaluate_sizes, fit_sizes
from discreet.engine.population.intervals import interval
from discreet.engine.population.posterior import (
    chance_of_no_other,
    expected_inverse,
    inverse_variance,
    inverse_variance_of_larger,
)


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


@settings(max_examples=60)
@given(st.floats(0.01, 30), st.floats(0.03, 0.9999))
def test_the_variance_of_the_inverse_is_bounded_tightly_from_above(shape: float, p: float) -> None:
    chances, log_term = [], shape * math.log(p)
    for x in range(6_000):
        chances.append(math.exp(log_term))
        log_term += math.log((shape + x) / (x + 1)) + math.log1p(-p)
    mean = sum(chance / (1 + x) for x, chance in enumerate(chances))
    variance = sum(chance / (1 + x) ** 2 for x, chance in enumerate(chances)) - mean**2
    value = inverse_variance(np.array([shape]), np.array([p]))[0]
    assert variance - 1e-7 <= value <= variance + mean / 9 + 1e-7


def _chances(mean: float, shape: float) -> list[float]:
    """P(f) among the classes of 1 to LARGEST records, from the gamma function."""
    seen = [
        math.gamma(k + shape)
        / math.gamma(shape)
        / math.factorial(k)
        * (shape / (shape + mean)) ** shape
        * (mean / (shape + mean)) ** k
        / (k + 1)
        for k in range(LARGEST)
    ]
    return [chance / sum(seen) for chance in seen]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(1, LARGEST), min_size=1, max_size=12), st.floats(-2, 2), st.floats(-1, 1), st.floats(-2, 2))
def test_the_score_and_the_information_are_those_of_the_likelihood(
    sizes: list[int], intercept: float, slope: float, log_shape: float
) -> None:
    rows = len(sizes)
    design = np.column_stack([np.ones(rows), np.linspace(-1, 1, rows)])
    arguments = (design, np.ones((rows, 1)), np.zeros(rows))
    point = np.array([intercept, slope, log_shape])
    value, score, information = evaluate_sizes(point, np.array(sizes), *arguments)
    means = np.exp(design @ point[:2])
    assert value == pytest.approx(
        sum(math.log(_chances(m, math.exp(log_shape))[f - 1]) for m, f in zip(means.tolist(), sizes, strict=True)), rel=1e-9
    )
    for place in range(3):
        step = np.zeros(3)
        step[place] = 1e-5
        up, down = (evaluate_sizes(point + sign * step, np.array(sizes), *arguments)[0] for sign in (1, -1))
        assert score.sum(axis=0)[place] == pytest.approx((up - down) / 2e-5, rel=1e-4, abs=1e-4)
    expected = np.zeros((3, 3))
    for row, mean in enumerate(means.tolist()):
        for f, chance in enumerate(_chances(mean, math.exp(log_shape)), 1):
            _, other, _ = evaluate_sizes(point, np.where(np.arange(rows) == row, f, 1), *arguments)
            expected += chance * np.outer(other[row], other[row])
    assert information == pytest.approx(expected, rel=1e-7, abs=1e-9)


def test_the_regression_recovers_the_parameters_it_was_drawn_from() -> None:
    generator = np.random.default_rng(5)
    x = generator.normal(size=60_000)
    mean, shape = np.exp(-0.5 + 0.8 * x), 1.6
    # an intensity with shape 0.6 has shape 1.6 as seen from a record, and a mean that is 1.6 / 0.6 times as large
    sizes = generator.poisson(generator.gamma(shape - 1, mean / shape))
    kept = (sizes >= 1) & (sizes <= LARGEST)
    design = np.column_stack([np.ones_like(x), x])[kept]
    ones, zeros = np.ones((kept.sum(), 1)), np.zeros(kept.sum())
    model = fit_sizes(sizes[kept], design, ones, zeros, np.zeros(3), np.full(3, 1e-6))
    errors = np.sqrt(np.diag(model.covariance))
    assert np.all(np.abs(model.parameters - [-0.5, 0.8, math.log(shape)]) < 3.5 * errors)
    assert np.all(errors < 0.1)


@pytest.mark.parametrize(("f", "shape", "p"), [(2, 1.5, 0.3), (3, 4.0, 0.02), (5, 5.0, 0.9), (40, 40.0, 0.1), (2, 9.0, 0.9999)])
def test_the_variance_of_the_inverse_of_a_larger_class_is_that_of_the_sum_over_population_sizes(
    f: int, shape: float, p: float
) -> None:
    chance, first, second = p**shape, 0.0, 0.0
    for others in range(100_000):
        first += chance / (f + others)
        second += chance / (f + others) ** 2
        chance *= (shape + others) / (others + 1) * (1 - p)
    value = inverse_variance_of_larger(np.array([float(f)]), np.array([shape]), np.array([p]))[0]
    assert value == pytest.approx(second - first**2, rel=2e-2, abs=1e-9)


def test_the_evidence_is_the_likelihood_averaged_over_the_prior() -> None:
    """One coefficient that matters: the integral over it by a sum of many points; the others are held by their priors."""
    generator = np.random.default_rng(6)
    sizes = np.minimum(1 + generator.poisson(0.8, 400), LARGEST)
    ones, zeros = np.ones((400, 1)), np.zeros(400)
    prior, precision = np.array([0.0, 2.0]), np.array([4.0, 1e10])
    model = fit_sizes(sizes, ones, ones, zeros, prior, precision)
    points = np.linspace(-2, 2, 4001)
    logs = np.array([evaluate_sizes(np.array([point, 2.0]), sizes, ones, ones, zeros)[0] for point in points.tolist()])
    density = np.exp(logs - logs.max() - 0.5 * 4.0 * points**2) * math.sqrt(4.0 / (2 * math.pi))
    assert model.evidence == pytest.approx(logs.max() + math.log(density.sum() * (points[1] - points[0])), abs=0.02)


def test_an_interval_stays_between_nothing_and_all() -> None:
    assert interval(0.0, 2.0, 100)[0] == 0.0
    low, high = interval(50.0, 40.0, 100)
    assert 0 < low < 50 < high <= 100
