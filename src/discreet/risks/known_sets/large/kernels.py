"""Compiled loops of the count over known sets for tables of many millions; see :mod:`discreet.risks.known_sets.large.sums`.

A *list* is ``rows`` (a record's row or a query's slot; None: all in order) and the group of each member in the parent set,
``NO_GROUP`` where the member has left. A key is ``group * cardinality + code``; without codes the group is the key.
``table[key]`` holds the number of records, or the new group number plus 1; ``marked[key]`` is 1 where a query with this key is
not unique; ``kind[slot]`` is the consequence class of a query. All loops are linear in their slice. Trap: ``NO_GROUP`` is a valid
integer, so every loop must test for it before it computes a key.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.engine.runtime.compiled import compiled

NO_GROUP = np.uint32(0xFFFFFFFF)


@compiled
def count(rows: Any, group: Any, codes: Any, cardinality: int, table: Any, start: int, stop: int) -> None:
    """Count the records of each key."""
    step = np.uint64(cardinality)
    for position in range(np.uint64(start), np.uint64(stop)):
        if group[position] != NO_GROUP:
            row = position if rows is None else np.uint64(rows[position])
            code = np.uint64(0) if codes is None else np.uint64(codes[row])
            table[group[position] * step + code] += np.int32(1)


@compiled
def add_set(
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
    """Add the term of one known set to every query: unique queries get the whole subtree, the keys of the others are marked."""
    step = np.uint64(cardinality)
    for position in range(np.uint64(start), np.uint64(stop)):
        if query_groups[position] != NO_GROUP:
            slot = position if queries is None else np.uint64(queries[position])
            code = np.uint64(0) if codes is None else np.uint64(codes[slot])
            key = query_groups[position] * step + code
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
def count_staying(rows: Any, group: Any, codes: Any, cardinality: int, table: Any, start: int, stop: int) -> int:
    """The number of members of a slice that are in a numbered group."""
    step, stay = np.uint64(cardinality), 0
    for position in range(np.uint64(start), np.uint64(stop)):
        if group[position] != NO_GROUP:
            row = position if rows is None else np.uint64(rows[position])
            code = np.uint64(0) if codes is None else np.uint64(codes[row])
            stay += table[group[position] * step + code] > 0
    return stay


@compiled
def regroup(rows: Any, group: Any, codes: Any, cardinality: int, table: Any, new: Any, start: int, stop: int) -> None:
    """Write the new group of each member; ``NO_GROUP`` for members that leave."""
    step = np.uint64(cardinality)
    for position in range(np.uint64(start), np.uint64(stop)):
        new[position] = NO_GROUP
        if group[position] != NO_GROUP:
            row = position if rows is None else np.uint64(rows[position])
            code = np.uint64(0) if codes is None else np.uint64(codes[row])
            number = table[group[position] * step + code]
            if number > 0:
                new[position] = number - 1


@compiled
def pack(
    rows: Any, group: Any, codes: Any, cardinality: int, table: Any, new_rows: Any, new: Any, start: int, stop: int, to: int
) -> None:
    """Write the members that stay, packed, with their new groups."""
    step, target = np.uint64(cardinality), np.uint64(to)
    for position in range(np.uint64(start), np.uint64(stop)):
        if group[position] != NO_GROUP:
            row = position if rows is None else np.uint64(rows[position])
            code = np.uint64(0) if codes is None else np.uint64(codes[row])
            number = table[group[position] * step + code]
            if number > 0:
                new_rows[target] = row
                new[target] = number - 1
                target += np.uint64(1)


@compiled
def sort_by_group(group: Any, groups: int) -> tuple[Any, Any]:
    """Positions sorted by group (counting sort) without members that left, and the start of each group."""
    begin = np.zeros(groups + 2, dtype=np.uint32)
    for position in range(len(group)):
        if group[position] != NO_GROUP:
            begin[group[position] + 2] += np.uint32(1)
    for number_of_group in range(groups):
        begin[number_of_group + 2] += begin[number_of_group + 1]
    order = np.empty(begin[groups + 1], dtype=np.uint32)
    for position in range(len(group)):
        if group[position] != NO_GROUP:
            order[begin[group[position] + 1]] = position
            begin[group[position] + 1] += np.uint32(1)
    return order, begin[:-1]
