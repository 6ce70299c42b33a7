"""Values hidden in one row that another row of the same person, household or group gives back.

For a released column g that groups the records (a person's or household's number, or any column with many small groups) and a
masked column that hardly varies within the groups of g in the original, a masked cell is *read back* where all the true values
that are still visible in its group agree, and agree with its own. Counted exactly, on all records.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
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

    name: str
    order: NDArray[np.int64]
    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]
    told: bool
    """Whether the policy itself says that the column stands for persons or households."""


def groupings(paired: Paired, determinants: Sequence[Determinant], sampled: int) -> list[Grouping]:
    """The released columns that group the records: persons and households first, then those with many small groups.

    A column with as many groups as that shows many different values in any sample, so most are ruled out by the sample.
    """
    told = set(paired.data.named(Role.PERSON, Role.HOUSEHOLD))
    fewest = 0.3 * min(sampled, len(paired.data) / _MOST_MEAN)
    asked = {one.source for one in determinants if one.label == one.source and one.column.cardinality >= fewest} | told
    found = []
    for column in encode(paired.data, [name for name in paired.data.columns if name in asked]):
        named = column.name in told
        if named or _may_group(column):
            found.append(_grouping(column, paired.rows, named))
    return sorted((one for one in found if one is not None), key=lambda one: not one.told)


def read_back(paired: Paired, target: str, groups: Sequence[Grouping]) -> ReadBack | None:
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
    for one in groups:
        if one.name == target or not _constant(one, codes, known, chance):
            continue
        cells = int(_given_back(one, codes, known & ~hidden, hidden, truth.cardinality).sum())
        if cells and (best is None or cells > best.cells):
            best = ReadBack(target, one.name, cells, masked)
    return best


def _may_group(column: Column) -> bool:
    """Many small groups: at least five, of at most fifty records in the mean."""
    number, present = len(column.values), len(column.codes) - int(column.is_null.sum())
    return number >= _LEAST_GROUPS and number < present <= _MOST_MEAN * number


def _grouping(column: Column, rows: NDArray[np.int64], named: bool) -> Grouping | None:
    codes = column.codes[rows].astype(np.int64)
    present = np.flatnonzero(~column.is_null[rows])
    order = present[np.argsort(codes[present], kind="stable")]
    if not len(order):
        return None
    starts = np.flatnonzero(np.append(True, np.diff(codes[order]) != 0))
    lengths = np.diff(np.append(starts, len(order)))
    if float(lengths[lengths > 1].sum()) < _IN_COMPANY * len(order):
        return None
    return Grouping(column.name, order, starts, lengths, named)


def _constant(group: Grouping, codes: NDArray[np.int64], known: NDArray[np.bool_], chance: float) -> bool:
    """Whether neighbours within a group hold the same true value far more often than two records of the table do."""
    ordered, sure = codes[group.order], known[group.order]
    inside = np.ones(len(ordered), dtype=np.bool_)
    inside[group.starts] = False
    inside[1:] &= sure[1:] & sure[:-1]
    number = int(inside.sum())
    if number < _LEAST_NEIGHBOURS and not group.told:
        return False
    agreeing = float((ordered[1:] == ordered[:-1])[inside[1:]].mean()) if number else 0.0
    deviation = np.sqrt(chance * (1 - chance) / max(number, 1))
    # half of the disagreement that chance leaves must be gone, so that a column that hardly varies anywhere proves nothing
    return agreeing >= _CONSTANT and 1 - agreeing <= 0.5 * (1 - chance) and agreeing - chance > _DEVIATIONS * deviation


def _given_back(
    group: Grouping, codes: NDArray[np.int64], visible: NDArray[np.bool_], hidden: NDArray[np.bool_], values: int
) -> NDArray[np.bool_]:
    """For each ordered place of a hidden cell whether the visible values of its group agree on its true value."""
    ordered, seen = codes[group.order], visible[group.order]
    low = np.minimum.reduceat(np.where(seen, ordered, values), group.starts)
    high = np.maximum.reduceat(np.where(seen, ordered, -1), group.starts)
    agreed = np.repeat(np.where(low == high, low, -1), group.lengths)
    return np.asarray(hidden[group.order] & (agreed == ordered))
