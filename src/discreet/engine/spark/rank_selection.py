"""The value at a rank of a column, or of each group of records: exactly, in two or three passes, and without a sort.

Values are 64-bit keys in their order. A pass counts the keys that are still in question by their next digits; the rank then
says which digits the key has. When few keys are left, they are collected. (Radix selection: Knuth 1998, section 5.2.5.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from discreet.engine.spark.arrow import chunks, in_arrow, numbers
from discreet.engine.spark.errors import translate_errors
from discreet.engine.spark.joins import quote

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pyspark.sql import DataFrame

Keys = Callable[[pa.Table], tuple["NDArray[np.int64]", "NDArray[np.uint64]"]]
"""From rows the group and the key of each that has a key."""

FEW = 1 << 20
"""At most so many keys are collected."""
_SIGN = np.uint64(1 << 63)
_SCHEMA = "part int, key long, times long"


def float_keys(values: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Keys in the order of numbers."""
    bits = (values + 0.0).view(np.uint64)
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)


def key_floats(keys: NDArray[np.uint64]) -> NDArray[np.float64]:
    """The numbers that keys stand for."""
    return np.where(keys & _SIGN, keys & ~_SIGN, ~keys).view(np.float64)


def select_ranks(
    frame: DataFrame, keys: Keys, sizes: NDArray[np.int64], ranks: NDArray[np.int64], source: str
) -> NDArray[np.uint64]:
    """For each group, of ``sizes`` records, the key at a rank, counted from 0."""
    known, rest, left = np.zeros(len(sizes), dtype=np.uint64), ranks.astype(np.int64), int(sizes.sum())
    digits, shift = (16 if len(sizes) <= FEW >> 16 else 8), 64
    while shift:
        below = 0 if left <= FEW else shift - digits
        with translate_errors(source):
            counted = in_arrow(frame, _Digits(keys, known, shift, below), _SCHEMA)
            table = counted.groupBy("part", "key").sum("times").toArrow()
        part, key = numbers(table, "part"), numbers(table, "key").view(np.uint64)
        times = numbers(table, "sum(times)")
        order = np.lexsort((key, part))
        part, key, times = part[order], key[order], times[order]
        first = np.searchsorted(part, np.arange(len(sizes)))
        upto = np.concatenate(([0], np.cumsum(times)))
        at = np.searchsorted(upto, upto[first] + rest, side="right") - 1
        known, rest = key[at], rest - (upto[at] - upto[first])
        left, shift = int(times[at].sum()), below
    return known


@dataclass(frozen=True)
class FloatKeys:
    """The numbers of a column, repeated in one group per requested rank; nulls have no rank."""

    name: str
    copies: int = 1

    def __call__(self, table: pa.Table) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
        values = np.asarray(table.column(self.name).drop_null().cast(pa.float64(), safe=False))
        return np.repeat(np.arange(self.copies), len(values)), np.tile(float_keys(values), self.copies)


class OrderedColumn:
    """The numbers of a column in their order; only requested ranks are computed."""

    def __init__(self, frame: DataFrame, name: str, number: int, source: str) -> None:
        self.frame, self.name, self.number, self.source = frame.select(quote(name)), name, number, source

    def __len__(self) -> int:
        return self.number

    def __getitem__(self, rank: int) -> float:
        return self.at(np.array([rank % max(self.number, 1)]))[0]

    def at(self, ranks: NDArray[np.int64]) -> list[float]:
        """The numbers at some ranks, selected in the same passes."""
        sizes = np.full(len(ranks), self.number)
        keys_at_ranks = select_ranks(self.frame, FloatKeys(self.name, len(ranks)), sizes, ranks, self.source)
        return key_floats(keys_at_ranks).tolist()  # type: ignore[no-any-return]


@dataclass(frozen=True)
class _Digits:
    """How many keys in question have each of the next digits."""

    keys: Keys
    known: NDArray[np.uint64]
    shift: int
    below: int

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in chunks(batches):
            parts, keys = self.keys(table)
            if self.shift < 64:
                open_keys = keys >> np.uint64(self.shift) == self.known[parts]
                parts, keys = parts[open_keys], keys[open_keys]
            keys = keys >> np.uint64(self.below)
            order = np.lexsort((keys, parts))
            parts, keys = parts[order], keys[order]
            begin = np.flatnonzero(np.concatenate(([True], (parts[1:] != parts[:-1]) | (keys[1:] != keys[:-1])))[: len(keys)])
            times = np.diff(np.append(begin, len(keys)))
            arrays = [parts[begin].astype(np.int32), keys[begin].view(np.int64), times.astype(np.int64)]
            yield pa.RecordBatch.from_arrays([pa.array(array) for array in arrays], names=["part", "key", "times"])
