r"""Lower bounds of the risk: what no rule of a class can go below, told beside a rule that may not be the best.

A record that discloses c entries has at least Phi of the c lightest weights, and at most as many consistent people as
the c-th most common of its values has (or, by independence, the product for the c most common ones). For an attribute's
quota the product form has a tighter bound: $\log \sum_i \exp(\sum_j x_{ij} \log \gamma_{ij})$ is convex in $0 \le x \le 1$,
and a step of Frank and Wolfe's method gives a value that no x with the quotas falls below.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.masking.min_risk_disclosure.enumeration import LARGEST
from discreet.masking.min_risk_disclosure.losses import Disclosure
from discreet.masking.min_risk_disclosure.search import lowest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_STEPS = (30, 300)
_CELLS = 200_000_000
"""How many cells all steps together may touch, within the least and the largest number of steps."""
_STEEPEST = 50.0
_CERTAIN = 1e100  # by independence there may be less than one person, so a chance above 1


def floors(problem: Disclosure, prior: Floats) -> Floats:
    """For each record and number c of disclosed entries a value that its loss does not fall below."""
    available, number = problem.available, len(problem)
    made = np.zeros((number, problem.width + 1))
    weights = np.column_stack([np.broadcast_to(problem.function.weight(name), number) for name in problem.columns])
    lightest = np.cumsum(np.sort(np.where(available, weights, np.inf), axis=1), axis=1)
    worth = np.column_stack((np.zeros(number), lightest))
    nothing = np.zeros((number, problem.width), dtype=np.bool_)
    base = problem.function.phi([problem.shown(name, nothing) for name in problem.function.names], number)
    with np.errstate(over="ignore"):
        worth = base[:, None] * np.exp(worth) if problem.function.form == "phi5" else base[:, None] + worth
    for at, probability in enumerate(prior):
        if probability > 0:
            made += probability * np.minimum(np.minimum(worth, LARGEST) * _chances(problem, at), LARGEST)
    made[np.arange(problem.width + 1)[None, :] > available.sum(axis=1)[:, None]] = np.inf
    return made


def _chances(problem: Disclosure, at: int) -> Floats:
    """The least probability of identification with c entries disclosed; 0 where nobody may be consistent."""
    available, dictionary, number = problem.available, problem.dictionaries[at], len(problem)
    if not len(dictionary):
        return np.zeros((number, problem.width + 1))
    rarity = np.empty((number, problem.width))
    for column, name in enumerate(problem.columns):
        values = problem.rarity(at, name)
        rarity[:, column] = np.where(np.isneginf(values), 0.0, values)
    found = (problem.chance(at, available) > 0)[:, None]  # whoever agrees with all agrees with any part
    common = np.sort(np.where(available, rarity, np.inf), axis=1)
    least = np.cumsum(common, axis=1) if problem.independent else common
    start = np.log(problem.chance(at, np.zeros_like(available)), where=found[:, 0], out=np.full(number, -np.inf))
    with np.errstate(over="ignore", invalid="ignore"):
        logs = np.column_stack((np.zeros(number), least))
        if problem.independent:
            chance = np.exp(start[:, None] + logs)
        else:  # |rho| is at most N / e^rarity of the c-th most common value
            chance = np.maximum(np.exp(start)[:, None], np.exp(logs - np.log(len(dictionary))))
    return np.where(found, np.minimum(np.nan_to_num(chance, nan=0.0), _CERTAIN), 0.0)


def quota_bound(start: Floats, costs: Floats, available: NDArray[np.bool_], wanted: NDArray[np.int64]) -> tuple[float, Floats]:
    """A lower bound of the sum of losses where attribute j discloses ``wanted[j]`` entries, and the relaxed rule.

    Records that may drop to a loss of 0 are left out of the sum, and infinite costs are cut, so the bound stays one.
    """
    kept = ~(np.isneginf(costs) & available).any(axis=1) & np.isfinite(start)
    steep = np.where(available & kept[:, None], np.minimum(np.where(np.isneginf(costs), 0.0, costs), _STEEPEST), 0.0)
    first = np.where(kept, start, -np.inf)
    if not kept.any():
        return 0.0, available.astype(np.float64)
    x = np.where(available, np.minimum(1.0, wanted / np.maximum(available.sum(axis=0), 1)), 0.0)
    bound = -np.inf
    exponents = first + (steep * x).sum(axis=1)
    for _ in range(int(np.clip(_CELLS / max(x.size, 1), *_STEPS))):
        top = exponents.max()
        shares = np.exp(exponents - top)
        value = top + np.log(shares.sum())
        gradient = steep * (shares / shares.sum())[:, None]
        vertex = np.zeros_like(x)
        for column, number in enumerate(wanted):
            vertex[lowest(np.where(available[:, column], gradient[:, column], np.nan), int(number)), column] = 1.0
        vertex -= x
        bound = max(bound, value + float((gradient * vertex).sum()))
        if value - bound < 1e-9:
            break
        slopes = (steep * vertex).sum(axis=1)
        step = _along(exponents, slopes)
        x += step * vertex
        exponents = exponents + step * slopes
    return float(np.exp(bound)), x


def _along(exponents: Floats, slopes: Floats) -> float:
    """The step in [0, 1] at which the sum of exponentials is least on a line."""
    low, high = 0.0, 1.0
    kept = np.isfinite(exponents)
    exponents, slopes = exponents[kept], slopes[kept]
    for _ in range(30):
        middle = (low + high) / 2
        moved = exponents + middle * slopes
        if float((np.exp(moved - moved.max()) * slopes).sum()) > 0:
            high = middle
        else:
            low = middle
    return (low + high) / 2
