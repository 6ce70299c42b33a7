"""Suppressing values of the records above a risk threshold until none is above it: which values, in which passes, when to stop.

If a null agrees with any value (``missing: wildcard``), suppression raises counts and never lowers one. So a record that was
brought below the threshold stays below it, records below it need no change, and only those still above are counted again. With
``missing: category`` none of this holds: see :mod:`discreet.masking.targeted_suppression.cascades`.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.classes.groups import group_ids
from discreet.engine.encoding.columns import thread_count
from discreet.engine.runtime.progress import report_progress
from discreet.engine.runtime.worker_threads import WorkerThreads
from discreet.engine.targeting import kernels
from discreet.engine.targeting.rule import SuppressionRule, TargetingOutcome
from discreet.engine.targeting.state import TargetingState, run_on_records
from discreet.engine.targeting.turns import order_in_turns

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MAX_EXHAUSTIVE = 12
"""All choices of up to this many values per record are tried (2^12); beyond it the search is greedy."""
_MIN_PARALLEL = 200
"""Below this number of records one thread is faster than several."""


def suppress_once(table: TargetingState, rule: SuppressionRule) -> TargetingOutcome:
    """Orooji & Knapp (2018b), Figure 1: in every record above the threshold the values of the top set are suppressed at once."""
    initial = table.initial
    above = initial.per_record.risk > rule.level
    rows = initial.slots[above]
    outcome = TargetingOutcome()
    if rule.choice == "set" and rule.side == "known" and rule.share > 0:
        # not per_record.top_node, which may be the empty set: it is no candidate here
        suppressed = top_set_values(table, rule, rows, table.count_agreeing(rows))
    elif rule.choice == "set" and rule.side == "known":
        is_member = np.zeros((len(table.tree), len(table.names)), dtype=np.bool_)
        for node, attributes in enumerate(table.tree.sets):
            is_member[node, list(attributes)] = True
        suppressed = is_member[initial.per_record.top_node[above]] & rule.known_candidates(table, table.nulls(rows))
    else:
        suppressed = choose_values(table, rule, rows)
    rule.check_budget(int(suppressed.sum()), len(rows))
    outcome.values_changed = table.suppress(rows, suppressed)
    outcome.passes.append((len(rows), outcome.values_changed))
    return outcome


def top_set_values(
    table: TargetingState, rule: SuppressionRule, rows: NDArray[np.int64], counts: NDArray[np.int32]
) -> NDArray[np.bool_]:
    """``[row, attribute]``: the values of each record's top set that may be suppressed."""
    nulls = table.nulls(rows)
    suppressed, already_null = np.empty_like(nulls), nulls if table.missing == "wildcard" else np.zeros_like(nulls)
    inputs = (
        counts,
        table.record_weights(rows),
        table.null_weights,
        already_null,
        rule.known_candidates(table, nulls),
        table.family_arrays,
    )
    run_on_records(kernels.suppress_top_sets, len(rows), *inputs, rule.limit, True, suppressed)
    return np.asarray(suppressed & ~nulls)


def suppress_until_safe(table: TargetingState, rule: SuppressionRule) -> tuple[TargetingState, TargetingOutcome]:
    """Suppress until no record is above the threshold, or no further suppression helps (``missing: wildcard``).

    With ``choice: fewest`` the values chosen record by record are compared with whole sets, and the cheaper result is returned.
    """
    result = table.copy()
    if rule.choice == "set":
        return result, _suppress_by_sets(result, rule) if rule.side == "known" else _suppress_in_turns(result, rule)
    outcome = _suppress_in_turns(result, rule)
    alternative = table.copy()
    rule_by_sets = replace(rule, choice="set", check_budget=lambda _, __: None)
    suppress = _suppress_by_sets if rule.side == "known" else _suppress_in_turns
    alternative_outcome = suppress(alternative, rule_by_sets)
    # suppression in one record helps others, so values that are cheapest for each record can cost more in total than whole sets
    outcome.cost, alternative_outcome.cost = _suppression_cost(result, table, rule), _suppression_cost(alternative, table, rule)
    if (len(alternative_outcome.remaining), alternative_outcome.cost) < (len(outcome.remaining), outcome.cost):
        result, outcome = alternative, alternative_outcome
        rule.check_budget(outcome.values_changed, len(outcome.remaining))
    outcome.cost_bound = _bound_cost(table, rule)
    return result, outcome


def _bound_cost(table: TargetingState, rule: SuppressionRule) -> float | None:
    """A lower bound of the cost of any choice; None if a record has too many candidates to try all choices.

    It adds up each record's cheapest choice as if all other records above the threshold were completely suppressed, and
    therefore agreed with it.
    """
    rows = table.initial.slots[table.initial.per_record.risk > rule.level]
    total = 0.0
    for part, counts in table.count_in_parts(rows):
        nulls, weights = table.nulls(part), table.record_weights(part)
        if (rule.known_candidates(table, nulls).sum(axis=1) > _MAX_EXHAUSTIVE).any() or (
            rule.sensitive_candidates(table, nulls, weights).sum(axis=1) > _MAX_EXHAUSTIVE
        ).any():
            return None
        highest_counts = np.minimum(counts.astype(np.int64) + len(rows), table.record_count).astype(np.int32)
        suppressed = _choose_for_part(table, rule, part, highest_counts)
        is_safe = _risks_after(table, (highest_counts, weights, table.null_weights, nulls), suppressed) <= rule.level
        total += float(rule.cost_of(suppressed)[is_safe].sum())
    return total


