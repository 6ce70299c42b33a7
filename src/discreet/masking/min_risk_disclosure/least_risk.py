"""The rule of least risk that discloses k entries per record, in total, or per attribute (Lebanon et al. 2006, section 3).

Exact if that is feasible; otherwise the best rule that a search finds, with a lower bound of the risk of all rules of the class.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.masking.min_risk_disclosure import enumeration as tables
from discreet.masking.min_risk_disclosure.bounds import loss_bounds, quota_bound
from discreet.masking.min_risk_disclosure.enumeration import INFINITE_LOSS, Per
from discreet.masking.min_risk_disclosure.losses import Disclosure
from discreet.masking.min_risk_disclosure.min_risk import cheapest_in_total, min_risk, min_risk_in_total, select_cheapest
from discreet.masking.min_risk_disclosure.search import (
    Judge,
    best_rule_by_record,
    choose_by_column,
    choose_by_column_of_products,
    round_relaxed_rule,
    select_lowest,
    swap_entries,
    transfer_entries,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Rule = NDArray[np.bool_]
    Floats = NDArray[np.float64]

MAX_EVALUATIONS = 20_000_000
"""Sets of attributes times rows up to which every set is tried."""
_MINIMAX_ROUNDS = 40  # changes of the weights of the dictionaries
_SWEEPS = 20  # passes over all attributes in the search for quotas
_MAX_LOG_COST = 60.0  # infinite costs are capped where costs are averaged


@dataclass(frozen=True)
class LeastRisk:
    """A rule, its risk (mean loss per record), a lower bound of the risk of all rules of the class, and the algorithm."""

    rule: Rule
    risk: float
    bound: float
    how: str

    @property
    def exact(self) -> bool:
        return self.risk <= self.bound * (1 + 1e-9) or (math.isinf(self.risk) and self.bound >= INFINITE_LOSS / 1e9)


def least_risk(problem: Disclosure, k: int, per: Per, prior: Sequence[float] | None = None, effort: int = 200) -> LeastRisk:
    """The rule of least Bayes risk under the prior, or the minimax rule for several dictionaries without a prior."""
    if len(problem.dictionaries) == 1:
        return _minimise_bayes_risk(problem, k, per, np.ones(1), effort)
    if prior is not None:
        return _minimise_bayes_risk(problem, k, per, np.array(prior, dtype=np.float64), effort)
    return _minimise_worst_risk(problem, k, per, effort)


def _entries_per_attribute(problem: Disclosure, k: int) -> NDArray[np.int64]:
    """The number of entries to disclose of each attribute: k, or all it has."""
    return np.asarray(np.minimum(k, problem.available.sum(axis=0)), dtype=np.int64)


def _count_entries(problem: Disclosure, k: int, per: Per) -> int:
    """The number of entries that a rule of the class discloses."""
    if per == "record":
        return int(np.minimum(k, problem.available.sum(axis=1)).sum())
    return min(k, int(problem.available.sum())) if per == "table" else int(_entries_per_attribute(problem, k).sum())


def _can_enumerate(problem: Disclosure, k: int, per: Per) -> bool:
    """Whether all sets of attributes can be tried."""
    sets = math.comb(problem.width, min(k, problem.width)) if per == "record" else 2**problem.width
    return sets * (len(problem) + sum(map(len, problem.dictionaries))) <= MAX_EVALUATIONS


def _mean_losses(losses: Floats, prior: Floats) -> Floats:
    """Losses under the prior, with 0 times infinity equal to 0."""
    weighted = (weight * row for weight, row in zip(prior, losses, strict=True) if weight > 0)
    return sum(weighted, np.zeros(losses.shape[1]))


def _minimise_bayes_risk(problem: Disclosure, k: int, per: Per, prior: Floats, effort: int) -> LeastRisk:
    """Least risk for given probabilities of the dictionaries, which is a sum over records."""
    size = max(len(problem), 1)

    def judge(rule: Rule) -> Floats:
        return _mean_losses(problem.losses(rule), prior)

    if problem.is_product and len(prior) == 1 and per != "attribute":
        if per == "record":
            rule, losses = min_risk(problem, k)
        else:
            rule = min_risk_in_total(problem, k)
            losses = judge(rule)
        risk = float(losses.sum()) / size
        return LeastRisk(rule, risk, risk, "MinRisk" if per == "record" else "the cheapest entries of all")
    if _can_enumerate(problem, k, per) and per != "attribute":
        return _enumerate_rules(problem, k, per, prior)
    return _search_rules(problem, k, per, prior, judge, effort)


def _enumerate_rules(problem: Disclosure, k: int, per: Per, prior: Floats) -> LeastRisk:
    """Least risk by trying every set of attributes in every record."""
    size = max(len(problem), 1)
    rows = np.arange(len(problem))
    if per == "record":
        table = tables.tabulate_losses(problem, range(min(k, problem.width), min(k, problem.width) + 1), k)
        values = table.under(prior)
        which = values.argmin(axis=0)
        risk = float(values[which, rows].sum()) / size
        return LeastRisk(table.sets[which] & problem.available, _restore_infinity(risk), risk, "enumeration")
    table = tables.tabulate_losses(problem, range(problem.width + 1))
    least, which_set = tables.least_by_size(table, table.under(prior))
    counts, bound = tables.allocate_entries(least, _count_entries(problem, k, per))
    risk = float(least[rows, counts].sum()) / size
    rule = table.sets[which_set[rows, counts]] & problem.available
    return LeastRisk(rule, _restore_infinity(risk), bound / size, "enumeration")


def _restore_infinity(risk: float) -> float:
    """The value of a sum in which ``INFINITE_LOSS`` stands for infinity."""
    return math.inf if risk >= INFINITE_LOSS / 1e9 else risk


def _search_rules(problem: Disclosure, k: int, per: Per, prior: Floats, judge: Judge, effort: int) -> LeastRisk:
    """Start from the rules of the product form, and improve them by moves that are judged by the losses."""
    size = max(len(problem), 1)
    search = {"record": _search_by_record, "table": _search_by_table, "attribute": _search_by_attribute}[per]
    rule, losses, bound = search(problem, k, prior, judge, effort)
    risk = float(losses.sum()) / size
    return LeastRisk(rule, risk, min(bound / size, risk), "search")


def _costs_by_dictionary(problem: Disclosure, prior: Floats) -> tuple[list[Floats], Floats]:
    """The logarithmic costs of all entries under each dictionary, and their mean under the prior."""
    by_dictionary = [problem.log_costs(dictionary) for dictionary in range(len(prior))]
    mean = sum(
        probability * np.clip(costs, -_MAX_LOG_COST, _MAX_LOG_COST)
        for probability, costs in zip(prior, by_dictionary, strict=True)
    )
    return by_dictionary, np.where(problem.available, mean, np.inf)


def _search_by_record(problem: Disclosure, k: int, prior: Floats, judge: Judge, effort: int) -> tuple[Rule, Floats, float]:
    """A rule with k entries per record, its losses, and a lower bound of their sum."""
    available = problem.available
    by_dictionary, mean_costs = _costs_by_dictionary(problem, prior)
    starts = [select_cheapest(costs, available, k) for costs in [*by_dictionary, mean_costs]]
    rule, losses = best_rule_by_record(starts, judge)
    rule, losses, _ = swap_entries(rule, losses, mean_costs, available, judge, effort)
    bound = float(loss_bounds(problem, prior)[np.arange(len(problem)), np.minimum(k, available.sum(axis=1))].sum())
    return rule, losses, bound


def _search_by_table(problem: Disclosure, k: int, prior: Floats, judge: Judge, effort: int) -> tuple[Rule, Floats, float]:
    """A rule with k entries in total, its losses, and a lower bound of their sum."""
    available = problem.available
    by_dictionary, mean_costs = _costs_by_dictionary(problem, prior)
    starts = [
        cheapest_in_total(problem.log_start(dictionary), costs, available, k) for dictionary, costs in enumerate(by_dictionary)
    ]
    rule = min(starts, key=lambda start: float(judge(start).sum()))
    losses = judge(rule)
    rule, losses, left = swap_entries(rule.copy(), losses, mean_costs, available, judge, effort)
    rule, losses = transfer_entries(rule, losses, mean_costs, available, judge, left)
    return rule, losses, tables.allocate_entries(loss_bounds(problem, prior), _count_entries(problem, k, "table"))[1]


def _search_by_attribute(problem: Disclosure, k: int, prior: Floats, judge: Judge, effort: int) -> tuple[Rule, Floats, float]:
    """A rule with k entries per attribute, its losses, and a lower bound of their sum."""
    available, quotas = problem.available, _entries_per_attribute(problem, k)
    by_dictionary, mean_costs = _costs_by_dictionary(problem, prior)
    likeliest = int(prior.argmax())
    start = problem.log_start(likeliest)
    relaxed_bound, relaxed_rule = quota_bound(start, by_dictionary[likeliest], available, quotas)
    rules = [_cheapest_by_attribute(-relaxed_rule, available, quotas), _cheapest_by_attribute(mean_costs, available, quotas)]
    if problem.is_product and len(prior) == 1:
        costs = by_dictionary[0]
        rules.append(round_relaxed_rule(relaxed_rule, quotas, start, costs, available))
        rules = [choose_by_column_of_products(rule, quotas, start, costs, available, _SWEEPS) for rule in rules]
        bound = max(relaxed_bound, float(judge(min_risk_in_total(problem, int(quotas.sum()))).sum()))
        effort = 0
    else:
        bound = tables.allocate_entries(loss_bounds(problem, prior), int(quotas.sum()))[1]
    results = [choose_by_column(rule, quotas, available, judge, effort) for rule in rules]
    rule, losses = min(results, key=lambda result: float(result[1].sum()))
    return rule, losses, bound


def _cheapest_by_attribute(costs: Floats, available: Rule, numbers: NDArray[np.int64]) -> Rule:
    """The rule that discloses, of each attribute, the entries with the smallest costs."""
    rule = np.zeros(available.shape, dtype=np.bool_)
    for column, number in enumerate(numbers):
        rule[:, column] = select_lowest(np.where(available[:, column], costs[:, column], np.nan), int(number))
    return rule


def _minimise_worst_risk(problem: Disclosure, k: int, per: Per, effort: int) -> LeastRisk:
    """The minimax rule: exact by enumeration of Pareto-optimal sums for small problems; else by weighting the dictionaries.

    For any weights of the dictionaries, the least Bayes risk is a lower bound of the minimax risk. The weights move towards
    the dictionaries that are worst for the current rule (Freund & Schapire 1999), and the best rule so far is kept.
    """
    size = max(len(problem), 1)
    if per != "attribute" and _can_enumerate(problem, k, per):
        if per == "record":
            table = tables.tabulate_losses(problem, range(min(k, problem.width), min(k, problem.width) + 1), k)
            rule = tables.minimax_rule(table, None)
        else:
            table = tables.tabulate_losses(problem, range(problem.width + 1))
            rule = tables.minimax_rule(table, _count_entries(problem, k, per))
        if rule is not None:
            rule = rule & problem.available
            worst = float(problem.losses(rule).sum(axis=1).max()) / size
            return LeastRisk(rule, worst, min(worst, INFINITE_LOSS), "enumeration")
    weights = np.full(len(problem.dictionaries), 1.0 / len(problem.dictionaries))
    best, bound = None, 0.0
    for _ in range(_MINIMAX_ROUNDS):
        candidate = _minimise_bayes_risk(problem, k, per, weights, effort)
        risks = problem.losses(candidate.rule).sum(axis=1) / size
        bound = max(bound, candidate.bound)
        if best is None or risks.max() < best.risk:
            best = LeastRisk(candidate.rule, float(risks.max()), 0.0, "search")
        relative_risks = np.minimum(risks, INFINITE_LOSS) / max(float(np.minimum(risks, INFINITE_LOSS).max()), 1e-300)
        weights = weights * np.exp(0.5 * relative_risks)
        weights /= weights.sum()
    assert best is not None
    return LeastRisk(best.rule, best.risk, min(bound, best.risk), best.how)
