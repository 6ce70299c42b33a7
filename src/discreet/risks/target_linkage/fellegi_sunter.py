"""Probabilistic record linkage (Fellegi & Sunter 1969): the likelihood ratio of a pair from agreements and disagreements.

For one attribute, with m the probability that two records of the same person agree and u the probability that another person's
record agrees with the target's value, the likelihood ratio is m/u for agreement, (1 - m)/(1 - u) for disagreement and 1 where
either value is missing; the ratios of the attributes are multiplied. Error rates e = 1 - m are given, or estimated by expectation
maximisation (EM) on the compared pairs.

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


class BestLinks(NamedTuple):
    """For each target: sum of ratios, best record and its ratio, second best ratio, ties of the best, and candidates."""

    total: NDArray[np.float64]
    best: NDArray[np.int64]
    ratio: NDArray[np.float64]
    second: NDArray[np.float64]
    ties: NDArray[np.int64]
    candidates: NDArray[np.int64]


def compare_pairs(comparisons: Sequence[Comparison], pairs: Pairs) -> NDArray[np.int8]:
    """One row per attribute, one column per pair: 1 agreement, 0 disagreement, -1 where either value is missing."""
    outcomes = np.empty((len(comparisons), len(pairs.targets)), dtype=np.int8)
    for row, comparison in enumerate(comparisons):
        outcomes[row] = comparison.compare_codes(comparison.targets[pairs.targets], comparison.masked[pairs.masked])
    return outcomes


def estimate_errors(
    outcomes: NDArray[np.int8], chances: NDArray[np.float64], all_pairs: int, targets: int
) -> NDArray[np.float64]:
    """Error rates by EM (Winkler 1988): an unknown share of all pairs are matches; other pairs agree with probability
    ``chances``.

    Pairs that blocking left out count as non-matches, so u needs no correction for blocking.
    """
    patterns, times = _patterns(outcomes)
    agree, differ = patterns == 1, patterns == 0
    unmatched = np.prod(np.where(agree, chances, np.where(differ, 1 - chances, 1.0)), axis=1)
    agreement_rates = np.full(patterns.shape[1], _START)
    match_share = min(1.0, targets / max(all_pairs, 1)) / 2
    for _ in range(_ROUNDS):
        matched = match_share * np.prod(np.where(agree, agreement_rates, np.where(differ, 1 - agreement_rates, 1.0)), axis=1)
        weight = times * matched / np.maximum(matched + (1 - match_share) * unmatched, np.finfo(float).tiny)
        known = (weight[:, None] * (agree | differ)).sum(axis=0)
        agreed = (weight[:, None] * agree).sum(axis=0)
        updated = np.where(known > 0, agreed / np.maximum(known, np.finfo(float).tiny), _START)
        updated = np.clip(updated, _LEAST_ERROR, 1 - _LEAST_ERROR)
        match_share = min(max(float(weight.sum()) / max(all_pairs, 1), np.finfo(float).tiny), 0.5)
        change = float(np.abs(updated - agreement_rates).max(initial=0.0))
        agreement_rates = updated
        if change < 1e-9:
            break
    return np.asarray(1 - agreement_rates)


def _patterns(outcomes: NDArray[np.int8]) -> tuple[NDArray[np.int8], NDArray[np.int64]]:
    """The distinct columns, as rows, and the number of times each occurs."""
    codes = np.zeros(outcomes.shape[1], dtype=np.int64)
    for row in outcomes:
        codes = codes * 3 + (row + 1)
        if len(outcomes) > 39:  # a base-3 number no longer fits into 64 bits: renumber densely
            codes = np.unique(codes, return_inverse=True)[1].astype(np.int64)
    _, first, times = np.unique(codes, return_index=True, return_counts=True)
    return outcomes[:, first].T, times


def likelihood_ratios(
    comparisons: Sequence[Comparison],
    outcomes: NDArray[np.int8],
    pairs: Pairs,
    errors: Mapping[str, float] | None,
    chances: Mapping[str, NDArray[np.float64]],
) -> NDArray[np.float64]:
    """The likelihood ratio of each pair (Truta et al., eq. 4.11): the product over the attributes.

    Without ``errors`` it is 1/P(ext) where nothing disagrees, a blank cell agreeing with anything, and 0 otherwise.
    """
    ratios = np.ones(len(pairs.targets))
    for comparison, row in zip(comparisons, outcomes, strict=True):
        chance = np.append(chances[comparison.name], 1.0)
        values = comparison.targets[pairs.targets]
        if errors is None:
            ratios *= np.where(row == 0, 0.0, (1 / chance)[values])
            continue
        error = errors.get(comparison.name, 0.0)
        complement = np.maximum(1 - chance, 1 / (len(comparison.masked) + 1))
        ratios *= np.where(row == 1, ((1 - error) / chance)[values], np.where(row == 0, (error / complement)[values], 1.0))
    return ratios


def best_links(pairs: Pairs, ratio: NDArray[np.float64], targets: int) -> BestLinks:
    """The best links of each target; the pairs of a target are contiguous."""
    starts = np.searchsorted(pairs.targets, np.arange(targets + 1))
    with_pairs = np.flatnonzero(np.diff(starts) > 0)
    total, best_ratio, second = np.zeros(targets), np.zeros(targets), np.zeros(targets)
    best = np.full(targets, -1, dtype=np.int64)
    ties, candidates = np.zeros(targets, dtype=np.int64), np.zeros(targets, dtype=np.int64)
    if len(with_pairs):
        edges = starts[with_pairs]
        total[with_pairs] = np.add.reduceat(ratio, edges)
        best_ratio[with_pairs] = np.maximum.reduceat(ratio, edges)
        tied = (ratio >= best_ratio[pairs.targets] * (1 - 1e-12)) & (ratio > 0)
        ties[with_pairs] = np.add.reduceat(tied.astype(np.int64), edges)
        candidates[with_pairs] = np.add.reduceat((ratio >= 1 - 1e-12).astype(np.int64), edges)
        rows = np.flatnonzero(tied)
        best[pairs.targets[rows][::-1]] = pairs.masked[rows][::-1]
        first_tied = np.ones(len(rows), dtype=np.bool_)
        first_tied[1:] = pairs.targets[rows][1:] != pairs.targets[rows][:-1]
        rest = ratio.copy()
        rest[rows[first_tied]] = 0.0
        second[with_pairs] = np.maximum.reduceat(rest, edges)
    return BestLinks(total, best, best_ratio, second, ties, candidates)