def _suppression_cost(result: TargetingState, table: TargetingState, rule: SuppressionRule) -> float:
    rows = table.initial.slots
    return math.fsum(rule.cost_of(result.nulls(rows) & ~table.nulls(rows)))


def _suppress_by_sets(table: TargetingState, rule: SuppressionRule) -> TargetingOutcome:
    """In each pass suppress the values of the top set of every record that is still above the threshold."""
    outcome, rows = TargetingOutcome(), table.initial.slots[table.initial.per_record.risk > rule.level]
    stuck: list[NDArray[np.int64]] = []
    while len(rows):
        unfinished, pass_count = [], 0
        chosen = []
        for part, counts in table.count_in_parts(rows):
            report_progress("suppressing values", 0, 0)
            risk = table.compute_risks(part, counts)
            is_above = risk > (rule.limit if outcome.passes else 0.0)
            part, counts = part[is_above], counts[is_above]  # noqa: PLW2901 - only those above
            nulls = table.nulls(part)
            allowed, suppressed = rule.known_candidates(table, nulls), np.empty_like(nulls)
            kernels.suppress_top_sets(
                counts,
                table.record_weights(part),
                table.null_weights,
                nulls,
                allowed,
                table.family_arrays,
                rule.limit,
                True,
                suppressed,
                0,
                len(part),
            )
            suppressed &= ~nulls
            is_stuck = ~suppressed.any(axis=1)
            stuck.append(part[is_stuck])
            unfinished.append(part[~is_stuck])
            chosen.append(suppressed[~is_stuck])
            pass_count += int(suppressed.sum())
        rows = np.concatenate(unfinished)
        rule.check_budget(outcome.values_changed + pass_count, len(rows))
        suppressed_count = table.suppress(rows, np.concatenate(chosen))
        outcome.values_changed += suppressed_count
        if len(rows):
            outcome.passes.append((len(rows), suppressed_count))
    return _finish(table, rule, outcome, np.sort(np.concatenate(stuck)) if stuck else rows)


def _suppress_in_turns(table: TargetingState, rule: SuppressionRule) -> TargetingOutcome:
    """Suppress in turns of growing size, the highest risks first; each turn sees the suppressed values of earlier turns.

    Within a turn, all values that a record must lose are suppressed at once.
    """
    per_record, slots = table.initial.per_record, table.initial.slots
    above = np.flatnonzero(per_record.risk > rule.level)
    rows, outcome, remaining = slots[above], TargetingOutcome(), len(above)
    for turn in list(order_in_turns(table, rows, per_record.risk[above])):
        suppressed = choose_values(table, rule, turn)
        rule.check_budget(outcome.values_changed + int(suppressed.sum()), remaining)
        suppressed_count = table.suppress(turn, suppressed)
        outcome.values_changed += suppressed_count
        outcome.passes.append((int(suppressed.any(axis=1).sum()), suppressed_count))
        remaining -= len(turn)
    return _finish(table, rule, outcome, rows)


def _finish(table: TargetingState, rule: SuppressionRule, outcome: TargetingOutcome, rows: NDArray[np.int64]) -> TargetingOutcome:
    """Measure these records once more, because later suppression may have brought them below the threshold."""
    risk = table.measure_risks(rows)
    is_above = risk > rule.level
    order = np.argsort(rows[is_above])
    outcome.remaining, outcome.remaining_risk = rows[is_above][order], risk[is_above][order]
    return outcome


