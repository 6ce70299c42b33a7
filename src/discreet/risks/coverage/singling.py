"""Columns that single people out: alone, or a few of them together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from discreet.engine.classes.groups import groups_of
from discreet.engine.encoding.columns import Column

LEAST_RECORDS = 20
"""With fewer records, values that differ say little."""
_LEAST_TOGETHER = 100
"""In a smaller table a few columns single out many by chance alone."""
_TRIED = 6
_ROUNDS = 5


@dataclass(frozen=True)
class Combination:
    """Columns that together single out a share of the records that none of them singles out alone."""

    columns: tuple[str, ...]
    share: float


def share_unique(columns: Sequence[Column], records: int) -> float:
    """The share of the records whose values in all of the columns nobody else has (sample uniques)."""
    if not records or not columns:
        return 0.0
    if len(columns) == 1:
        counts = np.bincount(columns[0].codes, minlength=columns[0].cardinality)
        if columns[0].has_null:
            counts = counts[:-1]
        return float((counts == 1).sum() / records)
    ids, number = groups_of(columns, records)
    return float((np.bincount(ids, minlength=number) == 1).sum() / records)


def find_combinations(columns: Sequence[Column], records: int, limit: float, most: int) -> list[Combination]:
    """Sets of at most ``most`` columns that single out at least the share ``limit``, none of them a column of another.

    Greedy: of the columns that separate the records best, all pairs and triples of the first six are tried, the best set is
    taken away, and the search goes on with the rest. A set that is not found may still exist; one that is found is exact.
    """
    if records < _LEAST_TOGETHER:
        return []
    left = sorted((one for one in columns if one.cardinality > 1), key=lambda one: _collisions(one, records))
    found: list[Combination] = []
    for _ in range(_ROUNDS):
        head = left[:_TRIED]
        best: Combination | None = None
        for size in range(2, most + 1):
            tried = [Combination(tuple(c.name for c in some), share_unique(some, records)) for some in combinations(head, size)]
            best = max(tried, key=lambda one: one.share, default=None)
            if best is not None and best.share >= limit:
                break
        if best is None or best.share < limit:
            break
        found.append(best)
        left = [one for one in left if one.name not in best.columns]
    return found


def _collisions(column: Column, records: int) -> float:
    """The chance that two records agree on the column."""
    counts = np.bincount(column.codes, minlength=column.cardinality).astype(np.float64)
    return float(np.square(counts / records).sum())
