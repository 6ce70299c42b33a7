"""What masked cells are against the original column: which true values each contains, and how much it leaves open.

Everything is worked out once per distinct masked value and looked up for records, so a table of a million records costs
what its dictionaries cost and a few gathers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.cells.atoms import Atoms, atoms_of, read_sides
from discreet.engine.cells.positions import position
from discreet.engine.cells.reader import Reading
from discreet.engine.encoding.columns import Column
from discreet.model.cells import ColumnCells, Group, Interval
from discreet.model.hierarchy import Hierarchy

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Coarse:
    """The meaning of every code of a masked column in terms of the codes of the original one.

    ``share``   the part of the attribute that the masked value leaves open: 0 for a single value, 1 for null or ``*``,
                width over range for an interval (cut to the range), leaves over all leaves for a group or label
    ``low``, ``high``   positions the masked value spans, where it is a number, date or interval; else not a number
    ``blank``   whether the masked value says nothing (null or ``*``)
    ``first``, ``last``   contained values as a half-open run of ranks, where they are one
    ``keys``    sorted ``masked code x originals + original code`` for contained values that are no run
    ``numbers`` positions of the original values, where they have an order
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
        """Largest minus smallest original position; 0 where there are none."""
        return float(self.numbers.max() - self.numbers.min()) if len(self.numbers) else 0.0

    def contains(self, masked: NDArray[Any], original: NDArray[Any]) -> NDArray[np.bool_]:
        """Whether each masked code contains the original code beside it; an original null agrees with anything."""
        masked, original = masked.astype(np.int64), original.astype(np.int64)
        unknown = original >= self.originals
        rank = self.ranks[np.where(unknown, 0, original)] if self.originals else np.zeros(len(original), dtype=np.int64)
        found = (rank >= self.first[masked]) & (rank < self.last[masked])
        if len(self.keys):
            key = masked * self.originals + original
            at = np.minimum(np.searchsorted(self.keys, key), len(self.keys) - 1)
            found |= self.keys[at] == key
        return np.asarray(found | unknown | self.blank[masked])

    def matrix(self) -> NDArray[np.bool_]:
        """One row per masked code, one column per original value: for small dictionaries."""
        masked, original = np.meshgrid(np.arange(len(self.share)), np.arange(self.originals), indexing="ij")
        return self.contains(masked.ravel(), original.ravel()).reshape(masked.shape)


def coarse(
    original: Column,
    masked: Column,
    hierarchy: Hierarchy | None = None,
    *,
    numeric: bool = True,
    cells: ColumnCells | None = None,
) -> Coarse:
    """Read every distinct value of a masked column against the original column.

    Where the attribute is not ``numeric`` though its values look like numbers, an interval counts by its leaves. A text
    that is a value and also names a hierarchy's group of several leaves stands for the whole group.

    >>> import polars as pl
    >>> from discreet.engine.encoding.columns import encode_series
    >>> ages = encode_series(pl.Series("age", [20, 30, 40, 60]))
    >>> read = coarse(ages, encode_series(pl.Series("age", ["20..40", "60", None])))
    >>> read.share.tolist(), read.matrix().sum(axis=1).tolist()
    ([0.5, 0.0, 1.0], [2, 1, 4])
    """
    true, said = read_sides([(original, None), (masked, cells)], hierarchy=hierarchy, reference=0)
    mine, theirs = atoms_of([true, said])
    size = len(original.values)
    own = mine.first[:size]
    ranks = np.empty(size, dtype=np.int64)
    order = np.argsort(own, kind="stable")
    ranks[order] = np.arange(size)
    first, last = np.searchsorted(own[order], theirs.first), np.searchsorted(own[order], theirs.last)
    keys = _listed(theirs, own, order)
    numbers = true.places.astype(np.float64) if true.kind != "text" and not true.words else np.zeros(0)
    low, high = _spans(said, numbers, masked.cardinality)
    read = Coarse(np.zeros(masked.cardinality), low, high, theirs.blank, first, last, keys, ranks, numbers, size)
    _fill_shares(read, said, hierarchy, numeric=numeric)
    return read


def _listed(theirs: Atoms, own: NDArray[np.int64], order: NDArray[np.int64]) -> NDArray[np.int64]:
    """Keys of the original values among the atoms of cells that are no run."""
    ordered = own[order]
    low, high = (np.searchsorted(ordered, theirs.members, side=side) for side in ("left", "right"))
    counts = high - low
    steps = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    owners = np.repeat(np.repeat(np.arange(len(theirs.blank)), np.diff(theirs.starts)), counts)
    return np.unique(owners * len(own) + order[np.repeat(low, counts) + steps])


def _spans(said: Reading, numbers: NDArray[np.float64], size: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The positions that plain values and intervals span, cut to the range of the originals."""
    low, high = np.full(size, np.nan), np.full(size, np.nan)
    if said.kind == "text":
        return low, high
    plain = np.flatnonzero(said.plain)
    low[plain] = high[plain] = said.places[said.plain].astype(np.float64)
    if len(numbers):
        for code, cell in said.cells.items():
            if isinstance(cell, Interval):
                ends = [_end(cell.lower), _end(cell.upper)]
                low[code], high[code] = np.clip(ends, numbers.min(), numbers.max())
    return low, high


def _end(bound: Any) -> float:
    return bound if isinstance(bound, float) and np.isinf(bound) else float(position(bound))


def _fill_shares(read: Coarse, said: Reading, hierarchy: Hierarchy | None, *, numeric: bool) -> None:
    read.share[read.blank] = 1.0
    held = np.bincount(read.keys // max(read.originals, 1), minlength=len(read.share)) if len(read.keys) else None
    for code, cell in said.cells.items():
        if numeric and isinstance(cell, Interval) and len(read.numbers):
            if read.range > 0:
                read.share[code] = max(0.0, read.high[code] - read.low[code]) / read.range
            continue
        inside, total = int(read.last[code] - read.first[code]), read.originals
        inside += int(held[code]) if held is not None else 0
        if isinstance(cell, Group) and not cell.others and not cell.parts:
            inside, total = len(cell.members), len(hierarchy.leaves) if hierarchy is not None else total
        read.share[code] = min(1.0, inside / total) if inside > 1 and total else 0.0
