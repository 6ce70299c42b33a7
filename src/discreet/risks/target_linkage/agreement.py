"""The masked records that agree with a target on all attributes that the intruder knows: their number, and the first of them.

Exact for any mixture of unknown fields, blank cells, tolerances and coarse cells. Targets are processed by the set of their known
fields; masked records are grouped on those fields. Where each value agrees with a single value only, a hash table is used;
where the groups are few, one bit per group and value says which agree; otherwise the sorted groups are searched like a tree: at
each attribute only the agreeing branches are followed, so that pairs of records that cannot agree are never compared. Memory is
linear in both tables, but for the bits, which are bounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from discreet.engine.classes.groups import group_ids, number_distinct_rows
from discreet.engine.linkage.comparisons import Comparison
from discreet.engine.runtime.progress import report_progress
from discreet.risks.target_linkage.bit_rows import is_quicker_by_bits, search_bits

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MAX_KEY = 1 << 62
_QUERIES_PER_TURN = 1000
"""Distinct targets that the tree is searched for between two reports of progress."""


class Agreement(NamedTuple):
    """For each target the number of agreeing masked records, and the row of the first of them (-1 for none)."""

    counts: NDArray[np.int64]
    first: NDArray[np.int64]


def count_agreeing_records(comparisons: Sequence[Comparison], targets: int, masked: int) -> Agreement:
    """Count the masked records that agree with each target on all attributes that are known of it and not blank in the record."""
    counts = np.full(targets, masked, dtype=np.int64)
    first = np.full(targets, 0 if masked else -1, dtype=np.int64)
    if not comparisons or not targets or not masked:
        return Agreement(counts, first)
    comparisons = _few_agreeing_first(comparisons, masked)
    flags = [(comparison.targets != comparison.unknown).astype(np.uint8) for comparison in comparisons]
    ids, number = group_ids([(flag, 2) for flag in flags], targets)
    order = np.argsort(ids, kind="stable") if number > 1 else np.arange(targets)
    bounds = np.searchsorted(ids[order], np.arange(number + 1))
    distinct = _distinct_rows(comparisons, np.arange(masked), np.ones(masked, dtype=np.int64)) if number > 1 else None
    for group in range(number):
        rows = order[bounds[group] : bounds[group + 1]]
        known = [comparison for comparison, flag in zip(comparisons, flags, strict=True) if flag[rows[0]]]
        if known:
            all_targets = len(rows) == targets
            counts[rows], first[rows] = _count_agreeing(known, slice(None) if all_targets else rows, masked, distinct)
    return Agreement(counts, first)


class _DistinctRows(NamedTuple):
    """The masked rows that differ in some attribute: the first record of each, in ascending order, and its number of records."""

    first: NDArray[np.int64]
    sizes: NDArray[np.int64]


def _distinct_rows(comparisons: Sequence[Comparison], records: NDArray[np.int64], sizes: NDArray[np.int64]) -> _DistinctRows:
    """The distinct rows of some records, which are in ascending order; each stands for as many records as its size says."""
    groups, number = number_distinct_rows([(one.masked[records], one.blank + 1) for one in comparisons], len(records))
    first = np.empty(number, dtype=np.int64)
    first[groups[::-1]] = records[::-1]
    order = np.argsort(first, kind="stable")
    together = np.zeros(number, dtype=np.int64)
    np.add.at(together, groups, sizes)
    return _DistinctRows(first[order], together[order])


def _few_agreeing_first(comparisons: Sequence[Comparison], masked: int) -> list[Comparison]:
    """The comparisons, attributes with few agreeing records first, so that few branches of the tree remain to be followed."""

    def expected(comparison: Comparison) -> float:
        counts = comparison.counts()
        return float((counts / max(masked, 1)).dot(counts)) + float(counts[comparison.blank])

    return sorted(comparisons, key=expected)


def _count_agreeing(
    known: Sequence[Comparison], rows: Any, masked: int, distinct: _DistinctRows | None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    if all(comparison.single for comparison in known) and not any(
        (comparison.masked == comparison.blank).any() for comparison in known
    ):
        return _count_by_hash(known, rows)
    if distinct is None:
        distinct = _DistinctRows(np.arange(masked), np.ones(masked, dtype=np.int64))
    return _count_distinct_rows(known, rows, distinct)


def _count_by_hash(known: Sequence[Comparison], rows: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    from discreet.risks.target_linkage.key_counts import count_keys

    target_codes = [_agreeing_code(comparison)[comparison.targets[rows]] for comparison in known]
    left, right = pack_keys(
        target_codes, [comparison.masked for comparison in known], [comparison.blank + 1 for comparison in known]
    )
    return count_keys(left, right)


def _agreeing_code(comparison: Comparison) -> NDArray[np.int64]:
    """The masked code that each target value agrees with; where there is none, the code of blanks, which no record has here."""
    return np.where(comparison.last > comparison.first, comparison.first, comparison.blank)


def pack_keys(
    left: Sequence[NDArray[np.int64]], right: Sequence[NDArray[np.int64]], cardinalities: Sequence[int]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """One integer key per row of each side, equal where all codes are equal."""
    left_keys, right_keys, key_count = left[0], right[0], cardinalities[0]
    for left_codes, right_codes, cardinality in zip(left[1:], right[1:], cardinalities[1:], strict=True):
        if key_count * cardinality >= _MAX_KEY:
            dense = np.unique(np.concatenate((left_keys, right_keys)), return_inverse=True)[1]
            left_keys, right_keys, key_count = dense[: len(left_keys)], dense[len(left_keys) :], len(dense)
        left_keys, right_keys, key_count = (
            left_keys * cardinality + left_codes,
            right_keys * cardinality + right_codes,
            key_count * cardinality,
        )
    return left_keys, right_keys


def _count_distinct_rows(
    order: Sequence[Comparison], rows: Any, distinct: _DistinctRows
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Each distinct target against the distinct masked rows, by bits or by the tree."""
    first_row, sizes = _distinct_rows(order, *distinct)
    table = np.stack([comparison.masked[first_row] for comparison in order], axis=1)
    target_groups, target_group_count = number_distinct_rows(
        [(comparison.targets[rows], comparison.unknown + 1) for comparison in order], len(order[0].targets[rows])
    )
    first_target = np.empty(target_group_count, dtype=np.int64)
    first_target[target_groups[::-1]] = np.arange(len(target_groups) - 1, -1, -1)
    queries = np.stack([comparison.targets[rows][first_target] for comparison in order], axis=1)
    if is_quicker_by_bits(order[0], table, queries):
        counts, first = search_bits(order, table, sizes, first_row, queries)
    else:
        counts, first = _search_sorted_rows(order, table, sizes, first_row, queries)
    return counts[target_groups], first[target_groups]


