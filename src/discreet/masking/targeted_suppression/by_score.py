"""Suppression in special uniques: values of the records whose score is above a threshold, until none is above it.

Every pass searches the minimal sample uniques of the whole table anew, because a suppressed value changes what other records
are alone on, under any reading of nulls. Records come in turns, the highest scores first, so that a record that the nulls of
others made safe keeps its values. In each record of a turn one value is suppressed:

``wildcard``, ``ignore``: a null is part of no set of its own record, so suppressing a value takes away all minimal sample uniques
that contain it. The value with the largest sum of scores, in relation to its cost, is suppressed. A record without values has
score 0, so that this ends.

``category``: a null is a value, and a rare one. The value is suppressed in a similar record too, the partner. Each minimal sample
unique contains a key on which the two differ (else the partner would share it); among these keys the one with the largest sum of
scores is suppressed in both. Two records that are equal are safe, and nulls only ever increase, so that this ends too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.classes.key_sets import Missing
from discreet.engine.encoding.columns import Column
from discreet.engine.runtime.progress import report_progress
from discreet.engine.special_uniques.scores import sum_scores
from discreet.engine.special_uniques.walk import DistinctKeys, find_minimal_uniques, list_distinct_keys
from discreet.engine.targeting.rule import TargetingOutcome
from discreet.masking.targeted_suppression.partners import find_partners

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FIRST_SHARE = 64
"""The first turn contains 1 / 64 of the records above the threshold, each later turn twice as large a fraction."""


@dataclass(frozen=True)
class ScoreRule:
    """The score of a set by its size (``weights[size - 1]``), the threshold, and which keys may be suppressed at what cost."""

    weights: NDArray[np.float64]
    threshold: float
    missing: Missing
    allowed: NDArray[np.bool_]
    costs: NDArray[np.float64]
    once: bool
    check_budget: Callable[[int, int], None]
    """Called before each pass with the number of values suppressed by then and of records above; raises beyond the limit."""


@dataclass(frozen=True)
class ScoredRows:
    """The sample uniques above the threshold: rows of ``keys``, their scores, and ``contributions[row, key]``."""

    keys: DistinctKeys
    rows: NDArray[np.int64]
    scores: NDArray[np.float64]
    contributions: NDArray[np.float64]
    records: NDArray[np.int64]
    """For each row of ``keys`` its first record."""


def score_rows(columns: Sequence[Column], size: int, rule: ScoreRule) -> ScoredRows:
    """Search the minimal sample uniques of at most ``len(rule.weights)`` keys. O(sets x rows)."""
    keys = list_distinct_keys(columns, size)
    minimal_sets: list[tuple[tuple[int, ...], NDArray[np.uint8]]] = []
    by_size = np.zeros((len(rule.weights), keys.candidates), dtype=np.uint32)
    for chosen, minimal in find_minimal_uniques(keys, len(rule.weights), rule.missing):
        by_size[len(chosen) - 1] += np.unpackbits(minimal, count=keys.candidates)
        minimal_sets.append((chosen, minimal))  # one bit per row and set
    scores = sum_scores(by_size, rule.weights)
    rows = np.flatnonzero(scores > rule.threshold)
    contributions = np.zeros((len(rows), len(columns)))
    for chosen, minimal in minimal_sets:
        in_set = minimal[rows >> 3] >> (7 - (rows & 7)).astype(np.uint8) & 1
        contributions[:, list(chosen)] += (in_set * rule.weights[len(chosen) - 1])[:, None]
    records = np.empty(len(keys.records), dtype=np.int64)
    records[keys.rows[::-1]] = np.arange(size - 1, -1, -1)
    return ScoredRows(keys, rows, scores[rows], contributions, records)


def suppress_special_uniques(columns: Sequence[Column], size: int, rule: ScoreRule) -> tuple[list[Column], TargetingOutcome]:
    """The columns with suppressed values, and the outcome; ``remaining_risk`` are scores."""
    table, outcome = [_copy(column) for column in columns], TargetingOutcome()
    was_above = np.zeros(size, dtype=np.bool_)
    at_start: NDArray[np.bool_] | None = None
    while True:
        report_progress("suppressing values", outcome.values_changed, 0)
        scored = score_rows(table, size, rule)
        above = scored.records[scored.rows]
        was_above[above] = True
        if at_start is None:
            at_start = was_above.copy()
        outcome.remaining, outcome.remaining_risk = above, scored.scores
        if rule.once and outcome.passes:
            break
        records, keys = _choose_values(table, scored, rule, 1.0 if rule.once else _turn_share(len(outcome.passes)))
        if not len(records):
            break
        rule.check_budget(outcome.values_changed + len(records), len(above))
        for key in np.unique(keys).tolist():
            table[key].codes[records[keys == key]] = len(table[key].values)
        outcome.values_changed += len(records)
        outcome.passes.append((len(np.unique(records)), len(records)))
    order = np.argsort(outcome.remaining)
    outcome.remaining, outcome.remaining_risk = outcome.remaining[order], outcome.remaining_risk[order]
    outcome.cascaded = np.flatnonzero(was_above & ~at_start)
    return table, outcome


def _turn_share(number: int) -> float:
    return float(min(1.0, 2.0**number / _FIRST_SHARE))


def _copy(column: Column) -> Column:
    """The column with codes of its own, wide enough for the code of null."""
    needed = np.min_scalar_type(len(column.values))
    codes = column.codes.astype(np.promote_types(column.codes.dtype, needed), copy=True)
    return Column(column.name, codes, column.values, True)


def _choose_values(
    table: Sequence[Column], scored: ScoredRows, rule: ScoreRule, share: float
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The records and keys whose values are suppressed in this turn."""
    gains = np.where(rule.allowed, scored.contributions, 0.0)
    if rule.missing == "category":
        return _choose_with_partners(table, scored, rule, gains, share)
    usable = np.flatnonzero(gains.max(axis=1, initial=0.0) > 0)
    turn = usable[_order_turn(scored, usable)][: int(np.ceil(share * len(usable)))]
    best = np.argmax(gains[turn] / rule.costs, axis=1) if len(turn) else np.zeros(0, dtype=np.int64)
    return scored.records[scored.rows[turn]], best


