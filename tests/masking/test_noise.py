from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.engine.draws.draw import KeyedDraw
from discreet.engine.runtime.order_free_sums import cholesky_root, mean_and_covariance, multiply_in_order
from discreet.errors import DiscreetError, ParameterError
from discreet.masking.noise.method import Noise
from discreet.registry import create
from discreet.testing import table

N = 40_000
RNG = np.random.default_rng(11)
TRUTH = np.array([[4.0, 3.0], [3.0, 9.0]])
XY = RNG.multivariate_normal([10, -5], TRUTH, size=N)
DATA = table({"x": XY[:, 0], "y": XY[:, 1]}, confidential=["x", "y"])


def added(method: Noise, seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    masked = method.mask(DATA, ["x", "y"], KeyedDraw(seed)).frame.to_numpy()
    return masked, masked - XY


def test_additive_noise_has_the_requested_variance_and_no_correlation():
    _, noise = added(Noise(level=0.3))
    sample = np.cov(XY.T)
    assert np.allclose(noise.mean(axis=0), 0, atol=4 * 0.3 * np.sqrt(np.diag(sample) / N))
    assert np.var(noise, axis=0) == pytest.approx(0.09 * np.diag(sample), rel=4 * np.sqrt(2 / N))
    assert abs(np.corrcoef(noise.T)[0, 1]) < 4 / np.sqrt(N)
    assert abs(np.corrcoef(noise[:, 0], XY[:, 0])[0, 1]) < 4 / np.sqrt(N)


def test_correlated_noise_has_the_covariance_of_the_data():
    masked, noise = added(Noise(level=0.5, how="correlated"))
    assert np.allclose(np.cov(noise.T), 0.25 * np.cov(XY.T), rtol=0.04)
    assert np.corrcoef(masked.T)[0, 1] == pytest.approx(np.corrcoef(XY.T)[0, 1], abs=0.02)


def test_kims_transformation_keeps_means_and_covariances():
    masked, noise = added(Noise(level=0.5, how="kim"))
    assert masked.mean(axis=0) == pytest.approx(XY.mean(axis=0), abs=0.05)
    assert np.allclose(np.cov(masked.T), np.cov(XY.T), rtol=0.03)
    assert np.std(noise[:, 0]) > 0.4, "and still something was changed"


def test_multiplicative_noise_is_a_positive_factor_with_mean_one_and_the_requested_deviation():
    masked, _ = added(Noise(level=0.2, how="multiplicative"))
    factor = masked / XY
    assert (factor > 0).all()
    assert factor.mean(axis=0) == pytest.approx([1, 1], abs=4 * 0.2 / np.sqrt(N))
    assert factor.std(axis=0) == pytest.approx([0.2, 0.2], rel=0.02)


def test_bounds_are_kept_and_whole_numbers_stay_whole():
    data = table({"age": [0, 1, 2, 120, None] * 50}, key=["age"])
    for method in (Noise(level=2, lower=0, upper=120), Noise(level=2, within=True)):
        masked = method.mask(data, ["age"], KeyedDraw(1)).frame["age"]
        assert masked.dtype == pl.Int64
        assert (masked.min(), masked.max()) >= (0, 0)
        assert masked.max() <= 120
        assert masked.null_count() == 50
        assert masked.n_unique() > 20
    small = table({"age": pl.Series([0, 255, 3], dtype=pl.UInt8)}, key=["age"])
    assert Noise(level=5).mask(small, ["age"], KeyedDraw(1)).frame["age"].dtype == pl.UInt8


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(st.none() | st.floats(-99, 99), st.floats(-9, 9)), min_size=4, max_size=30), st.randoms())
def test_the_release_does_not_depend_on_the_order_of_the_rows(rows, random):
    data = table({"x": [a for a, _ in rows], "y": [b for _, b in rows]}, key=["x", "y"])
    if sum(a is not None for a, _ in rows) < 2:
        return
    order = list(range(len(rows)))
    random.shuffle(order)
    for how in ("additive", "correlated", "kim", "multiplicative"):
        masked = Noise(level=0.3, how=how).mask(data, ["x", "y"], KeyedDraw(5)).frame
        masked_shuffled = Noise(level=0.3, how=how).mask(data.take(np.array(order)), ["x", "y"], KeyedDraw(5)).frame
        assert masked[order].equals(masked_shuffled)
        assert masked["x"].is_null().to_list() == data.frame["x"].is_null().to_list()


@settings(deadline=None, max_examples=60)
@given(st.lists(st.lists(st.integers(-4, 4), min_size=3, max_size=3), min_size=2, max_size=9))
def test_the_root_of_a_covariance_times_its_transpose_is_the_covariance_even_if_singular(rows):
    columns = np.array(rows, dtype=float).T
    means, covariance = mean_and_covariance(columns)
    assert np.allclose(means, columns.mean(axis=1))
    assert np.allclose(covariance, np.cov(columns), atol=1e-12)
    lower = cholesky_root(covariance)
    assert np.allclose(lower @ lower.T, covariance, atol=1e-8)
    assert np.allclose(multiply_in_order(lower, columns), lower @ columns)


def test_values_that_leave_the_bounds_in_a_later_step_are_reported():
    assert Noise(level=0.1, lower=0).promise(table({"x": [-1, 2]}, key=["x"]), ["x", "gone"]) == [
        "'x' was kept within the bound 0.0, but 1 values are beyond it now"
    ]


@pytest.mark.parametrize(
    ("parameters", "rule"),
    [
        ({}, "required"),
        ({"level": 0}, "greater than 0"),
        ({"level": "a lot"}, "number"),
        ({"level": 1, "how": "pink"}, "additive"),
        ({"level": 1, "lower": 3, "upper": 2}, "below upper"),
    ],
)
def test_an_invalid_parameter_is_named_in_the_error(parameters, rule):
    with pytest.raises(ParameterError, match=rule):
        create("masking", "noise", parameters)


@pytest.mark.parametrize(
    ("columns", "method", "message"),
    [
        ({"x": ["a", "b"]}, Noise(level=1), "needs numbers"),
        ({"x": [None, None]}, Noise(level=1), "needs"),
        ({"x": [1]}, Noise(level=1), "in only 1 record"),
        ({"x": [1, 2]}, Noise(level=1, lower=2), "already contains 1.0"),
        ({"x": [1, None], "y": [None, 2]}, Noise(level=1, how="kim"), "needs a standard deviation|at least 2 records"),
        ({"x": [1, 2, None], "y": [None, 2, 1]}, Noise(level=1, how="kim"), "at least 2 records"),
    ],
)
def test_unsuitable_data_are_an_error_before_anything_changes(columns, method, message):
    with pytest.raises(DiscreetError, match=message):
        method.check(table(columns, key=list(columns)), list(columns))
