"""Pairing records for swapping: partners near in rank, and partners from another place.

Random choices come from the keyed bits of the record that chooses, one 64-bit word per record, so that they are reproducible.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.runtime.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MAX_TRIES = 24


def random_bits(uniform: NDArray[np.float64]) -> NDArray[np.uint64]:
    """The 53 random bits behind each uniform number; ``_draw_below`` derives further bits from them."""
    return np.multiply(uniform, 2.0**53, out=np.empty(len(uniform), dtype=np.uint64), casting="unsafe")


def pair_by_rank(bits: NDArray[np.uint64], window: int) -> NDArray[np.int64]:
    """The rank of each record's partner, at most ``window`` ranks away; its own rank if it has no partner.

    ``bits`` are in the order of the ranks. From the lowest rank up, each record without a partner gets a random one of the
    records without a partner within the window above it (Moore 1996).
    """
    return np.asarray(_pair_by_rank(bits, window, np.full(len(bits), -1, dtype=np.int64), np.empty((2, len(bits)), np.int64)))


def pair_across_places(
    groups: NDArray[np.int64], places: NDArray[np.int64], at_risk: NDArray[np.int64], bits: NDArray[np.uint64]
) -> NDArray[np.int64]:
    """The partner of each record: for the records ``at_risk``, in this order, one of the same group from another place.

    A record swaps at most once; a record without a partner is its own.
    """
    order = np.argsort(groups, kind="stable")
    sizes = np.bincount(groups)
    starts = np.cumsum(sizes) - sizes
    position = np.empty(len(groups), dtype=np.int64)
    position[order] = np.arange(len(groups))
    partners = np.full(len(groups), -1, dtype=np.int64)
    _pair_across_places(groups, places, at_risk, bits, order, position, starts, sizes, partners)
    return np.where(partners < 0, np.arange(len(groups)), partners)


# state: a 64-bit word; the bias of the modulo is negligible, because bounds are far below 2^64. O(1).
@compiled
def _draw_below(state: Any, bound: Any) -> Any:
    """One step of SplitMix64 (Steele, Lea & Flood 2014): the next state, and an integer from 0 to bound - 1."""
    state = state + np.uint64(0x9E3779B97F4A7C15)
    mixed = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state, np.int64((mixed ^ (mixed >> np.uint64(31))) % np.uint64(bound))


# partners[rank]: -1 where the rank is free; state: the chooser's random bits. Expected O(1) while most ranks in the window are
# free, O(window) in the worst case.
@compiled
def _draw_free_rank(state: Any, rank: int, window: int, partners: Any) -> Any:
    """A random one of the free ranks within the window above a rank, or -1 where there is none."""
    for _ in range(_MAX_TRIES):
        state, drawn = _draw_below(state, window)
        if partners[rank + 1 + drawn] < 0:
            return rank + 1 + drawn
    count = 0  # nearly all are taken: count the free ones, and draw one of them
    for candidate in range(rank + 1, rank + window + 1):
        count += partners[candidate] < 0
    if count:
        state, skip = _draw_below(state, count)
        for candidate in range(rank + 1, rank + window + 1):
            if partners[candidate] < 0:
                if skip == 0:
                    return candidate
                skip -= 1
    return -1


# bits[rank]: random bits; partners[rank]: -1 on entry, the rank of the partner on exit; free: scratch, free[0] the list of free
# ranks and free[1, rank] the position in it. Expected O(records) while most ranks in the window are free, O(records * window) in
# the worst case. Trap: a rank is its own partner if all others in its window are taken.
@compiled
def _pair_by_rank(bits: Any, window: int, partners: Any, free: Any) -> Any:
    size = len(bits)
    rank = 0
    while rank < size and rank + window < size - 1:
        if partners[rank] < 0:
            partner = _draw_free_rank(bits[rank], rank, window, partners)
            partners[rank] = rank if partner < 0 else partner
            if partner >= 0:
                partners[partner] = rank
        rank += 1
    # the remaining ranks lie within one window of each other: draw from the list of free ranks, in O(1) each
    count = 0
    for candidate in range(rank, size):
        if partners[candidate] < 0:
            free[0, count], free[1, candidate] = candidate, count
            count += 1
    while rank < size:
        if partners[rank] < 0:
            count -= 1
            last, position = free[0, count], free[1, rank]
            free[0, position], free[1, last] = last, position
            if count == 0:
                partners[rank] = rank
            else:
                _, position = _draw_below(bits[rank], count)
                candidate = free[0, position]
                count -= 1
                last = free[0, count]
                free[0, position], free[1, last] = last, position
                partners[rank], partners[candidate] = candidate, rank
        rank += 1
    return partners


# groups[row], places[row]: group and place codes; at_risk: rows, in the order in which they choose; bits[row]: random bits;
# order: rows sorted by group; position[row]: index in order; starts[group], sizes[group]: its slice of order;
# partners[row]: -1 on entry, the partner on exit. Expected O(1) per record, O(group size) in the worst case.
# Invariant: order[starts[g] : starts[g] + sizes[g]] are the records of group g that are not swapped yet.
@compiled
def _pair_across_places(
    groups: Any, places: Any, at_risk: Any, bits: Any, order: Any, position: Any, starts: Any, sizes: Any, partners: Any
) -> None:
    """Pair each record at risk with a free record of its group in another place."""
    for row in at_risk:
        if partners[row] >= 0:
            continue
        group = groups[row]
        start, size = starts[group], sizes[group]
        state, partner = bits[row], -1
        for _ in range(_MAX_TRIES):
            state, drawn = _draw_below(state, size)
            candidate = order[start + drawn]
            if places[candidate] != places[row]:
                partner = candidate
                break
        if partner < 0:
            state, first = _draw_below(state, size)
            for step in range(size):
                candidate = order[start + (first + step) % size]
                if places[candidate] != places[row]:
                    partner = candidate
                    break
        if partner < 0:
            continue
        partners[row], partners[partner] = partner, row
        for swapped in (row, partner):
            size -= 1
            last, hole = order[start + size], position[swapped]
            order[hole], order[start + size] = last, swapped
            position[last], position[swapped] = hole, start + size
        sizes[group] = size