def _order_turn(scored: ScoredRows, places: NDArray[np.int64]) -> NDArray[np.int64]:
    """The order of these places of ``scored.rows``: by falling score, then by values, which no order of records changes."""
    rows = scored.rows[places]
    return np.lexsort((*[codes[rows] for codes in reversed(scored.keys.codes)], -scored.scores[places]))


def _choose_with_partners(
    table: Sequence[Column], scored: ScoredRows, rule: ScoreRule, gains: NDArray[np.float64], share: float
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """In each record of the turn and its partner the key on which they differ with the largest gain for the costs.

    A record takes part once in a turn, because every change is measured before the next.
    """
    codes = np.stack(scored.keys.codes, axis=1).astype(np.int64)
    nulls = np.array([len(column.values) for column in table])
    partners = find_partners(codes, nulls, scored.rows, rule.allowed, rule.costs)
    differs = (codes[scored.rows] != codes[partners]) & rule.allowed & (gains > 0)
    differs[partners == scored.rows] = False
    blanks = (codes[scored.rows] != nulls).astype(np.int64) + (codes[partners] != nulls)
    worth = np.where(differs, gains / (rule.costs * np.maximum(blanks, 1)), 0.0)
    usable = np.flatnonzero(worth.max(axis=1, initial=0.0) > 0)
    turn = usable[_order_turn(scored, usable)]
    changed: set[int] = set()
    records, keys = [], []
    most = int(np.ceil(share * len(usable)))
    taken = 0
    for place, key in zip(turn.tolist(), np.argmax(worth[turn], axis=1).tolist() if len(turn) else [], strict=True):
        pair = (int(scored.rows[place]), int(partners[place]))
        if taken == most or not changed.isdisjoint(pair):
            continue
        changed.update(pair)
        taken += 1
        for row in pair:
            if codes[row, key] != nulls[key]:
                records.append(int(scored.records[row]))
                keys.append(key)
    return np.array(records, dtype=np.int64), np.array(keys, dtype=np.int64)
