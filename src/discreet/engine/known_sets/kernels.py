"""Compiled loops of the count over known sets; see :mod:`discreet.engine.known_sets.counter` for what they are parts of.

The arrays that all of them share:

* a *list* of members: ``rows`` (a record's row in the table; None: all rows in order) or ``queries`` (a query's slot), and
  ``group``, the number of each member's group in the parent set, dense from 0;
* ``codes[row or slot]``: the code of the attribute that the set adds, below ``cardinality``;
* ``table[key]`` with ``key = group * cardinality + code``, the group in the set with one attribute more. It first holds the
  number of records, and after :func:`number` the new group number plus 1, or 0 where nobody is left;
* ``counts[slot]``: how many records agree with a query on the set at hand.

Each loop is linear in its slice ``start`` to ``stop`` unless it says otherwise. Slices run on several threads at once, so a loop
writes only to places of its own slice. Indices are unsigned where a loop is hot, because numba otherwise checks each for being
negative; an unsigned and a signed integer together become a float, so both sides of a sum have to be cast.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.engine.known_sets import small_kernels
from discreet.engine.runtime.compiled import compiled_unless_small

_TIE = 1e-12


@compiled_unless_small(small_kernels.count)
def count(rows: Any, group: Any, codes: Any, cardinality: int, table: Any, start: int, stop: int) -> None:
    """Add the records of a slice to ``table``. Trap: two slices must not share a table, for they would lose counts."""
    step, begin, end = np.uint64(cardinality), np.uint64(start), np.uint64(stop)  # unsigned: no check for negative places
    if rows is None:
        for at in range(begin, end):
            table[group[at] * step + codes[at]] += np.int32(1)
    else:
        for at in range(begin, end):
            table[group[at] * step + codes[rows[at]]] += np.int32(1)


@compiled_unless_small(small_kernels.read_counts)
def read_counts(queries: Any, group: Any, codes: Any, cardinality: int, table: Any, counts: Any, start: int, stop: int) -> None:
    """Add to each query's count the records that have its key; a query asks every class of records, so the counts add up."""
    step = np.uint64(cardinality)
    for at in range(np.uint64(start), np.uint64(stop)):
        slot = queries[at]
        counts[slot] += table[group[at] * step + codes[slot]]


@compiled_unless_small(small_kernels.mark)
def mark(queries: Any, group: Any, codes: Any, cardinality: int, table: Any, counts: Any, marked: Any) -> int:
    """Mark the keys that hold a query which is not alone (its count is above 1); returns how many such queries there are."""
    asking = 0
    for at in range(len(queries)):
        slot = queries[at]
        if counts[slot] > 1:
            key = group[at] * cardinality + codes[slot]
            if table[key] > 0:
                marked[key] = 1
                asking += 1
    return asking


@compiled_unless_small(small_kernels.number)
def number(table: Any, marked: Any) -> tuple[int, int]:
    """Replace the counts by dense group numbers from 1, or 0 where no query is left. O(keys).

    Returns how many groups and how many records stay. Trap: the counts are gone afterwards, so they have to be read before.
    """
    groups, records = 0, 0
    for key in range(len(table)):
        if marked[key]:
            groups += 1
            records += table[key]
            table[key] = groups
        else:
            table[key] = 0
    return groups, records


@compiled_unless_small(small_kernels.staying)
def staying(rows: Any, group: Any, codes: Any, cardinality: int, table: Any, start: int, stop: int) -> int:
    """How many records of a slice are in a numbered group, after :func:`number`."""
    stay = 0
    for at in range(start, stop):
        row = at if rows is None else rows[at]
        stay += table[group[at] * cardinality + codes[row]] > 0
    return stay


@compiled_unless_small(small_kernels.keep)
def keep(
    rows: Any, group: Any, codes: Any, cardinality: int, table: Any, new_rows: Any, new_group: Any, start: int, stop: int, to: int
) -> None:
    """Write the records of a slice that stay, from place ``to`` on, with their new groups.

    ``new_rows`` is None where all stay: the rows are then those of the parent. Trap: ``to`` must be the sum of what
    :func:`staying` says of the slices before, or slices write over each other.
    """
    step, place = np.uint64(cardinality), np.uint64(to)
    for at in range(np.uint64(start), np.uint64(stop)):
        row = at if rows is None else np.uint64(rows[at])
        new = table[group[at] * step + codes[row]]
        if new > 0:
            if new_rows is not None:
                new_rows[place] = row
            new_group[place] = new - 1
            place += np.uint64(1)


@compiled_unless_small(small_kernels.keep_queries)
def keep_queries(
    queries: Any, group: Any, codes: Any, cardinality: int, table: Any, counts: Any, new_queries: Any, new_group: Any
) -> None:
    """Write the queries that are not alone and whose key still has records here, with their new groups."""
    to = 0
    for at in range(len(queries)):
        slot = queries[at]
        if counts[slot] > 1:
            new = table[group[at] * cardinality + codes[slot]]
            if new > 0:
                new_queries[to] = slot
                new_group[to] = new - 1
                to += 1


