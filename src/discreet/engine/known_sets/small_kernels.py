"""The loops of :mod:`discreet.engine.known_sets.kernels` with NumPy alone, for tables too small to load compiled code for.

Each function takes what its namesake takes and leaves the same numbers, to the last bit: a slot occurs at most once in a list, so
that a sum has the same terms in the same order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_TIE = 1e-12


def _rows(rows: Any, start: int, stop: int) -> Any:
    return slice(start, stop) if rows is None else rows[start:stop]


def _keys(codes: Any, rows: Any, group: Any, cardinality: int) -> Any:
    """The key of each member: its group times the cardinality, plus the code of its row or slot."""
    return group.astype(np.int64) * cardinality + codes[rows]


def count(rows: Any, group: Any, codes: Any, cardinality: int, table: Any, start: int, stop: int) -> None:
    keys = _keys(codes, _rows(rows, start, stop), group[start:stop], cardinality)
    table += np.bincount(keys, minlength=len(table)).astype(table.dtype)


def read_counts(queries: Any, group: Any, codes: Any, cardinality: int, table: Any, counts: Any, start: int, stop: int) -> None:
    slots = queries[start:stop]
    counts[slots] += table[_keys(codes, slots, group[start:stop], cardinality)]


def mark(queries: Any, group: Any, codes: Any, cardinality: int, table: Any, counts: Any, marked: Any) -> int:
    keys = _keys(codes, queries, group, cardinality)[counts[queries] > 1]
    keys = keys[table[keys] > 0]
    marked[keys] = 1
    return len(keys)


def number(table: Any, marked: Any) -> tuple[int, int]:
    chosen = np.flatnonzero(marked)
    records = int(table[chosen].sum())
    table[:] = 0
    table[chosen] = np.arange(1, len(chosen) + 1)
    return len(chosen), records


def staying(rows: Any, group: Any, codes: Any, cardinality: int, table: Any, start: int, stop: int) -> int:
    return int((table[_keys(codes, _rows(rows, start, stop), group[start:stop], cardinality)] > 0).sum())


def keep(
    rows: Any, group: Any, codes: Any, cardinality: int, table: Any, new_rows: Any, new_group: Any, start: int, stop: int, to: int
) -> None:
    new = table[_keys(codes, _rows(rows, start, stop), group[start:stop], cardinality)]
    stay = np.flatnonzero(new > 0)
    if new_rows is not None:
        new_rows[to : to + len(stay)] = stay + start if rows is None else rows[start:stop][stay]
    new_group[to : to + len(stay)] = new[stay] - 1


def keep_queries(
    queries: Any, group: Any, codes: Any, cardinality: int, table: Any, counts: Any, new_queries: Any, new_group: Any
) -> None:
    new = table[_keys(codes, queries, group, cardinality)]
    stay = np.flatnonzero((counts[queries] > 1) & (new > 0))
    new_queries[: len(stay)] = queries[stay]
    new_group[: len(stay)] = new[stay] - 1


def sort_by_group(group: Any, groups: int) -> tuple[Any, Any]:
    begin = np.zeros(groups + 1, dtype=np.int64)
    np.cumsum(np.bincount(group, minlength=groups)[:groups], out=begin[1:])
    return np.argsort(group, kind="stable").astype(np.uint32), begin


def add_plain(
    active: Any, counts: Any, pattern: Any, kept: Any, whole: Any, kept_below: Any, whole_below: Any, chance: float, node: int,
    rank: Any, near: Any, far: Any, likelihood: Any, top_node: Any, start: int, stop: int,
) -> None:  # fmt: skip
    slots = active[start:stop]
    shape, agreeing = pattern[slots], counts[slots]
    alone, inverse = agreeing == 1, 1.0 / agreeing
    near[slots] += np.where(alone, kept_below[shape, 0], kept[shape, 0] * inverse)
    far[slots] += np.where(alone, whole_below[shape, 0], whole[shape, 0] * inverse)
    part, best = np.where(alone, chance, chance * inverse), likelihood[slots]
    top_node[slots] = np.where(is_better(part, best, rank, node, top_node[slots]), node, top_node[slots])
    likelihood[slots] = np.maximum(best, part)


def add(
    active: Any, counts: Any, pattern: Any, weight: Any, rest: Any, single: Any, kept: Any, whole: Any, kept_below: Any,
    whole_below: Any, member: Any, chance: float, node: int, rank: Any, near: Any, far: Any, likelihood: Any, top: Any,
    top_node: Any, start: int, stop: int,
) -> None:  # fmt: skip
    slots = active[start:stop]
    shape, agreeing = pattern[slots], counts[slots]
    alone, inverse, learnt = (agreeing == 1)[:, None], 1.0 / agreeing, weight[slots]
    near_terms = np.where(alone, kept_below[shape], kept[shape])
    far_terms = np.where(alone, whole_below[shape], whole[shape])
    value, total = near_terms[:, 0] * learnt, far_terms[:, 0] * (learnt - rest[slots])
    for k in range(single.shape[1]):
        value += near_terms[:, k + 1] * single[slots, k]
        total += far_terms[:, k + 1] * single[slots, k]
        if member[k]:
            learnt = learnt - single[slots, k]
    near[slots] += value * inverse
    far[slots] += total * inverse
    likelihood[slots] = np.maximum(likelihood[slots], chance * inverse)
    part, best = chance * inverse * learnt, top[slots]
    better = is_better(part, best, rank, node, top_node[slots])
    top[slots] = np.where(better, part, best)
    top_node[slots] = np.where(better, node, top_node[slots])


def is_better(part: Any, best: Any, rank: Any, node: int, top_node: Any) -> Any:
    return (part > best * (1 + _TIE)) | ((part >= best * (1 - _TIE)) & (rank[node] < rank[top_node]))


def keep_not_alone(active: Any, counts: Any, new_active: Any) -> int:
    stay = active[counts[active] > 1]
    new_active[: len(stay)] = stay
    return len(stay)


def number_keys(
    rows: Any, codes: Any, order: Any, begin: Any, queries: Any, query_codes: Any, query_order: Any, query_begin: Any,
    cardinality: int, new: Any, query_new: Any,
) -> int:  # fmt: skip
    group = np.repeat(np.arange(len(begin) - 1), np.diff(begin))
    own = group * cardinality + codes[order if rows is None else rows[order]]
    occurring, first, dense = np.unique(own, return_index=True, return_inverse=True)
    rank = np.empty(len(occurring), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(occurring))  # keys are numbered as they first occur
    new[order] = rank[dense]
    queried = np.repeat(np.arange(len(query_begin) - 1), np.diff(query_begin)) * cardinality + query_codes[queries[query_order]]
    place = np.minimum(np.searchsorted(occurring, queried), max(len(occurring) - 1, 0))
    query_new[query_order] = np.where(occurring[place] == queried, rank[place], -1) if len(occurring) else -1
    return len(occurring)


def mark_heavy(codes: Any, heavy: Any, flags: Any) -> None:
    flags |= heavy[codes]
