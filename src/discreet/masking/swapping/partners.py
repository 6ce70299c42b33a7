"""Who swaps with whom: partners near in rank, and partners from elsewhere. Choices come from keyed bits, one word a record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.runtime.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TRIES = 24


def words(uniform: NDArray[np.float64]) -> NDArray[np.uint64]:
    """The 53 random bits behind a uniform number, from which more are made."""
    return np.multiply(uniform, 2.0**53, out=np.empty(len(uniform), dtype=np.uint64), casting="unsafe")


def rank_partners(bits: NDArray[np.uint64], window: int) -> NDArray[np.int64]:
    """For records in the order of their ranks, with whom each swaps: a record at most ``window`` ranks away, or itself.

    From the lowest rank up, each record that has no partner takes one at random of those within the window above that have none
    (Moore 1996).
    """
    return np.asarray(_rank_partners(bits, window, np.full(len(bits), -1, dtype=np.int64), np.empty((2, len(bits)), np.int64)))


def distant_partners(
    groups: NDArray[np.int64], places: NDArray[np.int64], wanting: NDArray[np.int64], bits: NDArray[np.uint64]
) -> NDArray[np.int64]:
    """For each record that wants one, in this order, a partner of its group that lies in another place.

    A record swaps at most once; one that finds no partner, or wants none, is its own.
    """
    order = np.argsort(groups, kind="stable")
    sizes = np.bincount(groups)
    starts = np.cumsum(sizes) - sizes
    position = np.empty(len(groups), dtype=np.int64)
    position[order] = np.arange(len(groups))
    partners = np.full(len(groups), -1, dtype=np.int64)
    _distant_partners(groups, places, wanting, bits, order, position, starts, sizes, partners)
    return np.where(partners < 0, np.arange(len(groups)), partners)


@compiled
def _below(word: Any, number: Any) -> Any:
    """SplitMix64, one step: the next word, and a whole number from 0 to number - 1."""
    word = word + np.uint64(0x9E3779B97F4A7C15)
    made = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    made = (made ^ (made >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word, np.int64((made ^ (made >> np.uint64(31))) % np.uint64(number))


@compiled
def _rank_partners(bits: Any, window: int, partners: Any, free: Any) -> Any:
    number = len(bits)
    at = 0
    while at < number and at + window < number - 1:
        if partners[at] < 0:
            word, found = bits[at], -1
            for _ in range(_TRIES):
                word, drawn = _below(word, window)
                other = at + 1 + drawn
                if partners[other] < 0:
                    found = other
                    break
            if found < 0:  # nearly all are taken: count those that are not, and draw one of them
                count = 0
                for other in range(at + 1, at + window + 1):
                    count += partners[other] < 0
                if count:
                    word, left = _below(word, count)
                    for other in range(at + 1, at + window + 1):
                        if partners[other] < 0:
                            if left == 0:
                                found = other
                                break
                            left -= 1
            partners[at] = at if found < 0 else found
            if found >= 0:
                partners[found] = at
        at += 1
    # the rest lie within one window of each other: draw from a list of those that are left
    count = 0
    for other in range(at, number):
        if partners[other] < 0:
            free[0, count], free[1, other] = other, count
            count += 1
    while at < number:
        if partners[at] < 0:
            count -= 1
            last, place = free[0, count], free[1, at]
            free[0, place], free[1, last] = last, place
            if count == 0:
                partners[at] = at
            else:
                _, place = _below(bits[at], count)
                other = free[0, place]
                count -= 1
                last = free[0, count]
                free[0, place], free[1, last] = last, place
                partners[at], partners[other] = other, at
        at += 1
    return partners


@compiled
def _distant_partners(
    groups: Any, places: Any, wanting: Any, bits: Any, order: Any, position: Any, starts: Any, sizes: Any, partners: Any
) -> None:
    """``order[start : start + size]`` of a group are its records that are still free."""
    for row in wanting:
        if partners[row] >= 0:
            continue
        group = groups[row]
        start, size = starts[group], sizes[group]
        word, found = bits[row], -1
        for _ in range(_TRIES):
            word, drawn = _below(word, size)
            other = order[start + drawn]
            if places[other] != places[row]:
                found = other
                break
        if found < 0:
            word, first = _below(word, size)
            for step in range(size):
                other = order[start + (first + step) % size]
                if places[other] != places[row]:
                    found = other
                    break
        if found < 0:
            continue
        partners[row], partners[found] = found, row
        for gone in (row, found):
            size -= 1
            last, place = order[start + size], position[gone]
            order[place], order[start + size] = last, gone
            position[last], position[gone] = place, start + size
        sizes[group] = size