@compiled_unless_small(small_kernels.sort_by_group)
def sort_by_group(group: Any, groups: int) -> tuple[Any, Any]:
    """Positions in a list sorted by group, and where each group begins. A stable counting sort: O(members + groups)."""
    begin = np.zeros(groups + 1, dtype=np.int64)
    for at in range(len(group)):
        begin[group[at] + 1] += 1
    for number in range(groups):
        begin[number + 1] += begin[number]
    fill = begin[:-1].copy()
    order = np.empty(len(group), dtype=np.uint32)
    for at in range(len(group)):
        order[fill[group[at]]] = at
        fill[group[at]] += 1
    return order, begin


@compiled_unless_small(small_kernels.number_keys)
def number_keys(
    rows: Any,
    codes: Any,
    order: Any,
    begin: Any,
    queries: Any,
    query_codes: Any,
    query_order: Any,
    query_begin: Any,
    cardinality: int,
    new: Any,
    query_new: Any,
) -> int:
    """Number the keys that occur, group by group, with a table of one group only; returns how many there are.

    For sets whose table of all keys would be much longer than the list. ``order`` and ``begin`` list the records by group,
    ``query_order`` and ``query_begin`` the queries; ``new`` and ``query_new`` receive each member's key, -1 for a query whose
    key no record has. O(records + queries + cardinality): only the codes that a group touched are reset.
    """
    local = np.full(cardinality, -1, dtype=np.int64)
    touched = np.empty(cardinality, dtype=np.int64)
    keys = 0
    for group in range(len(begin) - 1):
        used = 0
        for place in range(begin[group], begin[group + 1]):
            at = order[place]
            code = codes[at if rows is None else rows[at]]
            if local[code] < 0:
                local[code] = keys
                touched[used] = code
                used += 1
                keys += 1
            new[at] = local[code]
        for place in range(query_begin[group], query_begin[group + 1]):
            at = query_order[place]
            query_new[at] = local[query_codes[queries[at]]]
        for at in range(used):
            local[touched[at]] = -1
    return keys


@compiled_unless_small(small_kernels.add_plain)
def add_plain(
    active: Any,
    counts: Any,
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
    """Add one set to the active queries where no sensitive attribute occurs in any kept set. O(active).

    The consequence C (Orooji & Knapp (2018a), eq. 4) is then the same for every set, so it is multiplied once at the end, and
    only PK(S) / count (eq. 2) is added here. The arrays are those of :func:`add`.
    """
    own_rank = rank[node]
    for at in range(start, stop):
        slot = active[at]
        shape = pattern[slot]
        if counts[slot] == 1:
            near[slot] += kept_below[shape, 0]
            far[slot] += whole_below[shape, 0]
            part = chance
        else:
            inverse = 1.0 / counts[slot]
            near[slot] += kept[shape, 0] * inverse
            far[slot] += whole[shape, 0] * inverse
            part = chance * inverse
        best = likelihood[slot]
        if part > best * (1 + _TIE) or (part >= best * (1 - _TIE) and own_rank < rank[top_node[slot]]):
            top_node[slot] = node
        likelihood[slot] = max(best, part)


@compiled_unless_small(small_kernels.add)
def add(
    active: Any,
    counts: Any,
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
    """Add one set's term of Orooji & Knapp (2018a), eq. 1 (before alpha) to the active queries. O(active * singles).

    ``weight``, ``rest`` and ``single[slot, k]`` are C, D of the attributes in no kept set, and the weight of single k (see
    :mod:`discreet.engine.known_sets.terms`); ``kept`` and ``whole`` hold ``[pattern, 1 + singles]`` coefficients of this set,
    ``kept_below`` and ``whole_below`` the same summed over its subtree. ``near`` and ``far`` are the sums over kept sets and over
    all sets, ``likelihood`` the largest PK(S) / count (eq. 2), ``top`` and ``top_node`` the largest term and its set. A
    query with the count 1 has it in every larger set too, so it gets the whole subtree here and must not be active below. Trap:
    ties are broken by ``rank``, within a relative 1e-12, because the order of the walk is not that of the table.
    """
    singles = single.shape[1]
    own_rank = rank[node]
    for at in range(start, stop):
        slot = active[at]
        shape = pattern[slot]
        inverse = 1.0 / counts[slot]
        learnt = weight[slot]
        if counts[slot] == 1:
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


@compiled_unless_small(small_kernels.keep_not_alone)
def keep_not_alone(active: Any, counts: Any, new_active: Any) -> int:
    """Write the active queries that are not alone; returns how many there are."""
    to = 0
    for at in range(len(active)):
        slot = active[at]
        if counts[slot] > 1:
            new_active[to] = slot
            to += 1
    return to
