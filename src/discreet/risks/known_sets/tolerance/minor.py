"""The attributes of a table split into main ones and minor ones.

*Main* attributes are known with the largest probabilities: every set of them that is likely enough is counted on its distinct
rows. *Minor* attributes are known with a small probability and have few values, such as flags. A known set with one or two of
them is counted together with its main attributes: of each row it is tallied how many of its records have each of their values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.classes.distinct import DistinctRows, number_rows
from discreet.engine.encoding.columns import Column

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST_ENTRIES = 24
"""Values of minor attributes, without one of each: rows hold a number for each of them, or for each pair."""
_SMALL_CHANCE = 0.02
"""Probability up to which an attribute may be minor: sets with three minor attributes are not counted."""


@dataclass(frozen=True)
class MinorAttributes:
    """Minor attributes of a table.

    An *entry* is a value of one of them, other than its *base* value, the most frequent one. Attribute f has the entries
    ``first[f]`` to ``first[f + 1]``. ``patterns`` are the distinct combinations of their values.
    """

    chances: NDArray[np.float64]
    first: NDArray[np.int64]
    base_weights: NDArray[np.float64]
    entry_weights: NDArray[np.float64]
    patterns: DistinctRows
    _entry_of: list[NDArray[np.int64]]
    """The entry of each pattern for each attribute, -1 for the base value."""

    @cached_property
    def pair(self) -> NDArray[np.int64]:
        """The column of the tallies for two entries of different attributes, the smaller first."""
        width = len(self.entry_weights)
        columns = np.full((width, width), -1, dtype=np.int64)
        for number, (first, second) in enumerate(combinations(range(width), 2)):
            columns[first, second] = width + number
        return columns

    @property
    def is_binary(self) -> bool:
        """Whether every minor attribute has two values."""
        return bool((np.diff(self.first) == 1).all())

    def base_masses(self, size: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """For each pattern the sum of p_N over all sets N of two or three attributes at their base values, and of p_N c_N."""
        is_base = np.stack([own < 0 for own in self._entry_of]) if self._entry_of else np.zeros((0, len(self.patterns)))
        chances = is_base * self.chances[:, None]
        ones = chances.sum(axis=0)
        twos = (ones**2 - (chances**2).sum(axis=0)) / 2
        other_ones = ones - chances  # without the attribute itself
        if size == 2:
            return twos, (self.base_weights[:, None] * chances * other_ones).sum(axis=0)
        other_twos = twos - chances * other_ones
        return (chances * other_twos).sum(axis=0) / 3, (self.base_weights[:, None] * chances * other_twos).sum(axis=0)

    def width(self, order: int) -> int:
        """How many columns the tallies need for sets with so many minor attributes (1 or 2)."""
        entries = len(self.entry_weights)
        return entries if order == 1 else entries * (entries + 1) // 2

    def entries(self, order: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where the entries of each pattern begin, and the entries, with those of pairs where sets have two minor attributes."""
        lists: list[list[int]] = [[] for _ in range(len(self.patterns))]
        for own in self._entry_of:
            for pattern in np.flatnonzero(own >= 0).tolist():
                lists[pattern].append(int(own[pattern]))
        if order == 2:
            for entries in lists:
                entries.extend([int(self.pair[first, second]) for first, second in combinations(sorted(entries), 2)])
        begin = np.cumsum([0, *map(len, lists)])
        return begin, np.array([entry for entries in lists for entry in entries], dtype=np.int64)


def split_places(columns: Sequence[Column], chances: Sequence[float]) -> tuple[list[int], list[int]]:
    """Which attributes are main and which minor, as places; the least likely ones with few values are minor."""
    minor: list[int] = []
    entries = 0
    for place in sorted(range(len(columns)), key=lambda at: (chances[at], -at)):
        more = max(columns[place].cardinality - 1, 0)
        if chances[place] > _SMALL_CHANCE:
            break
        if entries + more <= _MOST_ENTRIES:
            minor.append(place)
            entries += more
    chosen = set(minor)
    return [place for place in range(len(columns)) if place not in chosen], sorted(chosen)


def minor_attributes(
    columns: Sequence[Column], chances: Sequence[float], weights: Sequence[NDArray[np.float64] | None], size: int
) -> MinorAttributes:
    """Number the entries and patterns of minor attributes, given the weights of their codes (None: not sensitive)."""
    patterns = number_rows([(column.codes, column.cardinality) for column in columns], size)
    assert patterns is not None  # no limit was set
    first, base_weights = [0], []
    entry_weights: list[float] = []
    entry_of = []
    for column, own in zip(columns, weights, strict=True):
        base = int(np.bincount(column.codes, minlength=column.cardinality).argmax())
        values = np.zeros(column.cardinality) if own is None else own
        others = [code for code in range(column.cardinality) if code != base]
        entry = np.full(column.cardinality, -1, dtype=np.int64)
        entry[others] = first[-1] + np.arange(len(others))
        entry_of.append(entry[column.codes[patterns.first]])
        first.append(first[-1] + len(others))
        base_weights.append(float(values[base]))
        entry_weights.extend(float(values[code]) for code in others)
    return MinorAttributes(
        np.array(chances, dtype=np.float64), np.array(first, dtype=np.int64), np.array(base_weights, dtype=np.float64),
        np.array(entry_weights, dtype=np.float64), patterns, entry_of,
    )  # fmt: skip
