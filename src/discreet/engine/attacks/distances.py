"""Distances from the true values of people to the cells of released records, with mixed types.

The distance of a person to a record is the sum over the known columns of

* a number or date: the mean of |x - u| over the values u that the cell may stand for, divided by the range of the originals: the
  plain distance for a value, and for an interval that of a uniform u;
* anything else: 0 for the same value, 1 where the cell does not contain the truth, and 1 - 1/m where it is one of the m values
  that the cell may stand for;
* a suppressed cell: as an interval over the whole range, or a set of all values.

So a cell that contains the truth is nearer the fewer values it leaves open, and a record is not preferred because it says little.
A true null is at the distance 0 of every cell.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from discreet.engine.cells.containment import Containment, read_containment
from discreet.engine.cells.hierarchies import usable_hierarchy
from discreet.engine.encoding.columns import Column, encode_series
from discreet.model.attribute import Level
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class ComparedColumn:
    """One column of people beside the released one: codes of both, and what the released cells contain."""

    people: Column
    released: Column
    containment: Containment
    numeric: bool

    def distances(self, codes: NDArray[np.int64]) -> NDArray[np.float32]:
        """One row per code of the people's column, one entry per code of the released column."""
        cells = np.arange(self.released.cardinality)
        meaning, known = self.containment, codes < len(self.people.values)
        table = np.zeros((len(codes), len(cells)), dtype=np.float32)
        inside = np.repeat(codes, len(cells)), np.tile(cells, len(codes))
        contained = meaning.contains(inside[1], inside[0]).reshape(table.shape)
        table[:] = np.where(contained, self._openness[None, :], 1.0)
        spans = ~np.isnan(self._low)
        if self.numeric and spans.any() and known.any():
            truth = meaning.numbers[np.where(known, codes, 0)]
            table[:, spans] = _mean_distance(truth[:, None], self._low[None, spans], self._high[None, spans]) / self._range
        table[~known] = 0.0
        return table

    @property
    def _openness(self) -> NDArray[np.float64]:
        """1 - 1/m for each released code, m being the values of the people's column that the cell contains."""
        meaning = self.containment
        inside = (meaning.last - meaning.first).astype(np.float64)
        if len(meaning.keys):
            inside += np.bincount(meaning.keys // max(meaning.originals, 1), minlength=len(inside))
        inside[meaning.blank] = meaning.originals
        return 1 - 1 / np.maximum(inside, 1.0)

    @property
    def _range(self) -> float:
        return self.containment.range or 1.0

    @property
    def _low(self) -> NDArray[np.float64]:
        return self._span(self.containment.low, np.min)

    @property
    def _high(self) -> NDArray[np.float64]:
        return self._span(self.containment.high, np.max)

    def _span(self, ends: NDArray[np.float64], edge: Callable[[NDArray[np.float64]], float]) -> NDArray[np.float64]:
        """The ends of the cells, those of a suppressed cell at the ends of the originals."""
        numbers = self.containment.numbers
        return np.where(self.containment.blank, edge(numbers), ends) if len(numbers) else ends


def _mean_distance(truth: NDArray[np.float64], low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean of |truth - u| for u uniform between two ends."""
    width = high - low
    outside = np.abs(truth - (low + high) / 2)
    within = ((truth - low) ** 2 + (high - truth) ** 2) / (2 * np.where(width > 0, width, 1.0))
    return np.where((truth > low) & (truth < high), within, outside)


def compare_column(data: Microdata, original: Microdata, people: pl.DataFrame, name: str) -> ComparedColumn:
    """One column of people, written as in the original, beside the released one."""
    persons, released = encode_series(people[name]), encode_series(data.frame[name])
    numeric = original.level(name) in (Level.NUMERIC, Level.DATE)
    tree, cells = usable_hierarchy(original, name), data.cells.get(name)
    containment = read_containment(persons, released, tree, numeric=numeric, cells=cells)
    return ComparedColumn(persons, released, containment, numeric)


@dataclass(frozen=True)
class ReleasedRows:
    """The distinct released rows on some columns: ``codes`` per column, ``of`` the distinct row of each record."""

    codes: list[NDArray[np.int64]]
    of: NDArray[np.int64]
    counts: NDArray[np.int64]


def distinct_rows(columns: Sequence[ComparedColumn], records: int) -> ReleasedRows:
    """Number the distinct combinations of released cells, so that equal records are compared once."""
    from discreet.engine.classes.groups import number_classes

    ids, counts = number_classes([column.released for column in columns], records)
    first = np.zeros(len(counts), dtype=np.int64)
    first[ids[::-1]] = np.arange(records)[::-1]
    return ReleasedRows([column.released.codes[first].astype(np.int64) for column in columns], ids, counts)


def add_distances(
    columns: Sequence[ComparedColumn], codes: Sequence[NDArray[np.int64]], people: NDArray[np.int64]
) -> NDArray[np.float32]:
    """The distances of some people to all distinct released rows; time people x rows x columns."""
    total = np.zeros((len(people), len(codes[0])), dtype=np.float32)
    for column, cells in zip(columns, codes, strict=True):
        distinct, place = np.unique(column.people.codes[people].astype(np.int64), return_inverse=True)
        table = column.distances(distinct)
        for index in range(len(people)):
            total[index] += table[place[index]][cells]
    return total


def threshold_of_nearest(distances: NDArray[np.float32], counts: NDArray[np.int64], neighbours: int) -> NDArray[np.float32]:
    """For each person the distance of the k-th nearest record; ``counts`` records have each distinct row."""
    if distances.shape[1] == 0:
        return np.zeros(len(distances), dtype=np.float32)
    if neighbours == 1:
        return np.asarray(distances.min(axis=1))
    most = min(neighbours, distances.shape[1])
    nearest = np.argpartition(distances, most - 1, axis=1)[:, :most]
    near = np.take_along_axis(distances, nearest, axis=1)
    order = np.argsort(near, axis=1, kind="stable")
    reached = np.cumsum(counts[np.take_along_axis(nearest, order, axis=1)], axis=1) >= min(neighbours, int(counts.sum()))
    place = np.argmax(reached, axis=1)
    return np.asarray(np.take_along_axis(near, order, axis=1)[np.arange(len(near)), place])
