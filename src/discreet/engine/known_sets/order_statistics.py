"""Order statistics of many numbers that are not negative, selected among those with the same leading bits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BLOCK = 1 << 16
"""Numbers whose leading bits are looked at at once: they stay in the processor's cache."""
_SHIFT, _BUCKETS = 48, 1 << 16
_NEGATIVE = _BUCKETS // 2
"""Buckets from this one on hold numbers with a sign, whose bits fall as the numbers rise."""
_WORTH = 0.25
"""The share of the numbers up to which candidates are worth being collected: equal numbers are all candidates."""
_MANY = 1 << 17
"""Numbers from which counting the buckets first is worth it."""


def order_statistics(values: NDArray[np.float64], places: Sequence[int]) -> list[float]:
    """The numbers at some places of the sorted array, gaps (not a number) being last; the array stays as it is.

    The bits of floats that are not negative, read as integers, are in the order of the floats. Two passes over the array, and a
    partition of the numbers that share their leading bits with one that is looked for; or one pass, and a partition of all.
    """
    if len(values) < _MANY:
        return _select(values, places)
    counts = np.zeros(_BUCKETS, dtype=np.int64)
    for _, bucket in _buckets(values):
        block_counts = np.bincount(bucket)
        counts[: len(block_counts)] += block_counts
    if counts[_NEGATIVE:].any():
        return _select(values, places)
    end = np.cumsum(counts)
    asked_buckets = np.zeros(_BUCKETS, dtype=np.bool_)
    asked_buckets[np.searchsorted(end, places, side="right")] = True
    if counts[asked_buckets].sum() > _WORTH * len(values):
        return _select(values, places)
    candidates = np.concatenate([block[asked_buckets[bucket]] for block, bucket in _buckets(values)])
    left_out = np.cumsum(np.where(asked_buckets, 0, counts))[
        np.searchsorted(end, places, side="right")
    ]  # values of buckets before it that were not asked for
    return _select(candidates, [int(place) for place in np.asarray(places) - left_out])


def _select(values: NDArray[np.float64], places: Sequence[int]) -> list[float]:
    ordered = np.partition(values, sorted(set(places))) if places else values
    return [float(ordered[place]) for place in places]


def _buckets(values: NDArray[np.float64]) -> Iterator[tuple[NDArray[np.float64], NDArray[np.int64]]]:
    """Blocks of the numbers with their leading bits."""
    for begin in range(0, len(values), _BLOCK):
        block = values[begin : begin + _BLOCK]
        yield block, (block.view(np.uint64) >> np.uint64(_SHIFT)).astype(np.int64)
