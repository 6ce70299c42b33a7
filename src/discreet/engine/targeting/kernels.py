"""Compiled loops that ask what a record's risk would be with some of its values blank.

A record comes with its *counts*: for every kept set the records that agree with it, as the table stands. Where a blank agrees
with anything, blanking the attributes Q gives the set S the count of S without Q, so the counts of one walk answer for every Q:

    risk_Q = sum over kept S of p_S (C_Q - c_S,Q) / count(S without Q)          (Orooji & Knapp (2018a), eq. 1, before alpha)

Where records are to be hidden among so many (``threshold: {among: a}``) the sum runs over the non-empty sets and has
1 / count - ``share`` for 1 / count, with the share 1 / a: it is at most 0 exactly where the effective class size is at least a.

``tree`` is the tuple (parent, last, chance, rank, first, children, share) that ``tree_arrays`` in engine/targeting/state.py
returns; the child of a set that adds an attribute stands at ``children[first[set] + attribute - last[set] - 1]``.

The arrays that all loops share: ``counts[record, set]`` (int32, at least 1), ``weights[record, attribute]`` (W(A) W(value) of
eq. 4), ``blank[attribute]`` (what a null weighs), ``nulls``, ``may`` and ``gone[record, attribute]`` (null already, may be
suppressed, suppressed or null), all attributes in the family's order. Loops run over the records ``start`` to ``stop`` and write
only to these. One evaluation of the risk is O(sets). Trap: counts answer for every choice only where a null agrees with anything.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.engine.runtime.compiled import compiled

_TIE = 1e-12


@compiled
def risk_of(count: Any, weight: Any, blank: Any, gone: Any, tree: Any, home: Any, learnt: Any) -> Any:
    """The sum over kept sets with the attributes ``gone`` blank. O(sets).

    ``home[set]`` is the set without blanks, whose count it has, and ``learnt[set]`` the consequence; both are scratch arrays.
    """
    parent, last, chance, _, first, children, share = tree
    total = 0.0
    for at in range(len(weight)):
        total += blank[at] if gone[at] else weight[at]
    home[0] = 0
    learnt[0] = total
    risk = 0.0 if share > 0 else total / count[0]
    for node in range(1, len(last)):
        above, place = parent[node], last[node]
        if gone[place]:
            home[node] = home[above]
            learnt[node] = learnt[above] - blank[place]
        else:
            home[node] = children[first[home[above]] + place - last[home[above]] - 1]
            learnt[node] = learnt[above] - weight[place]
        risk += chance[node] * learnt[node] * (1.0 / count[home[node]] - share)
    return risk


@compiled
def risks(counts: Any, weights: Any, blank: Any, gone: Any, tree: Any, risk: Any, start: int, stop: int) -> None:
    """The risk of each record, whose attributes ``gone`` are blank."""
    home, learnt = np.empty(len(tree[1]), np.int64), np.empty(len(tree[1]))
    for at in range(start, stop):
        risk[at] = risk_of(counts[at], weights[at], blank, gone[at], tree, home, learnt)


@compiled
def copy_counts(active: Any, counts: Any, copied: Any, start: int, stop: int) -> None:
    """Copy the counts of the active queries; ``copied`` starts with ones, the count of queries that left the walk alone."""
    for at in range(start, stop):
        copied[active[at]] = counts[active[at]]


@compiled
def _top(count: Any, weight: Any, blank: Any, gone: Any, may: Any, tree: Any) -> int:
    """The set with the largest term of eq. 1 among those with a value to suppress and without a null; -1: none. O(sets).

    Terms within a relative 1e-12 are ties, broken by ``rank``, so that rounding does not choose the set.
    """
    parent, last, chance, rank, _, _, _ = tree
    total = 0.0
    for at in range(len(weight)):
        total += blank[at] if gone[at] else weight[at]
    size = len(last)
    learnt, open_, takes = np.empty(size), np.ones(size, np.bool_), np.zeros(size, np.bool_)
    learnt[0] = total
    best, part_best = -1, -1.0
    for node in range(1, size):
        above, place = parent[node], last[node]
        open_[node] = open_[above] and not gone[place]
        takes[node] = takes[above] or may[place]
        learnt[node] = learnt[above] - weight[place]
        if not open_[node] or not takes[node]:
            continue
        part = chance[node] * learnt[node] / count[node]
        if part > part_best * (1 + _TIE) or best < 0 or (part >= part_best * (1 - _TIE) and rank[node] < rank[best]):
            best = node
        part_best = max(part_best, part)
    return best


@compiled
def _take(node: int, may: Any, gone: Any, tree: Any) -> int:
    """Suppress the values of a set that may be suppressed; returns how many. O(depth)."""
    parent, last = tree[0], tree[1]
    taken = 0
    while node > 0:
        place = last[node]
        if may[place] and not gone[place]:
            gone[place] = True
            taken += 1
        node = parent[node]
    return taken


@compiled
def top_sets(
    counts: Any,
    weights: Any,
    blank: Any,
    nulls: Any,
    may: Any,
    tree: Any,
    limit: float,
    once: bool,
    gone: Any,
    start: int,
    stop: int,
) -> None:
    """Blank each record's top set, once or until its risk is at most the limit.

    Orooji & Knapp (2018b), Figure 1, for one record. O(attributes * sets) per record at most; writes ``gone``.
    """
    home, learnt = np.empty(len(tree[1]), np.int64), np.empty(len(tree[1]))
    for at in range(start, stop):
        gone[at] = nulls[at]
        while once or risk_of(counts[at], weights[at], blank, gone[at], tree, home, learnt) > limit:
            node = _top(counts[at], weights[at], blank, gone[at], may[at] & ~gone[at], tree)
            if node < 0 or _take(node, may[at], gone[at], tree) == 0 or once:
                break


@compiled
def largest_first(
    counts: Any, weights: Any, blank: Any, nulls: Any, may: Any, tree: Any, limit: float, gone: Any, start: int, stop: int
) -> None:
    """Suppress the values with the largest weights, one by one, until each record's risk is at most the limit.

    O(attributes * sets) per record.
    """
    home, learnt = np.empty(len(tree[1]), np.int64), np.empty(len(tree[1]))
    for at in range(start, stop):
        gone[at] = nulls[at]
        order = np.argsort(blank - weights[at], kind="mergesort")
        for place in order:
            if risk_of(counts[at], weights[at], blank, gone[at], tree, home, learnt) <= limit:
                break
            if may[at, place]:
                gone[at, place] = True


@compiled
def cheapest(
    counts: Any, weights: Any, blank: Any, nulls: Any, places: Any, choices: Any, tree: Any, limit: float, rows: Any, gone: Any,
    start: int, stop: int,
) -> None:  # fmt: skip
    """The first of the choices (bits of ``places``, the cheapest first) that is enough; the safest where none is.

    O(choices * sets) per record, with up to 2^12 choices; ``rows`` are the records to decide.
    """
    home, learnt = np.empty(len(tree[1]), np.int64), np.empty(len(tree[1]))
    trial = np.empty(nulls.shape[1], np.bool_)
    for index in range(start, stop):
        at = rows[index]
        best, least = 0, np.inf
        for choice in choices:
            trial[:] = nulls[at]
            for bit in range(len(places)):
                if choice >> bit & 1:
                    trial[places[bit]] = True
            risk = risk_of(counts[at], weights[at], blank, trial, tree, home, learnt)
            if risk < least:
                best, least = choice, risk
            if risk <= limit:
                break
        gone[at] = nulls[at]
        for bit in range(len(places)):
            if best >> bit & 1:
                gone[at, places[bit]] = True


@compiled
def greedy(
    counts: Any,
    weights: Any,
    blank: Any,
    nulls: Any,
    may: Any,
    costs: Any,
    tree: Any,
    limit: float,
    gone: Any,
    start: int,
    stop: int,
) -> None:
    """Too many choices: suppress what lowers the risk most for its cost, repeatedly; then restore what was not needed.

    O(attributes^2 * sets) per record.
    """
    home, learnt = np.empty(len(tree[1]), np.int64), np.empty(len(tree[1]))
    for at in range(start, stop):
        mine = gone[at]
        mine[:] = nulls[at]
        now = risk_of(counts[at], weights[at], blank, mine, tree, home, learnt)
        while now > limit:
            best, gain, after = -1, 0.0, now
            for place in range(len(mine)):
                if not may[at, place] or mine[place]:
                    continue
                mine[place] = True
                risk = risk_of(counts[at], weights[at], blank, mine, tree, home, learnt)
                mine[place] = False
                worth = (now - risk) / costs[place]
                if best < 0 or worth > gain:
                    best, gain, after = place, worth, risk
            if best < 0:
                break
            mine[best] = True
            now = after
        for place in np.argsort(-costs, kind="mergesort"):
            if not mine[place] or nulls[at, place]:
                continue
            mine[place] = False
            risk = risk_of(counts[at], weights[at], blank, mine, tree, home, learnt)
            if risk > max(limit, now):
                mine[place] = True


@compiled
def least_reachable(
    counts: Any, weights: Any, blank: Any, may: Any, tree: Any, shared: float, bound: Any, start: int, stop: int
) -> None:
    """A bound below the risk that blanking can bring where blanks agree with blanks only, and ``shared`` records have any.

    Set by set the count is at most the present one (without a blank in it) or ``shared`` (with one), whatever is blanked, and
    what is learnt is at least ``least`` and at most ``most``; the latter counts where a part is negative. O(sets) per record.
    """
    parent, last, chance, share = tree[0], tree[1], tree[2], tree[6]
    size = len(last)
    least, most, takes = np.empty(size), np.empty(size), np.zeros(size, np.bool_)
    for at in range(start, stop):
        least[0] = most[0] = 0.0
        for place in range(len(blank)):
            least[0] += min(weights[at, place], blank[place]) if may[at, place] else weights[at, place]
            most[0] += max(weights[at, place], blank[place]) if may[at, place] else weights[at, place]
        value = 0.0 if share > 0 else least[0] / counts[at, 0]
        for node in range(1, size):
            above, place = parent[node], last[node]
            takes[node] = takes[above] or may[at, place]
            least[node] = least[above] - (min(weights[at, place], blank[place]) if may[at, place] else weights[at, place])
            most[node] = most[above] - (max(weights[at, place], blank[place]) if may[at, place] else weights[at, place])
            largest = max(float(counts[at, node]), shared) if takes[node] else float(counts[at, node])
            part = 1.0 / largest - share
            value += chance[node] * part * (least[node] if part > 0 else most[node])
        bound[at] = value
