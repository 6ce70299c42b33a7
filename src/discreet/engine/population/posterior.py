"""The size F of a population class, given f records of it in a sample, where the class's intensity has a gamma distribution.

Records of a class are sampled with probability pi. Of the others of a sampled record's class there are Poisson(lambda) in the
population, with lambda ~ Gamma(shape, rate) as seen from that record (size-biased). Given f, lambda has the shape
``shape + f - 1`` and the rate ``rate + pi``, so that F - f is negative binomial (Bethlehem, Keller & Pannekoek 1990; Rinott &
Shlomo 2006).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(32)
_NEGLIGIBLE = 45.0
"""The integral ends where its terms have fallen by exp(-45)."""
_SUMMED = 8


def posterior_parameters(
    sizes: NDArray[np.float64], mean: NDArray[np.float64], shape: NDArray[np.float64], fraction: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Shape and success probability of the negative binomial F - f of classes of ``sizes`` records.

    As seen from a record the class's intensity is gamma with ``shape`` s and rate s pi / m before its other records are counted,
    of which ``mean`` m are expected in the sample.
    """
    rate = shape * fraction / mean + fraction
    return shape + sizes - 1, rate / (rate + (1 - fraction))


def chance_of_no_other(shape: NDArray[np.float64], miss: NDArray[np.float64]) -> NDArray[np.float64]:
    """P(F = f): no further member of the class, ``miss`` being the success probability p of the negative binomial."""
    return np.asarray(np.exp(shape * np.log(miss)))


def expected_inverse(sizes: NDArray[np.float64], shape: NDArray[np.float64], miss: NDArray[np.float64]) -> NDArray[np.float64]:
    """E(1/F) for F = f + X, where X is negative binomial with ``shape`` s and success probability ``miss`` p.

    E 1/(f + X) is the integral over t in [0, 1] of t^(f-1) (p / (1 - (1-p) t))^s. With v = p / (1 - (1-p) t) it becomes

        integral over v in [p, 1] of t(v)^(f-1) v^(s-2) p / (1-p) dv,      t(v) = (1 - p/v) / (1 - p)

    and with v = p^x, x in [0, 1], the steep part near t = 1 is spread evenly: Gauss-Legendre with 32 nodes in x. The logarithm of
    the integrand is concave in log v and has the slope (s - 1) + (f - 1) p / (1 - p) at v = 1, which says where it is negligible.
    For f = 1, which most classes of a sample have, the integral is (1 - p^(s-1)) / (s - 1) times p / (1 - p).
    """
    single = sizes == 1
    result = np.empty_like(miss)
    result[single] = _inverse_of_uniques(shape[single], miss[single])
    result[~single] = _integrate(sizes[~single], shape[~single], miss[~single], power=1)
    return result


def _inverse_of_uniques(shape: NDArray[np.float64], miss: NDArray[np.float64]) -> NDArray[np.float64]:
    """E 1/(1 + X) as (-log p) p / (1 - p) times (e^x - 1) / x with x = (s - 1) log p, which holds for s = 1 too."""
    q = 1.0 - miss
    certain = q < 1e-9
    log_p, safe_q = np.log(np.where(certain, 0.5, miss)), np.where(certain, 0.5, q)
    x = (shape - 1) * log_p
    near = np.abs(x) < 1e-9
    mean = np.where(near, 1.0, np.expm1(x) / np.where(near, 1.0, x))
    return np.asarray(np.where(certain, 1.0, np.clip(-log_p * np.exp(log_p) / safe_q * mean, 0.0, 1.0)))


def _integrate(
    sizes: NDArray[np.float64], shape: NDArray[np.float64], miss: NDArray[np.float64], *, power: int
) -> NDArray[np.float64]:
    """E(1/F) or E(1/F^2); one pass over the arrays per node."""
    q = 1.0 - miss
    certain = q < 1e-9
    log_p = np.log(np.where(certain, 0.5, miss))
    safe_q = np.where(certain, 0.5, q)
    slope = shape - 1 + (sizes - 1) * np.exp(log_p) / safe_q
    end = np.minimum(1.0, _NEGLIGIBLE / np.maximum(-log_p * slope, 1e-9))
    total = np.zeros_like(miss)
    for node, weight in zip((_NODES + 1) / 2, _NODE_WEIGHTS / 2, strict=True):
        log_v = log_p * node * end
        t = np.clip(-np.expm1(log_p - log_v) / safe_q, 0.0, 1.0)
        with np.errstate(divide="ignore"):
            log_t = np.log(t)
        term = np.exp(np.where(sizes > 1, (sizes - 1) * log_t, 0.0) + (shape - 1) * log_v)
        total += weight * (term if power == 1 else np.where(t > 0, -log_t, 0.0) * term)
    value = total * end * -log_p * np.exp(log_p) / safe_q
    return np.asarray(np.where(certain, sizes ** -float(power), np.clip(value, 0.0, sizes ** -float(power))))


def inverse_variance(shape: NDArray[np.float64], miss: NDArray[np.float64]) -> NDArray[np.float64]:
    """The variance of 1/F of sample uniques (F = 1 + X), from above by at most E(1/F) / 9.

    Of E(1/F^2) the terms up to F = 8 are summed, and those beyond are at most their part of E(1/F) divided by 9.
    """
    chance = chance_of_no_other(shape, miss)
    mean = expected_inverse(np.ones_like(miss), shape, miss)
    square, rest = np.zeros_like(miss), mean.copy()
    for size in range(1, _SUMMED + 1):
        square += chance / size**2
        rest -= chance / size
        chance = chance * (shape + size - 1) / size * (1 - miss)
    return np.asarray(np.maximum(square + np.maximum(rest, 0.0) / (_SUMMED + 1) - mean**2, 0.0))


def inverse_variance_of_larger(
    sizes: NDArray[np.float64], shape: NDArray[np.float64], miss: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The variance of 1/F of classes with f >= 2 records in the sample (F = f + X).

    E 1/(f + X)^2 is the integral over t in [0, 1] of t^(f-1) log(1/t) (p / (1 - (1-p) t))^s, by the nodes of ``expected_inverse``
    to about 1 % of the variance.
    """
    square = _integrate(sizes, shape, miss, power=2)
    return np.asarray(np.maximum(square - expected_inverse(sizes, shape, miss) ** 2, 0.0))
