"""Drawing from distributions by integers alone, so that a seed makes the same table on every machine.

A distribution is a list of whole weights; its inverse distribution function is a table of 65,536 slots, and a record's
16 random bits name its slot. No logarithm and no floating-point sum takes part in a decision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from discreet.testing.draws import SampleDraw

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SLOTS = 1 << 16


@dataclass(frozen=True)
class Chances:
    """The random choices of some records, or of the persons behind them: a stream of draws an attribute."""

    draw: SampleDraw
    records: NDArray[np.int64]

    def bits(self, stream: str) -> NDArray[np.uint64]:
        return self.draw.bits(self.records, stream)

    def pick(self, stream: str, weights: Sequence[int]) -> NDArray[np.int64]:
        """An index a record, with chances in proportion to the weights."""
        return self.pick_given(stream, [weights], np.zeros(len(self.records), dtype=np.int64))

    def pick_given(self, stream: str, weights: Sequence[Sequence[int]], given: NDArray[Any]) -> NDArray[np.int64]:
        """An index a record, with the chances of the row of ``weights`` that ``given`` names."""
        table = np.stack([slots(row) for row in weights])
        place = (self.bits(stream) >> np.uint64(48)).astype(np.int64)
        return np.asarray(table.reshape(-1)[given.astype(np.int64) * _SLOTS + place], dtype=np.int64)

    def below(self, stream: str, bound: int) -> NDArray[np.int64]:
        """A whole number from 0 up to the bound, all alike."""
        high = self.bits(stream) >> np.uint64(32)
        return ((high * np.uint64(bound)) >> np.uint64(32)).astype(np.int64)

    def happens(self, stream: str, chance: int | NDArray[Any]) -> NDArray[np.bool_]:
        """Whether something of this chance, in millionths, happens to a record."""
        return np.asarray(self.below(stream, 1_000_000) < chance)

    def amount(self, stream: str, quantiles: Sequence[int]) -> NDArray[np.int64]:
        """A whole number whose equally spaced quantiles are those given, straight in between."""
        knots = np.asarray(quantiles, dtype=np.int64)
        fine = self.below(stream, (len(knots) - 1) << 16)
        knot, part = fine >> 16, fine & 0xFFFF
        return np.asarray(knots[knot] + ((knots[knot + 1] - knots[knot]) * part >> 16))


def slots(weights: Sequence[int]) -> NDArray[np.int16]:
    """The inverse distribution function as a table: each index fills its share of the slots."""
    bounds = np.cumsum(np.asarray(weights, dtype=np.int64)) * _SLOTS // sum(weights)
    return np.repeat(np.arange(len(weights), dtype=np.int16), np.diff(bounds, prepend=0))


def falling(number: int, slowly: int = 0) -> list[int]:
    """Weights in proportion to 1 / (rank + slowly), as sizes of towns and uses of words fall."""
    return [1_000_000 // (rank + slowly) for rank in range(1, number + 1)]


def named(name: str, codes: NDArray[Any], values: Sequence[Any]) -> pl.Series:
    """The values that codes stand for, as a column."""
    return pl.Series(name, values).gather(codes)


def sprinkled(series: pl.Series, missing: NDArray[np.bool_]) -> pl.Series:
    """The column with nulls where said."""
    return pl.select(pl.when(pl.Series(missing)).then(None).otherwise(series).alias(series.name)).to_series()
