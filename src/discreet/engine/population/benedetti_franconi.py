"""The individual risk of Benedetti & Franconi (1998): the expected value of 1/F for a class with f records in the sample.

F is the number of persons of the population with the same key values. Given f it is taken to have a negative binomial
distribution with f successes of probability p, estimated by f / (sum of the sampling weights of the class).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NEAR_ONE = 0.01
_TERMS = 10
"""Terms of the series below 1 - p = 0.01: the first one left out is under 1e-22."""


def individual_risk(sizes: NDArray[np.float64], weighted: NDArray[np.float64]) -> NDArray[np.float64]:
    """The risk of each class with ``sizes`` records and a sum of sampling weights ``weighted``, which is at least as large.

    With p = f / F and q = 1 - p (Franconi & Polettini 2004; the formulas of sdcMicro)

        f = 1:  p log(1/p) / q
        f = 2:  p (p log p + q) / q^2
        else:   p / (f - q)
        p = 1:  1 / f

    The first two lose all digits where p is near 1, and are replaced by their series in q there.
    """
    unsampled = np.clip((weighted - sizes) / weighted, 0.0, 1.0)
    risks = (1 - unsampled) / (sizes - unsampled)
    for size, formula in ((1.0, _single), (2.0, _pair)):
        chosen = (sizes == size) & (unsampled > 0)
        risks[chosen] = formula(unsampled[chosen])
    return np.clip(risks, 0.0, 1.0)


def _single(unsampled: NDArray[np.float64]) -> NDArray[np.float64]:
    """The risk of a sample unique; log1p keeps all digits."""
    return np.asarray((1 - unsampled) * -np.log1p(-unsampled) / unsampled)


def _pair(unsampled: NDArray[np.float64]) -> NDArray[np.float64]:
    """The risk of a record in a class of two; p log p + q is the sum over n >= 2 of q^n / (n (n - 1))."""
    sampled = 1 - unsampled
    series = np.zeros_like(unsampled)
    for n in range(_TERMS + 1, 1, -1):
        series = series * unsampled + 1 / (n * (n - 1))
    with np.errstate(invalid="ignore", divide="ignore"):
        closed = (sampled * np.log(sampled) + unsampled) / unsampled**2
    return np.asarray(sampled * np.where(unsampled < _NEAR_ONE, series, closed))


def household_risk(risks: NDArray[np.float64], households: NDArray[np.int64], number: int) -> NDArray[np.float64]:
    """For each record the probability that a member of its household is re-identified: 1 - prod (1 - r) over the members."""
    with np.errstate(divide="ignore"):
        spared = np.bincount(households, weights=np.log1p(-risks), minlength=number)
    return np.asarray(-np.expm1(spared))[households]
