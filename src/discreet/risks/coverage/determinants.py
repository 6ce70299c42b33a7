"""What an intruder may restore a masked column from: the released columns, and the parts of released dates, as codes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from discreet.engine.encoding.columns import Column, encode_series
from discreet.risks.coverage.pairing import Paired

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SUPPORT = 4
"""Values of a column that is looked up value by value stand for so many sampled records each, in the mean."""
COARSE = 256
_TREE_BINS = 32
PAIR_BINS = 64


@dataclass(frozen=True, eq=False)
class Determinant:
    """One released column, or a part of a date, as codes of the sampled records; ``source`` is the released column."""

    label: str
    source: str
    column: Column

    @cached_property
    def looked_up(self) -> tuple[NDArray[np.int64], int]:
        """Codes for a lookup: the values themselves, or 256 ranges of equal size where the values hardly repeat.

        A column whose values hardly repeat, such as a record's number, determines everything in the records at hand and
        nothing in another: in ranges it can only tell what also holds for other records.
        """
        column = self.column
        if column.cardinality * _SUPPORT <= max(len(column.codes), 1):
            return column.codes.astype(np.int64), column.cardinality
        return bin_codes(column, COARSE)

    @cached_property
    def paired(self) -> tuple[NDArray[np.int64], int]:
        return bin_codes(self.column, PAIR_BINS)

    @cached_property
    def binned(self) -> NDArray[np.int64]:
        return bin_codes(self.column, _TREE_BINS)[0]


def determinants_of(paired: Paired, sample: NDArray[np.int64]) -> list[Determinant]:
    """All released columns that vary, with year, month, day, weekday and hour of dates, however these are stored."""
    determinants: list[Determinant] = []
    for name in paired.data.columns:
        series = paired.released(name, sample)
        parts = [(name, series)]
        days = series if isinstance(series.dtype, pl.Datetime) else paired.released_values(name, sample)
        if days.dtype == pl.Date or isinstance(days.dtype, pl.Datetime):
            parts += [(f"{part} of {name}", values) for part, values in date_parts(days).items()]
        encoded = [Determinant(label, name, encode_series(values)) for label, values in parts]
        determinants += [determinant for determinant in encoded if determinant.column.cardinality > 1]
    return determinants


def date_parts(series: pl.Series) -> dict[str, pl.Series]:
    """The parts of a date that people write into columns of their own."""
    parts = {"year": series.dt.year(), "month": series.dt.month(), "day": series.dt.day(), "weekday": series.dt.weekday()}
    if isinstance(series.dtype, pl.Datetime):
        parts["hour"] = series.dt.hour()
    return parts


def bin_codes(column: Column, limit: int) -> tuple[NDArray[np.int64], int]:
    """Codes in at most ``limit`` ranges of about equally many records, in the order of the values; a null has its own."""
    codes = column.codes.astype(np.int64)
    if column.cardinality <= limit:
        return codes, column.cardinality
    counts = np.bincount(codes, minlength=column.cardinality)
    if column.has_null:
        counts = counts[:-1]
    before = np.cumsum(counts) - counts
    ranges = before * (limit - 1) // max(int(counts.sum()), 1)
    _, dense = np.unique(ranges, return_inverse=True)
    number = int(dense.max()) + 1 if len(dense) else 0
    table = np.append(dense, number) if column.has_null else dense
    return table.astype(np.int64)[codes], number + column.has_null
