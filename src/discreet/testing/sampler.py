"""Sampling from distributions in integer arithmetic, so that a seed gives the same table on every machine.

A distribution is a list of integer weights. Its inverse distribution function is tabulated in 65,536 slots, and 16 random
bits of a record select a slot. No logarithm and no floating-point sum influences a draw.
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

_SLOT_COUNT = 1 << 16


@dataclass(frozen=True)
class Sampler:
    """Random draws for some records, or for the persons they belong to: one independent stream per attribute."""

    draw: SampleDraw
    records: NDArray[np.int64]

    def bits(self, stream: str) -> NDArray[np.uint64]:
        return self.draw.bits(self.records, stream)

    def pick(self, stream: str, weights: Sequence[int]) -> NDArray[np.int64]:
        """One index per record, with probabilities in proportion to the weights."""
        return self.pick_given(stream, [weights], np.zeros(len(self.records), dtype=np.int64))

    def pick_given(self, stream: str, weights: Sequence[Sequence[int]], condition: NDArray[Any]) -> NDArray[np.int64]:
        """One index per record, with the probabilities of row ``condition[record]`` of ``weights``."""
        table = np.stack([inverse_cdf_slots(row) for row in weights])
        slot = (self.bits(stream) >> np.uint64(48)).astype(np.int64)
        return np.asarray(table.reshape(-1)[condition.astype(np.int64) * _SLOT_COUNT + slot], dtype=np.int64)

    def below(self, stream: str, bound: int) -> NDArray[np.int64]:
        """A uniform integer from 0 up to, but not including, the bound."""
        high = self.bits(stream) >> np.uint64(32)
        return ((high * np.uint64(bound)) >> np.uint64(32)).astype(np.int64)

    def happens(self, stream: str, chance: int | NDArray[Any]) -> NDArray[np.bool_]:
        """Whether an event of this probability, in millionths, occurs for each record."""
        return np.asarray(self.below(stream, 1_000_000) < chance)

    def amount(self, stream: str, quantiles: Sequence[int]) -> NDArray[np.int64]:
        """An integer from the distribution with these equally spaced quantiles, linear between them."""
        knots = np.asarray(quantiles, dtype=np.int64)
        fine = self.below(stream, (len(knots) - 1) << 16)
        knot, part = fine >> 16, fine & 0xFFFF
        return np.asarray(knots[knot] + ((knots[knot + 1] - knots[knot]) * part >> 16))


def inverse_cdf_slots(weights: Sequence[int]) -> NDArray[np.int16]:
    """The inverse distribution function as a table: each index occupies its share of the slots."""
    bounds = np.cumsum(np.asarray(weights, dtype=np.int64)) * _SLOT_COUNT // sum(weights)
    return np.repeat(np.arange(len(weights), dtype=np.int16), np.diff(bounds, prepend=0))


def zipf_weights(number: int, offset: int = 0) -> list[int]:
    """Weights in proportion to 1 / (rank + offset), a Zipf-Mandelbrot distribution like that of town sizes and word counts."""
    return [1_000_000 // (rank + offset) for rank in range(1, number + 1)]


def decode(name: str, codes: NDArray[Any], values: Sequence[Any]) -> pl.Series:
    """A column of the values that the codes refer to."""
    return pl.Series(name, values).gather(codes)


def with_missing(series: pl.Series, missing: NDArray[np.bool_]) -> pl.Series:
    """The column with nulls where ``missing`` is true."""
    return pl.select(pl.when(pl.Series(missing)).then(None).otherwise(series).alias(series.name)).to_series()
