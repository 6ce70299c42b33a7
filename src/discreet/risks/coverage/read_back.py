"""Values hidden in one row that another row of the same person, household or group gives back.

For a released column g that groups the records (a person's or household's number, or any column with many small groups) and a
masked column that hardly varies within the groups of g in the original, a masked cell is *read back* where all the true values
that are still visible in its group agree, and agree with its own. Counted exactly, on all records.

What the visible values agree on must also be right for nearly all masked cells, unless the policy itself says that the column
stands for persons or households. Groups of near records that publish a set of categories hide exactly those records that
differ: the visible values of other groups with the same label are then wrong as often as right, and give nothing back.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.encoding.columns import Column, encode, encode_series
from discreet.model.attribute import Role
from discreet.risks.coverage.determinants import Determinant
from discreet.risks.coverage.pairing import Paired

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LEAST_GROUPS = 5
_MOST_MEAN = 50.0
_IN_COMPANY = 0.1
"""Share of the records that must stand in a group with others."""
_CONSTANT = 0.9
_LEAST_NEIGHBOURS = 10
_DEVIATIONS = 3.0
_PROBED_NEIGHBOURS, _PROBED_DEVIATIONS = 100, 5.0
"""Sampled neighbours from which a grouping is ruled out, and by how many standard errors: one in three million by chance."""


@dataclass(frozen=True)
class ReadBack:
    """A masked column of which ``cells`` of ``masked`` cells are read back through the groups of ``group``."""

    column: str
    group: str
    cells: int
    masked: int


@dataclass(frozen=True, eq=False)
class Grouping:
    """The paired records in the order of a grouping column; ``starts`` are the first places of the groups."""

    order: NDArray[np.int64]
    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class GroupColumn:
    """A released column that groups the paired records; all of them are ordered by it only where no sample rules it out."""

    column: Column
    rows: NDArray[np.int64]
    sample: NDArray[np.int64]
    declared: bool
    """Whether the policy itself says that the column stands for persons or households."""

    @property
    def name(self) -> str:
        return self.column.name

    @cached_property
    def probe(self) -> Grouping | None:
        """The sampled records in the order of the column."""
        return _grouping(self.column, self.rows, self.sample)

    @cached_property
    def whole(self) -> Grouping | None:
        """All paired records in the order of the column; None where hardly any of them shares its group with another."""
        if len(self.sample) == len(self.rows):
            grouping = self.probe
        else:
            grouping = _grouping(self.column, self.rows, np.arange(len(self.rows)))
        if grouping is None or float(grouping.lengths[grouping.lengths > 1].sum()) < _IN_COMPANY * len(grouping.order):
            return None
        return grouping


def groupings(paired: Paired, determinants: Sequence[Determinant], sample: NDArray[np.int64]) -> list[GroupColumn]:
    """The released columns that group the records: persons and households first, then those with many small groups.

    A column with as many groups as that shows many different values in any sample, so most are ruled out by the sample.
    """
    declared = set(paired.data.named(Role.PERSON, Role.HOUSEHOLD))
    fewest = 0.3 * min(len(sample), len(paired.data) / _MOST_MEAN)
    many = {
        determinant.source
        for determinant in determinants
        if determinant.label == determinant.source and determinant.column.cardinality >= fewest
    } | declared
    columns = [
        GroupColumn(column, paired.rows, sample, column.name in declared)
        for column in encode(paired.data, [name for name in paired.data.columns if name in many])
        if column.name in declared or _may_group(column)
    ]
    return sorted(columns, key=lambda column: not column.declared)


def read_back(paired: Paired, target: str, groups: Sequence[GroupColumn]) -> ReadBack | None:
    """The grouping that gives back most cells of one masked column, if any does."""
    hidden = paired.hidden(target)
    masked = int(hidden.sum())
    if not masked or target not in paired.data.columns or bool(hidden.all()):
        return None
    truth = encode_series(paired.truth(target))
    codes = truth.codes.astype(np.int64)
    known = ~truth.is_null
    chance = float(np.square(np.bincount(codes[known], minlength=1) / max(int(known.sum()), 1)).sum())
    best: ReadBack | None = None
    for group in groups:
        if group.name == target or _varies_in_sample(group, codes, known) or group.whole is None:
            continue
        if not _constant(group.whole, codes, known, chance, declared=group.declared):
            continue
        right, guessed = _given_back(group.whole, codes, known & ~hidden, hidden, truth.cardinality)
        cells = int(right.sum())
        if not group.declared and cells < _CONSTANT * int(guessed.sum()):
            continue
        if cells and (best is None or cells > best.cells):
            best = ReadBack(target, group.name, cells, masked)
    return best


def _may_group(column: Column) -> bool:
    """Many small groups: at least five, of at most fifty records in the mean."""
    number, present = len(column.values), len(column.codes) - int(column.is_null.sum())
    return number >= _LEAST_GROUPS and number < present <= _MOST_MEAN * number


def _grouping(column: Column, rows: NDArray[np.int64], places: NDArray[np.int64]) -> Grouping | None:
    """The paired records at some places in the order of a column; None where it is null in all of them."""
    codes = column.codes[rows[places]]
    present = np.flatnonzero(~column.is_null[rows[places]])
    order = present[np.argsort(codes[present], kind="stable")]
    if not len(order):
        return None
    starts = np.flatnonzero(np.append(True, codes[order][1:] != codes[order][:-1]))
    return Grouping(places[order], starts, np.diff(np.append(starts, len(order))))


def _agreeing_neighbours(group: Grouping, codes: NDArray[np.int64], known: NDArray[np.bool_]) -> tuple[int, float]:
    """The pairs of neighbours within a group whose true values are known, and the share of them that hold the same value."""
    ordered, sure = codes[group.order], known[group.order]
    inside = sure[1:] & sure[:-1]
    inside[group.starts[1:] - 1] = False
    number = int(inside.sum())
    return number, float((ordered[1:] == ordered[:-1])[inside].mean()) if number else 0.0


def _varies_in_sample(group: GroupColumn, codes: NDArray[np.int64], known: NDArray[np.bool_]) -> bool:
    """Whether the sampled records show already that the true values differ within the groups."""
    if group.probe is None:
        return False
    number, agreeing = _agreeing_neighbours(group.probe, codes, known)
    return number >= _PROBED_NEIGHBOURS and agreeing + _PROBED_DEVIATIONS * math.sqrt(0.25 / number) < _CONSTANT


def _constant(group: Grouping, codes: NDArray[np.int64], known: NDArray[np.bool_], chance: float, *, declared: bool) -> bool:
    """Whether neighbours within a group hold the same true value far more often than two records of the table do."""
    number, agreeing = _agreeing_neighbours(group, codes, known)
    if number < _LEAST_NEIGHBOURS and not declared:
        return False
    deviation = math.sqrt(chance * (1 - chance) / max(number, 1))
    # half of the disagreement that chance leaves must be gone, so that a column that hardly varies anywhere proves nothing
    return agreeing >= _CONSTANT and 1 - agreeing <= 0.5 * (1 - chance) and agreeing - chance > _DEVIATIONS * deviation


def _given_back(
    group: Grouping, codes: NDArray[np.int64], visible: NDArray[np.bool_], hidden: NDArray[np.bool_], values: int
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """For each ordered place of a hidden cell whether the visible values of its group agree on its true value, or on any."""
    ordered, seen = codes[group.order], visible[group.order]
    low = np.minimum.reduceat(np.where(seen, ordered, values), group.starts)
    high = np.maximum.reduceat(np.where(seen, ordered, -1), group.starts)
    agreed = np.repeat(np.where(low == high, low, -1), group.lengths)
    return np.asarray(hidden[group.order] & (agreed == ordered)), np.asarray(hidden[group.order] & (agreed >= 0))
