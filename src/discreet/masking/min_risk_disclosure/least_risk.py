"""The rule of least risk among those that disclose k entries a record, in total, or an attribute (seed 004, section 3).

Exact where it can be; else the best that was found, with a bound that no rule of the class falls below.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.masking.min_risk_disclosure import enumeration as tables
from discreet.masking.min_risk_disclosure.bounds import floors, quota_bound
from discreet.masking.min_risk_disclosure.enumeration import LARGEST, Per
from discreet.masking.min_risk_disclosure.losses import Disclosure
from discreet.masking.min_risk_disclosure.min_risk import cheapest_in_total, min_risk, min_risk_in_total, smallest
from discreet.masking.min_risk_disclosure.search import (
    Judge,
    best_of,
    by_columns,
    by_columns_of_products,
    lowest,
    rounded,
    swap,
    transfer,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Rule = NDArray[np.bool_]
    Floats = NDArray[np.float64]

MOST_EVALUATIONS = 20_000_000
"""Sets times rows up to which every set is tried."""
_ROUNDS = 40
_SWEEPS = 20
_STEEP = 60.0


@dataclass(frozen=True)
class Found:
    """A rule, its risk as it was judged (mean loss a record), and what no rule of the class falls below."""

    rule: Rule
    risk: float
    bound: float
    how: str

    @property
    def exact(self) -> bool:
        return self.risk <= self.bound * (1 + 1e-9) or (math.isinf(self.risk) and self.bound >= LARGEST / 1e9)


def least_risk(problem: Disclosure, k: int, per: Per, prior: Sequence[float] | None = None, effort: int = 200) -> Found:
    """The rule of least Bayes risk under the prior, or of least worst risk where several dictionaries have none."""
    if len(problem.dictionaries) == 1:
        return _bayes(problem, k, per, np.ones(1), effort)
    if prior is not None:
        return _bayes(problem, k, per, np.array(prior, dtype=np.float64), effort)
    return _worst(problem, k, per, effort)


def _wanted(problem: Disclosure, k: int) -> NDArray[np.int64]:
    return np.asarray(np.minimum(k, problem.available.sum(axis=0)), dtype=np.int64)


def _total(problem: Disclosure, k: int, per: Per) -> int:
    """How many entries a rule of the class discloses."""
    if per == "record":
        return int(np.minimum(k, problem.available.sum(axis=1)).sum())
    return min(k, int(problem.available.sum())) if per == "table" else int(_wanted(problem, k).sum())


def _is_small(problem: Disclosure, k: int, per: Per) -> bool:
    sets = math.comb(problem.width, min(k, problem.width)) if per == "record" else 2**problem.width
    return sets * (len(problem) + sum(map(len, problem.dictionaries))) <= MOST_EVALUATIONS


def _mean(losses: Floats, prior: Floats) -> Floats:
    """Losses under the prior, 0 times infinity being 0."""
    return sum((p * one for p, one in zip(prior, losses, strict=True) if p > 0), np.zeros(losses.shape[1]))


def _bayes(problem: Disclosure, k: int, per: Per, prior: Floats, effort: int) -> Found:
    """Least risk for given probabilities of the dictionaries: the records' losses simply add up."""
    size = max(len(problem), 1)

    def judge(rule: Rule) -> Floats:
        return _mean(problem.losses(rule), prior)

    if problem.is_product and len(prior) == 1 and per != "attribute":
        if per == "record":
            rule, losses = min_risk(problem, k)
        else:
            rule = min_risk_in_total(problem, k)
            losses = judge(rule)
        found = float(losses.sum()) / size
        return Found(rule, found, found, "MinRisk" if per == "record" else "the cheapest entries of all")
    if _is_small(problem, k, per) and per != "attribute":
        return _enumerated(problem, k, per, prior)
    return _searched(problem, k, per, prior, judge, effort)


def _enumerated(problem: Disclosure, k: int, per: Per, prior: Floats) -> Found:
    size = max(len(problem), 1)
    rows = np.arange(len(problem))
    if per == "record":
        table = tables.tabulate(problem, range(min(k, problem.width), min(k, problem.width) + 1), k)
        values = table.under(prior)
        which = values.argmin(axis=0)
        found = float(values[which, rows].sum()) / size
        return Found(table.sets[which] & problem.available, _plain(found), found, "enumeration")
    table = tables.tabulate(problem, range(problem.width + 1))
    least, which_set = tables.by_size(table, table.under(prior))
    counts, bound = tables.allocate(least, _total(problem, k, per))
    found = float(least[rows, counts].sum()) / size
    rule = table.sets[which_set[rows, counts]] & problem.available
    return Found(rule, _plain(found), bound / size, "enumeration")


