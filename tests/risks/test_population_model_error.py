"""The part of the interval of ``auto`` that stands for a model that is not exact, and the closed forms that it is computed by."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.engine.population.cross_fitted import _describe_small, estimate_sizes
from discreet.engine.population.dispersed_counts import LARGEST, log_likelihood, misfit
from discreet.engine.population.intervals import interval
from discreet.engine.population.posterior import expected_inverse, posterior_parameters
from discreet.engine.population.size_regression import SizeRegression

PER_UNIT = {"mean": 0.03, "shape": 0.15}


def _dependent_classes(seed: int) -> tuple[list[np.ndarray], list[int], np.ndarray]:
    generator = np.random.default_rng(seed)
    first = generator.geometric(0.06, 1500).clip(1, 60)
    rows = np.column_stack([first, (first + generator.integers(0, 12, 1500)) % 20, first % 5 + generator.integers(0, 2, 1500)])
    distinct, counts = np.unique(rows, axis=0, return_counts=True)
    return list(distinct.T), [61, 20, 6], counts


@pytest.mark.parametrize("fraction", [0.02, 0.2])
def test_the_model_error_is_what_the_sums_change_by_if_all_means_or_all_shapes_are_wrong_together(fraction: float) -> None:
    codes, cardinalities, counts = _dependent_classes(3)
    small = np.flatnonzero(counts <= LARGEST)
    ((weight, described),) = _describe_small(codes, cardinalities, counts, small, fraction)
    assert weight == 1
    mean, shape = SizeRegression(codes, cardinalities, counts, small).mean_and_shape(small)

    def sums_with(by_mean: float, by_shape: float) -> np.ndarray:
        """Population uniques, sum of 1/F over the sample uniques and over all records, with all means or shapes multiplied."""
        own, s = counts[small].astype(float), shape * math.exp(by_shape)
        rate = s * fraction / (mean * math.exp(by_mean)) + fraction
        p = rate / (rate + 1 - fraction)
        inverse = expected_inverse(own, s + own - 1, p)
        return np.array([(p**s)[own == 1].sum(), inverse[own == 1].sum(), (own * inverse).sum()])

    by_mean, by_shape = (
        (sums_with(*step) - sums_with(*(-step))) / 0.004 for step in (np.array([0.002, 0.0]), np.array([0.0, 0.002]))
    )
    deviation = misfit(counts[small], mean, shape)
    expected = deviation * math.log(1 / fraction) * np.hypot(PER_UNIT["mean"] * by_mean, PER_UNIT["shape"] * by_shape)
    assert described.model_errors == pytest.approx(expected, rel=1e-4)
    assert described.model_errors.min() > 0.01


def test_the_interval_holds_where_keys_of_hundreds_of_values_nearly_determine_each_other() -> None:
    """Whether a person follows the rule is not known from the keys, so that intensities have two humps where a gamma has one.

    The uniques are underestimated by up to half; the estimate depends on the shape, and so does the width of the interval.
    """
    held = []
    for seed in range(4):
        generator = np.random.default_rng(seed)
        shares = 1 / np.arange(1, 401) ** 0.8
        first = generator.choice(400, 100_000, p=shares / shares.sum())
        columns = [first]
        for values in (50, 9):
            image = generator.integers(0, values, 400)[first] + generator.poisson(0.4, 100_000)
            falling = 1 / np.arange(1, values + 1)
            free = generator.choice(values, 100_000, p=falling / falling.sum())
            columns.append(np.where(generator.random(100_000) < 0.05, free, image % values))
        population = (columns[0] * 50 + columns[1]) * 9 + columns[2]
        persons = np.bincount(population, minlength=400 * 50 * 9)
        cells, counts = np.unique(population[generator.choice(100_000, 10_000, replace=False)], return_counts=True)
        estimate = estimate_sizes([cells // 450, cells // 9 % 50, cells % 9], [400, 50, 9], counts, 0.1)
        single = counts == 1
        for truth, expected, error in (
            ((persons[cells[single]] == 1).sum(), estimate.alone[single].sum(), estimate.alone_error),
            ((1 / persons[cells[single]]).sum(), estimate.inverse[single].sum(), estimate.inverse_error),
        ):
            low, high = interval(float(expected), error, int(single.sum()))
            held.append(low <= truth <= high)
    assert sum(held) >= 6


@pytest.mark.parametrize("shape", [1.0, 1 + 1e-10, 1 + 1e-6, 0.3, 40.0])
@pytest.mark.parametrize("p", [0.02, 0.5, 0.999])
def test_the_expected_inverse_of_a_sample_unique_is_its_sum_over_population_sizes_also_for_a_shape_of_one(
    shape: float, p: float
) -> None:
    total, log_term = 0.0, shape * math.log(p)
    for x in range(20_000):
        total += math.exp(log_term) / (1 + x)
        log_term += math.log((shape + x) / (x + 1)) + math.log1p(-p)
    assert expected_inverse(np.ones(1), np.array([shape]), np.array([p]))[0] == pytest.approx(total, rel=1e-9)


def test_classes_that_many_rare_values_make_all_but_impossible_have_a_likelihood() -> None:
    mean, shape = np.array([1e-100, 1e-100, 0.5]), np.full(3, 2.0)
    value = log_likelihood(np.array([1, LARGEST, 2]), mean, shape)
    assert np.isfinite(value)
    assert value < -500


def test_a_sample_that_is_nearly_the_population_leaves_hardly_a_model_error() -> None:
    codes, cardinalities, counts = _dependent_classes(5)
    small = np.flatnonzero(counts <= LARGEST)
    ((_, described),) = _describe_small(codes, cardinalities, counts, small, 1 - 1e-9)
    assert posterior_parameters(np.ones(1), np.ones(1), np.ones(1), 1.0)[1][0] == 1
    assert described.model_errors.max() < 1e-6
