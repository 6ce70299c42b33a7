"""Propensity scores on data for which the result is known."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.optimize import minimize

from discreet.errors import DataError
from discreet.losses.propensity.logistic import fit, probability
from discreet.losses.propensity.measure import Propensity
from discreet.testing import table


def sample(seed, size=800):
    rng = np.random.default_rng(seed)
    columns = {
        "x": rng.normal(size=size).tolist(),
        "y": rng.normal(size=size).tolist(),
        "c": rng.choice(list("abc"), size).tolist(),
    }
    return table(columns, key=["x", "y", "c"])


def test_the_fit_is_the_maximum_of_the_likelihood():
    rng = np.random.default_rng(0)
    x = np.column_stack((np.ones(300), rng.normal(size=(300, 3))))
    y = (rng.random(300) < probability(x @ np.array([0.3, 1.0, -2.0, 0.0]))).astype(float)

    def loss(beta):
        return -(y * (x @ beta) - np.logaddexp(0, x @ beta)).sum()

    halves = [(x[:150], y[:150]), (x[150:], y[150:])]
    assert fit(lambda: iter(halves), 4, ridge=0.0) == pytest.approx(minimize(loss, np.zeros(4), tol=1e-12).x, abs=1e-4)


def test_tables_that_can_be_separated_have_the_largest_loss_and_the_fit_ends():
    data = sample(1)
    away = data.with_columns({"x": data.frame["x"] + 100})
    score = Propensity().measure(data, away)
    assert score["loss"] > 0.99
    assert score["auc"] == 1.0


def test_an_unchanged_table_cannot_be_distinguished():
    data = sample(1)
    score = Propensity().measure(data, data)
    assert (score["loss"], score["ratio"]) == (0.0, 0.0)
    assert score["auc"] == pytest.approx(0.5)


def test_two_samples_of_one_population_have_the_expected_ratio():
    ratios = [Propensity().measure(sample(2 * seed), sample(2 * seed + 1, 500))["ratio"] for seed in range(60)]
    coefficients = Propensity().measure(sample(0), sample(1))["coefficients"]
    assert coefficients == 1 + 2 * 2 + 2
    # k - 1 times the ratio is about chi-squared with k - 1 degrees of freedom
    assert np.mean(ratios) == pytest.approx(1.0, abs=4 * np.sqrt(2 / (coefficients - 1) / 60))
    assert np.var(ratios) == pytest.approx(2 / (coefficients - 1), rel=0.7)


def test_a_change_of_variance_alone_is_detected_by_the_squares():
    data = sample(3, 3000)
    wide = data.with_columns({"x": data.frame["x"] * 2})
    assert Propensity(squares=False).measure(data, wide)["loss"] < 0.01
    assert Propensity().measure(data, wide)["loss"] > 0.1


def test_suppression_and_intervals_are_detected_and_rare_categories_are_pooled():
    data = sample(4)
    assert Propensity().measure(data, data.with_columns({"c": pl.Series([None] * 800, dtype=pl.String)}))["loss"] > 0.99
    assert (
        Propensity().measure(data, data.with_columns({"x": data.frame["x"].set(pl.Series(np.arange(800) % 2 == 0), None)}))[
            "loss"
        ]
        > 0.2
    )
    ages = table({"age": [21, 25, 31, 38] * 10}, key=["age"])
    intervals = ages.with_columns({"age": pl.Series(["20..30", "20..30", "30..40", "30..40"] * 10)})
    assert Propensity(squares=False).measure(ages, intervals)["loss"] < 0.1
    many = table({"c": [str(number) for number in range(100)]}, key=["c"])
    assert Propensity(categories=5).measure(many, many)["coefficients"] == 1 + 5


def test_empty_tables_have_no_loss_and_tables_without_a_common_attribute_are_an_error():
    empty = table({"x": []}, key=["x"])
    assert Propensity().measure(empty, empty)["loss"] == 0.0
    with pytest.raises(DataError, match="no attribute in common"):
        Propensity().measure(table({"x": [1]}), table({"y": [1]}))
