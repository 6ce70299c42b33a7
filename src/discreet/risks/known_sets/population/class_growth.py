r"""E(1/F | f) of the classes of one set of attributes, from the numbers of classes of each size in the sample.

Under Bernoulli sampling of the share pi, with K(q) the expected number of classes in a random part q of the population,

    sum over classes with f = 1 of E(1/F)  =  pi / (1 - pi) (K(1) - K(pi)),

because a class of F leaves one record with probability F pi (1 - pi)^(F-1) and none with (1 - pi)^F. So the mean risk of sample
uniques follows from how many classes the population has that the sample has not. The curve K is known up to the sample, by
rarefaction: K(q) = sum over f of n_f (1 - (1 - q)^f). Its slope s(q) = d log K / d log q falls from 1 to 0, and is continued with
a constant change b of logit s per unit of log q, estimated between half of the sample and all of it, which has the closed form

    K(1) = K (1 - s + s pi^-b)^(1/b),      s = n_1 / K.

b = 0 is the power law of Pitman's model, b = -1 the hyperbola of equal classes. The same identity for f = 2 is a Good-Turing
estimate, n_2 E(1/F | 2) = pi / (2 (1 - pi)) n_1 (1 - E(1/F | 1)); from f = 2 on, F - f is taken to be negative binomial with the
shape f - a, where a makes f = 2 agree (a = 0: Benedetti & Franconi). Two kinds of error enter the ends: that of the observed
numbers of classes, taken as Poisson (delta method), and that of the continuation, a standard deviation of b.
"""

from __future__ import annotations

from functools import lru_cache
from math import exp, expm1, hypot, log, log1p, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from discreet.engine.population.posterior import expected_inverse

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MODEL_ERROR = 0.15
"""Standard deviation of b: what the continuation may be wrong by. Set on samples of five populations (docs/benchmarks.md)."""
_LARGER_ERROR = 0.03
"""Standard deviation of log E(1/F | f) from f = 2 on, beside that of the observed numbers, per unit of log(1 / pi)."""
_STEEPEST = -3.0
_MOST_ERROR = 20.0
_MOST_DISCOUNT = 1.5


class InverseSizes(NamedTuple):
    """E(1/F | f) for each size, between a low and a high end."""

    low: NDArray[np.float64]
    value: NDArray[np.float64]
    high: NDArray[np.float64]


def estimate_inverse_sizes(
    sizes: NDArray[np.int64], numbers: NDArray[np.int64], fraction: float, deviations: float
) -> InverseSizes:
    """E(1/F | f) for each of the ``sizes`` f, of which there are ``numbers`` classes in a sample of the share ``fraction``.

    The ends are so many standard deviations away on the scale of logarithms, and never above 1/f. O(sizes).
    """
    counts = sizes.astype(np.float64)
    if fraction >= 1 or not len(sizes):
        return InverseSizes(1 / counts, 1 / counts, 1 / counts)
    single, pairs = (int(numbers[sizes == size].sum()) for size in (1, 2))
    first, first_error = _of_uniques(counts, numbers.astype(np.float64), fraction) if single else (0.5, 0.0)
    second = _of_pairs(single, pairs, first, fraction)
    second_error = sqrt(1 / (single + 1) + 1 / (pairs + 1) + (_LARGER_ERROR * log(fraction)) ** 2)
    ends = []
    for sign in (-1, 0, 1):
        target = min(0.5, second * exp(sign * deviations * second_error))
        values = expected_inverse(counts, counts - _discount(target, fraction), np.full(len(counts), fraction))
        values[sizes == 1] = min(1.0, first * exp(sign * deviations * first_error))
        ends.append(np.minimum(values, 1 / counts))
    return InverseSizes(*ends)


def _of_uniques(sizes: NDArray[np.float64], numbers: NDArray[np.float64], fraction: float) -> tuple[float, float]:
    """E(1/F | f = 1), and the standard deviation of its logarithm.

    Where every record is a sample unique, nothing in the sample speaks against 1; how far it may be off is what one class of two
    would change.
    """
    if sizes.max() == 1:
        value, error = _of_uniques(np.array([1.0, 2.0]), np.array([numbers.sum(), 1.0]), fraction)
        return 1.0, hypot(log(value), error)
    with np.errstate(under="ignore"):
        empty = np.exp2(-sizes)
    # columns: all classes, sample uniques, and both expected in a random half of the sample
    functionals = np.column_stack([np.ones(len(sizes)), sizes == 1, 1 - empty, sizes * empty])
    totals = numbers @ functionals
    log_value = _log_unique_risk(totals, fraction, 0.0)
    slopes = np.empty(4)
    for place in range(4):
        moved = totals.copy()
        moved[place] *= 1 + 1e-5
        slopes[place] = (_log_unique_risk(moved, fraction, 0.0) - log_value) / (totals[place] * 1e-5)
    by_model = (_log_unique_risk(totals, fraction, -1e-3) - log_value) / 1e-3
    sampling = float((numbers + (sizes <= 2)) @ (functionals @ slopes) ** 2)
    return exp(min(log_value, 0.0)), min(sqrt(sampling + (by_model * _MODEL_ERROR) ** 2), _MOST_ERROR)


def _log_unique_risk(totals: NDArray[np.float64], fraction: float, shift: float) -> float:
    """Log E(1/F | f = 1) from the four totals, with b shifted."""
    classes, single, half_classes, half_single = totals.tolist()
    share = min(single / classes, 1 - 1e-9)
    bend = (_logit(share) - _logit(min(half_single / half_classes, 1 - 1e-9))) / log(2)
    bend = min(max(bend, _STEEPEST), -1e-6) + shift
    growth = expm1(log1p(share * expm1(-bend * log(fraction))) / bend)
    return log(fraction / (1 - fraction) * classes * growth / single)


def _logit(share: float) -> float:
    return log(share / (1 - share))


def _of_pairs(single: int, pairs: int, first: float, fraction: float) -> float:
    """E(1/F | f = 2) by the Good-Turing identity, not below half of Benedetti & Franconi's, nor above that of uniques or 1/2."""
    least = float(_pair_risks(fraction)[1][_ZERO])
    if not (single and pairs):
        return least
    estimate = fraction * single * (1 - first) / (2 * (1 - fraction) * pairs)
    return min(max(estimate, least / 2), max(first, least / 2), 0.5)


_DISCOUNTS = np.sort(np.concatenate([2 - np.geomspace(0.5, 12, 400), [0.0]]))
_ZERO = int(np.searchsorted(_DISCOUNTS, 0.0))


@lru_cache(maxsize=64)
def _pair_risks(fraction: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Discounts a, and E(1/F | f = 2) with the shape 2 - a; both rise."""
    size = len(_DISCOUNTS)
    return _DISCOUNTS, expected_inverse(np.full(size, 2.0), 2 - _DISCOUNTS, np.full(size, fraction))


def _discount(target: float, fraction: float) -> float:
    """The a with which E(1/F | f = 2) is the target."""
    discounts, risks = _pair_risks(fraction)
    return min(float(np.interp(target, risks, discounts)), _MOST_DISCOUNT)
