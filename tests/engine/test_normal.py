"""The normal distribution and its inverse agree with SciPy's."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr, ndtri

from discreet.engine.statistics.normal import normal_probability, normal_quantile


def test_quantiles_agree_with_scipy_in_the_middle_and_far_out() -> None:
    shares = np.concatenate((np.linspace(0.0001, 0.9999, 9_999), 10.0 ** -np.arange(1, 300), 1 - 10.0 ** -np.arange(1, 16)))
    np.testing.assert_allclose(normal_quantile(shares), ndtri(shares), rtol=1e-13, atol=1e-15)
    assert normal_quantile([0.0, 0.5, 1.0]).tolist() == [-np.inf, 0.0, np.inf]


def test_a_quantile_does_not_depend_on_the_others() -> None:
    shares = np.linspace(0.001, 0.999, 1_001)
    assert normal_quantile(shares).tolist() == [float(normal_quantile(share)) for share in shares]


def test_probabilities_agree_with_scipy() -> None:
    values = np.linspace(-37, 9, 5_001)
    np.testing.assert_allclose(normal_probability(values), ndtr(values), rtol=1e-12)
