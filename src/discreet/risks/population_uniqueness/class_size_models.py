"""Population uniques from the sizes of the sample's classes alone: Zayatz, Pitman and the shifted negative binomial.

``sizes`` and ``numbers`` are the frequencies of frequencies: there are ``numbers[i]`` classes of ``sizes[i]`` records. Each model
returns the expected number of sample uniques that are unique in the population, and the expected sum of 1/F over them all.
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp, lgamma, log, log1p
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Estimate(NamedTuple):
    """Expected population uniques among the sample uniques, and expected correct matches of sample uniques (sum of 1/F)."""

    uniques: float
    matches: float


def zayatz(sizes: NDArray[np.int64], numbers: NDArray[np.int64], fraction: float) -> Estimate:
    """Zayatz (1991): the population's classes are taken to have the sizes of the sample's.

    P(F = 1 | f = 1) = S_1 h(1) / sum over i of S_i h(i), where h(i) = i pi (1 - pi)^(i-1) is the probability that a class of i
    leaves one record in the sample (binomial; Zayatz has the hypergeometric, which it approaches).
    """
    single = float(numbers[sizes == 1].sum())
    chances = numbers * sizes * fraction * np.power(1 - fraction, sizes - 1)
    total = float(chances.sum())
    if not single or not total:
        return Estimate(0.0, 0.0)
    return Estimate(single * float(chances[sizes == 1].sum()) / total, single * float((chances / sizes).sum()) / total)


def shifted_negative_binomial(sizes: NDArray[np.int64], numbers: NDArray[np.int64], fraction: float) -> Estimate:
    """SNB (Chen & Keller-McNulty 1998): F - 1 is negative binomial with shape a and success probability p.

    A record of each class is the certain one: f is a Bernoulli(pi) plus a negative binomial of shape a and success probability
    p' = p / (p + (1 - p) pi), the thinned rest. a and p maximise the likelihood of the sizes above zero. With K classes in the
    population, K pi p^a sample uniques are population uniques, and the sum of 1/F over sample uniques is K pi p'^a.
    """
    if not len(sizes):
        return Estimate(0.0, 0.0)

    def thinned(p: float) -> float:
        return p / (p + (1 - p) * fraction)

    def log_likelihood(log_shape: float, logit: float) -> float:
        shape, p = exp(log_shape), 1 / (1 + exp(-logit))
        log_p, log_q = log(thinned(p)), log1p(-thinned(p))
        whole = _log_negative_binomial(sizes, shape, log_p, log_q)
        less_one = _log_negative_binomial(sizes - 1, shape, log_p, log_q)
        chance = np.logaddexp(
            log1p(-fraction) + whole if fraction < 1 else np.full(len(sizes), -np.inf), log(fraction) + less_one
        )
        seen = log(max(1e-300, 1 - (1 - fraction) * exp(shape * log_p)))
        return float((numbers * (chance - seen)).sum())

    log_shape, logit = _maximize(
        log_likelihood, [(log_shape, logit) for log_shape in (-4.0, -1.0, 1.0) for logit in (-6.0, -2.0, 1.0)]
    )
    shape, p = exp(log_shape), 1 / (1 + exp(-logit))
    missed = (1 - fraction) * exp(shape * log(thinned(p)))
    classes = numbers.sum() / max(1 - missed, 1e-300)
    return Estimate(float(classes * fraction * p**shape), float(classes * fraction * thinned(p) ** shape))


def _log_negative_binomial(counts: NDArray[np.int64], shape: float, log_p: float, log_q: float) -> NDArray[np.float64]:
    """Log P(X = k) = log Gamma(k + a) / (k! Gamma(a)) + a log p + k log(1 - p)."""
    constant = lgamma(shape)
    gammas = np.array([lgamma(k + shape) - constant - lgamma(k + 1) for k in counts.tolist()])
    return np.asarray(gammas + shape * log_p + counts * log_q)


def pitman(sizes: NDArray[np.int64], numbers: NDArray[np.int64], fraction: float) -> Estimate:
    """Pitman's sampling formula (Hoshino 2001) with the parameters theta and alpha, fitted by maximum likelihood.

    log L = sum over i < u of log(theta + i alpha) - sum over i < n of log(theta + i) + sum over classes and j < f of
    log(j - alpha). The expected number of population classes of size k in N records is
    C(N, k) (1 - alpha)_(k-1) (theta + alpha)_(N-k) / (theta + 1)_(N-1); a record of each is alone in the sample with probability
    k pi (1 - pi)^(k-1).
    """
    records, classes = int((sizes * numbers).sum()), int(numbers.sum())
    if classes < 2 or not (numbers[sizes > 1]).any():
        single = float(numbers[sizes == 1].sum())
        return Estimate(single, single)  # every record is a unique: nothing in the sample speaks against it

    def log_likelihood(log_theta: float, logit: float) -> float:
        theta, alpha = exp(log_theta), 1 / (1 + exp(-logit))
        ratio = theta / alpha
        founding = (classes - 1) * log(alpha) + lgamma(ratio + classes) - lgamma(ratio + 1)
        joining = lgamma(theta + records) - lgamma(theta + 1)
        own = sum(
            number * (lgamma(size - alpha) - lgamma(1 - alpha))
            for size, number in zip(sizes.tolist(), numbers.tolist(), strict=True)
            if size > 1
        )
        return float(founding - joining + own)

    log_theta, logit = _maximize(
        log_likelihood, [(log_theta, logit) for log_theta in (-2.0, 2.0, 6.0, 10.0) for logit in (-3.0, 0.0, 2.0)]
    )
    theta, alpha = exp(log_theta), 1 / (1 + exp(-logit))
    population = max(records, round(records / fraction))
    log_terms = lgamma(theta + 1) - lgamma(theta + population) - lgamma(theta + alpha) - lgamma(1 - alpha)
    uniques = matches = 0.0
    for k in range(1, population + 1):
        log_expected = (
            lgamma(population + 1) - lgamma(k + 1) - lgamma(population - k + 1)
            + lgamma(k - alpha) + lgamma(theta + alpha + population - k) + log_terms
        )  # fmt: skip
        term = exp(log_expected) * fraction * (1 - fraction) ** (k - 1)
        matches += term
        if k == 1:
            uniques = term
        if term < 1e-9 * matches:
            break
    return Estimate(uniques, matches)


def dankar(sizes: NDArray[np.int64], numbers: NDArray[np.int64], fraction: float) -> Estimate:
    """The decision rule of Dankar et al. (2012): Pitman up to a sampling fraction of 0.1, else the smaller of Zayatz and SNB."""
    if fraction <= 0.1:
        return pitman(sizes, numbers, fraction)
    return min(zayatz(sizes, numbers, fraction), shifted_negative_binomial(sizes, numbers, fraction))


MODELS: dict[str, Callable[[NDArray[np.int64], NDArray[np.int64], float], Estimate]] = {
    "zayatz": zayatz,
    "snb": shifted_negative_binomial,
    "pitman": pitman,
    "dankar": dankar,
}


def _maximize(function: Callable[[float, float], float], starts: list[tuple[float, float]]) -> tuple[float, float]:
    """The best point of two parameters by a pattern search from the best start, which needs no derivatives."""
    bounds = 25.0
    point = max(starts, key=lambda start: function(*start))
    value, step = function(*point), 1.0
    while step > 1e-7:
        moves = [(point[0] + a * step, point[1] + b * step) for a, b in _DIRECTIONS]
        inside = [move for move in moves if max(map(abs, move)) <= bounds]
        best = max(inside, key=lambda move: function(*move))
        if (tried := function(*best)) > value:
            point, value = best, tried
        else:
            step /= 2
    return point


_DIRECTIONS = [(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, -1), (1, -1), (-1, 1)]
