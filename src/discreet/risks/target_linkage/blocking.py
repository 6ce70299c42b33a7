"""Blocking: a selection of the pairs of target and masked record to compare, where all of them would be too many.

A rule is one attribute or a combination; a pair is compared where it agrees on at least one rule. Rules are chosen by the number
of pairs they produce: single attributes first, the most selective ones, as many as the budget allows; combinations of two, then
three, where no single attribute is selective enough. The pairs that are left out are counted and reported.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.linkage.comparisons import Comparison
from discreet.risks.target_linkage.agreement import pack_keys

if TYPE_CHECKING:
    from numpy.typing import NDArray

ALL_PAIRS = 1_000_000
_BUDGET_LEAST = 2_000_000
_BUDGET_PER_RECORD = 20


@dataclass(frozen=True)
class Pairs:
    """Pairs to compare: rows of targets and of masked records, the blocking rules, and the number of pairs left out."""

    targets: NDArray[np.int64]
    masked: NDArray[np.int64]
    rules: tuple[tuple[str, ...], ...]
    left_out: int


def choose_pairs(comparisons: Sequence[Comparison], targets: int, masked: int, *, all_pairs: int = ALL_PAIRS) -> Pairs:
    """The pairs to compare: all where there are few, otherwise those that agree on a rule."""
    total = targets * masked
    if total <= all_pairs or not comparisons:
        left, right = np.divmod(np.arange(total, dtype=np.int64), max(masked, 1))
        return Pairs(left, right, (), 0)
    budget = max(_BUDGET_LEAST, _BUDGET_PER_RECORD * (targets + masked))
    rules = _choose_rules(comparisons, budget)
    pairs: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
    for number, rule in enumerate(rules):
        left, right = _pairs_of_rule(rule)
        is_new = np.ones(len(left), dtype=np.bool_)
        for earlier in rules[:number]:  # a pair that an earlier rule selected is not selected again
            also_earlier = is_new.copy()
            for comparison in earlier:
                also_earlier &= _equal(comparison, left, right)
            is_new &= ~also_earlier
        pairs.append((left[is_new], right[is_new]))
    left, right = (np.concatenate(side) for side in zip(*pairs, strict=True))
    order = np.lexsort((right, left))
    names = tuple(tuple(comparison.name for comparison in rule) for rule in rules)
    return Pairs(left[order], right[order], names, total - len(left))


def _choose_rules(comparisons: Sequence[Comparison], budget: int) -> list[tuple[Comparison, ...]]:
    for size in range(1, len(comparisons) + 1):
        sized = sorted(
            ((_count_pairs(rule), position, rule) for position, rule in enumerate(combinations(comparisons, size))),
            key=lambda entry: entry[:2],
        )
        chosen, used = [], 0
        for number, _, rule in sized:
            if used + number > budget:
                break
            if number:
                chosen.append(rule)
                used += number
        if chosen:
            return chosen
    return [tuple(comparisons)]


def _codes(comparison: Comparison) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Codes of both sides, equal where a pair agrees on a single value; unknown and blank values equal no code."""
    size = comparison.blank
    if not comparison.unknown:
        return np.full(len(comparison.targets), size + 1), comparison.masked, size + 2
    lengths, listed, one_of_list = comparison.listed.counts, comparison.listed, comparison.first
    if comparison.has_lists:
        one_of_list = listed.members[np.minimum(listed.starts[:-1], len(listed.members) - 1)]
    # a value that agrees with several is represented by one: the middle of a run, or the first of a list
    exact = np.where(
        comparison.last > comparison.first,
        (comparison.first + comparison.last) // 2,
        np.where(lengths > 0, one_of_list, size + 1),
    )
    codes = np.append(exact, size + 1)[comparison.targets]
    return codes, comparison.masked, size + 2


def _equal(comparison: Comparison, left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.bool_]:
    codes, masked_codes, _ = _codes(comparison)
    return np.asarray((codes[left] == masked_codes[right]) & (masked_codes[right] != comparison.blank))


def _count_pairs(rule: Sequence[Comparison]) -> int:
    target_keys, masked_keys = _keys(rule)
    distinct, counts = np.unique(masked_keys, return_counts=True)
    if not len(distinct):
        return 0
    index = np.minimum(np.searchsorted(distinct, target_keys), len(distinct) - 1)
    return int(counts[index][distinct[index] == target_keys].sum())


def _keys(rule: Sequence[Comparison]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Keys of both sides; rows that lack a field of the rule have keys that match no row."""
    coded = [_codes(comparison) for comparison in rule]
    target_keys, masked_keys = pack_keys(
        [codes for codes, _, _ in coded], [codes for _, codes, _ in coded], [cardinality for _, _, cardinality in coded]
    )
    is_blank = np.zeros(len(masked_keys), dtype=np.bool_)
    for comparison in rule:
        is_blank |= comparison.masked == comparison.blank
    return target_keys, np.where(is_blank, -1, masked_keys)


def _pairs_of_rule(rule: Sequence[Comparison]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    target_keys, masked_keys = _keys(rule)
    order = np.argsort(masked_keys, kind="stable")
    ordered = masked_keys[order]
    low, high = np.searchsorted(ordered, target_keys, side="left"), np.searchsorted(ordered, target_keys, side="right")
    lengths = high - low
    steps = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return np.repeat(np.arange(len(target_keys)), lengths), order[np.repeat(low, lengths) + steps]
