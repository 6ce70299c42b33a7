"""Class tables: the distinct rows of a table and their numbers of records, regrouped by coarser labels without the records."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.classes.groups import group_ids

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TABLE_PER_ROW = 4
_TABLE_LEAST = 1 << 18
_LARGEST_KEY = 1 << 62


@dataclass(frozen=True)
class ClassTable:
    """Distinct rows: ``codes[row, attribute]`` is below ``cards[attribute]``, and ``counts[row]`` is the number of records."""

    codes: NDArray[np.int32]
    cards: tuple[int, ...]
    counts: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.counts)

    def regroup(self, maps: Sequence[NDArray[np.int32]], cards: Sequence[int]) -> ClassTable:
        """The table under coarser labels: ``maps[attribute][code]`` is the new code."""
        from discreet.engine.classes.kernels import relabel

        _, first, counts = self.classes(maps, cards)
        new = _padded(maps, self.cards)
        return ClassTable(relabel(self.codes, first, np.arange(len(maps)), new), tuple(cards), counts)

    def classes(
        self, maps: Sequence[NDArray[np.int32]], cards: Sequence[int]
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
        """The class of each row under new labels of the first attributes, and a row and the number of records of each class."""
        from discreet.engine.classes.kernels import class_ids

        key_count = math.prod(max(card, 1) for card in cards[: len(maps)])
        if key_count > _LARGEST_KEY:
            return self._by_refinement(maps, cards)
        steps = np.cumprod([1, *(max(card, 1) for card in cards[: len(maps)])], dtype=np.int64)[:-1]
        varying = np.flatnonzero([card > 1 for card in cards[: len(maps)]])  # an attribute with one label divides no class
        table = (_padded(maps, self.cards).astype(np.int64) * steps[:, np.newaxis])[varying]
        direct = key_count <= max(_TABLE_LEAST, _TABLE_PER_ROW * len(self))
        return class_ids(self.codes, self.counts, varying, table, key_count if direct else 0)

    def _by_refinement(
        self, maps: Sequence[NDArray[np.int32]], cards: Sequence[int]
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
        """The same where the combinations of labels exceed the range of an integer."""
        columns = [(labels[self.codes[:, attribute]], cards[attribute]) for attribute, labels in enumerate(maps)]
        ids, number = group_ids(columns, len(self))
        first = np.empty(number, dtype=np.int32)
        first[ids[::-1]] = np.arange(len(self) - 1, -1, -1)
        return ids.astype(np.int32), first, np.bincount(ids, weights=self.counts, minlength=number).astype(np.int64)


def _padded(maps: Sequence[NDArray[np.int32]], cards: Sequence[int]) -> NDArray[np.int32]:
    """Maps of different lengths as one array, padded with zeros."""
    padded = np.zeros((len(maps), max(cards, default=1)), dtype=np.int32)
    for attribute, labels in enumerate(maps):
        padded[attribute, : len(labels)] = labels
    return padded


def class_table(columns: Sequence[tuple[NDArray[Any], int]], size: int) -> tuple[ClassTable, NDArray[np.int64]]:
    """The distinct rows of ``(codes, cardinality)`` columns, and for each record the index of its row."""
    ids, number = group_ids(columns, size)
    first = np.empty(number, dtype=np.int64)
    first[ids[::-1]] = np.arange(size - 1, -1, -1)
    codes = np.empty((number, len(columns)), dtype=np.int32)
    for attribute, (column, _) in enumerate(columns):
        codes[:, attribute] = column[first]
    counts = np.bincount(ids, minlength=number).astype(np.int64)
    return ClassTable(codes, tuple(cardinality for _, cardinality in columns), counts), ids
