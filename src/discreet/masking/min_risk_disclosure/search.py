"""Better rules by small moves, where the best cannot be had: each move is judged by the losses themselves.

All moves are made for all records at once: a proposal a record costs one evaluation of the whole table, and each record
keeps what lowers its own loss, so the risk never rises.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Rule = NDArray[np.bool_]
    Floats = NDArray[np.float64]

_STEEPEST = 50.0

Judge = Callable[["Rule"], "Floats"]
"""The loss of each record under a rule."""


def best_of(rules: list[Rule], judge: Judge) -> tuple[Rule, Floats]:
    """For each record what the best of several rules discloses."""
    rule, losses = rules[0].copy(), judge(rules[0])
    for other in rules[1:]:
        tried = judge(other)
        better = tried < losses
        rule[better], losses[better] = other[better], tried[better]
    return rule, losses


def swap(rule: Rule, losses: Floats, costs: Floats, available: Rule, judge: Judge, effort: int) -> tuple[Rule, Floats, int]:
    """Exchange one disclosed entry of a record for another, until no exchange helps or the effort is spent."""
    width = rule.shape[1]
    rows = np.arange(len(rule))
    improved = True
    while improved and effort > 0:
        improved = False
        for out in range(width):
            for into in range(width - 1):
                if effort <= 0:
                    break
                # the dearest disclosed entries against the cheapest undisclosed ones
                disclosed = np.argsort(np.where(rule, -costs, np.inf), axis=1, kind="stable")[:, out]
                hidden = np.argsort(np.where(available & ~rule, costs, np.nan), axis=1, kind="stable")[:, into]
                able = rule[rows, disclosed] & available[rows, hidden] & ~rule[rows, hidden]
                if not able.any():
                    break
                tried = rule.copy()
                tried[rows[able], disclosed[able]] = False
                tried[rows[able], hidden[able]] = True
                found, effort = judge(tried), effort - 1
                better = found < losses
                if better.any():
                    rule[better], losses[better], improved = tried[better], found[better], True
    return rule, losses, effort


def transfer(rule: Rule, losses: Floats, costs: Floats, available: Rule, judge: Judge, effort: int) -> tuple[Rule, Floats]:
    """Move entries from records where one less saves much to records where one more costs little."""
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
        while len(both):  # a record may give or take, not both: fewer pairs, of the best
            number -= 1
            both = np.intersect1d(givers[:number], takers[:number])
        if number == 0:
            return rule, losses
        rule[givers[:number]], losses[givers[:number]] = less[givers[:number]], lower[givers[:number]]
        rule[takers[:number]], losses[takers[:number]] = more[takers[:number]], higher[takers[:number]]
    return rule, losses


def by_columns(rule: Rule, wanted: NDArray[np.int64], available: Rule, judge: Judge, effort: int) -> tuple[Rule, Floats]:
    """Choose each attribute's records anew, the others given, until nothing changes.

    Given the rest, the best choice for an attribute are the records with the smallest difference that it makes.
    """
    losses = judge(rule)
    improved = True
    while improved and effort > 0:
        improved = False
        for column, number in enumerate(wanted):
            with_it, without = rule.copy(), rule.copy()
            with_it[:, column], without[:, column] = available[:, column], False
            higher, lower = judge(with_it), judge(without)
            effort -= 2
            with np.errstate(invalid="ignore"):
                rise = np.where(np.isnan(higher - lower), np.inf, higher - lower)
            picked = lowest(np.where(available[:, column], rise, np.nan), int(number))
            found = np.where(picked, higher, lower)
            if found.sum() < losses.sum() * (1 - 1e-12) or (
                np.isinf(losses.sum()) and np.isinf(found).sum() < np.isinf(losses).sum()
            ):
                rule = without
                rule[picked, column] = True
                losses, improved = found, True
    return rule, losses


def _less(found: Floats, losses: Floats) -> bool:
    """Whether the sum is less beyond rounding; between infinite sums the one with fewer infinite losses."""
    if np.isinf(losses.sum()) and np.isinf(found.sum()):
        return bool(np.isinf(found).sum() < np.isinf(losses).sum())
    return bool(found.sum() < losses.sum() * (1 - 1e-12))


def by_columns_of_products(
    rule: Rule, wanted: NDArray[np.int64], start: Floats, costs: Floats, available: Rule, sweeps: int
) -> Rule:
    """As :func:`by_columns` where losses are products: the difference an attribute makes needs no new evaluation."""
    zero = np.isneginf(costs) & available
    never = np.isposinf(costs) & available
    finite = np.where(available & ~zero & ~never, costs, 0.0)
    rule = rule.copy()
    for _ in range(sweeps):
        improved = False
        total = start + np.where(rule, finite, 0.0).sum(axis=1)
        zeros, nevers = (rule & zero).sum(axis=1), (rule & never).sum(axis=1)
        for column, number in enumerate(wanted):
            mine = rule[:, column]
            total -= np.where(mine, finite[:, column], 0.0)
            zeros -= mine & zero[:, column]
            nevers -= mine & never[:, column]
            with np.errstate(over="ignore", invalid="ignore"):
                lower = _product(total, zeros, nevers)
                higher = _product(total + finite[:, column], zeros + zero[:, column], nevers + never[:, column])
                rise = np.where(np.isnan(higher - lower), np.inf, higher - lower)
            picked = lowest(np.where(available[:, column], rise, np.nan), int(number))
            if _less(np.where(picked, higher, lower), np.where(mine, higher, lower)):
                rule[:, column] = mine = picked
                improved = True
            total += np.where(mine, finite[:, column], 0.0)
            zeros += mine & zero[:, column]
            nevers += mine & never[:, column]
        if not improved:
            break
    return rule


def rounded(x: Floats, wanted: NDArray[np.int64], start: Floats, costs: Floats, available: Rule) -> Rule:
    """A rule from a relaxed one: attribute by attribute, the dearest first, the others as far as they are decided."""
    steep = np.where(available, np.clip(costs, -_STEEPEST, _STEEPEST), 0.0)
    total = np.where(np.isfinite(start), start, 0.0) + (steep * x).sum(axis=1)
    rule = np.zeros(available.shape, dtype=np.bool_)
    for column in np.argsort(-steep.mean(axis=0), kind="stable"):
        total -= steep[:, column] * x[:, column]
        with np.errstate(over="ignore", invalid="ignore"):
            rise = np.nan_to_num(np.exp(total + steep[:, column]) - np.exp(total), nan=np.inf)
        rule[:, column] = lowest(np.where(available[:, column], rise, np.nan), int(wanted[column]))
        total += np.where(rule[:, column], steep[:, column], 0.0)
    return rule


def _product(logs: Floats, zeros: NDArray[np.int64], nevers: NDArray[np.int64]) -> Floats:
    """A product from its finite part, with 0 stronger than infinity."""
    return np.where((zeros > 0) | np.isneginf(logs), 0.0, np.where(nevers > 0, np.inf, np.exp(logs)))


def lowest(values: Floats, number: int) -> NDArray[np.bool_]:
    """Which are the ``number`` smallest, the first of equal ones first; what is not a number never is."""
    chosen = np.zeros(len(values), dtype=np.bool_)
    number = min(number, int((~np.isnan(values)).sum()))
    if number:
        edge = np.partition(values, number - 1)[number - 1]
        chosen = values < edge
        level = np.flatnonzero(values == edge)[: number - int(chosen.sum())]
        chosen[level] = True
    return chosen
