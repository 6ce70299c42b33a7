"""Compiled loops that sum known sets over the rows of a cover; see :mod:`discreet.risks.known_sets.cover_sums`.

A *list* is ``rows`` (places in the cover's table of distinct rows; None: all in order) with the group of each in the parent set.
``weight[row]`` is the number of its records. A key is ``group * cardinality + code``; ``table[key]`` the number of records that
have it. All loops are linear in the list.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.engine.runtime.compiled import compiled


@compiled
def count_records(rows: Any, group: Any, codes: Any, cardinality: int, weight: Any, table: Any) -> None:
    """Add up the records of each key."""
    step = np.uint64(cardinality)
    for at in range(np.uint64(len(group))):
        row = at if rows is None else np.uint64(rows[at])
        table[group[at] * step + codes[row]] += weight[row]


@compiled
def add_set(
    rows: Any, group: Any, codes: Any, cardinality: int, table: Any, single: Any, own: Any, below: Any, column: int, sums: Any,
    marked: Any,
) -> None:  # fmt: skip
    """Add one known set to the sums of the rows.

    ``own`` are the set's coefficients: that of near, those of far by step (all 0 but ``column``), and, for each sensitive
    attribute, what is taken off near and then off far, times its weight ``single[row]``. ``below`` are the same for its whole
    subtree, which a row with a single record gets at once. ``marked[key]`` is set where a row goes on to larger sets.
    """
    step = np.uint64(cardinality)
    singles = single.shape[1]
    scalars = len(own) - 2 * singles
    for at in range(np.uint64(len(group))):
        row = at if rows is None else np.uint64(rows[at])
        key = group[at] * step + codes[row]
        agreeing = table[key]
        if agreeing == 1:
            for part in range(scalars):
                sums[row, part] += below[part]
            for k in range(singles):
                sums[row, scalars] += below[scalars + k] * single[row, k]
                sums[row, scalars + 1] += below[scalars + singles + k] * single[row, k]
        else:
            inverse = 1.0 / agreeing
            sums[row, 0] += own[0] * inverse
            sums[row, column] += own[column] * inverse
            for k in range(singles):
                sums[row, scalars] += own[scalars + k] * single[row, k] * inverse
                sums[row, scalars + 1] += own[scalars + singles + k] * single[row, k] * inverse
            if marked is not None:
                marked[key] = 1


@compiled
def descend(rows: Any, group: Any, codes: Any, cardinality: int, table: Any, new_rows: Any, new_group: Any) -> int:
    """Write the rows whose key got a number in ``table``, packed, with the number less 1 as their group; returns how many."""
    step = np.uint64(cardinality)
    to = np.uint64(0)
    for at in range(np.uint64(len(group))):
        row = at if rows is None else np.uint64(rows[at])
        number = table[group[at] * step + codes[row]]
        if number > 0:
            new_rows[to] = row
            new_group[to] = number - 1
            to += np.uint64(1)
    return int(to)


@compiled
def spread(slots: Any, of: Any, kind: Any, weight: Any, left: Any, sums: Any, near: Any, far: Any, start: int, stop: int) -> None:
    """Add the sums of the rows to the queries of a slice that have them (query ``at`` is record ``slots[at]``; None: ``at``).

    ``sums[row]`` are the coefficients of C (``weight[kind]``), those of what is left at each step (``left[kind, step]``), and,
    where the sets have sensitive attributes, what these take off near and far.
    """
    steps = left.shape[1]
    has_singles = sums.shape[1] > 1 + steps
    for at in range(np.uint64(start), np.uint64(stop)):
        row = of[at if slots is None else np.uint64(slots[at])]
        own = kind[at]
        value, total = weight[own] * sums[row, 0], 0.0
        for number in range(steps):
            total += left[own, number] * sums[row, 1 + number]
        if has_singles:
            value += sums[row, 1 + steps]
            total += sums[row, 2 + steps]
        near[at] += value
        far[at] += total