def choose_values(table: TargetingState, rule: SuppressionRule, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    """``[row, attribute]``: the values to suppress in each record of the current table; none in records that are safe already."""
    chosen = table.decide_per_record(rows, lambda part, counts: _choose_for_part(table, rule, part, counts))
    return np.zeros((0, len(table.names)), dtype=np.bool_) if chosen is None else chosen


def _choose_for_part(
    table: TargetingState, rule: SuppressionRule, rows: NDArray[np.int64], counts: NDArray[np.int32]
) -> NDArray[np.bool_]:
    """The values to suppress, on the side of ``rule``: known values, sensitive values, or per record the cheaper that is safe.

    If neither side alone makes a record safe, both are suppressed, or (``fewest``) the cheapest values of both.
    """
    nulls, weights = table.nulls(rows), table.record_weights(rows)
    already_null = nulls if table.missing == "wildcard" else np.zeros_like(nulls)
    known, sensitive = rule.known_candidates(table, nulls), rule.sensitive_candidates(table, nulls, weights)
    by_sets = rule.choice == "set"
    inputs = (counts, weights, table.null_weights, already_null)
    options = []
    if rule.side != "sensitive":
        options.append(_search_values(table, rule, inputs, known, kernels.suppress_top_sets if by_sets else None))
    if rule.side != "known":
        options.append(_search_values(table, rule, inputs, sensitive, kernels.suppress_heaviest_values if by_sets else None))
    if len(options) == 1:
        return options[0] & ~already_null
    risks = [_risks_after(table, inputs, suppressed) for suppressed in options]
    known_is_safe, sensitive_is_safe = (value <= rule.limit for value in risks)
    cheaper = rule.cost_of(options[1]) < rule.cost_of(options[0])
    suppressed = np.where((sensitive_is_safe & (cheaper | ~known_is_safe))[:, None], options[1], options[0])
    neither = ~known_is_safe & ~sensitive_is_safe
    suppressed[neither] = options[0][neither] | options[1][neither]
    if neither.any() and rule.choice == "fewest":
        neither_inputs = tuple(array[neither] if array.ndim == 2 else array for array in inputs)
        suppressed[neither] = _search_values(table, rule, neither_inputs, (known | sensitive)[neither], None)
    return suppressed & ~already_null


def _risks_after(table: TargetingState, inputs: tuple[Any, ...], suppressed: NDArray[np.bool_]) -> NDArray[np.float64]:
    risk = np.empty(len(suppressed))
    counts, weights, null_weights, already_null = inputs
    run_on_records(
        kernels.compute_risks, len(risk), counts, weights, null_weights, suppressed | already_null, table.family_arrays, risk
    )
    return risk


def _search_values(
    table: TargetingState, rule: SuppressionRule, inputs: tuple[Any, ...], allowed: NDArray[np.bool_], kernel: Any
) -> NDArray[np.bool_]:
    """Choose by a kernel (whole sets or the heaviest values), or without one the cheapest sufficient values.

    ``inputs`` are (counts, weights, null_weights, nulls) as in :mod:`discreet.engine.targeting.kernels`.
    """
    size = len(allowed)
    suppressed = np.empty_like(allowed)
    if kernel is kernels.suppress_top_sets:
        run_on_records(kernel, size, *inputs, allowed, table.family_arrays, rule.limit, False, suppressed)
    elif kernel is not None:
        run_on_records(kernel, size, *inputs, allowed, table.family_arrays, rule.limit, suppressed)
    else:
        has_many = allowed.sum(axis=1) > _MAX_EXHAUSTIVE
        _search_exhaustively(table, rule, inputs, allowed, np.flatnonzero(~has_many), suppressed)
        many = np.flatnonzero(has_many)
        if len(many):
            counts, weights, null_weights, already_null = inputs
            chosen = np.empty((len(many), allowed.shape[1]), dtype=np.bool_)
            kernels.suppress_greedily(
                counts[many], weights[many], null_weights, already_null[many], allowed[many], rule.costs,
                table.family_arrays, rule.limit, chosen, 0, len(many),
            )  # fmt: skip
            suppressed[many] = chosen
    return suppressed


def _search_exhaustively(
    table: TargetingState,
    rule: SuppressionRule,
    inputs: tuple[Any, ...],
    allowed: NDArray[np.bool_],
    rows: NDArray[np.int64],
    suppressed: NDArray[np.bool_],
) -> None:
    """Try all choices in the order of their cost; records with the same candidate attributes share the list of choices.

    Writes ``suppressed[row, attribute]`` of ``rows``.
    """
    counts, weights, null_weights, already_null = inputs
    attributes_used = np.flatnonzero(allowed[rows].any(axis=0)) if len(rows) else np.zeros(0, np.int64)
    columns = [(allowed[rows, attribute].astype(np.uint8), 2) for attribute in attributes_used]
    ids, group_count = group_ids(columns, len(rows)) if columns else (np.zeros(len(rows), np.int64), min(1, len(rows)))
    for group in range(group_count):
        members = rows[ids == group]
        attributes = np.flatnonzero(allowed[members[0]])
        bits = np.arange(1 << len(attributes), dtype=np.int64)
        costs = (rule.costs[attribute] * (bits >> bit & 1) for bit, attribute in enumerate(attributes))
        cost = sum(costs, np.zeros(len(bits)))
        choices = bits[np.lexsort((bits, np.round(cost, 9)))]
        parts = np.array_split(members, thread_count() if len(members) > _MIN_PARALLEL else 1)

        def search(
            part: NDArray[np.int64], attributes: NDArray[np.int64] = attributes, choices: NDArray[np.int64] = choices
        ) -> None:
            kernels.suppress_cheapest_choice(
                counts, weights, null_weights, already_null, attributes, choices, table.family_arrays, rule.limit, part,
                suppressed, 0, len(part),
            )  # fmt: skip

        with WorkerThreads(len(parts)) as pool:
            list(pool.map(search, parts))
