"""Compiled loops of the count over known sets; see :mod:`discreet.engine.known_sets.counter` for what they are parts of.

A *list* is a pair of arrays: who (a record's row, or a query's slot) and in which group of the parent set it is. A key is
``group * cardinality + code``: the group of the set with one attribute more.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.engine.runtime.compiled import compiled

_TIE = 1e-12


@compiled
def count(who: Any, group: Any, codes: Any, cardinality: int, table: Any, start: int, stop: int) -> None:
    """Count the records of each key."""
    step, begin, end = np.uint64(cardinality), np.uint64(start), np.uint64(stop)  # unsigned: no check for negative places
    if who is None:
        for at in range(begin, end):
            table[group[at] * step + codes[at]] += np.int32(1)
    else:
        for at in range(begin, end):
            table[group[at] * step + codes[who[at]]] += np.int32(1)


@compiled
def look(who: Any, group: Any, codes: Any, cardinality: int, table: Any, found: Any, start: int, stop: int) -> None:
    """Add to each query the number of records that have its key."""
    step = np.uint64(cardinality)
    for at in range(np.uint64(start), np.uint64(stop)):
        slot = who[at]
        found[slot] += table[group[at] * step + codes[slot]]


@compiled
def mark(who: Any, group: Any, codes: Any, cardinality: int, table: Any, found: Any, marked: Any) -> int:
    """Mark the keys that a query which is not alone still asks for; how many such queries there are."""
    asking = 0
    for at in range(len(who)):
        slot = who[at]
        if found[slot] > 1:
            key = group[at] * cardinality + codes[slot]
            if table[key] > 0:
                marked[key] = 1
                asking += 1
    return asking


@compiled
def number(table: Any, marked: Any) -> tuple[int, int]:
    """Replace the counts by dense group numbers from 1, or 0 where nobody asks; how many groups and records stay."""
    groups, records = 0, 0
    for key in range(len(table)):
        if marked[key]:
            groups += 1
            records += table[key]
            table[key] = groups
        else:
            table[key] = 0
    return groups, records


@compiled
def staying(who: Any, group: Any, codes: Any, cardinality: int, table: Any, start: int, stop: int) -> int:
    """How many records of a slice are in a numbered group."""
    stay = 0
    for at in range(start, stop):
        row = at if who is None else who[at]
        stay += table[group[at] * cardinality + codes[row]] > 0
    return stay


@compiled
def keep(
    who: Any, group: Any, codes: Any, cardinality: int, table: Any, new_who: Any, new_group: Any, start: int, stop: int, to: int
) -> None:
    """Write the records that stay, with their new groups."""
    step, place = np.uint64(cardinality), np.uint64(to)
    for at in range(np.uint64(start), np.uint64(stop)):
        row = at if who is None else np.uint64(who[at])
        new = table[group[at] * step + codes[row]]
        if new > 0:
            if new_who is not None:
                new_who[place] = row
            new_group[place] = new - 1
            place += np.uint64(1)


@compiled
def keep_queries(
    who: Any, group: Any, codes: Any, cardinality: int, table: Any, found: Any, new_who: Any, new_group: Any
) -> None:
    """Write the queries that still ask, with their new groups."""
    to = 0
    for at in range(len(who)):
        slot = who[at]
        if found[slot] > 1:
            new = table[group[at] * cardinality + codes[slot]]
            if new > 0:
                new_who[to] = slot
                new_group[to] = new - 1
                to += 1


@compiled
def by_group(group: Any, groups: int) -> tuple[Any, Any]:
    """Positions sorted by group (counting sort), and where each group begins."""
    begin = np.zeros(groups + 1, dtype=np.int64)
    for at in range(len(group)):
        begin[group[at] + 1] += 1
    for one in range(groups):
        begin[one + 1] += begin[one]
    fill = begin[:-1].copy()
    order = np.empty(len(group), dtype=np.uint32)
    for at in range(len(group)):
        order[fill[group[at]]] = at
        fill[group[at]] += 1
    return order, begin


@compiled
def split(
    who: Any,
    codes: Any,
    order: Any,
    begin: Any,
    asking: Any,
    asked: Any,
    q_order: Any,
    q_begin: Any,
    cardinality: int,
    new: Any,
    q_new: Any,
) -> int:
    """Number the keys group by group with a table of one group only; how many occur. A query without one is given -1."""
    local = np.full(cardinality, -1, dtype=np.int64)
    touched = np.empty(cardinality, dtype=np.int64)
    keys = 0
    for group in range(len(begin) - 1):
        used = 0
        for place in range(begin[group], begin[group + 1]):
            at = order[place]
            code = codes[at if who is None else who[at]]
            if local[code] < 0:
                local[code] = keys
                touched[used] = code
                used += 1
                keys += 1
            new[at] = local[code]
        for place in range(q_begin[group], q_begin[group + 1]):
            at = q_order[place]
            q_new[at] = local[asked[asking[at]]]
        for at in range(used):
            local[touched[at]] = -1
    return keys


@compiled
def add_plain(
    active: Any,
    found: Any,
    pattern: Any,
    kept: Any,
    whole: Any,
    kept_below: Any,
    whole_below: Any,
    chance: float,
    node: int,
    rank: Any,
    near: Any,
    far: Any,
    likelihood: Any,
    top_node: Any,
    start: int,
    stop: int,
) -> None:
    """Add one known set's part where no attribute of it is sensitive: every part is then a number times the same consequence."""
    own_rank = rank[node]
    for at in range(start, stop):
        slot = active[at]
        shape = pattern[slot]
        if found[slot] == 1:
            near[slot] += kept_below[shape, 0]
            far[slot] += whole_below[shape, 0]
            part = chance
        else:
            inverse = 1.0 / found[slot]
            near[slot] += kept[shape, 0] * inverse
            far[slot] += whole[shape, 0] * inverse
            part = chance * inverse
        best = likelihood[slot]
        if part > best * (1 + _TIE) or (part >= best * (1 - _TIE) and own_rank < rank[top_node[slot]]):
            top_node[slot] = node
        likelihood[slot] = max(best, part)


