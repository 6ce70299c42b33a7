"""Predictors of the size of a class from the records of the other classes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

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
_SEEN = 0.7
"""How far the expected size is moved towards that seen from a record of the class. All the way would be right if the shares of
the keys were independent; chosen on the populations that the intervals were calibrated on (docs/benchmarks.md)."""
_LEAST_VARIANCE = 0.1


class Predictors(NamedTuple):
    """What the regression of class sizes uses, with one row per class."""

    log_size: NDArray[np.float64]
    """The logarithm of the expected number of other records, as seen from a record of the class."""
    columns: NDArray[np.float64]
    """Predictors of the mean, of which the first is ``log_size`` itself."""
    precision: NDArray[np.float64]
    """Predictor of the shape: minus the logarithm of the relative variance that uncertain shares cause."""


def compute_predictors(
    codes: Sequence[NDArray[Any]], cardinalities: Sequence[int], counts: NDArray[np.int64], small: int
) -> Predictors:
    """The expected size of each class by the network of the keys, and the other predictors, one per column.

    The columns: the expected size; how much larger the class is expected to be once one record of it has been seen; independent
    keys, classes that differ in one key and in two keys, each relative to the network; and the sum of the log ratios of observed
    to expected pairs of values. A class never predicts itself: its own records are subtracted from every count. With more than 45
    pairs of keys, those with the most values together are left out.

    ``small`` is the largest size of a class that the network is chosen for. O(keys^2) groupings of the classes.
    """
    expected = expected_class_sizes(codes, cardinalities, counts, small)
    surprise = expected.log_seen - expected.log_size
    size = expected.log_size + _SEEN * surprise
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
    columns = [size, surprise, independent - size, np.log(one + floor) - size]
    if pairs:
        columns += [np.log(two + floor) - size, ratios]
    return Predictors(size, np.column_stack(columns), -np.log(expected.variance + _LEAST_VARIANCE))