def _search_sorted_rows(
    order: Sequence[Comparison], table: NDArray[np.int64], sizes: NDArray[np.int64], first_row: NDArray[np.int64],
    queries: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:  # fmt: skip
    from discreet.risks.target_linkage.tree_search import search_tree

    lexical = np.lexsort(table.T[::-1])
    offsets = np.cumsum([0] + [comparison.unknown for comparison in order])[:-1]
    lists = [comparison.listed for comparison in order]
    member_offsets = np.cumsum([0] + [len(listed.members) for listed in lists])[:-1]
    rows = (np.ascontiguousarray(table[lexical]), sizes[lexical], first_row[lexical])
    agreeing = (
        offsets,
        np.concatenate([comparison.first for comparison in order]), np.concatenate([comparison.last for comparison in order]),
        np.concatenate([listed.starts[:-1] + offset for listed, offset in zip(lists, member_offsets, strict=True)]),
        np.concatenate([listed.starts[1:] + offset for listed, offset in zip(lists, member_offsets, strict=True)]),
        np.concatenate([listed.members for listed in lists]), np.array([comparison.blank for comparison in order]),
    )  # fmt: skip
    counts, first = np.zeros(len(queries), dtype=np.int64), np.full(len(queries), -1, dtype=np.int64)
    for begin in range(0, len(queries), _QUERIES_PER_TURN):
        report_progress("target_linkage", begin, len(queries))
        turn = slice(begin, begin + _QUERIES_PER_TURN)
        counts[turn], first[turn] = search_tree(*rows, queries[turn], *agreeing)
    return counts, first
