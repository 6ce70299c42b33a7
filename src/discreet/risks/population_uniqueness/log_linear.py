"""Poisson log-linear models of the class sizes: independent keys, all two-way interactions, or interactions that are chosen.

A class has an expected number mu = pi lambda of records in the sample. For a sample unique, F - 1 is Poisson((1 - pi) lambda)
(Skinner & Holmes 1998; Skinner & Shlomo 2008): with m = (1 - pi) lambda, P(F = 1) = exp(-m) and E(1/F) = (1 - exp(-m)) / m.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import prod
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from discreet.engine.classes.groups import group_ids
from discreet.errors import DataError

if TYPE_CHECKING:
    from numpy.typing import NDArray

Terms = Literal["main", "two_way", "chosen"]
_MOST_CELLS = 1 << 25
_SWEEPS = 40
_CONVERGED = 1e-6
_SMOOTHING = 1.0
_SEED = 20_081_003


def expected_sample_sizes(
    codes: Sequence[NDArray[Any]], cardinalities: Sequence[int], counts: NDArray[np.int64], terms: Terms
) -> NDArray[np.float64]:
    """The fitted mu of each class that the sample has."""
    if not len(counts):
        return np.zeros(0)
    if terms == "two_way" and len(codes) > 2:
        return _two_way(codes, counts)
    if terms == "main":
        return _product(codes, cardinalities, counts, dict.fromkeys(range(len(codes)), ()))
    return _product(codes, cardinalities, counts, choose_parents(codes, cardinalities, counts))


def poisson_uniques(mu: NDArray[np.float64], fraction: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """P(F = 1) and E(1/F) of sample uniques with these expected sample sizes."""
    unsampled = (1 - fraction) / fraction * mu
    with np.errstate(invalid="ignore", divide="ignore"):
        inverse = np.where(unsampled > 1e-12, -np.expm1(-unsampled) / unsampled, 1.0)
    return np.exp(-unsampled), inverse


def _two_way(codes: Sequence[NDArray[Any]], counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """All two-way interactions by iterative proportional fitting over all cells, those without records included."""
    used = [np.unique(column, return_inverse=True) for column in codes]
    shape = tuple(len(values) for values, _ in used)
    if prod(shape) > _MOST_CELLS:
        raise DataError(
            f"population_uniqueness: two-way terms need the table of all {prod(shape):,} combinations of key values, more than "
            f"{_MOST_CELLS:,}; use terms: chosen or model: auto, or fewer keys"
        )
    places = tuple(inverse for _, inverse in used)
    pairs = list(combinations(range(len(shape)), 2))
    margins = {}
    for pair in pairs:
        margin = np.zeros((shape[pair[0]], shape[pair[1]]))
        np.add.at(margin, (places[pair[0]], places[pair[1]]), counts)
        margins[pair] = margin
    fitted = np.full(shape, counts.sum() / prod(shape))
    for _ in range(_SWEEPS):
        worst = 0.0
        for pair in pairs:
            others = tuple(axis for axis in range(len(shape)) if axis not in pair)
            current = fitted.sum(axis=others)
            worst = max(worst, float(np.abs(current - margins[pair]).max()))
            with np.errstate(invalid="ignore", divide="ignore"):
                factor = np.where(current > 0, margins[pair] / current, 0.0)
            fitted *= np.expand_dims(factor, others)
        if worst < _CONVERGED * max(1.0, float(counts.sum())):
            break
    return np.asarray(fitted[places])


def _product(
    codes: Sequence[NDArray[Any]],
    cardinalities: Sequence[int],
    counts: NDArray[np.int64],
    parents: dict[int, tuple[int, ...]],
) -> NDArray[np.float64]:
    """The maximum-likelihood fit of a decomposable model: n x product over keys of n(key, parents) / n(parents)."""
    total = float(counts.sum())
    mu = np.full(len(counts), total)
    for key, known in parents.items():
        together = _counts_of(codes, cardinalities, counts, (*known, key))
        mu *= together / (_counts_of(codes, cardinalities, counts, known) if known else total)
    return mu


def _counts_of(
    codes: Sequence[NDArray[Any]], cardinalities: Sequence[int], counts: NDArray[Any], keys: tuple[int, ...]
) -> NDArray[np.float64]:
    ids, number = group_ids([(codes[key], cardinalities[key]) for key in keys], len(counts))
    return np.asarray(np.bincount(ids, weights=counts, minlength=number)[ids])


def choose_parents(
    codes: Sequence[NDArray[Any]], cardinalities: Sequence[int], counts: NDArray[np.int64]
) -> dict[int, tuple[int, ...]]:
    """For each key none, one or two keys before it on which it depends, so that the model is decomposable.

    Too few terms underfit and too many overfit: each choice is the one whose fit to a random half of the records gives the other
    half the largest likelihood. Two keys can be parents only where they depend on each other.
    """
    order = np.lexsort([np.asarray(column) for column in reversed(codes)])
    half = np.zeros(len(counts))
    half[order] = np.random.default_rng(_SEED).binomial(counts[order], 0.5)
    other = counts - half
    keys = sorted(range(len(codes)), key=lambda key: (-cardinalities[key], key))
    parents: dict[int, tuple[int, ...]] = {}
    linked: set[tuple[int, int]] = set()
    for key in keys:
        pairs = [pair for pair in combinations(sorted(parents), 2) if pair in linked]
        candidates: list[tuple[int, ...]] = [(), *((known,) for known in parents), *pairs]
        best = max(
            candidates,
            key=lambda known: sum(
                _held_out(codes, cardinalities, fit, rest, key, known) for fit, rest in ((half, other), (other, half))
            ),
        )
        parents[key] = best
        linked |= {(min(known, key), max(known, key)) for known in best}
    return parents


def _held_out(
    codes: Sequence[NDArray[Any]],
    cardinalities: Sequence[int],
    fit: NDArray[np.float64],
    rest: NDArray[np.float64],
    key: int,
    known: tuple[int, ...],
) -> float:
    """The log-likelihood of one half's values of a key, given its parents, by the smoothed shares of the other half."""
    share = (_counts_of(codes, cardinalities, fit, (key,)) + _SMOOTHING / cardinalities[key]) / (fit.sum() + _SMOOTHING)
    if known:
        together = _counts_of(codes, cardinalities, fit, (*known, key))
        share = (together + _SMOOTHING * share) / (_counts_of(codes, cardinalities, fit, known) + _SMOOTHING)
    return float((rest * np.log(share)).sum())
