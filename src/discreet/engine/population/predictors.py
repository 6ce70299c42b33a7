"""Predictors of the size of a class from the records of the other classes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.classes.groups import group_ids
from discreet.engine.population.key_network import expected_class_sizes
from discreet.engine.runtime.progress import report_progress

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST_PAIRS = 45
_SMOOTHING = 0.5
"""Added to the count of each value, so that a value that only the class itself has still has a probability."""
_FLOOR = 0.05


def compute_predictors(
    codes: Sequence[NDArray[Any]], cardinalities: Sequence[int], counts: NDArray[np.int64], small: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The expected size of each class by the network of the keys (logarithm), and the other predictors, one per column.

    The columns: independent keys, classes that differ in one key and in two keys, each relative to the network; and the sum of
    the log ratios of observed to expected pairs of values. A class never predicts itself: its own records are subtracted from
    every count. With more than 45 pairs of keys, those with the most values together are left out.

    ``small`` is the largest size of a class that the network is chosen for. O(keys^2) groupings of the classes.
    """
    size, _network = expected_class_sizes(codes, cardinalities, counts, small)
    classes, keys, weights = len(counts), range(len(codes)), counts.astype(np.float64)
    total = max(float(counts.sum()), _SMOOTHING)

    def count_others(chosen: Sequence[int]) -> NDArray[np.float64]:
        """Records of other classes with the same values of the chosen keys; all records for no key, as in the network."""
        if not chosen:
            return np.full(classes, total)
        ids, number = group_ids([(codes[key], cardinalities[key]) for key in chosen], classes)
        return np.asarray(np.bincount(ids, weights=weights, minlength=number)[ids] - weights)

    shares = [(count_others((key,)) + _SMOOTHING) / (total + _SMOOTHING * max(cardinalities[key], 1)) for key in keys]
    independent = np.log(total) + sum((np.log(share) for share in shares), np.zeros(classes))
    floor = _FLOOR * np.exp(independent) + 1e-5
    one, two, ratios = np.zeros(classes), np.zeros(classes), np.zeros(classes)
    for key in keys:
        one += count_others([other for other in keys if other != key]) * shares[key] / len(codes)
    pairs = sorted(combinations(keys, 2), key=lambda pair: (cardinalities[pair[0]] * cardinalities[pair[1]], pair))[:_MOST_PAIRS]
    for place, pair in enumerate(pairs):
        report_progress("population model", len(pairs) + place, 2 * len(pairs))
        both = shares[pair[0]] * shares[pair[1]]
        two += count_others([key for key in keys if key not in pair]) * both / len(pairs)
        ratios += np.log((count_others(pair) + 1) / (both * total + 1))
    columns = [independent - size, np.log(one + floor) - size]
    if pairs:
        columns += [np.log(two + floor) - size, ratios]
    return size, np.column_stack(columns)
