"""The loops of :mod:`discreet.engine.targeting.kernels` with NumPy alone, for tables too small to load compiled code for.

Each function takes what its namesake takes and leaves the same numbers, to the last bit: it goes through the sets in the same
order, with all records of the slice at once, so that every sum has the same terms in the same order. Scratch arrays hold one
number per set and record.
"""

from __future__ import annotations

from typing import Any

import numpy as np

MOST_COUNTS = 1 << 22
"""Counts (records times sets) up to which these loops take less time than loading the compiler."""
_TIE_TOLERANCE = 1e-12


def _total_weights(weights: Any, null_weights: Any, suppressed: Any) -> tuple[Any, Any]:
    """The weight of each attribute and record as suppressed, ``[attribute, record]``, and their sum by record."""
    current = np.where(suppressed, null_weights, weights).T.copy()
    total = np.zeros(len(weights))
    for own in current:
        total += own
    return current, total


def _risks(counts: Any, weights: Any, null_weights: Any, suppressed: Any, tree: Any) -> Any:
    """The sum of eq. 1 of each record; see ``compute_risk``."""
    parent, last, chance, _, first, children, share = tree
    current, total = _total_weights(weights, null_weights, suppressed)
    inverse = 1.0 / counts.T
    records = np.arange(len(counts))
    is_suppressed = np.ascontiguousarray(suppressed.T)
    has_suppressed = [bool(own.any()) for own in is_suppressed]
    reduced = np.zeros((len(last), len(counts)), dtype=np.int64)
    consequence = np.empty((len(last), len(counts)))
    is_same = np.ones(len(last), dtype=np.bool_)  # no record has a null in the set, so it is not reduced
    consequence[0] = total
    risk = np.zeros(len(counts)) if share > 0 else total / counts[:, 0]
    for node in range(1, len(last)):
        above, attribute = parent[node], last[node]
        consequence[node] = consequence[above] - current[attribute]
        is_same[node] = is_same[above] and not has_suppressed[attribute]
        if is_same[node]:
            reduced[node] = node
            part = inverse[node]
        else:
            child = children[first[reduced[above]] + attribute - last[reduced[above]] - 1]
            reduced[node] = np.where(is_suppressed[attribute], reduced[above], child)
            part = inverse[reduced[node], records]
        risk += chance[node] * consequence[node] * (part - share)
    return risk


def compute_risks(
    counts: Any, weights: Any, null_weights: Any, suppressed: Any, tree: Any, risk: Any, start: int, stop: int
) -> None:
    risk[start:stop] = _risks(counts[start:stop], weights[start:stop], null_weights, suppressed[start:stop], tree)


def copy_counts(active: Any, counts: Any, copied: Any, start: int, stop: int) -> None:
    copied[active[start:stop]] = counts[active[start:stop]]


def _top_sets(counts: Any, weights: Any, null_weights: Any, suppressed: Any, allowed: Any, tree: Any) -> Any:
    """The top set of each record, -1 for none; see ``_find_top_set``."""
    parent, last, chance, rank, _, _, _ = tree
    sets, records = len(last), len(counts)
    consequence = np.empty((sets, records))
    consequence[0] = _total_weights(weights, null_weights, suppressed)[1]
    is_complete, has_candidate = np.ones((sets, records), np.bool_), np.zeros((sets, records), np.bool_)
    weights, counts = np.ascontiguousarray(weights.T), np.ascontiguousarray(counts.T)
    is_open, allowed = np.ascontiguousarray(~suppressed.T), np.ascontiguousarray(allowed.T)
    best, best_term = np.full(records, -1), np.full(records, -1.0)
    for node in range(1, sets):
        above, attribute = parent[node], last[node]
        is_complete[node] = is_complete[above] & is_open[attribute]
        has_candidate[node] = has_candidate[above] | allowed[attribute]
        consequence[node] = consequence[above] - weights[attribute]
        eligible = is_complete[node] & has_candidate[node]
        term = chance[node] * consequence[node] / counts[node]
        is_tie = (term >= best_term * (1 - _TIE_TOLERANCE)) & (rank[node] < rank[best])
        is_better = eligible & ((term > best_term * (1 + _TIE_TOLERANCE)) | (best < 0) | is_tie)
        best[is_better] = node
        best_term = np.where(eligible, np.maximum(best_term, term), best_term)
    return best


def _members(tree: Any, width: int) -> Any:
    """``[set, attribute]``: the attributes of each set."""
    parent, last = tree[0], tree[1]
    members = np.zeros((len(last), width), dtype=np.bool_)
    for node in range(1, len(last)):
        members[node] = members[parent[node]]
        members[node, last[node]] = True
    return members


def suppress_top_sets(
    counts: Any, weights: Any, null_weights: Any, nulls: Any, allowed: Any, tree: Any, limit: float, once: bool, suppressed: Any,
    start: int, stop: int,
) -> None:  # fmt: skip
    suppressed[start:stop] = nulls[start:stop]
    members = _members(tree, nulls.shape[1])
    active = np.arange(start, stop)
    while len(active):
        if not once:
            risk = _risks(counts[active], weights[active], null_weights, suppressed[active], tree)
            active = active[risk > limit]
        candidates = allowed[active] & ~suppressed[active]
        top = _top_sets(counts[active], weights[active], null_weights, suppressed[active], candidates, tree)
        chosen = members[top] & candidates & (top >= 0)[:, None]
        suppressed[active] |= chosen
        active = active[:0] if once else active[chosen.any(axis=1)]


def suppress_heaviest_values(
    counts: Any, weights: Any, null_weights: Any, nulls: Any, allowed: Any, tree: Any, limit: float, suppressed: Any, start: int,
    stop: int,
) -> None:  # fmt: skip
    suppressed[start:stop] = nulls[start:stop]
    order = np.argsort(null_weights - weights[start:stop], axis=1, kind="stable")
    active = np.arange(start, stop)
    for place in range(nulls.shape[1]):
        risk = _risks(counts[active], weights[active], null_weights, suppressed[active], tree)
        active = active[~(risk <= limit)]
        attribute = order[active - start, place]
        suppressed[active, attribute] |= allowed[active, attribute]


def bound_reachable_risk(
    counts: Any, weights: Any, null_weights: Any, allowed: Any, tree: Any, records_with_nulls: float, bound: Any, start: int,
    stop: int,
) -> None:  # fmt: skip
    parent, last, chance, share = tree[0], tree[1], tree[2], tree[6]
    counts, weights, allowed = counts[start:stop].T, weights[start:stop].T, allowed[start:stop].T
    least = np.where(allowed, np.minimum(weights, null_weights[:, None]), weights)
    most = np.where(allowed, np.maximum(weights, null_weights[:, None]), weights)
    lowest, highest = np.zeros(counts.shape), np.zeros(counts.shape)
    has_candidate = np.zeros(counts.shape, dtype=np.bool_)
    for attribute in range(len(null_weights)):
        lowest[0] += least[attribute]
        highest[0] += most[attribute]
    total = np.zeros(stop - start) if share > 0 else lowest[0] / counts[0]
    for node in range(1, len(last)):
        above, attribute = parent[node], last[node]
        count = counts[node].astype(np.float64)
        has_candidate[node] = has_candidate[above] | allowed[attribute]
        lowest[node], highest[node] = lowest[above] - least[attribute], highest[above] - most[attribute]
        largest_count = np.where(has_candidate[node], np.maximum(count, records_with_nulls), count)
        factor = 1.0 / largest_count - share
        total += chance[node] * factor * np.where(factor > 0, lowest[node], highest[node])
    bound[start:stop] = total
