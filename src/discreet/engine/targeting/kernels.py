"""Compiled loops that compute what a record's risk would be if some of its values were suppressed.

A record comes with its *counts*: for every kept set the number of records that agree with it in the current table. If a null
agrees with any value, suppressing the attributes Q gives the set S the count of S without Q, so the counts of one walk over the
sets are enough to compute the risk for every Q:

    risk_Q = sum over kept S of p_S (C_Q - c_S,Q) / count(S without Q)          (Orooji & Knapp (2018a), eq. 1, before alpha)

With ``threshold: {among: a}``, which asks for an effective class size of at least a, the sum runs over the non-empty sets and
has 1 / count - ``share`` in place of 1 / count, with the share 1 / a: it is at most 0 exactly if the effective class size is at
least a.

``tree`` is the tuple (parent, last, chance, rank, first, children, share) that ``family_arrays`` in engine/targeting/state.py
returns; the child of a set that adds an attribute is ``children[first[set] + attribute - last[set] - 1]``.

The arrays that all loops share: ``counts[record, set]`` (int32, at least 1), ``weights[record, attribute]`` (W(A) W(value) of
eq. 4), ``null_weights[attribute]`` (the weight of a null), ``nulls``, ``allowed`` and ``suppressed[record, attribute]`` (already
null; may be suppressed; suppressed or null), all attributes in the family's order. Loops run over the records ``start`` to
``stop`` and write only to these. One evaluation of the risk is O(sets).

Trap: counts are valid for every choice only if a null agrees with any value (``missing: wildcard``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.engine.runtime.compiled import compiled, compiled_unless_small
from discreet.engine.targeting import small_kernels

_TIE_TOLERANCE = 1e-12


# For one record: counts[set], weights[attribute], suppressed[attribute]. Scratch: reduced[set], the set without its suppressed
# attributes, whose count it has, and consequence[set], the total weight of the attributes outside the set. O(sets).
@compiled
def compute_risk(counts: Any, weights: Any, null_weights: Any, suppressed: Any, tree: Any, reduced: Any, consequence: Any) -> Any:
    """The sum of eq. 1 over the kept sets for one record, with the attributes ``suppressed`` null."""
    parent, last, chance, _, first, children, share = tree
    total = 0.0
    for index in range(len(weights)):
        total += null_weights[index] if suppressed[index] else weights[index]
    reduced[0] = 0
    consequence[0] = total
    risk = 0.0 if share > 0 else total / counts[0]
    for node in range(1, len(last)):
        parent_set, attribute = parent[node], last[node]
        if suppressed[attribute]:
            reduced[node] = reduced[parent_set]
            consequence[node] = consequence[parent_set] - null_weights[attribute]
        else:
            reduced[node] = children[first[reduced[parent_set]] + attribute - last[reduced[parent_set]] - 1]
            consequence[node] = consequence[parent_set] - weights[attribute]
        risk += chance[node] * consequence[node] * (1.0 / counts[reduced[node]] - share)
    return risk


@compiled_unless_small(small_kernels.compute_risks, small_kernels.MOST_COUNTS)
def compute_risks(
    counts: Any, weights: Any, null_weights: Any, suppressed: Any, tree: Any, risk: Any, start: int, stop: int
) -> None:
    """Write the risk of each record, with its attributes ``suppressed`` null, to ``risk[record]``. O(sets) per record."""
    reduced, consequence = np.empty(len(tree[1]), np.int64), np.empty(len(tree[1]))
    for record in range(start, stop):
        risk[record] = compute_risk(counts[record], weights[record], null_weights, suppressed[record], tree, reduced, consequence)


# active[index]: queries that are still in the walk; counts[query] and copied[query]: counts of the current set. O(stop - start).
@compiled_unless_small(small_kernels.copy_counts, small_kernels.MOST_COUNTS)
def copy_counts(active: Any, counts: Any, copied: Any, start: int, stop: int) -> None:
    """Copy the counts of the active queries; ``copied`` starts with ones, the count of queries that left the walk (unique)."""
    for index in range(start, stop):
        copied[active[index]] = counts[active[index]]


@compiled
def _find_top_set(counts: Any, weights: Any, null_weights: Any, suppressed: Any, allowed: Any, tree: Any) -> int:
    """The set with the largest term of eq. 1 among those with a value to suppress and without a null; -1 if none. O(sets).

    Terms within a relative 1e-12 are ties, broken by ``rank``, so that the choice does not depend on rounding.
    """
    parent, last, chance, rank, _, _, _ = tree
    total = 0.0
    for index in range(len(weights)):
        total += null_weights[index] if suppressed[index] else weights[index]
    size = len(last)
    consequence, is_complete, has_candidate = np.empty(size), np.ones(size, np.bool_), np.zeros(size, np.bool_)
    consequence[0] = total
    best, best_term = -1, -1.0
    for node in range(1, size):
        parent_set, attribute = parent[node], last[node]
        is_complete[node] = is_complete[parent_set] and not suppressed[attribute]
        has_candidate[node] = has_candidate[parent_set] or allowed[attribute]
        consequence[node] = consequence[parent_set] - weights[attribute]
        if not is_complete[node] or not has_candidate[node]:
            continue
        term = chance[node] * consequence[node] / counts[node]
        is_larger = term > best_term * (1 + _TIE_TOLERANCE)
        if is_larger or best < 0 or (term >= best_term * (1 - _TIE_TOLERANCE) and rank[node] < rank[best]):
            best = node
        best_term = max(best_term, term)
    return best


@compiled
def _suppress_set(node: int, allowed: Any, suppressed: Any, tree: Any) -> int:
    """Suppress the ``allowed`` values of a set, which are found by walking up the tree; returns how many. O(size of the set)."""
    parent, last = tree[0], tree[1]
    suppressed_count = 0
    while node > 0:
        attribute = last[node]
        if allowed[attribute] and not suppressed[attribute]:
            suppressed[attribute] = True
            suppressed_count += 1
        node = parent[node]
    return suppressed_count


@compiled_unless_small(small_kernels.suppress_top_sets, small_kernels.MOST_COUNTS)
def suppress_top_sets(
    counts: Any,
    weights: Any,
    null_weights: Any,
    nulls: Any,
    allowed: Any,
    tree: Any,
    limit: float,
    once: bool,
    suppressed: Any,
    start: int,
    stop: int,
) -> None:
    """Suppress the values of each record's top set, once or until its risk is at most the limit.

    Orooji & Knapp (2018b), Figure 1, for one record. O(attributes * sets) per record at most; writes ``suppressed``.
    """
    reduced, consequence = np.empty(len(tree[1]), np.int64), np.empty(len(tree[1]))
    for record in range(start, stop):
        chosen = suppressed[record]
        chosen[:] = nulls[record]
        while once or compute_risk(counts[record], weights[record], null_weights, chosen, tree, reduced, consequence) > limit:
            node = _find_top_set(counts[record], weights[record], null_weights, chosen, allowed[record] & ~chosen, tree)
            if node < 0 or _suppress_set(node, allowed[record], chosen, tree) == 0 or once:
                break


@compiled_unless_small(small_kernels.suppress_heaviest_values, small_kernels.MOST_COUNTS)
def suppress_heaviest_values(
    counts: Any, weights: Any, null_weights: Any, nulls: Any, allowed: Any, tree: Any, limit: float, suppressed: Any,
    start: int, stop: int,
) -> None:  # fmt: skip
    """Suppress the values with the largest weights, one by one, until each record's risk is at most the limit.

    O(attributes * sets) per record; writes ``suppressed``.
    """
    reduced, consequence = np.empty(len(tree[1]), np.int64), np.empty(len(tree[1]))
    for record in range(start, stop):
        chosen = suppressed[record]
        chosen[:] = nulls[record]
        order = np.argsort(null_weights - weights[record], kind="mergesort")
        for attribute in order:
            if compute_risk(counts[record], weights[record], null_weights, chosen, tree, reduced, consequence) <= limit:
                break
            if allowed[record, attribute]:
                chosen[attribute] = True


@compiled
def suppress_cheapest_choice(
    counts: Any, weights: Any, null_weights: Any, nulls: Any, attributes: Any, choices: Any, tree: Any, limit: float, rows: Any,
    suppressed: Any, start: int, stop: int,
) -> None:  # fmt: skip
    """Apply the first choice that brings a record's risk to at most the limit; the one with the lowest risk if none does.

    ``choices`` are bit masks over ``attributes``, the cheapest first; ``rows`` are the records to decide. O(choices * sets) per
    record, with up to 2^12 choices; writes ``suppressed``.
    """
    reduced, consequence = np.empty(len(tree[1]), np.int64), np.empty(len(tree[1]))
    trial = np.empty(nulls.shape[1], np.bool_)
    for index in range(start, stop):
        record = rows[index]
        best_choice, best_risk = 0, np.inf
        for choice in choices:
            trial[:] = nulls[record]
            for bit in range(len(attributes)):
                if choice >> bit & 1:
                    trial[attributes[bit]] = True
            risk = compute_risk(counts[record], weights[record], null_weights, trial, tree, reduced, consequence)
            if risk < best_risk:
                best_choice, best_risk = choice, risk
            if risk <= limit:
                break
        suppressed[record] = nulls[record]
        for bit in range(len(attributes)):
            if best_choice >> bit & 1:
                suppressed[record, attributes[bit]] = True


@compiled
def suppress_greedily(
    counts: Any,
    weights: Any,
    null_weights: Any,
    nulls: Any,
    allowed: Any,
    costs: Any,
    tree: Any,
    limit: float,
    suppressed: Any,
    start: int,
    stop: int,
) -> None:
    """Where there are too many choices to try all: repeatedly suppress the value that lowers the risk most per unit of cost.

    Afterwards values that were not needed are restored, the most expensive first. O(attributes^2 * sets) per record; writes
    ``suppressed``.
    """
    reduced, consequence = np.empty(len(tree[1]), np.int64), np.empty(len(tree[1]))
    for record in range(start, stop):
        chosen = suppressed[record]
        chosen[:] = nulls[record]
        current_risk = compute_risk(counts[record], weights[record], null_weights, chosen, tree, reduced, consequence)
        while current_risk > limit:
            best, best_gain, risk_after = -1, 0.0, current_risk
            for attribute in range(len(chosen)):
                if not allowed[record, attribute] or chosen[attribute]:
                    continue
                chosen[attribute] = True
                risk = compute_risk(counts[record], weights[record], null_weights, chosen, tree, reduced, consequence)
                chosen[attribute] = False
                gain = (current_risk - risk) / costs[attribute]
                if best < 0 or gain > best_gain:
                    best, best_gain, risk_after = attribute, gain, risk
            if best < 0:
                break
            chosen[best] = True
            current_risk = risk_after
        for attribute in np.argsort(-costs, kind="mergesort"):
            if not chosen[attribute] or nulls[record, attribute]:
                continue
            chosen[attribute] = False
            risk = compute_risk(counts[record], weights[record], null_weights, chosen, tree, reduced, consequence)
            if risk > max(limit, current_risk):
                chosen[attribute] = True


@compiled_unless_small(small_kernels.bound_reachable_risk, small_kernels.MOST_COUNTS)
def bound_reachable_risk(
    counts: Any, weights: Any, null_weights: Any, allowed: Any, tree: Any, records_with_nulls: float, bound: Any,
    start: int, stop: int,
) -> None:  # fmt: skip
    """A lower bound of the risk that suppression can reach if a null agrees only with nulls (``missing: category``).

    Whatever is suppressed, at most ``records_with_nulls`` records agree on a set with a null in it, and at most as many as now on
    a set without one; the consequence of a set is between ``lowest[set]`` and ``highest[set]``. The bound takes the largest count
    and, where the factor 1 / count - share is negative, the highest consequence. O(sets) per record; writes ``bound[record]``.
    """
    parent, last, chance, share = tree[0], tree[1], tree[2], tree[6]
    size = len(last)
    lowest, highest, has_candidate = np.empty(size), np.empty(size), np.zeros(size, np.bool_)
    for record in range(start, stop):
        lowest[0] = highest[0] = 0.0
        for attribute in range(len(null_weights)):
            weight = weights[record, attribute]
            lowest[0] += min(weight, null_weights[attribute]) if allowed[record, attribute] else weight
            highest[0] += max(weight, null_weights[attribute]) if allowed[record, attribute] else weight
        total = 0.0 if share > 0 else lowest[0] / counts[record, 0]
        for node in range(1, size):
            parent_set, attribute = parent[node], last[node]
            weight, count = weights[record, attribute], float(counts[record, node])
            has_candidate[node] = has_candidate[parent_set] or allowed[record, attribute]
            lowest[node] = lowest[parent_set] - (min(weight, null_weights[attribute]) if allowed[record, attribute] else weight)
            highest[node] = highest[parent_set] - (max(weight, null_weights[attribute]) if allowed[record, attribute] else weight)
            largest_count = max(count, records_with_nulls) if has_candidate[node] else count
            factor = 1.0 / largest_count - share
            total += chance[node] * factor * (lowest[node] if factor > 0 else highest[node])
        bound[record] = total
