r"""Disclosure rules of least risk that can be had exactly: seed 004, algorithm MinRisk, and its sibling for a total.

Both rest on the product form: Phi_5 and one dictionary with independent attributes, so that the loss of a record is
(1/N) times the product of gamma_j over what it discloses. Then the best c entries of a record are its c smallest gamma,
and the loss $L(c)$ of disclosing them is convex in c: with gamma sorted,
$L(c+1) - L(c) = L(c) (\gamma_{c+1} - 1)$, and $\gamma_c (\gamma_{c+1} - 1) \ge \gamma_c (\gamma_c - 1) \ge \gamma_c - 1$ since
$(\gamma_c - 1)^2 \ge 0$. So the k cheapest marginal costs of the whole table are a prefix of each record's: taking them one
after the other from a heap, or all at once by selection as here, is optimal. (Any gamma of 0 or more will do.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.masking.min_risk_disclosure.losses import Disclosure, raised

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Rule = NDArray[np.bool_]
    Floats = NDArray[np.float64]

_BLOCK = 4096


def smallest(costs: NDArray[np.float64], available: Rule, k: int) -> Rule:
    """In each row the k smallest costs among those available (all of them where there are fewer); first columns first."""
    width = costs.shape[1]
    if k <= 0:
        return np.zeros(costs.shape, dtype=np.bool_)
    if k >= width:
        return available.copy()
    edge = np.partition(costs, k - 1, axis=1)[:, k - 1]
    return _up_to(costs, available, edge, np.full(len(costs), k))


def _up_to(costs: Floats, available: Rule, edge: Floats, numbers: NDArray[np.int64]) -> Rule:
    """In each row ``numbers`` entries that cost at most ``edge``, the cost of the last of them."""
    chosen = (costs <= edge[:, None]) & available
    crowded = np.flatnonzero(np.count_nonzero(chosen, axis=1) > numbers)
    if len(crowded):
        below = chosen[crowded] & (costs[crowded] < edge[crowded, None])
        level = chosen[crowded] & ~below
        room = numbers[crowded] - np.count_nonzero(below, axis=1)
        chosen[crowded] = below | (level & (np.cumsum(level, axis=1) <= room[:, None]))
    return np.asarray(chosen)


def min_risk(problem: Disclosure, k: int) -> tuple[Rule, Floats]:
    """Algorithm MinRisk: each record discloses the k attributes with the smallest gamma, in O((n + N) m).

    Returns the rule and the loss of each record under it.
    """
    rule = np.empty((len(problem), problem.width), dtype=np.bool_)
    losses = problem.log_start(0)
    for start in range(0, len(problem), _BLOCK):
        rows = slice(start, start + _BLOCK)
        costs = problem.log_costs(0, rows)
        rule[rows] = smallest(costs, problem.available[rows], k)
        losses[rows] = raised(losses[rows], _sum(costs, rule[rows]))
    with np.errstate(over="ignore"):
        return rule, np.exp(losses)


def _sum(costs: Floats, rule: Rule) -> Floats:
    """The sum of what is disclosed, minus infinity where any of it is."""
    shown = np.where(rule, costs, 0.0)
    nobody = np.isneginf(shown).any(axis=1)
    if nobody.any():
        shown[nobody] = -np.inf
        shown[nobody, 1:] = 0.0
    return np.asarray(shown.sum(axis=1))


def min_risk_in_total(problem: Disclosure, k: int) -> Rule:
    """The rule of least risk that discloses k entries of the whole table."""
    costs, available = problem.log_costs(0), problem.available
    return cheapest_in_total(problem.log_start(0), costs, available, k)


def cheapest_in_total(start: NDArray[np.float64], costs: NDArray[np.float64], available: Rule, k: int) -> Rule:
    """Take the k smallest marginal costs, given log L(0) and log gamma."""
    if not costs.size:
        return np.zeros(costs.shape, dtype=np.bool_)
    ranked = np.sort(np.where(available, costs, np.inf), axis=1)
    there = np.arange(costs.shape[1]) < np.count_nonzero(available, axis=1)[:, None]
    gain, free, log_marginal = _marginals(start, ranked)
    taken = np.zeros(costs.shape, dtype=np.bool_)
    left = min(k, int(there.sum()))
    # first what lowers the risk (the record becomes one with which nobody is consistent), the largest loss first
    lowering = np.argwhere(gain & there)
    best = np.argsort(-start[lowering[:, 0]], kind="stable")[:left]
    taken[tuple(lowering[best].T)] = True
    left -= len(best)
    # then what costs nothing, earlier entries of a record before later ones
    left -= _take(taken, free & there, left)
    # then by marginal cost
    rest = there & ~gain & ~free
    if left > 0:
        edge = np.partition(log_marginal[rest], left - 1)[left - 1]
        cheaper = rest & (log_marginal < edge)
        taken |= cheaper
        _take(taken, rest & (log_marginal == edge), left - int(cheaper.sum()))
    numbers = np.count_nonzero(taken, axis=1)
    edge = np.where(numbers > 0, ranked[np.arange(len(ranked)), numbers - 1], -np.inf)
    return _up_to(costs, available, edge, numbers)


def _marginals(start: NDArray[np.float64], ranked: NDArray[np.float64]) -> tuple[Rule, Rule, NDArray[np.float64]]:
    """For the entries of each record in rising order: whether one lowers the loss to 0, whether it costs nothing, and
    otherwise the logarithm of its marginal cost."""
    zero = np.isneginf(ranked)
    gain = np.zeros(ranked.shape, dtype=np.bool_)
    gain[:, :1] = zero[:, :1] & ~np.isneginf(start)[:, None]
    gone = np.isneginf(start)[:, None] | zero[:, :1]
    free = (gone & ~gain) | (ranked == 0)
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        raised = np.where(zero, 0.0, ranked)
        before = start[:, None] + np.cumsum(raised, axis=1) - raised
        step = np.where(raised > 30, raised, np.log(np.expm1(np.minimum(raised, 30))))
        marginal = before + step
    marginal = np.where(np.isnan(marginal) | np.isposinf(ranked), np.inf, marginal)
    marginal = np.where(free | gain, -np.inf, marginal)
    return gain, free, np.maximum.accumulate(marginal, axis=1)


def _take(taken: Rule, offered: Rule, number: int) -> int:
    """Take up to ``number`` of the entries offered, by rank within the record first; returns how many."""
    if number <= 0:
        return 0
    total = int(offered.sum())
    if total <= number:
        taken |= offered
        return total
    ranks, records = np.nonzero(offered.T)
    taken[records[:number], ranks[:number]] = True
    return number
