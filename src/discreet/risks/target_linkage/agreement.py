"""Who agrees with a target on everything that is known of him: how many masked records, and which is the first.

Exact, for any mixture of unknown fields, blank cells, tolerances and coarse cells. Targets are taken by the fields that
are known of them; masked records are grouped on those fields. Where each value agrees with one value only, a hash
table answers; otherwise the groups, sorted, are searched like a tree: at each attribute only the agreeing branches are
followed, so that no pair of records that cannot agree is ever looked at. Memory is linear in both tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from discreet.engine.classes.groups import group_ids
from discreet.engine.linkage.comparisons import Comparison

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ROOM = 1 << 62


class Agreement(NamedTuple):
    """A number a target: how many masked records agree, and the row of the first of them (-1 where none does)."""

    counts: NDArray[np.int64]
    first: NDArray[np.int64]


def agreeing_records(comparisons: Sequence[Comparison], targets: int, masked: int) -> Agreement:
    """Count the masked records that agree with each target wherever both say something."""
    counts = np.full(targets, masked, dtype=np.int64)
    first = np.full(targets, 0 if masked else -1, dtype=np.int64)
    if not comparisons or not targets or not masked:
        return Agreement(counts, first)
    flags = [(one.targets != one.unknown).astype(np.uint8) for one in comparisons]
    ids, number = group_ids([(flag, 2) for flag in flags], targets)
    order = np.argsort(ids, kind="stable") if number > 1 else np.arange(targets)
    bounds = np.searchsorted(ids[order], np.arange(number + 1))
    for group in range(number):
        rows = order[bounds[group] : bounds[group + 1]]
        known = [one for one, flag in zip(comparisons, flags, strict=True) if flag[rows[0]]]
        if known:
            whole = len(rows) == targets
            counts[rows], first[rows] = _agreeing(known, slice(None) if whole else rows, masked)
    return Agreement(counts, first)


def _agreeing(known: Sequence[Comparison], rows: Any, masked: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    if all(one.single for one in known) and not any((one.masked == one.blank).any() for one in known):
        return _by_hash(known, rows)
    return _by_tree(known, rows, masked)


def _by_hash(known: Sequence[Comparison], rows: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    from discreet.risks.target_linkage.key_counts import count_keys

    asked = [_one_code(one)[one.targets[rows]] for one in known]
    left, right = packed_keys(asked, [one.masked for one in known], [one.blank + 1 for one in known])
    return count_keys(left, right)


def _one_code(one: Comparison) -> NDArray[np.int64]:
    """The masked code that each target value agrees with; the code of blanks, which nobody has, where there is none."""
    return np.where(one.last > one.first, one.first, one.blank)


def packed_keys(
    left: Sequence[NDArray[np.int64]], right: Sequence[NDArray[np.int64]], cardinalities: Sequence[int]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """One integer a row for each side, equal where all codes are equal."""
    one, two, room = left[0], right[0], cardinalities[0]
    for codes, others, cardinality in zip(left[1:], right[1:], cardinalities[1:], strict=True):
        if room * cardinality >= _ROOM:
            dense = np.unique(np.concatenate((one, two)), return_inverse=True)[1]
            one, two, room = dense[: len(one)], dense[len(one) :], len(dense)
        one, two, room = one * cardinality + codes, two * cardinality + others, room * cardinality
    return one, two


def _by_tree(known: Sequence[Comparison], rows: Any, masked: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    from discreet.risks.target_linkage.tree_search import search

    # few branches first: an attribute that agrees with one value of many leaves little to follow
    order = sorted(known, key=lambda one: float((one.counts() / max(masked, 1)).dot(one.counts())) + _blanks(one))
    groups, number = group_ids([(one.masked, one.blank + 1) for one in order], masked)
    sizes = np.bincount(groups, minlength=number)
    leader = np.empty(number, dtype=np.int64)
    leader[groups[::-1]] = np.arange(masked - 1, -1, -1)
    table = np.stack([one.masked[leader] for one in order], axis=1)
    lexical = np.lexsort(table.T[::-1])
    asked_groups, asked_number = group_ids([(one.targets[rows], one.unknown + 1) for one in order], len(order[0].targets[rows]))
    speaker = np.empty(asked_number, dtype=np.int64)
    speaker[asked_groups[::-1]] = np.arange(len(asked_groups) - 1, -1, -1)
    asked = np.stack([one.targets[rows][speaker] for one in order], axis=1)
    offsets = np.cumsum([0] + [one.unknown for one in order])[:-1]
    member_offsets = np.cumsum([0] + [len(one.members) for one in order])[:-1]
    counts, first = search(
        np.ascontiguousarray(table[lexical]), sizes[lexical], leader[lexical], asked, offsets,
        np.concatenate([one.first for one in order]), np.concatenate([one.last for one in order]),
        np.concatenate([one.starts[:-1] + at for one, at in zip(order, member_offsets, strict=True)]),
        np.concatenate([one.starts[1:] + at for one, at in zip(order, member_offsets, strict=True)]),
        np.concatenate([one.members for one in order]), np.array([one.blank for one in order]),
    )  # fmt: skip
    return counts[asked_groups], first[asked_groups]


def _blanks(one: Comparison) -> float:
    return float((one.masked == one.blank).sum())