def _plain(risk: float) -> float:
    """A sum in which ``LARGEST`` stood for infinity."""
    return math.inf if risk >= LARGEST / 1e9 else risk


def _searched(problem: Disclosure, k: int, per: Per, prior: Floats, judge: Judge, effort: int) -> Found:
    """Start from the rules of the product form, and better them by moves that are judged by the losses."""
    size, available = max(len(problem), 1), problem.available
    each = [problem.log_costs(at) for at in range(len(prior))]
    mixed = np.where(available, sum(p * np.clip(one, -_STEEP, _STEEP) for p, one in zip(prior, each, strict=True)), np.inf)
    starts = [*each, mixed]
    if per == "record":
        rule, losses = best_of([smallest(costs, available, k) for costs in starts], judge)
        rule, losses, _ = swap(rule, losses, mixed, available, judge, effort)
        bound = float(floors(problem, prior)[np.arange(len(problem)), np.minimum(k, available.sum(axis=1))].sum())
    elif per == "table":
        rules = [cheapest_in_total(problem.log_start(at), each[at], available, k) for at in range(len(prior))]
        rule = min(rules, key=lambda one: float(judge(one).sum()))
        losses = judge(rule)
        rule, losses, left = swap(rule.copy(), losses, mixed, available, judge, effort)
        rule, losses = transfer(rule, losses, mixed, available, judge, left)
        bound = tables.allocate(floors(problem, prior), _total(problem, k, per))[1]
    else:
        wanted = _wanted(problem, k)
        likeliest = int(prior.argmax())
        begin = problem.log_start(likeliest)
        relaxed, x = quota_bound(begin, each[likeliest], available, wanted)
        rules = [_quota(-x, available, wanted), _quota(mixed, available, wanted)]
        if problem.is_product and len(prior) == 1:
            rules.append(rounded(x, wanted, begin, each[0], available))
            rules = [by_columns_of_products(one, wanted, begin, each[0], available, _SWEEPS) for one in rules]
            bound = max(relaxed, float(judge(min_risk_in_total(problem, int(wanted.sum()))).sum()))
            effort = 0
        else:
            bound = tables.allocate(floors(problem, prior), int(wanted.sum()))[1]
        results = [by_columns(one, wanted, available, judge, effort) for one in rules]
        rule, losses = min(results, key=lambda one: float(one[1].sum()))
    found = float(losses.sum()) / size
    return Found(rule, found, min(bound / size, found), "search")


def _quota(costs: Floats, available: Rule, wanted: NDArray[np.int64]) -> Rule:
    """For each attribute the records with the smallest costs."""
    rule = np.zeros(available.shape, dtype=np.bool_)
    for column, number in enumerate(wanted):
        rule[:, column] = lowest(np.where(available[:, column], costs[:, column], np.nan), int(number))
    return rule


def _worst(problem: Disclosure, k: int, per: Per, effort: int) -> Found:
    """Least worst risk: exact by sums that no other betters where that is small; else by weighing the dictionaries.

    For any weights of the dictionaries the least Bayes risk is a lower bound of the least worst risk; the weights move
    towards the dictionaries that are worst for the rule at hand (Freund & Schapire 1999), the best rule met is kept.
    """
    size = max(len(problem), 1)
    if per != "attribute" and _is_small(problem, k, per):
        if per == "record":
            table = tables.tabulate(problem, range(min(k, problem.width), min(k, problem.width) + 1), k)
            rule = tables.minimax(table, None)
        else:
            table = tables.tabulate(problem, range(problem.width + 1))
            rule = tables.minimax(table, _total(problem, k, per))
        if rule is not None:
            rule = rule & problem.available
            worst = float(problem.losses(rule).sum(axis=1).max()) / size
            return Found(rule, worst, min(worst, LARGEST), "enumeration")
    weights = np.full(len(problem.dictionaries), 1.0 / len(problem.dictionaries))
    best, bound = None, 0.0
    for _ in range(_ROUNDS):
        found = _bayes(problem, k, per, weights, effort)
        risks = problem.losses(found.rule).sum(axis=1) / size
        bound = max(bound, found.bound)
        if best is None or risks.max() < best.risk:
            best = Found(found.rule, float(risks.max()), 0.0, "search")
        scaled = np.minimum(risks, LARGEST) / max(float(np.minimum(risks, LARGEST).max()), 1e-300)
        weights = weights * np.exp(0.5 * scaled)
        weights /= weights.sum()
    assert best is not None
    return Found(best.rule, best.risk, min(bound, best.risk), best.how)
