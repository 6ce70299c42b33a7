"""A Bayesian network of the keys: expected class sizes from conditional shares, smoothed towards fewer conditions.

Each key depends on up to three keys before it. With parents p_1, p_2, ... in the order of their choice, the share of a value v is

    q_0(v) = (n(v) + 1/2) / (n + V/2),      q_d(v) = (n(v, p_1..p_d) + a_d q_(d-1)(v)) / (n(p_1..p_d) + a_d),

so that a combination of parents with few records falls back to fewer parents (Jelinek & Mercer 1980). The expected size of a
class is n times the product of its shares. Log-linear models with main effects and decomposable interactions are special cases.

A key with many values is preceded by the group of neighbouring values that its value is in: in a small sample two ages hardly
ever occur together twice, but two groups of ages do. Parents can be groups as well as keys.

Given the counts a share is uncertain: it is Beta(A, B - A) with A and B the numerator and the denominator above. As seen from a
record of the class the same share is Beta(A + 1, B - A) (size-biased), so that a class that nothing predicts is expected to be
larger once it has been seen. Both means are returned, and the relative variance that remains.
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


_GROUPS, _LEAST_VALUES = 8, 16
"""A key with at least this many values is preceded by up to this many groups of them, with about as many records each."""


class Dependence(NamedTuple):
    """The keys that one key depends on, in the order of their choice, and the strength of the smoothing at each.

    Keys are numbered as they are given, and the groups of values after them in the order of their keys.
    """

    key: int
    parents: tuple[int, ...]
    strengths: tuple[float, ...]


class ExpectedSizes(NamedTuple):
    """What the records of all other classes say about the size of each class."""

    log_size: NDArray[np.float64]
    """The logarithm of its expected size."""
    log_seen: NDArray[np.float64]
    """The same as seen from a record of the class: with one record added to each share, whatever the class's own size is."""
    variance: NDArray[np.float64]
    """The variance of the size as seen from a record, relative to its squared mean, that the uncertain shares cause."""
    network: list[Dependence]


def group_neighbouring_values(
    codes: Sequence[NDArray[Any]], cardinalities: Sequence[int], counts: NDArray[np.int64]
) -> list[tuple[int, NDArray[np.int64], int]]:
    """For each key with many values its number, the group of each class's value, and how many groups there are.

    Codes are in the order of the values, so that groups are ranges of ages or dates, and ranges of the alphabet for names.
    """
    grouped = []
    for key, (column, values) in enumerate(zip(codes, cardinalities, strict=True)):
        records = np.bincount(column, weights=counts, minlength=values)
        if np.count_nonzero(records) < _LEAST_VALUES:
            continue
        middle = (np.cumsum(records) - records / 2) / records.sum()
        groups, group_of_value = np.unique(np.minimum(middle * _GROUPS, _GROUPS - 1).astype(np.int64), return_inverse=True)
        grouped.append((key, group_of_value[column].astype(np.int64), len(groups)))
    return grouped


def expected_class_sizes(
    codes: Sequence[NDArray[Any]], cardinalities: Sequence[int], counts: NDArray[np.int64], small: int
) -> ExpectedSizes:
    """Expected class sizes from the records of all other classes.

    A class never predicts itself: all its records are left out of every count. The total stays that of all records, because less
    the class it would give the class's size away. Parents and strengths are those with the largest likelihood of the records in
    classes of up to ``small`` records, each left out alone. Groups come first, then keys, each with more values before fewer.

    Costs O(keys^2 x parents) groupings of the classes.
    """
    total = float(counts.sum())
    whole = counts.astype(np.float64)
    weights = np.where(counts <= small, whole, 0.0)
    grouped = group_neighbouring_values(codes, cardinalities, counts)
    columns = [*codes, *(groups for _, groups, _ in grouped)]
    numbers = [*cardinalities, *(number for *_, number in grouped)]
    by_values = sorted(range(len(codes)), key=lambda key: (-cardinalities[key], key))
    places = {key: len(codes) + place for place, (key, *_) in enumerate(grouped)}
    order = [*(places[key] for key in by_values if key in places), *by_values]
    size = np.full(len(counts), np.log(max(total, 1.0)))
    seen, variance = size.copy(), np.zeros(len(counts))
    network: list[Dependence] = []
    for done, key in enumerate(order):
        report_progress("population model", done, 2 * len(order))
        dependence, part, base = _choose(columns, numbers, whole, weights, key, order[:done])
        network.append(dependence)
        size += np.log(part / base)
        seen += np.log((part + 1) / (base + 1))
        variance += np.log1p(np.maximum(1 / (part + 1) - 1 / (base + 1), 0.0))
    return ExpectedSizes(size, seen, np.expm1(variance), network)


def _choose(
    codes: Sequence[NDArray[Any]],
    cardinalities: Sequence[int],
    counts: NDArray[np.float64],
    weights: NDArray[np.float64],
    key: int,
    before: list[int],
) -> tuple[Dependence, NDArray[np.float64], NDArray[np.float64]]:
    """Parents of one key by forward selection, and numerator and denominator of its share by the records of the other classes.

    ``trained`` holds the share where one record is left out; ``part`` over ``base`` is that where the whole class is.
    """
    total = max(float(counts.sum()), 1.0)
    values, number = group_ids([(codes[key], cardinalities[key])], len(counts))
    with_value = np.bincount(values, weights=counts, minlength=number)[values]
    trained = (with_value - 0.5) / (total + 0.5 * number)
    part, base = with_value - counts + 0.5, np.full(len(counts), total + 0.5 * number)
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
        part, base = together - counts + strength * part / base, given - counts + strength
        parents, strengths = (*parents, other), (*strengths, strength)
    return Dependence(key, parents, strengths), np.asarray(part, dtype=np.float64), base


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
