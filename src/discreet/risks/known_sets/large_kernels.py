"""Compiled loops of the count over known sets for tables of many millions; see :mod:`discreet.risks.known_sets.large`.

A *list* is ``rows`` (a record's row or a query's slot; None: all in order) and in which group of the parent set each member is,
``NOBODY`` where it left. A key is ``group * cardinality + code``; without codes the group is the key. ``table[key]`` holds the
number of records, or the new group number plus 1; ``marked[key]`` says that a query which is not alone has the key;
``kind[slot]`` numbers what would be disclosed of a query. All loops are linear in their slice. Trap: ``NOBODY`` is a group
number too, so every loop has to test for it before it computes a key.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.engine.runtime.compiled import compiled

NOBODY = np.uint32(0xFFFFFFFF)


@compiled
def count(rows: Any, group: Any, codes: Any, cardinality: int, table: Any, start: int, stop: int) -> None:
    """Count the records of each key."""
    step = np.uint64(cardinality)
    for at in range(np.uint64(start), np.uint64(stop)):
        if group[at] != NOBODY:
            row = at if rows is None else np.uint64(rows[at])
            code = np.uint64(0) if codes is None else np.uint64(codes[row])
            table[group[at] * step + code] += np.int32(1)


@compiled
def add(
    queries: Any,
    query_groups: Any,
    codes: Any,
    cardinality: int,
    table: Any,
    marked: Any,
    kind: Any,
    value: Any,
    total: Any,
    value_below: Any,
    total_below: Any,
    near: Any,
    far: Any,
    start: int,
    stop: int,
) -> None:
    """Add one known set's part to every query: those alone get the whole subtree, the keys of the others are marked."""
    step = np.uint64(cardinality)
    for at in range(np.uint64(start), np.uint64(stop)):
        if query_groups[at] != NOBODY:
            slot = at if queries is None else np.uint64(queries[at])
            code = np.uint64(0) if codes is None else np.uint64(codes[slot])
            key = query_groups[at] * step + code
            agreeing = table[key]
            if agreeing == 1:
                near[slot] += value_below[kind[slot]]
                far[slot] += total_below[kind[slot]]
            else:
                inverse = 1.0 / agreeing
                near[slot] += value[kind[slot]] * inverse
                far[slot] += total[kind[slot]] * inverse
                if marked is not None:
                    marked[key] = 1


@compiled
def read_counts(
    queries: Any, query_groups: Any, codes: Any, cardinality: int, table: Any, marked: Any, counts: Any, start: int, stop: int
) -> None:
    """Write each query's count; the keys of those that are not alone are marked."""
    step = np.uint64(cardinality)
    for at in range(np.uint64(start), np.uint64(stop)):
        if query_groups[at] != NOBODY:
            slot = at if queries is None else np.uint64(queries[at])
            code = np.uint64(0) if codes is None else np.uint64(codes[slot])
            key = query_groups[at] * step + code
            counts[slot] = table[key]
            if table[key] > 1:
                marked[key] = 1


@compiled
def staying(rows: Any, group: Any, codes: Any, cardinality: int, table: Any, start: int, stop: int) -> int:
    """How many of a slice are in a numbered group."""
    step, stay = np.uint64(cardinality), 0
    for at in range(np.uint64(start), np.uint64(stop)):
        if group[at] != NOBODY:
            row = at if rows is None else np.uint64(rows[at])
            code = np.uint64(0) if codes is None else np.uint64(codes[row])
            stay += table[group[at] * step + code] > 0
    return stay


@compiled
def regroup(rows: Any, group: Any, codes: Any, cardinality: int, table: Any, new: Any, start: int, stop: int) -> None:
    """Write the new groups beside the old ones, nobody's for those that leave."""
    step = np.uint64(cardinality)
    for at in range(np.uint64(start), np.uint64(stop)):
        new[at] = NOBODY
        if group[at] != NOBODY:
            row = at if rows is None else np.uint64(rows[at])
            code = np.uint64(0) if codes is None else np.uint64(codes[row])
            number = table[group[at] * step + code]
            if number > 0:
                new[at] = number - 1


@compiled
def keep(
    rows: Any, group: Any, codes: Any, cardinality: int, table: Any, new_rows: Any, new: Any, start: int, stop: int, to: int
) -> None:
    """Write those that stay one behind the other, with their new groups."""
    step, place = np.uint64(cardinality), np.uint64(to)
    for at in range(np.uint64(start), np.uint64(stop)):
        if group[at] != NOBODY:
            row = at if rows is None else np.uint64(rows[at])
            code = np.uint64(0) if codes is None else np.uint64(codes[row])
            number = table[group[at] * step + code]
            if number > 0:
                new_rows[place] = row
                new[place] = number - 1
                place += np.uint64(1)


@compiled
def sort_by_group(group: Any, groups: int) -> tuple[Any, Any]:
    """Positions sorted by group (counting sort) without those that left, and where each group begins."""
    begin = np.zeros(groups + 2, dtype=np.uint32)
    for at in range(len(group)):
        if group[at] != NOBODY:
            begin[group[at] + 2] += np.uint32(1)
    for number_of_group in range(groups):
        begin[number_of_group + 2] += begin[number_of_group + 1]
    order = np.empty(begin[groups + 1], dtype=np.uint32)
    for at in range(len(group)):
        if group[at] != NOBODY:
            order[begin[group[at] + 1]] = at
            begin[group[at] + 1] += np.uint32(1)
    return order, begin[:-1]


@compiled
def combine(kind: Any, codes: Any, weight: Any, weights: int, occurs: Any) -> None:
    """Mark the pairs of a kind and a weight that occur."""
    for at in range(len(kind)):
        occurs[np.uint64(kind[at]) * np.uint64(weights) + np.uint64(weight[codes[at]])] = 1


@compiled
def renumber(kind: Any, codes: Any, weight: Any, weights: int, table: Any, new: Any) -> None:
    """Write the number of each record's pair of kind and weight."""
    for at in range(len(kind)):
        new[at] = table[np.uint64(kind[at]) * np.uint64(weights) + np.uint64(weight[codes[at]])]


@compiled
def firsts(kind: Any, first: Any) -> None:
    """Write the first record of each kind."""
    for back in range(len(kind)):
        at = len(kind) - 1 - back
        first[kind[at]] = at
