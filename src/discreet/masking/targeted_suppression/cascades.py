"""Suppression with ``missing: category``, where a null is a value of its own: suppression can put other records at risk.

Suppressing a value makes the remaining values rarer, so every pass measures all records again. A record whose risk no suppression
could bring below the threshold, even if it agreed with all records that have nulls, is left alone after the first pass; if only
such records are above the threshold, the method stops.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.runtime.progress import report_progress
from discreet.engine.targeting import kernels
from discreet.engine.targeting.rule import SuppressionRule, TargetingOutcome
from discreet.engine.targeting.state import TargetingState, run_on_records
from discreet.masking.targeted_suppression.passes import choose_values, suppress_once, top_set_values

if TYPE_CHECKING:
    from numpy.typing import NDArray


def suppress_with_cascades(table: TargetingState, rule: SuppressionRule) -> tuple[TargetingState, TargetingOutcome]:
    """Suppress pass by pass until no record is above the threshold, or none of those above can be brought below it."""
    result, records = table.copy(), table.initial.slots
    outcome = suppress_once(result, rule)
    above_at_start = table.initial.per_record.risk > rule.level
    was_above = above_at_start.copy()
    while True:
        report_progress("suppressing values", outcome.values_changed, 0)
        risk, bound, top_set_of = _measure_all(result, rule, records, was_above)
        above = risk > rule.level
        is_new = above & ~was_above
        was_above |= above
        can_be_safe = above & (bound <= rule.level)
        rows_above = records[can_be_safe]
        can_be_safe[can_be_safe] = rule.candidates(result, result.nulls(rows_above), result.record_weights(rows_above)).any(
            axis=1
        )
        if not can_be_safe.any() and not is_new.any():
            break
        rows = records[can_be_safe]
        suppressed = choose_values(result, rule, rows) if rule.side == "sensitive" else top_set_of(can_be_safe)
        rule.check_budget(outcome.values_changed + int(suppressed.sum()), int(above.sum()))
        suppressed_count = result.suppress(rows, suppressed)
        outcome.values_changed += suppressed_count
        if suppressed_count:
            outcome.passes.append((len(rows), suppressed_count))
        elif not is_new.any():
            break
    outcome.cascaded = records[was_above & ~above_at_start]
    outcome.remaining, outcome.remaining_risk = records[above], risk[above]
    outcome.unreachable = int((above & (bound > rule.level)).sum())
    if above.any():
        outcome.nulls_needed = count_nulls_needed(result, rule, records[above][[np.argmin(bound[above])]])
    return result, outcome


def _measure_all(
    table: TargetingState, rule: SuppressionRule, records: NDArray[np.int64], was_above: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64], Callable[[NDArray[np.bool_]], NDArray[np.bool_]]]:
    """The risk of every record, a lower bound of the risk that suppression could reach, and a function to its top set.

    The bound assumes that the record agrees with all records that have nulls or were ever above the threshold. The function
    takes a mask over ``records`` and returns ``[record, attribute]``, the values of the top sets of records above the threshold.
    """
    has_null = np.zeros(len(table.data), dtype=np.bool_)
    for column in table.columns[: table.tree.width]:
        has_null |= column.is_null
    has_null[records[was_above]] = True

    def assess(part: NDArray[np.int64], counts: NDArray[np.int32]) -> NDArray[np.float64]:
        return np.column_stack(assess_records(table, rule, part, counts, float(has_null.sum())))

    assessed, kind = table.decide_per_kind(records, assess)
    if assessed is None:
        assessed = np.zeros((0, 2 + len(table.names)))
    # one row per kind of identical records, because one row per record would be as large as the table
    kinds = np.arange(len(records)) if kind is None else kind
    return assessed[kinds, 0], assessed[kinds, 1], lambda chosen: assessed[kinds[chosen], 2:] > 0


def assess_records(
    table: TargetingState, rule: SuppressionRule, rows: NDArray[np.int64], counts: NDArray[np.int32], records_with_nulls: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
    """The risk of these records, its lower bound if ``records_with_nulls`` records have nulls, and the values of their top sets.

    Top sets are given only for records above the threshold.
    """
    risk, suppressed = table.compute_risks(rows, counts), np.zeros((len(rows), len(table.names)), dtype=np.bool_)
    above = np.flatnonzero(risk > rule.level)
    if rule.side != "sensitive":
        suppressed[above] = top_set_values(table, rule, rows[above], counts[above])
    return risk, _bound_risks(table, rule, rows, counts, records_with_nulls), suppressed


def _bound_risks(
    table: TargetingState, rule: SuppressionRule, rows: NDArray[np.int64], counts: NDArray[np.int32], records_with_nulls: float
) -> NDArray[np.float64]:
    nulls, weights, bound = table.nulls(rows), table.record_weights(rows), np.empty(len(rows))
    allowed = rule.candidates(table, nulls, weights) | nulls
    inputs = (counts, weights, table.null_weights, allowed, table.family_arrays)
    run_on_records(kernels.bound_reachable_risk, len(rows), *inputs, records_with_nulls, bound)
    return bound


def count_nulls_needed(table: TargetingState, rule: SuppressionRule, row: NDArray[np.int64]) -> int:
    """The smallest number of records with nulls for which this record could be safe; 0 if even all records are not enough.

    Binary search: the bound falls with the number of records with nulls.
    """
    counts = table.count_agreeing(row)
    low, high = 1, table.record_count
    if _bound_risks(table, rule, row, counts, float(high))[0] > rule.level:
        return 0
    while low < high:
        middle = (low + high) // 2
        if _bound_risks(table, rule, row, counts, float(middle))[0] > rule.level:
            low = middle + 1
        else:
            high = middle
    return low
