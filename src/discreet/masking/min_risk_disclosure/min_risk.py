r"""Exact disclosure rules of least risk: algorithm MinRisk (Lebanon et al. 2006), and its counterpart for a total of entries.

Both need the product form: Phi_5 and one dictionary with independent attributes, so that the loss of a record is
(1/N) times the product of gamma_j over its disclosed entries. Then the best c entries of a record are its c smallest gamma,
and the loss $L(c)$ of disclosing them is convex in c: with gamma sorted,
$L(c+1) - L(c) = L(c) (\gamma_{c+1} - 1)$, and $\gamma_c (\gamma_{c+1} - 1) \ge \gamma_c (\gamma_c - 1) \ge \gamma_c - 1$ since
$(\gamma_c - 1)^2 \ge 0$. So the k smallest marginal costs of the whole table are, in each record, those of its first
entries: taking them one after the other from a heap, or all at once by selection as here, is optimal (for any gamma >= 0).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.masking.min_risk_disclosure.losses import Disclosure, add_to_logs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Rule = NDArray[np.bool_]
    Floats = NDArray[np.float64]

_BLOCK = 4096  # records that are processed at once, so that their costs stay in the cache


def select_cheapest(costs: NDArray[np.float64], available: Rule, k: int) -> Rule:
    """Flags of the k smallest available costs in each row (all, if there are fewer); of equal ones the first columns."""
    width = costs.shape[1]
    if k <= 0:
        return np.zeros(costs.shape, dtype=np.bool_)
    if k >= width:
        return available.copy()
    edge = np.partition(costs, k - 1, axis=1)[:, k - 1]
    return _entries_up_to(costs, available, edge, np.full(len(costs), k))


def _entries_up_to(costs: Floats, available: Rule, edge: Floats, numbers: NDArray[np.int64]) -> Rule:
    """Flags of ``numbers[row]`` entries of each row that cost at most ``edge[row]``, which is the cost of the last of them."""
    chosen = (costs <= edge[:, None]) & available
    crowded = np.flatnonzero(np.count_nonzero(chosen, axis=1) > numbers)
    if len(crowded):
        below = chosen[crowded] & (costs[crowded] < edge[crowded, None])
        level = chosen[crowded] & ~below
        room = numbers[crowded] - np.count_nonzero(below, axis=1)
        chosen[crowded] = below | (level & (np.cumsum(level, axis=1) <= room[:, None]))
    return np.asarray(chosen)


def min_risk(problem: Disclosure, k: int) -> tuple[Rule, Floats]:
    """Algorithm MinRisk: each record discloses the k attributes with the smallest gamma, in O((n + N) m)
    for n records, N rows of the dictionary and m attributes.

    Returns the rule and the loss of each record under it.
    """
    rule = np.empty((len(problem), problem.width), dtype=np.bool_)
    losses = problem.log_start(0)
    for start in range(0, len(problem), _BLOCK):
        rows = slice(start, start + _BLOCK)
        costs = problem.log_costs(0, rows)
        rule[rows] = select_cheapest(costs, problem.available[rows], k)
        losses[rows] = add_to_logs(losses[rows], _sum_disclosed(costs, rule[rows]))
    with np.errstate(over="ignore"):
        return rule, np.exp(losses)


def _sum_disclosed(costs: Floats, rule: Rule) -> Floats:
    """The sum of the disclosed costs of each record; minus infinity if any of them is."""
    disclosed = np.where(rule, costs, 0.0)
    without_match = np.isneginf(disclosed).any(axis=1)
    if without_match.any():
        disclosed[without_match] = -np.inf
        disclosed[without_match, 1:] = 0.0
    return np.asarray(disclosed.sum(axis=1))


def min_risk_in_total(problem: Disclosure, k: int) -> Rule:
    """The rule of least risk that discloses k entries of the whole table."""
    costs, available = problem.log_costs(0), problem.available
    return cheapest_in_total(problem.log_start(0), costs, available, k)


def cheapest_in_total(start: NDArray[np.float64], costs: NDArray[np.float64], available: Rule, k: int) -> Rule:
    """The rule that takes the k smallest marginal costs, given log L(0) of each record and log gamma of each entry."""
    if not costs.size:
        return np.zeros(costs.shape, dtype=np.bool_)
    ranked = np.sort(np.where(available, costs, np.inf), axis=1)
    exists = np.arange(costs.shape[1]) < np.count_nonzero(available, axis=1)[:, None]
    lowers, free, log_marginal = _marginal_costs(start, ranked)
    taken = np.zeros(costs.shape, dtype=np.bool_)
    left = min(k, int(exists.sum()))
    # first the entries that lower the risk, because nobody is consistent with the record any more; the largest loss first
    lowering = np.argwhere(lowers & exists)
    best = np.argsort(-start[lowering[:, 0]], kind="stable")[:left]
    taken[tuple(lowering[best].T)] = True
    left -= len(best)
    # then the entries without cost, earlier ones of a record before later ones
    left -= _take_entries(taken, free & exists, left)
    # then by marginal cost
    rest = exists & ~lowers & ~free
    if left > 0:
        edge = np.partition(log_marginal[rest], left - 1)[left - 1]
        cheaper = rest & (log_marginal < edge)
        taken |= cheaper
        _take_entries(taken, rest & (log_marginal == edge), left - int(cheaper.sum()))
    numbers = np.count_nonzero(taken, axis=1)
    edge = np.where(numbers > 0, ranked[np.arange(len(ranked)), numbers - 1], -np.inf)
    return _entries_up_to(costs, available, edge, numbers)


def _marginal_costs(start: NDArray[np.float64], ranked: NDArray[np.float64]) -> tuple[Rule, Rule, NDArray[np.float64]]:
    """For the entries of each record in rising order of gamma: whether it lowers the loss to 0, whether it costs nothing,
    and otherwise the logarithm of its marginal cost."""
    zero = np.isneginf(ranked)
    lowers = np.zeros(ranked.shape, dtype=np.bool_)
    lowers[:, :1] = zero[:, :1] & ~np.isneginf(start)[:, None]
    already_zero = np.isneginf(start)[:, None] | zero[:, :1]
    free = (already_zero & ~lowers) | (ranked == 0)
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        finite_costs = np.where(zero, 0.0, ranked)
        before = start[:, None] + np.cumsum(finite_costs, axis=1) - finite_costs
        step = np.where(finite_costs > 30, finite_costs, np.log(np.expm1(np.minimum(finite_costs, 30))))
        marginal = before + step
    marginal = np.where(np.isnan(marginal) | np.isposinf(ranked), np.inf, marginal)
    marginal = np.where(free | lowers, -np.inf, marginal)
    return lowers, free, np.maximum.accumulate(marginal, axis=1)


def _take_entries(taken: Rule, offered: Rule, number: int) -> int:
    """Take up to ``number`` of the offered entries, those of lower rank within their record first; returns how many."""
    if number <= 0:
        return 0
    total = int(offered.sum())
    if total <= number:
        taken |= offered
        return total
    ranks, records = np.nonzero(offered.T)
    taken[records[:number], ranks[:number]] = True
    return number
