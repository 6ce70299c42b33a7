"""Quasi-identifiers: how well sets of attributes distinguish records, by distinct ratio and separation ratio.

Motwani, R. & Xu, Y. (2007). Efficient algorithms for masking and finding quasi-identifiers. Proc. VLDB.

For a set of attributes with equivalence classes of n_1, …, n_d records, n in all (null is a value of its own):

    distinct ratio   = d / n
    separation ratio = (n^2 - sum n_i^2) / (n (n - 1))    the share of all pairs of records that differ on the set

Both are computed from integer counts over all records. They never decrease when an attribute is added, so a set whose ratio
reaches a threshold is a minimal key exactly if none of its subsets with one attribute less does.
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

_COUNTERS_PER_RECORD = 4
_LEAST_COUNTERS = 1 << 16
"""Classes are counted in a table of counters if all combinations fit into the larger of these sizes, else by sorting."""

ColumnSet = tuple[int, ...]
"""The positions of some columns, in increasing order."""


@dataclass(frozen=True, slots=True)
class Strength:
    """How well one set of attributes distinguishes the records."""

    attributes: tuple[str, ...]
    records: int
    distinct: int
    separated: int
    """Pairs of records that differ on the set."""
    unique: int
    """Sample uniques: records in a class of their own."""
    minimal_key: bool = False
    """Whether the distinct ratio reaches the threshold, and that of no proper subset does."""

    @property
    def distinct_ratio(self) -> float:
        return self.distinct / self.records if self.records else 0.0

    @property
    def separation_ratio(self) -> float:
        """The share of separated pairs; 0 if there are fewer than two records."""
        pairs = self.records * (self.records - 1) // 2
        return self.separated / pairs if pairs else 0.0

    @property
    def unique_share(self) -> float:
        return self.unique / self.records if self.records else 0.0


def strength_from_sizes(names: Sequence[str], sizes: NDArray[np.int64], records: int) -> Strength:
    """The strength of a set of attributes from the sizes of its equivalence classes."""
    squares = int(np.dot(sizes, sizes))
    return Strength(tuple(names), records, len(sizes), (records * records - squares) // 2, int((sizes == 1).sum()))


# ids: one class number per record, in 0 .. number - 1. combined: one number per record for its class and its code in the column,
# which must fit into int64. Counting takes O(records + combinations), sorting O(records log records).
def refined_class_sizes(ids: NDArray[Any], number: int, column: Column) -> NDArray[np.int64]:
    """The sizes of the classes that one more attribute splits ``number`` classes into, in no particular order."""
    combined = ids * column.cardinality + column.codes
    combinations_possible = number * column.cardinality
    if combinations_possible <= max(_LEAST_COUNTERS, _COUNTERS_PER_RECORD * len(combined)):
        counts = np.bincount(combined, minlength=combinations_possible)
        return counts[counts > 0].astype(np.int64, copy=False)
    combined = np.sort(combined.astype(np.uint32) if combinations_possible < 1 << 32 else combined)
    ends = np.flatnonzero(np.append(combined[1:] != combined[:-1], True))  # the last record of each class
    return np.diff(ends, prepend=-1)


class SetSearch:
    """A beam search over sets of encoded columns; each set examined is counted once, exactly."""

    def __init__(self, columns: Sequence[Column], records: int, threshold: float) -> None:
        self.columns = columns
        self.records = records
        self.threshold = threshold
        self.strengths: dict[ColumnSet, Strength] = {}
        self.same: dict[int, int] = {}
        """For each column that is a one-to-one recoding of an earlier column, the position of that column."""

    def strength(self, members: ColumnSet, base: tuple[NDArray[np.int64], int] | None = None) -> Strength:
        """The strength of a set, counted once; ``base``: the classes of all its columns but the last, if known already."""
        if members not in self.strengths:
            ids, number = base or group_columns([self.columns[index] for index in members[:-1]], self.records)
            sizes = refined_class_sizes(ids, number, self.columns[members[-1]])
            self.strengths[members] = strength_from_sizes(self._names(members), sizes, self.records)
        return self.strengths[members]

    def _names(self, members: ColumnSet) -> list[str]:
        return [self.columns[index].name for index in members]

    def is_key(self, members: ColumnSet) -> bool:
        return self.strength(members).distinct_ratio >= self.threshold

    def is_minimal(self, members: ColumnSet) -> bool:
        """Whether a set is a key and no subset is; subsets that were counted already are checked first."""
        subsets = sorted(combinations(members, len(members) - 1), key=lambda subset: subset not in self.strengths)
        return self.is_key(members) and not any(self.is_key(subset) for subset in subsets if subset)

    def run(self, largest: int, width: int) -> None:
        """Count single columns and all pairs, then extend the ``width`` best sets of each size; keys are not extended."""
        level: list[ColumnSet] = [(index,) for index in range(len(self.columns))]
        for members in level:
            self.strength(members)
        for size in range(2, largest + 1):
            beam = [members for members in level if not self.is_key(members) and not self.same.keys() & set(members)]
            level = self._extend(sorted(beam, key=self.rank)[:width] if size > 2 else beam)
            if size == 2:
                self._find_same(level)

    def _extend(self, beam: list[ColumnSet]) -> list[ColumnSet]:
        """The sets of the beam with one more column, counted; supersets of known keys are left out."""
        extended: set[ColumnSet] = set()
        for members in beam:
            base = group_columns([self.columns[index] for index in members], self.records)
            for index in range(len(self.columns)):
                wider = tuple(sorted({*members, index}))
                if index in members or index in self.same or wider in extended or self._contains_key(wider):
                    continue
                sizes = refined_class_sizes(*base, self.columns[index])
                self.strengths[wider] = strength_from_sizes(self._names(wider), sizes, self.records)
                extended.add(wider)
        return sorted(extended)

    def _contains_key(self, members: ColumnSet) -> bool:
        """Whether a subset with one column less was counted and is a key: then this set adds nothing."""
        subsets = combinations(members, len(members) - 1)
        return any(subset in self.strengths and self.is_key(subset) for subset in subsets)

    def _find_same(self, pairs: list[ColumnSet]) -> None:
        """Record the columns that are one-to-one recodings of an earlier one: the pair has no more classes than either."""
        for first, second in pairs:
            if (
                first not in self.same
                and self.strengths[(first, second)].distinct
                == self.strengths[(first,)].distinct
                == self.strengths[(second,)].distinct
            ):
                self.same[second] = first

    def rank(self, members: ColumnSet) -> tuple[int, int, ColumnSet]:
        """Strongest first: by distinct values, then by separated pairs, then by position in the table."""
        strength = self.strengths[members]
        return -strength.distinct, -strength.separated, members

    def strongest(self, size: int, shown: int) -> list[Strength]:
        """The ``shown`` strongest sets of a size; if minimal keys are among them, up to twice as many."""
        candidates = [members for members in self.strengths if len(members) == size and not self.same.keys() & set(members)]
        ranked = sorted(candidates, key=self.rank)
        keys = [members for members in ranked if self.is_key(members)]
        minimal = list(islice((members for members in keys if self.is_minimal(members)), 2 * shown))
        others = ranked[len(keys) : len(keys) + max(0, shown - len(minimal))]
        return [replace(self.strengths[members], minimal_key=members in minimal) for members in (*minimal, *others)]


@dataclass(frozen=True, slots=True)
class QuasiIdentifierSets:
    """The strongest sets by size, and the attributes that are one-to-one recodings, each with the earlier attribute."""

    sets: tuple[Strength, ...]
    same: dict[str, str]


def find_quasi_identifiers(
    columns: Sequence[Column],
    records: int,
    *,
    largest: int = 4,
    width: int = 6,
    threshold: float = 0.95,
    among: int = 12,
    shown: int = 3,
) -> QuasiIdentifierSets:
    """The strongest sets of each size up to ``largest``, and the minimal keys among all sets examined.

    The search uses the ``among`` columns that separate most pairs on their own. All pairs of columns are counted, and of larger
    sets those that extend one of the ``width`` strongest of the size before. A column that is a one-to-one recoding of another
    one is left out.
    """
    useful = [column for column in columns if column.cardinality > 1]
    singles = [measure_single(column, records) for column in useful]
    order = sorted(range(len(useful)), key=lambda index: (-singles[index].separated, -singles[index].distinct, index))[:among]
    search = SetSearch([useful[index] for index in sorted(order)], records, threshold)
    search.run(min(largest, len(order)), width)
    sets = tuple(strength for size in range(1, largest + 1) for strength in search.strongest(size, shown))
    names = [column.name for column in search.columns]
    return QuasiIdentifierSets(sets, {names[index]: names[first] for index, first in search.same.items()})


def measure_single(column: Column, records: int) -> Strength:
    """The strength of one attribute alone."""
    counts = np.bincount(column.codes, minlength=column.cardinality)
    return strength_from_sizes([column.name], counts[counts > 0].astype(np.int64, copy=False), records)
