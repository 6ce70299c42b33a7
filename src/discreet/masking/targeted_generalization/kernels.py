"""Compiled loops that find the narrowest cells which bring a record under a threshold.

A record's cell of an attribute is its value taken to a *level* of the attribute's hierarchy, the last level saying nothing. Two
cells agree where they overlap, that is where the values have one label at the coarser of the two levels. So for a record r and
each other record s there is, attribute by attribute, a least level of r at which the two agree. The records are counted by these
levels in a table with an axis an attribute; its sums along every axis hold the count of every set at every choice of levels.

``axes`` is (heights, strides, begin, cards, labels, costs, weights): the height and stride of each axis, and label, cost and
weight of the value ``code`` at ``level`` at ``begin + level * card + code``. ``tree`` is that of
:mod:`discreet.engine.targeting.kernels`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.engine.runtime.compiled import compiled


@compiled
def _fill(row: int, codes: Any, levels: Any, touched: Any, axes: Any, reach: Any, table: Any) -> None:
    """Count all records by the least levels at which this one agrees with them, and sum along every axis."""
    heights, strides, begin, cards, labels, _, _ = axes
    width = len(heights)
    first = np.zeros(width, np.int64)
    scaled = np.empty(len(reach), np.int64)
    for axis in range(1, width):
        first[axis] = first[axis - 1] + cards[axis - 1]
    for axis in range(width):
        own, card = codes[row, axis], cards[axis]
        for code in range(card):
            level = 0
            while level < heights[axis] and labels[begin[axis] + level * card + own] != labels[begin[axis] + level * card + code]:
                level += 1
            reach[first[axis] + code] = level
            scaled[first[axis] + code] = level * strides[axis]
    table[:] = 0
    for other in range(len(codes)):
        at = 0
        if touched[other]:
            for axis in range(width):
                level = reach[first[axis] + codes[other, axis]]
                if levels[other, axis] < level:
                    at += level * strides[axis]
        else:
            for axis in range(width):
                at += scaled[first[axis] + codes[other, axis]]
        table[at] += 1
    for axis in range(width):
        stride = strides[axis]
        block = stride * (heights[axis] + 1)
        for start in range(0, len(table), block):
            for at in range(start + stride, start + block):
                table[at] += table[at - stride]


@compiled
def _risk(table: Any, codes: Any, chosen: Any, base: float, axes: Any, tree: Any, index: Any, learnt: Any) -> Any:
    """The sum over kept sets with the record's values at the chosen levels."""
    heights, strides, begin, cards, _, _, weights = axes
    parent, last, chance, _, _, _, share = tree
    total = base
    for axis in range(len(chosen)):
        total += weights[begin[axis] + chosen[axis] * cards[axis] + codes[axis]]
    index[0] = len(table) - 1
    learnt[0] = total
    risk = 0.0 if share > 0 else total / table[index[0]]
    for node in range(1, len(last)):
        axis = last[node]
        level = chosen[axis]
        index[node] = index[parent[node]] - (heights[axis] - level) * strides[axis]
        learnt[node] = learnt[parent[node]] - weights[begin[axis] + level * cards[axis] + codes[axis]]
        risk += chance[node] * learnt[node] * (1.0 / table[index[node]] - share)
    return risk


@compiled
def _cost(axis: int, level: int, code: int, axes: Any) -> Any:
    return axes[5][axes[2][axis] + level * axes[3][axis] + code]


@compiled
def _widen(
    table: Any, codes: Any, chosen: Any, may: Any, base: float, axes: Any, tree: Any, limit: float, index: Any, learnt: Any
) -> Any:
    """Coarser step by step: always the cell that lowers the risk most for what it costs more."""
    heights = axes[0]
    now = _risk(table, codes, chosen, base, axes, tree, index, learnt)
    while now > limit:
        best, to, worth, after = -1, 0, -np.inf, now
        for axis in range(len(chosen)):
            if not may[axis]:
                continue
            level = chosen[axis]
            for higher in range(level + 1, heights[axis] + 1):
                chosen[axis] = higher
                risk = _risk(table, codes, chosen, base, axes, tree, index, learnt)
                more = max(_cost(axis, higher, codes[axis], axes) - _cost(axis, level, codes[axis], axes), 1e-9)
                # no cell needs to bring more than is asked for
                gain = (now - max(risk, limit)) / more
                if gain > worth:
                    best, to, worth, after = axis, higher, gain, risk
            chosen[axis] = level
        if best < 0:
            break
        chosen[best] = to
        now = after
    return now


@compiled
def _narrow(
    table: Any,
    codes: Any,
    start: Any,
    chosen: Any,
    base: float,
    axes: Any,
    tree: Any,
    limit: float,
    now: float,
    index: Any,
    learnt: Any,
) -> Any:
    """Give back what was not needed, the dearest cells first."""
    costs = np.empty(len(chosen))
    for axis in range(len(chosen)):
        costs[axis] = -_cost(axis, chosen[axis], codes[axis], axes)
    for axis in np.argsort(costs, kind="mergesort"):
        level = chosen[axis]
        for lower in range(start[axis], level):
            chosen[axis] = lower
            risk = _risk(table, codes, chosen, base, axes, tree, index, learnt)
            if risk <= max(limit, now):
                now = risk
                break
            chosen[axis] = level
    return now


@compiled
def narrowest(
    rows: Any, codes: Any, levels: Any, touched: Any, may: Any, bases: Any, axes: Any, tree: Any, limit: float, size: int,
    chosen: Any, risk: Any, start: int, stop: int,
) -> None:  # fmt: skip
    """For each record the levels that bring its risk to at most the limit, or as low as it gets, and that risk."""
    table = np.empty(size, np.int32)
    reach = np.empty(axes[3].sum(), np.int64)
    index, learnt = np.empty(len(tree[1]), np.int64), np.empty(len(tree[1]))
    for at in range(start, stop):
        row = rows[at]
        _fill(row, codes, levels, touched, axes, reach, table)
        chosen[at] = levels[row]
        now = _widen(table, codes[row], chosen[at], may, bases[at], axes, tree, limit, index, learnt)
        risk[at] = _narrow(table, codes[row], levels[row], chosen[at], bases[at], axes, tree, limit, now, index, learnt)
