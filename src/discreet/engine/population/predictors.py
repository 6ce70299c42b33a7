"""Predictors of the size of a class, from the counts of its values and of classes that agree with it in part."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.classes.groups import group_ids

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST_PAIRS = 45
_SMOOTHING = 0.5
"""Added to the count of each value, so that a value that only the class itself has still has a probability."""
_TREE_SMOOTHING = 3.0
_FLOOR = 0.05


class ClassPredictors:
    """Groupings of the distinct classes by single keys, pairs of keys, and all keys but one or two.

    The groupings are made once; ``compute`` then takes any counts of the classes, such as those of a random half of the records.
    A class never predicts itself: its own count is subtracted from every count it is part of.
    """

    def __init__(self, codes: Sequence[NDArray[Any]], cardinalities: Sequence[int], counts: NDArray[np.int64]) -> None:
        self.keys = len(codes)
        self.classes = len(counts)
        self._columns = list(zip(codes, cardinalities, strict=True))
        every = range(self.keys)
        self._single = [self._group((key,)) for key in every]
        self._values = [int(ids.max(initial=-1)) + 1 for ids in self._single]
        pairs = list(combinations(every, 2))
        grouped = {pair: self._group(pair) for pair in pairs}
        weight = {pair: self._mutual_information(pair, grouped[pair], counts) for pair in pairs}
        chosen = sorted(pairs, key=lambda pair: -weight[pair])[:_MOST_PAIRS]
        self._pairs = {pair: grouped[pair] for pair in chosen}
        self._tree = _spanning_tree(self.keys, weight)
        self._tree_pairs = {pair: grouped[pair] for pair in grouped if pair in {tuple(sorted(edge)) for edge in self._tree}}
        self._without_one = [self._group(tuple(other for other in every if other != key)) for key in every]
        self._without_two = {pair: self._group(tuple(key for key in every if key not in pair)) for pair in chosen}

    def _group(self, keys: tuple[int, ...]) -> NDArray[np.int64]:
        return group_ids([self._columns[key] for key in keys], self.classes)[0]

    def _mutual_information(self, pair: tuple[int, int], ids: NDArray[np.int64], counts: NDArray[np.int64]) -> float:
        """The mutual information of two keys in nats, less its expected value under independence (Miller & Madow)."""
        total = counts.sum()
        if not total:
            return 0.0
        left, right = (np.bincount(self._single[key], weights=counts)[self._single[key]] for key in pair)
        together = np.bincount(ids, weights=counts)[ids]
        excess = (int(ids.max()) + 1) - self._values[pair[0]] - self._values[pair[1]] + 1
        return float((counts * np.log(together * total / (left * right))).sum() / total - excess / (2 * total))

    def compute(self, counts: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The expected count of each class under independent keys (logarithm), and the other predictors, one per column.

        The columns: a tree of dependent pairs of keys, classes that differ in one and in two keys, and the sum of the log ratios
        of observed to expected pairs; the first three relative to independence.
        """
        total = max(float(counts.sum()), _SMOOTHING)  # a half of very few records may be empty
        shares = [
            (self._others(ids, counts) + _SMOOTHING) / (total + _SMOOTHING * number)
            for ids, number in zip(self._single, self._values, strict=True)
        ]
        independent = np.log(total) + sum((np.log(share) for share in shares), np.zeros(self.classes))
        tree = np.log(total) + np.log(shares[0])
        for known, new in self._tree:
            together = self._others(self._tree_pairs[min(known, new), max(known, new)], counts)
            tree += np.log((together + _TREE_SMOOTHING * shares[new]) / (shares[known] * total + _TREE_SMOOTHING))
        floor = _FLOOR * np.exp(independent) + 1e-5
        one = sum(self._others(ids, counts) * share for ids, share in zip(self._without_one, shares, strict=True)) / self.keys
        two, ratios = np.zeros(self.classes), np.zeros(self.classes)
        for (left, right), ids in self._without_two.items():
            both = shares[left] * shares[right]
            two += self._others(ids, counts) * both / len(self._without_two)
            expected = both * total
            ratios += np.log((self._others(self._pairs[left, right], counts) + 1) / (expected + 1))
        near = [np.log(one + floor) - independent]
        if self._without_two:
            near.append(np.log(two + floor) - independent)
        return independent, np.column_stack([tree - independent, *near, ratios])

    def _others(self, ids: NDArray[np.int64], counts: NDArray[np.float64]) -> NDArray[np.float64]:
        """For each class the records of other classes in its group."""
        return np.asarray(np.bincount(ids, weights=counts)[ids] - counts)


def _spanning_tree(keys: int, weight: dict[tuple[int, int], float]) -> list[tuple[int, int]]:
    """The tree of pairs with the largest mutual information (Chow & Liu 1968), as (known, new) from key 0 on."""
    known, edges = {0}, []
    while len(known) < keys:
        best = max(
            ((left, right) for left in known for right in range(keys) if right not in known),
            key=lambda edge: (weight[min(edge), max(edge)], -edge[0], -edge[1]),
        )
        known.add(best[1])
        edges.append(best)
    return edges
