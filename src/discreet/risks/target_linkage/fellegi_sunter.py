"""Fellegi and Sunter's theory of record linkage: how much an agreement, or a disagreement, speaks for a pair.

For one attribute, with m the probability that the records of one person agree and u the probability that a stranger
agrees with the target's value, the probability ratio is m/u where they agree, (1 - m)/(1 - u) where they do not and 1
where one of them says nothing; over attributes the ratios multiply. Error rates e = 1 - m are given, or estimated by
expectation and maximisation on the compared pairs.

Fellegi, I. P. & Sunter, A. B. (1969). A theory for record linkage. JASA 64, 1183-1210.
Winkler, W. E. (1988). Using the EM algorithm for weight computation in the Fellegi-Sunter model of record linkage. ASA.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from discreet.engine.linkage.comparisons import Comparison
from discreet.risks.target_linkage.blocking import Pairs

if TYPE_CHECKING:
    from numpy.typing import NDArray

_START = 0.9
_ROUNDS = 200
_LEAST_ERROR = 1e-6


class Linked(NamedTuple):
    """What comparing found of each target: sum of ratios, best record and its ratio, the second ratio, ties, candidates."""

    total: NDArray[np.float64]
    best: NDArray[np.int64]
    ratio: NDArray[np.float64]
    second: NDArray[np.float64]
    ties: NDArray[np.int64]
    candidates: NDArray[np.int64]


def agreements(comparisons: Sequence[Comparison], pairs: Pairs) -> NDArray[np.int8]:
    """A row an attribute, a column a pair: 1, 0, or -1 where one of them says nothing."""
    made = np.empty((len(comparisons), len(pairs.targets)), dtype=np.int8)
    for at, one in enumerate(comparisons):
        made[at] = one.agree(one.targets[pairs.targets], one.masked[pairs.masked])
    return made


def estimate_errors(found: NDArray[np.int8], chances: NDArray[np.float64], all_pairs: int, targets: int) -> NDArray[np.float64]:
    """Error rates by EM: a pair is a match with unknown share of all pairs; strangers agree with probability ``chances``.

    Pairs that blocking left out count as strangers, so u needs no correction for blocking.
    """
    patterns, times = _patterns(found)
    agree, differ = patterns == 1, patterns == 0
    stranger = np.prod(np.where(agree, chances, np.where(differ, 1 - chances, 1.0)), axis=1)
    match = np.full(patterns.shape[1], _START)
    share = min(1.0, targets / max(all_pairs, 1)) / 2
    for _ in range(_ROUNDS):
        same = share * np.prod(np.where(agree, match, np.where(differ, 1 - match, 1.0)), axis=1)
        weight = times * same / np.maximum(same + (1 - share) * stranger, np.finfo(float).tiny)
        known = (weight[:, None] * (agree | differ)).sum(axis=0)
        agreed = (weight[:, None] * agree).sum(axis=0)
        updated = np.where(known > 0, agreed / np.maximum(known, np.finfo(float).tiny), _START)
        updated = np.clip(updated, _LEAST_ERROR, 1 - _LEAST_ERROR)
        share = min(max(float(weight.sum()) / max(all_pairs, 1), np.finfo(float).tiny), 0.5)
        moved = float(np.abs(updated - match).max(initial=0.0))
        match = updated
        if moved < 1e-9:
            break
    return np.asarray(1 - match)


def _patterns(found: NDArray[np.int8]) -> tuple[NDArray[np.int8], NDArray[np.int64]]:
    """The different columns, as rows, and how often each occurs."""
    codes = np.zeros(found.shape[1], dtype=np.int64)
    for row in found:
        codes = codes * 3 + (row + 1)
        if len(found) > 39:  # base 3 no longer fits: keep the numbers dense
            codes = np.unique(codes, return_inverse=True)[1].astype(np.int64)
    _, first, times = np.unique(codes, return_index=True, return_counts=True)
    return found[:, first].T, times


def ratios(
    comparisons: Sequence[Comparison],
    found: NDArray[np.int8],
    pairs: Pairs,
    errors: Mapping[str, float] | None,
    chances: Mapping[str, NDArray[np.float64]],
) -> NDArray[np.float64]:
    """The probability ratio (4.11) of each pair: the product over the attributes.

    Without ``errors`` it is 1/P(ext) where nothing disagrees, a blank cell agreeing with anything, and 0 otherwise.
    """
    made = np.ones(len(pairs.targets))
    for one, row in zip(comparisons, found, strict=True):
        chance = np.append(chances[one.name], 1.0)
        values = one.targets[pairs.targets]
        if errors is None:
            made *= np.where(row == 0, 0.0, (1 / chance)[values])
            continue
        error = errors.get(one.name, 0.0)
        doubt = np.maximum(1 - chance, 1 / (len(one.masked) + 1))
        made *= np.where(row == 1, ((1 - error) / chance)[values], np.where(row == 0, (error / doubt)[values], 1.0))
    return made


def best_of(pairs: Pairs, ratio: NDArray[np.float64], targets: int) -> Linked:
    """Gather the pairs of each target, which lie together."""
    starts = np.searchsorted(pairs.targets, np.arange(targets + 1))
    some = np.flatnonzero(np.diff(starts) > 0)
    total, best_ratio, second = np.zeros(targets), np.zeros(targets), np.zeros(targets)
    best = np.full(targets, -1, dtype=np.int64)
    ties, candidates = np.zeros(targets, dtype=np.int64), np.zeros(targets, dtype=np.int64)
    if len(some):
        edges = starts[some]
        total[some] = np.add.reduceat(ratio, edges)
        best_ratio[some] = np.maximum.reduceat(ratio, edges)
        tied = (ratio >= best_ratio[pairs.targets] * (1 - 1e-12)) & (ratio > 0)
        ties[some] = np.add.reduceat(tied.astype(np.int64), edges)
        candidates[some] = np.add.reduceat((ratio >= 1 - 1e-12).astype(np.int64), edges)
        rows = np.flatnonzero(tied)
        best[pairs.targets[rows][::-1]] = pairs.masked[rows][::-1]
        first_tied = np.ones(len(rows), dtype=np.bool_)
        first_tied[1:] = pairs.targets[rows][1:] != pairs.targets[rows][:-1]
        rest = ratio.copy()
        rest[rows[first_tied]] = 0.0
        second[some] = np.maximum.reduceat(rest, edges)
    return Linked(total, best, best_ratio, second, ties, candidates)
