"""How well sets of attributes tell records apart: distinct ratio and separation ratio, and the sets that do it best.

Motwani, R. & Xu, Y. (2007). Efficient algorithms for masking and finding quasi-identifiers. Proc. VLDB.

For a set of attributes with classes of n_1, …, n_d records that agree on it (a null is one more value), n in all:

    distinct ratio   = d / n
    separation ratio = (n^2 - sum n_i^2) / (n (n - 1))    the share of all pairs of records that differ on the set

Both are counted in whole numbers from all records. They never fall when an attribute is added, so a set whose ratio
reaches a threshold is a minimal key exactly where none of the sets with one attribute less does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.classes.groups import group_columns
from discreet.engine.encoding.columns import Column

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TABLE_PER_RECORD = 4
_TABLE_LEAST = 1 << 16

Members = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Strength:
    """How well one set of attributes tells the records apart."""

    attributes: tuple[str, ...]
    records: int
    distinct: int
    separated: int
    """Pairs of records that differ on the set."""
    unique: int
    """Records that are alone with their values."""
    minimal_key: bool = False
    """Whether the distinct ratio reaches the threshold, and that of no smaller set inside does."""

    @property
    def distinct_ratio(self) -> float:
        return self.distinct / self.records if self.records else 0.0

    @property
    def separation_ratio(self) -> float:
        """0 where there is no pair of records."""
        pairs = self.records * (self.records - 1) // 2
        return self.separated / pairs if pairs else 0.0

    @property
    def unique_share(self) -> float:
        return self.unique / self.records if self.records else 0.0


def strength_of(names: Sequence[str], sizes: NDArray[np.int64], records: int) -> Strength:
    """The strength of a set from the sizes of its classes."""
    squares = int(np.dot(sizes, sizes))
    return Strength(tuple(names), records, len(sizes), (records * records - squares) // 2, int((sizes == 1).sum()))


def sizes_of(ids: NDArray[Any], number: int, column: Column) -> NDArray[np.int64]:
    """Sizes of the classes that one more attribute makes of groups, without numbering them."""
    keys = ids * column.cardinality + column.codes
    room = number * column.cardinality
    if room <= max(_TABLE_LEAST, _TABLE_PER_RECORD * len(keys)):
        counts = np.bincount(keys, minlength=room)
        return counts[counts > 0].astype(np.int64, copy=False)
    keys = np.sort(keys.astype(np.uint32) if room < 1 << 32 else keys)
    ends = np.flatnonzero(np.append(keys[1:] != keys[:-1], True))  # the last record of each class
    return np.diff(ends, prepend=-1)


class Search:
    """A beam search over sets of encoded columns; every set looked at is counted once, exactly."""

    def __init__(self, columns: Sequence[Column], records: int, threshold: float) -> None:
        self.columns = columns
        self.records = records
        self.threshold = threshold
        self.found: dict[Members, Strength] = {}
        self.same: dict[int, int] = {}

    def strength(self, members: Members, base: tuple[NDArray[np.int64], int] | None = None) -> Strength:
        """Counted from the groups of all members but the last (``base`` where they are at hand)."""
        if members not in self.found:
            ids, number = base or group_columns([self.columns[at] for at in members[:-1]], self.records)
            sizes = sizes_of(ids, number, self.columns[members[-1]])
            self.found[members] = strength_of([self.columns[at].name for at in members], sizes, self.records)
        return self.found[members]

    def is_key(self, members: Members) -> bool:
        return self.strength(members).distinct_ratio >= self.threshold

    def is_minimal(self, members: Members) -> bool:
        """Whether a key holds no smaller one; sets counted already are asked first."""
        inner = sorted(combinations(members, len(members) - 1), key=lambda one: one not in self.found)
        return self.is_key(members) and not any(self.is_key(one) for one in inner if one)

    def run(self, largest: int, width: int) -> None:
        """Singles, all pairs, then the best ``width`` sets of each size with one column more; keys are not extended."""
        level: list[Members] = [(at,) for at in range(len(self.columns))]
        for members in level:
            self.strength(members)
        for size in range(2, largest + 1):
            beam = [members for members in level if not self.is_key(members) and not self.same.keys() & set(members)]
            level = self._extend(sorted(beam, key=self.rank)[:width] if size > 2 else beam)
            if size == 2:
                self._find_same(level)

    def _extend(self, beam: list[Members]) -> list[Members]:
        made: set[Members] = set()
        for members in beam:
            base = group_columns([self.columns[at] for at in members], self.records)
            for at in range(len(self.columns)):
                wider = tuple(sorted({*members, at}))
                if at in members or at in self.same or wider in made or self._holds_key(wider):
                    continue
                sizes = sizes_of(*base, self.columns[at])
                self.found[wider] = strength_of([self.columns[one].name for one in wider], sizes, self.records)
                made.add(wider)
        return sorted(made)

    def _holds_key(self, members: Members) -> bool:
        """Whether a smaller set that was counted is a key: then this one says nothing new."""
        return any(one in self.found and self.is_key(one) for one in combinations(members, len(members) - 1))

    def _find_same(self, pairs: list[Members]) -> None:
        """Columns that a one-to-one recoding makes of an earlier one: the pair has no more classes than either."""
        for first, second in pairs:
            if (
                first not in self.same
                and self.found[(first, second)].distinct == self.found[(first,)].distinct == self.found[(second,)].distinct
            ):
                self.same[second] = first

    def rank(self, members: Members) -> tuple[int, int, Members]:
        """Strongest first: by distinct values, then by separated pairs, then by place in the table."""
        one = self.found[members]
        return -one.distinct, -one.separated, members

    def chosen(self, size: int, shown: int) -> list[Strength]:
        """The strongest sets of a size, and up to twice as many minimal keys."""
        ranked = sorted((one for one in self.found if len(one) == size and not self.same.keys() & set(one)), key=self.rank)
        keys = [one for one in ranked if self.is_key(one)]
        minimal = list(islice((one for one in keys if self.is_minimal(one)), 2 * shown))
        others = ranked[len(keys) : len(keys) + max(0, shown - len(minimal))]
        return [replace(self.found[one], minimal_key=one in minimal) for one in (*minimal, *others)]


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found: sets by size and strength, and attributes that say the same as an earlier one."""

    sets: tuple[Strength, ...]
    same: dict[str, str]


def strongest(
    columns: Sequence[Column],
    records: int,
    *,
    largest: int = 4,
    width: int = 6,
    threshold: float = 0.95,
    among: int = 12,
    shown: int = 3,
) -> Found:
    """The strongest sets of each size up to ``largest``, and the minimal keys among all sets looked at.

    The search runs over the ``among`` columns that separate most pairs alone. Pairs are all counted; of larger sets those
    that extend the ``width`` strongest of the size before. A column that another one recodes one to one stands for both.
    """
    useful = [column for column in columns if column.cardinality > 1]
    alone = [single(column, records) for column in useful]
    order = sorted(range(len(useful)), key=lambda at: (-alone[at].separated, -alone[at].distinct, at))[:among]
    search = Search([useful[at] for at in sorted(order)], records, threshold)
    search.run(min(largest, len(order)), width)
    sets = tuple(one for size in range(1, largest + 1) for one in search.chosen(size, shown))
    names = [column.name for column in search.columns]
    return Found(sets, {names[at]: names[first] for at, first in search.same.items()})


def single(column: Column, records: int) -> Strength:
    """One attribute alone."""
    counts = np.bincount(column.codes, minlength=column.cardinality)
    return strength_of([column.name], counts[counts > 0].astype(np.int64, copy=False), records)
