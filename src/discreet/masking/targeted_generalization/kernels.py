"""Compiled loops that find the narrowest cells that bring a record below a threshold.

A cell is a value generalized to a *level* of the attribute's hierarchy; at the last level it is suppressed. Two cells agree if
they overlap, that is if the values have the same label at the higher of the two levels. So for a record r, another record s and
an attribute there is a lowest level of r at which the two agree. All records are counted by these levels in a table with one axis
per attribute; its cumulative sums along every axis are the counts of every set at every choice of levels.

``axes`` is the tuple (heights, strides, starts, cardinalities, labels, costs, weights): height and stride of each axis, and
label, cost and weight of the value ``code`` at ``level`` at the position ``starts[axis] + level * cardinalities[axis] + code``.
``tree`` is that of :mod:`discreet.engine.targeting.kernels`.

The arrays that the loops share: ``codes`` and ``levels[record, axis]``, ``has_coarse_cells[record]`` (a level is above 0),
``table[cell]`` (counts, int32), ``chosen[axis]`` (the levels of the record), ``base`` (the weight of the attributes without an
axis). Scratch: ``cells[set]``, the cell of the table with the count of a set, and ``consequence[set]``, the total weight of the
attributes outside the set.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.engine.runtime.compiled import compiled


# Scratch: agreement[first[axis] + code], the lowest level at which the record's value and this code have the same label, and
# scaled, the same times the stride. O(codes * levels + records * axes + table * axes).
@compiled
def _count_by_agreement_level(
    row: int, codes: Any, levels: Any, has_coarse_cells: Any, axes: Any, agreement: Any, table: Any
) -> None:
    """Count all records by the lowest levels at which this record agrees with them, and sum along every axis."""
    heights, strides, starts, cardinalities, labels, _, _ = axes
    width = len(heights)
    first = np.zeros(width, np.int64)
    scaled = np.empty(len(agreement), np.int64)
    for axis in range(1, width):
        first[axis] = first[axis - 1] + cardinalities[axis - 1]
    for axis in range(width):
        own, cardinality = codes[row, axis], cardinalities[axis]
        for code in range(cardinality):
            level, begin = 0, starts[axis]
            while level < heights[axis] and labels[begin + own] != labels[begin + code]:
                level += 1
                begin += cardinality
            agreement[first[axis] + code] = level
            scaled[first[axis] + code] = level * strides[axis]
    table[:] = 0
    for other in range(len(codes)):
        cell = 0
        if has_coarse_cells[other]:
            for axis in range(width):
                level = agreement[first[axis] + codes[other, axis]]
                if levels[other, axis] < level:  # otherwise the other cell is so coarse that it agrees at any level
                    cell += level * strides[axis]
        else:
            for axis in range(width):
                cell += scaled[first[axis] + codes[other, axis]]
        table[cell] += 1
    for axis in range(width):
        stride = strides[axis]
        block = stride * (heights[axis] + 1)
        for start in range(0, len(table), block):
            for cell in range(start + stride, start + block):
                table[cell] += table[cell - stride]


@compiled
def _compute_risk(table: Any, codes: Any, chosen: Any, base: float, axes: Any, tree: Any, cells: Any, consequence: Any) -> Any:
    """The sum over kept sets (Orooji & Knapp (2018a), eq. 1, before alpha) with the record's values at the chosen levels.

    O(sets): the cell of a set follows from that of its parent, because its last attribute changes from the top level (which
    agrees with every record) to the chosen one.
    """
    heights, strides, starts, cardinalities, _, _, weights = axes
    parent, last, chance, _, _, _, share = tree
    total = base
    for axis in range(len(chosen)):
        total += weights[starts[axis] + chosen[axis] * cardinalities[axis] + codes[axis]]
    cells[0] = len(table) - 1
    consequence[0] = total
    risk = 0.0 if share > 0 else total / table[cells[0]]
    for node in range(1, len(last)):
        axis = last[node]
        level = chosen[axis]
        cells[node] = cells[parent[node]] - (heights[axis] - level) * strides[axis]
        consequence[node] = consequence[parent[node]] - weights[starts[axis] + level * cardinalities[axis] + codes[axis]]
        risk += chance[node] * consequence[node] * (1.0 / table[cells[node]] - share)
    return risk


@compiled
def _cell_cost(axis: int, level: int, code: int, axes: Any) -> Any:
    """The loss of one cell at a level: ``axes[2]`` are the offsets of the attributes, ``axes[3]`` their cardinalities."""
    return axes[5][axes[2][axis] + level * axes[3][axis] + code]


@compiled
def _coarsen_until_safe(
    table: Any, codes: Any, chosen: Any, allowed: Any, base: float, axes: Any, tree: Any, limit: float, cells: Any,
    consequence: Any,
) -> Any:  # fmt: skip
    """Raise the level of one cell at a time, always the one that lowers the risk most per unit of additional cost.

    Stops when the risk is at most the limit; returns the risk. O(levels * axes * sets) per step; writes ``chosen``.
    """
    heights = axes[0]
    current_risk = _compute_risk(table, codes, chosen, base, axes, tree, cells, consequence)
    while current_risk > limit:
        best, best_level, best_gain, risk_after = -1, 0, -np.inf, current_risk
        for axis in range(len(chosen)):
            if not allowed[axis]:
                continue
            level = chosen[axis]
            for higher in range(level + 1, heights[axis] + 1):
                chosen[axis] = higher
                risk = _compute_risk(table, codes, chosen, base, axes, tree, cells, consequence)
                extra_cost = max(_cell_cost(axis, higher, codes[axis], axes) - _cell_cost(axis, level, codes[axis], axes), 1e-9)
                # a reduction below the limit does not count
                gain = (current_risk - max(risk, limit)) / extra_cost
                if gain > best_gain:
                    best, best_level, best_gain, risk_after = axis, higher, gain, risk
            chosen[axis] = level
        if best < 0:
            break
        chosen[best] = best_level
        current_risk = risk_after
    return current_risk


@compiled
def _refine(
    table: Any,
    codes: Any,
    initial: Any,
    chosen: Any,
    base: float,
    axes: Any,
    tree: Any,
    limit: float,
    current_risk: float,
    cells: Any,
    consequence: Any,
) -> Any:
    """Lower levels again that were not needed, the most expensive cells first; returns the risk. O(levels * axes * sets)."""
    costs = np.empty(len(chosen))
    for axis in range(len(chosen)):
        costs[axis] = -_cell_cost(axis, chosen[axis], codes[axis], axes)
    for axis in np.argsort(costs, kind="mergesort"):
        level = chosen[axis]
        for lower in range(initial[axis], level):
            chosen[axis] = lower
            risk = _compute_risk(table, codes, chosen, base, axes, tree, cells, consequence)
            if risk <= max(limit, current_risk):
                current_risk = risk
                break
            chosen[axis] = level
    return current_risk


@compiled
def generalize_records(
    rows: Any, codes: Any, levels: Any, has_coarse_cells: Any, allowed: Any, base_weights: Any, axes: Any, tree: Any,
    limit: float, size: int, chosen: Any, risk: Any, start: int, stop: int,
) -> None:  # fmt: skip
    """The levels that bring the risk of each record to at most the limit, or as low as possible, and the risk.

    Writes ``chosen[index, axis]`` and ``risk[index]`` of the records ``rows[start:stop]``; ``size`` is the size of the table.
    O(records * axes) for each of them, so the total work is the product of all records and the records above the threshold.
    """
    table = np.empty(size, np.int32)
    agreement = np.empty(axes[3].sum(), np.int64)
    cells, consequence = np.empty(len(tree[1]), np.int64), np.empty(len(tree[1]))
    for index in range(start, stop):
        row = rows[index]
        _count_by_agreement_level(row, codes, levels, has_coarse_cells, axes, agreement, table)
        chosen[index] = levels[row]
        base = base_weights[index]
        current = _coarsen_until_safe(table, codes[row], chosen[index], allowed, base, axes, tree, limit, cells, consequence)
        risk[index] = _refine(table, codes[row], levels[row], chosen[index], base, axes, tree, limit, current, cells, consequence)