@compiled
def add(
    active: Any,
    found: Any,
    pattern: Any,
    weight: Any,
    rest: Any,
    single: Any,
    kept: Any,
    whole: Any,
    kept_below: Any,
    whole_below: Any,
    member: Any,
    chance: float,
    node: int,
    rank: Any,
    near: Any,
    far: Any,
    likelihood: Any,
    top: Any,
    top_node: Any,
    start: int,
    stop: int,
) -> None:
    """Add one known set's part to every active query; those alone get the whole subtree at once."""
    singles = single.shape[1]
    own_rank = rank[node]
    for at in range(start, stop):
        slot = active[at]
        shape = pattern[slot]
        inverse = 1.0 / found[slot]
        learnt = weight[slot]
        if found[slot] == 1:
            value = kept_below[shape, 0] * learnt
            total = whole_below[shape, 0] * (learnt - rest[slot])
            for k in range(singles):
                value += kept_below[shape, k + 1] * single[slot, k]
                total += whole_below[shape, k + 1] * single[slot, k]
        else:
            value = kept[shape, 0] * learnt
            total = whole[shape, 0] * (learnt - rest[slot])
            for k in range(singles):
                value += kept[shape, k + 1] * single[slot, k]
                total += whole[shape, k + 1] * single[slot, k]
        for k in range(singles):
            if member[k]:
                learnt -= single[slot, k]
        near[slot] += value * inverse
        far[slot] += total * inverse
        likelihood[slot] = max(likelihood[slot], chance * inverse)
        part = chance * inverse * learnt
        if part > top[slot] * (1 + _TIE) or (part >= top[slot] * (1 - _TIE) and own_rank < rank[top_node[slot]]):
            top[slot] = part
            top_node[slot] = node


@compiled
def remain(active: Any, found: Any, new_active: Any) -> int:
    """Write the queries that are not alone; how many they are."""
    to = 0
    for at in range(len(active)):
        slot = active[at]
        if found[slot] > 1:
            new_active[to] = slot
            to += 1
    return to
