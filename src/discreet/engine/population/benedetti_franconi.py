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
_LARGE = 64.0
"""From so many records on, the terms of the hypergeometric series fall fast enough for any p."""
_MOST_TERMS = 80
_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(32)
_PANELS = 8
_NEGLIGIBLE = 45.0


def individual_risk(
    sizes: NDArray[np.float64], weighted: NDArray[np.float64], *, approximate: bool = False
) -> NDArray[np.float64]:
    """The risk of each class with ``sizes`` records and a sum of sampling weights ``weighted``, which is at least as large.

    With p = f / F and q = 1 - p (Franconi & Polettini 2004)

        f = 1:  p log(1/p) / q
        f = 2:  p (p log p + q) / q^2
        else:   p I(f),  I(f) = 2F1(1, 1; f + 1; q) / f;      ``approximate``: p / (f - q), as sdcMicro has it
        p = 1:  1 / f

    The first two lose all digits where p is near 1, and are replaced by their series in q there. ``sizes`` need not be whole:
    records that agree in part are counted in part.
    """
    unsampled = np.clip((weighted - sizes) / weighted, 0.0, 1.0)
    risks = (1 - unsampled) / (sizes - unsampled)
    for size, formula in ((1.0, _single), (2.0, _pair)):
        chosen = (sizes == size) & (unsampled > 0)
        risks[chosen] = formula(unsampled[chosen])
    if not approximate:
        others = np.flatnonzero((sizes != 1) & (sizes != 2) & (unsampled > 0))
        risks[others] = _larger(sizes[others], unsampled[others])
    return np.clip(risks, 0.0, 1.0)


def _larger(sizes: NDArray[np.float64], unsampled: NDArray[np.float64]) -> NDArray[np.float64]:
    """P I(f), by the series where it converges fast, for few records by a recursion, and for parts of records by quadrature."""
    risks = np.empty_like(sizes)
    by_series = (unsampled <= 0.5) | (sizes >= _LARGE)
    whole = ~by_series & (sizes == np.floor(sizes))
    for chosen, formula in ((by_series, _sum_series), (whole, _recur), (~by_series & ~whole, _integrate)):
        if chosen.any():
            risks[chosen] = (1 - unsampled[chosen]) * formula(sizes[chosen], unsampled[chosen])
    return risks


def _sum_series(sizes: NDArray[np.float64], unsampled: NDArray[np.float64]) -> NDArray[np.float64]:
    """I(f) = 1/f + q / (f (f + 1)) + 2 q^2 / (f (f + 1) (f + 2)) + ...; each pass adds a term to all classes."""
    term = 1 / sizes
    total = term.copy()
    for k in range(1, _MOST_TERMS):
        term = term * (k * unsampled) / (sizes + k)
        total += term
        if not (term > 1e-17 * total).any():
            break
    return total


def _recur(sizes: NDArray[np.float64], unsampled: NDArray[np.float64]) -> NDArray[np.float64]:
    """I(f + 1) = (1/f - p I(f)) / q from I(1) = log(1/p) / q: an error shrinks by p / q < 1 in each step.

    Classes are sorted by size, so that each step goes over those that still grow: O(sum of the sizes), which are below 64.
    """
    order = np.argsort(sizes, kind="stable")
    grown, q = sizes[order], unsampled[order]
    p = 1 - q
    value = -np.log(p) / q
    for size in range(1, int(grown[-1])):
        rest = slice(int(np.searchsorted(grown, size, side="right")), None)
        value[rest] = (1 / size - p[rest] * value[rest]) / q[rest]
    values = np.empty_like(value)
    values[order] = value
    return values


def _integrate(sizes: NDArray[np.float64], unsampled: NDArray[np.float64]) -> NDArray[np.float64]:
    """I(f) = integral over y >= 0 of exp(-f y) / (p + q exp(-y)), by Gauss-Legendre with 32 nodes on each of 8 parts.

    The integrand falls like exp(-(f - 1) y) up to y = log(1/p), and like exp(-f y) from there on.
    """
    p = 1 - unsampled
    end = np.minimum(_NEGLIGIBLE / np.maximum(sizes - 1, 1e-9), -np.log(p) + _NEGLIGIBLE / sizes) / _PANELS
    total = np.zeros_like(sizes)
    for panel in range(_PANELS):
        for node, weight in zip((_NODES + 1) / 2, _NODE_WEIGHTS / 2, strict=True):
            y = (panel + node) * end
            total += weight * np.exp(-sizes * y) / (p + unsampled * np.exp(-y))
    return total * end


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
