"""Blocking: the pairs of target and masked record that are worth comparing, where all of them are too many.

A rule is one attribute, or a few together; a pair is compared where it agrees on at least one rule. Rules are chosen by
the number of pairs they make: single attributes first, the most telling ones, as many as the budget allows; combinations
of two, then three, where no single attribute is telling enough. What is left out is counted, and never silently.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.linkage.comparisons import Comparison
from discreet.risks.target_linkage.agreement import packed_keys

if TYPE_CHECKING:
    from numpy.typing import NDArray

ALL_PAIRS = 1_000_000
_BUDGET_LEAST = 2_000_000
_BUDGET_PER_RECORD = 20


@dataclass(frozen=True)
class Pairs:
    """Pairs to compare: rows of targets and of masked records, the rules that made them, and how many were left out."""

    targets: NDArray[np.int64]
    masked: NDArray[np.int64]
    rules: tuple[tuple[str, ...], ...]
    left_out: int


def block(comparisons: Sequence[Comparison], targets: int, masked: int, *, all_pairs: int = ALL_PAIRS) -> Pairs:
    """The pairs to compare: all where there are few, those that agree on a rule otherwise."""
    total = targets * masked
    if total <= all_pairs or not comparisons:
        left, right = np.divmod(np.arange(total, dtype=np.int64), max(masked, 1))
        return Pairs(left, right, (), 0)
    budget = max(_BUDGET_LEAST, _BUDGET_PER_RECORD * (targets + masked))
    rules = _rules(comparisons, budget)
    found: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
    for number, rule in enumerate(rules):
        left, right = _pairs(rule)
        fresh = np.ones(len(left), dtype=np.bool_)
        for earlier in rules[:number]:  # a pair that an earlier rule made is not made again
            same = fresh.copy()
            for one in earlier:
                same &= _equal(one, left, right)
            fresh &= ~same
        found.append((left[fresh], right[fresh]))
    left, right = (np.concatenate(side) for side in zip(*found, strict=True))
    order = np.lexsort((right, left))
    names = tuple(tuple(one.name for one in rule) for rule in rules)
    return Pairs(left[order], right[order], names, total - len(left))


def _rules(comparisons: Sequence[Comparison], budget: int) -> list[tuple[Comparison, ...]]:
    for size in range(1, len(comparisons) + 1):
        sized = sorted(
            ((_number(rule), at, rule) for at, rule in enumerate(combinations(comparisons, size))), key=lambda entry: entry[:2]
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


def _codes(one: Comparison) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Codes on both sides that are equal where a pair agrees by one value; unknown and blank ones are equal to nothing."""
    size = one.blank
    if not one.unknown:
        return np.full(len(one.targets), size + 1), one.masked, size + 2
    lengths = np.diff(one.starts)
    listed = one.members[np.minimum(one.starts[:-1], max(len(one.members) - 1, 0))] if len(one.members) else one.first
    # where a value agrees with several, one stands for them: the middle of a run, the first of a list
    exact = np.where(one.last > one.first, (one.first + one.last) // 2, np.where(lengths > 0, listed, size + 1))
    codes = np.append(exact, size + 1)[one.targets]
    return codes, one.masked, size + 2


def _equal(one: Comparison, left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.bool_]:
    codes, held, _ = _codes(one)
    return np.asarray((codes[left] == held[right]) & (held[right] != one.blank))


def _number(rule: Sequence[Comparison]) -> int:
    asked, held = _keys(rule)
    distinct, counts = np.unique(held, return_counts=True)
    if not len(distinct):
        return 0
    at = np.minimum(np.searchsorted(distinct, asked), len(distinct) - 1)
    return int(counts[at][distinct[at] == asked].sum())


def _keys(rule: Sequence[Comparison]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Keys of both sides; rows that lack a field of the rule have keys that meet nobody."""
    coded = [_codes(one) for one in rule]
    asked, held = packed_keys([codes for codes, _, _ in coded], [codes for _, codes, _ in coded], [room for _, _, room in coded])
    silent = np.zeros(len(held), dtype=np.bool_)
    for one in rule:
        silent |= one.masked == one.blank
    return asked, np.where(silent, -1, held)


def _pairs(rule: Sequence[Comparison]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    asked, held = _keys(rule)
    order = np.argsort(held, kind="stable")
    ordered = held[order]
    low, high = np.searchsorted(ordered, asked, side="left"), np.searchsorted(ordered, asked, side="right")
    lengths = high - low
    steps = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return np.repeat(np.arange(len(asked)), lengths), order[np.repeat(low, lengths) + steps]
