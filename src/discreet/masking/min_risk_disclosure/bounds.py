r"""Lower bounds of the risk of all rules of a class, reported beside a rule that may not be the best.

A record that discloses c entries has at least the sensitivity Phi of its c smallest weights, and at most as many consistent
people as have the c-th most common of its values (or, by independence, the product for the c most common ones). For quotas by
attribute the product form has a tighter bound: $\log \sum_i \exp(\sum_j x_{ij} \log \gamma_{ij})$ is convex in $0 \le x \le 1$,
and each step of the Frank-Wolfe method gives a lower bound for all x with the quotas.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.masking.min_risk_disclosure.enumeration import INFINITE_LOSS
from discreet.masking.min_risk_disclosure.losses import Disclosure
from discreet.masking.min_risk_disclosure.search import select_lowest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_STEPS = (30, 300)  # fewest and most steps of the Frank-Wolfe method
_MAX_CELLS = 200_000_000
"""How many cells all steps together may compute, within the bounds of ``_STEPS``."""
_MAX_LOG_COST = 50.0  # costs are capped, so that exponentials do not overflow
_MAX_PROBABILITY = 1e100  # by independence there may be less than one person, so that a probability exceeds 1


def loss_bounds(problem: Disclosure, prior: Floats) -> Floats:
    """A lower bound of the loss of each record by number c of disclosed entries; infinite if it has fewer values."""
    available, number = problem.available, len(problem)
    bounds = np.zeros((number, problem.width + 1))
    weights = np.column_stack([np.broadcast_to(problem.function.weight(name), number) for name in problem.columns])
    lightest = np.cumsum(np.sort(np.where(available, weights, np.inf), axis=1), axis=1)
    sensitivity = np.column_stack((np.zeros(number), lightest))
    no_disclosure = np.zeros((number, problem.width), dtype=np.bool_)
    base = problem.function.phi([problem.disclosing(name, no_disclosure) for name in problem.function.names], number)
    with np.errstate(over="ignore"):
        sensitivity = base[:, None] * np.exp(sensitivity) if problem.function.form == "phi5" else base[:, None] + sensitivity
    for dictionary, probability in enumerate(prior):
        if probability > 0:
            bounds += probability * np.minimum(
                np.minimum(sensitivity, INFINITE_LOSS) * _least_identification_probabilities(problem, dictionary), INFINITE_LOSS
            )
    bounds[np.arange(problem.width + 1)[None, :] > available.sum(axis=1)[:, None]] = np.inf
    return bounds


def _least_identification_probabilities(problem: Disclosure, number: int) -> Floats:
    """The least probability of identification of each record by number of disclosed entries; 0 if nobody may be consistent."""
    available, dictionary, records = problem.available, problem.dictionaries[number], len(problem)
    if not len(dictionary):
        return np.zeros((records, problem.width + 1))
    rarity = np.empty((records, problem.width))
    for column, name in enumerate(problem.columns):
        values = problem.rarity(number, name)
        rarity[:, column] = np.where(np.isneginf(values), 0.0, values)
    # a person who agrees with all values agrees with any part of them
    has_match = (problem.identification_probability(number, available) > 0)[:, None]
    common = np.sort(np.where(available, rarity, np.inf), axis=1)
    least = np.cumsum(common, axis=1) if problem.independent else common
    start = np.log(
        problem.identification_probability(number, np.zeros_like(available)), where=has_match[:, 0], out=np.full(records, -np.inf)
    )
    with np.errstate(over="ignore", invalid="ignore"):
        logs = np.column_stack((np.zeros(records), least))
        if problem.independent:
            probability = np.exp(start[:, None] + logs)
        else:  # |rho| is at most N / e^rarity of the c-th most common value
            probability = np.maximum(np.exp(start)[:, None], np.exp(logs - np.log(len(dictionary))))
    return np.where(has_match, np.minimum(np.nan_to_num(probability, nan=0.0), _MAX_PROBABILITY), 0.0)


def quota_bound(start: Floats, costs: Floats, available: NDArray[np.bool_], quotas: NDArray[np.int64]) -> tuple[float, Floats]:
    """A lower bound of the sum of losses if attribute j discloses ``quotas[j]`` entries, and the relaxed rule x.

    Records whose loss may become 0 are left out of the sum, and infinite costs are capped: both only lower the bound.
    """
    counted = ~(np.isneginf(costs) & available).any(axis=1) & np.isfinite(start)
    capped_costs = np.where(
        available & counted[:, None], np.minimum(np.where(np.isneginf(costs), 0.0, costs), _MAX_LOG_COST), 0.0
    )
    first = np.where(counted, start, -np.inf)
    if not counted.any():
        return 0.0, available.astype(np.float64)
    x = np.where(available, np.minimum(1.0, quotas / np.maximum(available.sum(axis=0), 1)), 0.0)
    bound = -np.inf
    exponents = first + (capped_costs * x).sum(axis=1)
    for _ in range(int(np.clip(_MAX_CELLS / max(x.size, 1), *_STEPS))):
        top = exponents.max()
        shares = np.exp(exponents - top)
        value = top + np.log(shares.sum())
        gradient = capped_costs * (shares / shares.sum())[:, None]
        direction = np.zeros_like(x)
        for column, number in enumerate(quotas):
            direction[select_lowest(np.where(available[:, column], gradient[:, column], np.nan), int(number)), column] = 1.0
        direction -= x
        bound = max(bound, value + float((gradient * direction).sum()))
        if value - bound < 1e-9:
            break
        slopes = (capped_costs * direction).sum(axis=1)
        step = _minimise_on_line(exponents, slopes)
        x += step * direction
        exponents = exponents + step * slopes
    return float(np.exp(bound)), x


def _minimise_on_line(exponents: Floats, slopes: Floats) -> float:
    """The step in [0, 1] that minimises the sum of exponentials along a line, by bisection of the derivative."""
    low, high = 0.0, 1.0
    finite = np.isfinite(exponents)
    exponents, slopes = exponents[finite], slopes[finite]
    for _ in range(30):
        middle = (low + high) / 2
        moved = exponents + middle * slopes
        if float((np.exp(moved - moved.max()) * slopes).sum()) > 0:
            high = middle
        else:
            low = middle
    return (low + high) / 2
