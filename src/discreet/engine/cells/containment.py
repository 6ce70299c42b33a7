"""Masked cells read against the original column: which original values each contains, and how much of the domain it covers.

Everything is computed once per distinct masked value and looked up for the records, so the cost depends on the number of distinct
values and not on the number of records.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.cells.atoms import Atoms, atoms_of, read_sides
from discreet.engine.cells.positions import position
from discreet.engine.cells.reader import Reading
from discreet.engine.encoding.columns import Column
from discreet.engine.encoding.unique_keys import unique_keys
from discreet.model.cells import ColumnCells, Group, Interval
from discreet.model.hierarchy import Hierarchy

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Containment:
    """For each code of a masked column, the codes of the original column that its cell contains.

    ``share``   share of the attribute's domain that the cell covers: 0 for a single value, 1 for null or ``*``, width over range
                for an interval (cut to the range), leaves over all leaves for a group or label
    ``low``, ``high``   positions that the cell spans, where it is a number, date or interval; else NaN
    ``blank``   whether the cell is null or ``*``, so that it contains everything
    ``first``, ``last``   contained values as a half-open run of ranks, where they form one run
    ``keys``    sorted ``masked code x originals + original code`` for contained values that do not form one run
    ``ranks``   rank of each original code in the order of the atoms
    ``numbers`` positions of the original values, where they have an order; else empty
    ``originals``   number of distinct original values
    """

    share: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    blank: NDArray[np.bool_]
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    keys: NDArray[np.int64]
    ranks: NDArray[np.int64]
    numbers: NDArray[np.float64]
    originals: int

    @property
    def range(self) -> float:
        """Largest minus smallest position of the original values; 0 where they have no order."""
        return float(self.numbers.max() - self.numbers.min()) if len(self.numbers) else 0.0

    def contains(self, masked: NDArray[Any], original: NDArray[Any]) -> NDArray[np.bool_]:
        """Whether each masked code contains the original code at the same index; every cell contains an original null."""
        masked, original = masked.astype(np.int64), original.astype(np.int64)
        unknown = original >= self.originals
        rank = self.ranks[np.where(unknown, 0, original)] if self.originals else np.zeros(len(original), dtype=np.int64)
        contained = (rank >= self.first[masked]) & (rank < self.last[masked])
        if len(self.keys):
            key = masked * self.originals + original
            index = np.minimum(np.searchsorted(self.keys, key), len(self.keys) - 1)
            contained |= self.keys[index] == key
        return np.asarray(contained | unknown | self.blank[masked])

    def matrix(self) -> NDArray[np.bool_]:
        """A table with one row per masked code and one column per original value; only for small dictionaries."""
        masked, original = np.meshgrid(np.arange(len(self.share)), np.arange(self.originals), indexing="ij")
        return self.contains(masked.ravel(), original.ravel()).reshape(masked.shape)


def read_containment(
    original: Column,
    masked: Column,
    hierarchy: Hierarchy | None = None,
    *,
    numeric: bool = True,
    cells: ColumnCells | None = None,
) -> Containment:
    """Read every distinct value of a masked column against the original column.

    Where the attribute is not ``numeric`` although its values are numbers (codes), the share of an interval is counted in leaves.
    A text that is both a value and the label of a hierarchy's group of several leaves stands for the whole group.

    >>> import polars as pl
    >>> from discreet.engine.encoding.columns import encode_series
    >>> ages = encode_series(pl.Series("age", [20, 30, 40, 60]))
    >>> containment = read_containment(ages, encode_series(pl.Series("age", ["20..40", "60", None])))
    >>> containment.share.tolist(), containment.matrix().sum(axis=1).tolist()
    ([0.5, 0.0, 1.0], [2, 1, 4])
    """
    original_reading, masked_reading = read_sides([(original, None), (masked, cells)], hierarchy=hierarchy, reference=0)
    original_atoms, masked_atoms = atoms_of([original_reading, masked_reading])
    size = len(original.values)
    atom_of_original = original_atoms.first[:size]
    ranks = np.empty(size, dtype=np.int64)
    order = np.argsort(atom_of_original, kind="stable")
    ranks[order] = np.arange(size)
    first, last = (
        np.searchsorted(atom_of_original[order], masked_atoms.first),
        np.searchsorted(atom_of_original[order], masked_atoms.last),
    )
    keys = _contained_pairs(masked_atoms, atom_of_original, order)
    numbers = np.zeros(0) if original_reading.other_texts else original_reading.positions.astype(np.float64)
    low, high = _spans(masked_reading, numbers, masked.cardinality)
    containment = Containment(
        np.zeros(masked.cardinality), low, high, masked_atoms.blank, first, last, keys, ranks, numbers, size
    )
    _fill_shares(containment, masked_reading, hierarchy, numeric=numeric)
    return containment


def _contained_pairs(masked_atoms: Atoms, atom_of_original: NDArray[np.int64], order: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sorted keys of the original values contained in cells that do not form one run of atoms."""
    sorted_atoms = atom_of_original[order]
    low, high = (np.searchsorted(sorted_atoms, masked_atoms.members, side=side) for side in ("left", "right"))
    counts = high - low
    steps = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    owners = np.repeat(np.repeat(np.arange(len(masked_atoms.blank)), np.diff(masked_atoms.starts)), counts)
    return unique_keys(owners * len(atom_of_original) + order[np.repeat(low, counts) + steps])


def _spans(reading: Reading, numbers: NDArray[np.float64], size: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The positions that plain values and intervals span, cut to the range of the original values."""
    low, high = np.full(size, np.nan), np.full(size, np.nan)
    if reading.kind == "text":
        return low, high
    plain = np.flatnonzero(reading.plain)
    low[plain] = high[plain] = reading.positions[reading.plain].astype(np.float64)
    if len(numbers):
        for code, cell in reading.cells.items():
            if isinstance(cell, Interval):
                ends = [float(position(bound)) for bound in (cell.lower, cell.upper)]
                low[code], high[code] = np.clip(ends, numbers.min(), numbers.max())
    return low, high


def _fill_shares(containment: Containment, reading: Reading, hierarchy: Hierarchy | None, *, numeric: bool) -> None:
    containment.share[containment.blank] = 1.0
    listed = np.bincount(containment.keys // max(containment.originals, 1), minlength=len(containment.share))
    for code, cell in reading.cells.items():
        if numeric and isinstance(cell, Interval) and len(containment.numbers):
            if containment.range > 0:
                containment.share[code] = max(0.0, containment.high[code] - containment.low[code]) / containment.range
            continue
        inside, total = int(containment.last[code] - containment.first[code] + listed[code]), containment.originals
        if isinstance(cell, Group) and not cell.others and not cell.parts:
            inside, total = len(cell.members), len(hierarchy.leaves) if hierarchy is not None else total
        containment.share[code] = min(1.0, inside / total) if inside > 1 and total else 0.0
