"""Local search: rules are improved by small moves, each judged by the losses themselves.

All moves are made for all records at once: one proposal per record takes one evaluation of the whole table, and each record
keeps what lowers its own loss, so that the risk never rises.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Rule = NDArray[np.bool_]
    Floats = NDArray[np.float64]

_MAX_LOG_COST = 50.0  # costs are capped, so that exponentials do not overflow

Judge = Callable[["Rule"], "Floats"]
"""The loss of each record under a rule."""


def best_rule_by_record(rules: list[Rule], judge: Judge) -> tuple[Rule, Floats]:
    """For each record, what the best of several rules discloses; and the losses."""
    rule, losses = rules[0].copy(), judge(rules[0])
    for candidate in rules[1:]:
        candidate_losses = judge(candidate)
        better = candidate_losses < losses
        rule[better], losses[better] = candidate[better], candidate_losses[better]
    return rule, losses


def swap_entries(
    rule: Rule, losses: Floats, costs: Floats, available: Rule, judge: Judge, effort: int
) -> tuple[Rule, Floats, int]:
    """Exchange one disclosed entry of a record for another until nothing improves or the effort is spent, and return the rest."""
    width = rule.shape[1]
    rows = np.arange(len(rule))
    improved = True
    while improved and effort > 0:
        improved = False
        for out in range(width):
            for into in range(width - 1):
                if effort <= 0:
                    break
                # the costliest disclosed entry against the cheapest suppressed one, then the next
                disclosed = np.argsort(np.where(rule, -costs, np.inf), axis=1, kind="stable")[:, out]
                hidden = np.argsort(np.where(available & ~rule, costs, np.nan), axis=1, kind="stable")[:, into]
                possible = rule[rows, disclosed] & available[rows, hidden] & ~rule[rows, hidden]
                if not possible.any():
                    break
                proposal = rule.copy()
                proposal[rows[possible], disclosed[possible]] = False
                proposal[rows[possible], hidden[possible]] = True
                new_losses, effort = judge(proposal), effort - 1
                better = new_losses < losses
                if better.any():
                    rule[better], losses[better], improved = proposal[better], new_losses[better], True
    return rule, losses, effort


def transfer_entries(
    rule: Rule, losses: Floats, costs: Floats, available: Rule, judge: Judge, effort: int
) -> tuple[Rule, Floats]:
    """Move entries from records that save much with one less to records that lose little with one more."""
    rows = np.arange(len(rule))
    while effort > 1:
        last = np.argmax(np.where(rule, costs, -np.inf), axis=1)
        following = np.argmin(np.where(available & ~rule, costs, np.inf), axis=1)
        less, more = rule.copy(), rule.copy()
        less[rows, last] = False
        more[rows, following] |= available[rows, following]
        with np.errstate(invalid="ignore"):
            lower, higher, effort = judge(less), judge(more), effort - 2
            saved = np.where(rule.any(axis=1), losses - lower, -np.inf)
            paid = np.where((available & ~rule).any(axis=1), higher - losses, np.inf)
        givers, takers = np.argsort(-saved, kind="stable"), np.argsort(paid, kind="stable")
        number = int(np.argmin(np.append(saved[givers] > paid[takers], False)))
        both = np.intersect1d(givers[:number], takers[:number])
        while len(both):  # a record may give or take an entry, not both: use fewer pairs, the best
            number -= 1
            both = np.intersect1d(givers[:number], takers[:number])
        if number == 0:
            return rule, losses
        rule[givers[:number]], losses[givers[:number]] = less[givers[:number]], lower[givers[:number]]
        rule[takers[:number]], losses[takers[:number]] = more[takers[:number]], higher[takers[:number]]
    return rule, losses


def choose_by_column(rule: Rule, quotas: NDArray[np.int64], available: Rule, judge: Judge, effort: int) -> tuple[Rule, Floats]:
    """Choose the records that disclose an attribute anew, one attribute after the other, until nothing changes.

    Given the other attributes, the best records are those whose loss rises least.
    """
    losses = judge(rule)
    improved = True
    while improved and effort > 0:
        improved = False
        for column, number in enumerate(quotas):
            with_it, without = rule.copy(), rule.copy()
            with_it[:, column], without[:, column] = available[:, column], False
            higher, lower = judge(with_it), judge(without)
            effort -= 2
            with np.errstate(invalid="ignore"):
                rise = np.where(np.isnan(higher - lower), np.inf, higher - lower)
            picked = select_lowest(np.where(available[:, column], rise, np.nan), int(number))
            new_losses = np.where(picked, higher, lower)
            if new_losses.sum() < losses.sum() * (1 - 1e-12) or (
                np.isinf(losses.sum()) and np.isinf(new_losses).sum() < np.isinf(losses).sum()
            ):
                rule = without
                rule[picked, column] = True
                losses, improved = new_losses, True
    return rule, losses


def _is_less(new_losses: Floats, losses: Floats) -> bool:
    """Whether the sum of new losses is less by more than rounding; of infinite sums, whether fewer losses are infinite."""
    if np.isinf(losses.sum()) and np.isinf(new_losses.sum()):
        return bool(np.isinf(new_losses).sum() < np.isinf(losses).sum())
    return bool(new_losses.sum() < losses.sum() * (1 - 1e-12))


def choose_by_column_of_products(
    rule: Rule, quotas: NDArray[np.int64], start: Floats, costs: Floats, available: Rule, sweeps: int
) -> Rule:
    """As :func:`choose_by_column` for losses that are products: the effect of an attribute needs no new evaluation."""
    zero = np.isneginf(costs) & available
    never = np.isposinf(costs) & available
    finite = np.where(available & ~zero & ~never, costs, 0.0)
    rule = rule.copy()
    for _ in range(sweeps):
        improved = False
        total = start + np.where(rule, finite, 0.0).sum(axis=1)
        zeros, nevers = (rule & zero).sum(axis=1), (rule & never).sum(axis=1)
        for column, number in enumerate(quotas):
            disclosed = rule[:, column]
            total -= np.where(disclosed, finite[:, column], 0.0)
            zeros -= disclosed & zero[:, column]
            nevers -= disclosed & never[:, column]
            with np.errstate(over="ignore", invalid="ignore"):
                lower = _product(total, zeros, nevers)
                higher = _product(total + finite[:, column], zeros + zero[:, column], nevers + never[:, column])
                rise = np.where(np.isnan(higher - lower), np.inf, higher - lower)
            picked = select_lowest(np.where(available[:, column], rise, np.nan), int(number))
            if _is_less(np.where(picked, higher, lower), np.where(disclosed, higher, lower)):
                rule[:, column] = disclosed = picked
                improved = True
            total += np.where(disclosed, finite[:, column], 0.0)
            zeros += disclosed & zero[:, column]
            nevers += disclosed & never[:, column]
        if not improved:
            break
    return rule


def round_relaxed_rule(x: Floats, quotas: NDArray[np.int64], start: Floats, costs: Floats, available: Rule) -> Rule:
    """Round a relaxed rule x: attribute by attribute, the costliest first, given the rounded and relaxed values of the others."""
    capped_costs = np.where(available, np.clip(costs, -_MAX_LOG_COST, _MAX_LOG_COST), 0.0)
    total = np.where(np.isfinite(start), start, 0.0) + (capped_costs * x).sum(axis=1)
    rule = np.zeros(available.shape, dtype=np.bool_)
    for column in np.argsort(-capped_costs.mean(axis=0), kind="stable"):
        total -= capped_costs[:, column] * x[:, column]
        with np.errstate(over="ignore", invalid="ignore"):
            rise = np.nan_to_num(np.exp(total + capped_costs[:, column]) - np.exp(total), nan=np.inf)
        rule[:, column] = select_lowest(np.where(available[:, column], rise, np.nan), int(quotas[column]))
        total += np.where(rule[:, column], capped_costs[:, column], 0.0)
    return rule


def _product(logs: Floats, zeros: NDArray[np.int64], nevers: NDArray[np.int64]) -> Floats:
    """A product from its finite part and the numbers of its factors 0 and infinity; 0 times infinity is 0."""
    return np.where((zeros > 0) | np.isneginf(logs), 0.0, np.where(nevers > 0, np.inf, np.exp(logs)))


def select_lowest(values: Floats, number: int) -> NDArray[np.bool_]:
    """Flags of the ``number`` smallest values, the first of equal ones first; NaN is never selected."""
    chosen = np.zeros(len(values), dtype=np.bool_)
    number = min(number, int((~np.isnan(values)).sum()))
    if number:
        edge = np.partition(values, number - 1)[number - 1]
        chosen = values < edge
        level = np.flatnonzero(values == edge)[: number - int(chosen.sum())]
        chosen[level] = True
    return chosen
