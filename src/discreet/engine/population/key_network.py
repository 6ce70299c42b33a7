"""A Bayesian network of the keys: expected class sizes from conditional shares, smoothed towards fewer conditions.

Each key depends on up to three keys before it. With parents p_1, p_2, ... in the order of their choice, the share of a value v is

    q_0(v) = (n(v) + 1/2) / (n + V/2),      q_d(v) = (n(v, p_1..p_d) + a_d q_(d-1)(v)) / (n(p_1..p_d) + a_d),

so that a combination of parents with few records falls back to fewer parents (Jelinek & Mercer 1980). The expected size of a
class is n times the product of its shares. Log-linear models with main effects and decomposable interactions are special cases.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from discreet.engine.classes.groups import group_ids, refine_groups
from discreet.engine.runtime.progress import report_progress

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST_PARENTS = 3
_STRENGTHS = (1.0, 4.0, 16.0, 64.0)
"""The a_d that are tried: how many records the share with one parent less is worth."""
_LEAST_GAIN = 1.0
"""A parent is added where the left-out log-likelihood grows by more than this."""


class Dependence(NamedTuple):
    """The keys that one key depends on, in the order of their choice, and the strength of the smoothing at each."""

    key: int
    parents: tuple[int, ...]
    strengths: tuple[float, ...]


def expected_class_sizes(
    codes: Sequence[NDArray[Any]], cardinalities: Sequence[int], counts: NDArray[np.int64], small: int
) -> tuple[NDArray[np.float64], list[Dependence]]:
    """The logarithm of the expected size of each class, from the records of all other classes, and the network.

    A class never predicts itself: all its records are left out of every count. The total stays that of all records, because less
    the class it would give the class's size away. Parents and strengths are those with the largest likelihood of the records in
    classes of up to ``small`` records, each left out alone. Keys with more values come first.

    Costs O(keys^2 x parents) groupings of the classes.
    """
    total = float(counts.sum())
    whole = counts.astype(np.float64)
    weights = np.where(counts <= small, whole, 0.0)
    size = np.full(len(counts), np.log(max(total, 1.0)))
    network: list[Dependence] = []
    before: list[int] = []
    for key in sorted(range(len(codes)), key=lambda key: (-cardinalities[key], key)):
        report_progress("population model", len(before), 2 * len(codes))
        dependence, share = _choose(codes, cardinalities, whole, weights, key, before)
        network.append(dependence)
        before.append(key)
        size += np.log(share)
    return size, network


def _choose(
    codes: Sequence[NDArray[Any]],
    cardinalities: Sequence[int],
    counts: NDArray[np.float64],
    weights: NDArray[np.float64],
    key: int,
    before: list[int],
) -> tuple[Dependence, NDArray[np.float64]]:
    """Parents of one key by forward selection, and its share in each class by the records of the other classes.

    ``trained`` holds the share where one record is left out, ``share`` that where the whole class is.
    """
    total = max(float(counts.sum()), 1.0)
    values, number = group_ids([(codes[key], cardinalities[key])], len(counts))
    with_value = np.bincount(values, weights=counts, minlength=number)[values]
    trained, share = ((with_value - own + 0.5) / (total + 0.5 * number) for own in (1.0, counts))
    best = float(weights @ np.log(trained))
    parents: tuple[int, ...] = ()
    strengths: tuple[float, ...] = ()
    known, groups = np.zeros(len(counts), dtype=np.int64), min(len(counts), 1)
    while len(parents) < _MOST_PARENTS:
        choice: tuple[float, int, float] | None = None
        for other in before:
            if other in parents:
                continue
            together, given, *_ = _count(codes, cardinalities, counts, (known, groups), other, key)
            for strength in _STRENGTHS:
                value = float(weights @ np.log((together - 1 + strength * trained) / (given - 1 + strength)))
                if choice is None or value > choice[0]:
                    choice = (value, other, strength)
        if choice is None or choice[0] <= best + _LEAST_GAIN:
            break
        best, other, strength = choice
        together, given, known, groups = _count(codes, cardinalities, counts, (known, groups), other, key)
        trained = (together - 1 + strength * trained) / (given - 1 + strength)
        share = (together - counts + strength * share) / (given - counts + strength)
        parents, strengths = (*parents, other), (*strengths, strength)
    return Dependence(key, parents, strengths), np.asarray(share, dtype=np.float64)


def _count(
    codes: Sequence[NDArray[Any]],
    cardinalities: Sequence[int],
    counts: NDArray[np.float64],
    known: tuple[NDArray[np.int64], int],
    other: int,
    key: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64], int]:
    """Records with the class's values of the known keys, another one and the key; of these without the key; and their groups."""
    given, groups = refine_groups(known[0], known[1], codes[other], cardinalities[other])
    together, cells = refine_groups(given, groups, codes[key], cardinalities[key])
    with_key = np.bincount(together, weights=counts, minlength=cells)[together].astype(np.float64, copy=False)
    return with_key, np.bincount(given, weights=counts, minlength=groups)[given].astype(np.float64, copy=False), given, groups
