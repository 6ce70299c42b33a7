"""The compiled loop that bounds and summarizes the sums of a block of records.

One pass over the block, in place of some thirty passes of whole-array operations. Every number is computed by the same operations
in the same order as in :mod:`discreet.engine.known_sets.effective_size` and in ``Summary.add``, which are its slow version, and
has the same bits.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from discreet.engine.known_sets.effective_size import FEW, NEAR
from discreet.engine.runtime.compiled import compiled

COUNTS, EXTREMES = 8, 9
"""How many counts and extremes a block has."""
FIRST_POWER, POWERS = -330, 660
"""The histogram counts the records by power of ten from the first on."""
_EXPONENTS, _BIAS, _MANTISSA = 1 << 11, 1023, 52
_FEW = FEW * NEAR
_CLOSE = 1e-9
"""A risk so near to a power of ten is left to the logarithm, whose rounding decides on which side it is counted."""


@cache
def powers_of_exponents() -> tuple[Any, Any]:
    """For each exponent of a binary float the power of ten at its smallest number, and where the next power of ten begins.

    That is infinite where the next power of ten is not among the numbers with this exponent.
    """
    exponents = np.arange(_EXPONENTS) - _BIAS
    start = np.ldexp(1.0, np.clip(exponents, 1 - _BIAS, _BIAS))
    power = np.floor(np.log10(start)).astype(np.int64)
    following = np.power(10.0, np.minimum(power + 1, 308).astype(np.float64))
    following[(following / 2 > start) | (power + 1 > 308)] = np.inf
    return power, following


@compiled
def _size(mass: float, total: float, alone: float, records: float) -> float:
    """The effective class size: what counts of 1 would give by what the counts give, both without the empty set."""
    rest = max(total - alone, 0.0)
    size = mass / rest if rest > 0 else np.inf
    return min(max(size, 1.0), records)


@compiled
def summarize_block(
    sums: Any, far: Any, agreeing: Any, kind: Any, by_kind: Any, flags: Any, records: float, alpha: float, threshold: float,
    among: float, power: Any, following: Any, risk: Any, bits: Any, lower: Any, upper: Any, counts: Any, extremes: Any,
    histogram: Any,
) -> bool:  # fmt: skip
    """Bound and summarize a block of records; returns whether some risk is too near a power of ten for ``histogram``.

    ``sums`` and ``far`` are the sums of the kept sets and of these with all larger ones, ``agreeing`` the records that agree on
    everything, ``kind`` the consequence class. ``by_kind[class]`` are spread, dropped, the empty set's part, and the masses of
    the kept and of all sets; ``flags[class]`` whether nothing could be learnt, and whether no set but the empty one is kept.
    Records are high-risk above ``threshold``, or where ``among`` is greater than 0 with a size below it. ``power`` and
    ``following`` are those of ``powers_of_exponents``.

    Written: ``far`` with the effective class sizes; ``risk``, ``lower`` and ``upper`` with risk and bounds, times alpha;
    ``counts`` and ``extremes`` in the order of the last lines; ``histogram`` with the positive risks by power of ten. O(block).
    Trap: ``bits`` is the memory of ``risk`` read as integers, so that an exponent is a shift.
    """
    doubtful = False
    above, certain, possible, positive, sized, few, few_certain, few_possible = 0, 0, 0, 0, 0, 0, 0, 0
    top, top_lower, top_upper, widest = 0.0, 0.0, 0.0, 0.0
    smallest, smallest_lower, smallest_upper, shrink, stretch = np.inf, np.inf, np.inf, 1.0, 1.0
    for at in range(len(sums)):
        own, near = kind[at], sums[at]
        alone = by_kind[own, 2]
        least = max(far[at] * by_kind[own, 0], near)
        most = max(near + by_kind[own, 1] / max(agreeing[at], 1), least)
        value, low, high = near * alpha, least * alpha, most * alpha
        risk[at], lower[at], upper[at] = value, low, high
        top, top_lower, top_upper = max(top, value), max(top_lower, low), max(top_upper, high)
        if low > 0:
            widest = max(widest, (high - low) / low)
        if value > 0:
            positive += 1
            exponent = bits[at] >> _MANTISSA
            begin = following[exponent]
            doubtful |= exponent == 0 or exponent == _EXPONENTS - 1 or abs(value - begin) <= _CLOSE * value
            histogram[power[exponent] + (1 if value >= begin else 0) - FIRST_POWER] += 1
        if among == 0:
            above += value > threshold
            certain += low > threshold
            possible += high > threshold
        if flags[own, 0]:
            far[at] = np.nan
            continue
        size_low, size_high = _size(by_kind[own, 4], most, alone, records), _size(by_kind[own, 4], least, alone, records)
        size = size_low if flags[own, 1] else _size(by_kind[own, 3], near, alone, records)
        far[at] = size
        if among > 0:
            above += size < among
            certain += size_high < among
            possible += size_low < among
        sized += 1
        few += size < _FEW
        few_certain += size_high < _FEW
        few_possible += size_low < _FEW
        smallest, smallest_lower, smallest_upper = (
            min(smallest, size),
            min(smallest_lower, size_low),
            min(smallest_upper, size_high),
        )
        shrink, stretch = min(shrink, size_low / size), max(stretch, size_high / size)
    counts[0], counts[1], counts[2], counts[3] = above, certain, possible, positive
    counts[4], counts[5], counts[6], counts[7] = sized, few, few_certain, few_possible
    extremes[0], extremes[1], extremes[2], extremes[3] = top, top_lower, top_upper, widest
    extremes[4], extremes[5], extremes[6], extremes[7], extremes[8] = smallest, smallest_lower, smallest_upper, shrink, stretch
    return doubtful
