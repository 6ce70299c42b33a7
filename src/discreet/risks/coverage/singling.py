"""Columns that single people out: alone, a few of them together, or together with the quasi-identifiers of the release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.classes.groups import group_columns, refine_groups
from discreet.engine.encoding.columns import Column

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEAST_SINGLED = 3
"""Records that must be singled out before it counts, so that two that differ by chance in a tiny table do not."""
_SMALL_TABLE = 100
_SMALL_TABLE_LIMIT = 0.5
"""In a table with fewer records, a few columns single out many by chance alone: together they must do so for half of them."""
_KEYS_FIT = 1 << 62
_TRIED = 6
_ROUNDS = 5


@dataclass(frozen=True)
class Combination:
    """Columns that together single out a share of the records that none of them singles out alone."""

    columns: tuple[str, ...]
    share: float


@dataclass(frozen=True)
class WithKeys:
    """Columns that, together with quasi-identifiers, leave records alone that the quasi-identifiers do not."""

    columns: tuple[str, ...]
    keys: tuple[str, ...]
    alone: int
    in_pairs: int
    alone_by_keys: int
    in_pairs_by_keys: int
    records: int
    rule: str = ""
    """How the column is computed from quasi-identifiers; empty where it is not."""


def share_unique(columns: Sequence[Column], records: int) -> float:
    """The share of the records whose values in all of the columns nobody else has (sample uniques)."""
    if not records or not columns:
        return 0.0
    if len(columns) == 1:
        counts = np.bincount(columns[0].codes, minlength=columns[0].cardinality)
        if columns[0].has_null:
            counts = counts[:-1]
        return float((counts == 1).sum() / records)
    if prod(column.cardinality for column in columns) >= _KEYS_FIT:
        ids, number = group_columns(columns, records)
        return float((np.bincount(ids, minlength=number) == 1).sum() / records)
    # sorting the combined codes is several times faster than numbering the groups, of which nothing but the sizes is needed
    keys = np.zeros(records, dtype=np.int64)
    for column in columns:
        keys *= column.cardinality
        keys += column.codes
    keys.sort()
    differs = np.ones(records + 1, dtype=np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=differs[1:-1])
    return float((differs[1:] & differs[:-1]).sum() / records)


def find_combinations(columns: Sequence[Column], records: int, limit: float, most: int) -> list[Combination]:
    """Sets of at most ``most`` columns that single out at least the share ``limit``, none of them a column of another.

    Greedy: of the columns that separate the records best, all pairs and triples of the first six are tried, the best set is
    taken away, and the search goes on with the rest. A set that is not found may still exist; one that is found is exact.
    """
    if records < _SMALL_TABLE:
        limit = max(limit, _SMALL_TABLE_LIMIT)
    left = sorted((column for column in columns if column.cardinality > 1), key=lambda column: _collisions(column, records))
    singling: list[Combination] = []
    for _ in range(_ROUNDS):
        head = left[:_TRIED]
        best: Combination | None = None
        for size in range(2, most + 1):
            # no more records can be alone than there are combinations of values
            able = [some for some in combinations(head, size) if prod(column.cardinality for column in some) >= limit * records]
            tried = [Combination(tuple(c.name for c in some), share_unique(some, records)) for some in able]
            best = max(tried, key=lambda combination: combination.share, default=None)
            if best is not None and best.share >= limit:
                break
        if best is None or best.share < limit or best.share * records < LEAST_SINGLED:
            break
        singling.append(best)
        left = [column for column in left if column.name not in best.columns]
    return singling


class KeyClasses:
    """The equivalence classes of the quasi-identifiers, and how further columns split them.

    A class of one or two records counts as small: its records are singled out, or are with one other. Records that the
    quasi-identifiers themselves single out are what the policy's own risk measures judge; only what is added counts here.
    """

    def __init__(self, keys: Sequence[Column], records: int) -> None:
        self.records = records
        self.keys = tuple(column.name for column in keys)
        self.ids, self.number = group_columns(keys, records)
        self.alone, self.in_pairs = _small(self.ids, self.number)

    def split_by_one(self, columns: Sequence[Column], limits: Mapping[str, float]) -> tuple[list[WithKeys], list[Column]]:
        """The columns that each leave at least their limit more of the records in small classes, and the others, best first."""
        splitting: list[WithKeys] = []
        others: list[tuple[float, Column]] = []
        for column in columns:
            split = self._describe((column.name,), *refine_groups(self.ids, self.number, column.codes, column.cardinality))
            gain = self._gain(split)
            if self._enough(gain, limits[column.name]):
                splitting.append(split)
            else:
                others.append((gain, column))
        return splitting, [column for _, column in sorted(others, key=lambda ranked: -ranked[0])]

    def split_by_several(self, columns: Sequence[Column], limit: float) -> list[WithKeys]:
        """Sets of columns that together do so: one column after the other is added, those that split best alone first."""
        if self.records < _SMALL_TABLE:
            limit = max(limit, _SMALL_TABLE_LIMIT)
        left, splitting = list(columns), []
        for _ in range(_ROUNDS):
            ids, number = self.ids, self.number
            best: WithKeys | None = None
            for at, column in enumerate(left):
                ids, number = refine_groups(ids, number, column.codes, column.cardinality)
                split = self._describe(tuple(member.name for member in left[: at + 1]), ids, number)
                if self._enough(self._gain(split), limit):
                    best = split
                    break
            if best is None:
                break
            splitting.append(best)
            left = left[len(best.columns) :]
        return splitting

    def _gain(self, split: WithKeys) -> float:
        """By how much the expected number of records that are found grows: one per record alone, one per pair."""
        return split.alone + split.in_pairs / 2 - self.alone - self.in_pairs / 2

    def _enough(self, gain: float, limit: float) -> bool:
        return gain >= max(limit * self.records, LEAST_SINGLED)

    def _describe(self, columns: tuple[str, ...], ids: NDArray[np.int64], number: int) -> WithKeys:
        return WithKeys(columns, self.keys, *_small(ids, number), self.alone, self.in_pairs, self.records)


def _small(ids: NDArray[np.int64], number: int) -> tuple[int, int]:
    """How many records are alone in their class, and how many are with one other."""
    sizes = np.bincount(ids, minlength=number)
    return int((sizes == 1).sum()), 2 * int((sizes == 2).sum())


def _collisions(column: Column, records: int) -> float:
    """The chance that two records agree on the column."""
    counts = np.bincount(column.codes, minlength=column.cardinality).astype(np.float64)
    return float(np.square(counts / records).sum())
