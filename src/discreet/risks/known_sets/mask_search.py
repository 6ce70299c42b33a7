r"""Bounds of one record's sum over all known sets, from masks of agreement (:mod:`discreet.risks.known_sets.agreement_masks`).

A depth-first search over sets T. The records that agree on T are a list of distinct masks m_k with multiplicities t_k. Let R be
the attributes that may still be added, p_j the probability that j is known and w_j what it would disclose. The sum over all
V \subseteq R with the weights \mu(V) = p_T p_V (C - c_T - c_V) has the closed forms

    f(m) = \sum_{V \subseteq m} \mu(V)
         = p_T \prod_{j \in m \cap R} (1 + p_j) (C - c_T - \sum_{j \in m \cap R} w_j p_j / (1 + p_j))
    M = f(R),   S = \sum_V \mu(V) count(V) = \sum_k t_k f(m_k)

so what is searched for, \sum_V \mu(V) / count(V), has bounds that need no further counting:

* from below, M^2 / S, because 1 / x is convex (Jensen's inequality);
* from above, M (1/a + 1/b) - S / (a b) where a <= count <= b: a chord lies above a convex function.

V = \emptyset, whose count is known, is taken out of both. Attributes on which all records agree change no count and are summed in
closed form. With at most two distinct masks besides the full one the sum is exact, by inclusion and exclusion. Else, where the
bounds are further apart than allowed, each remaining attribute is added in turn, with the attributes behind it still to come.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.engine.runtime.compiled import compiled
from discreet.risks.known_sets.agreement_masks import merge_masks

BYTE = 8
_MERGED = 8
"""Lists from this length on are merged where masks became equal."""


# factor[byte, value]: product of 1 + p_j over the bits of a byte of a mask; expected[byte, value]: sum of w_j p_j / (1 + p_j).
# O(bytes). Trap: p_T and C - c_T are not included.
@compiled
def weigh(mask: int, factor: Any, expected: Any, learnt: float) -> float:
    """f(mask) without p_T: the weight of all sets within a mask, of which ``learnt`` is disclosed if nothing more is known."""
    product, taken = 1.0, 0.0
    for byte in range(len(factor)):
        value = (mask >> (BYTE * byte)) & 255
        product *= factor[byte, value]
        taken += expected[byte, value]
    return product * max(learnt - taken, 0.0)


# A frame of the stack is a set T: its masks in arena[begin:end] with multiplicities times[begin:end], the bits that may still be
# added, p_T and C - c_T. The arena is a stack as well: what is behind the list of the set at hand is free. A visit is linear in
# the list, once for its bounds and once per attribute added. Trap: recursive compiled functions crash when loaded from the cache.
@compiled
def bound_sum(
    masks: Any, multiplicities: Any, left: int, factor: Any, expected: Any, chances: Any, weights: Any, learnt: float,
    allowed: float, most: int, arena: Any, times: Any,
) -> tuple[float, float, int]:  # fmt: skip
    """Lower and upper bound of the sum over all sets within ``left``, and how many sets were visited (at most about ``most``).

    ``allowed`` is how far apart the bounds of a set with all larger ones may be; ``chances`` and ``weights`` are p and w by bit.
    """
    width = len(chances)
    frame_begin, frame_end = np.zeros(width + 2, np.int64), np.zeros(width + 2, np.int64)
    frame_left, frame_bit = np.zeros(width + 2, np.int64), np.zeros(width + 2, np.int64)
    frame_chance, frame_learnt = np.zeros(width + 2), np.zeros(width + 2)
    low, high, visited = 0.0, 0.0, 0
    arena[: len(masks)], times[: len(masks)] = masks, multiplicities
    frame_end[0], frame_left[0], frame_chance[0], frame_learnt[0], frame_bit[0] = len(masks), left, 1.0, learnt, -1
    depth = 0
    while depth >= 0:
        begin, end, remaining = frame_begin[depth], frame_end[depth], frame_left[depth]
        if frame_bit[depth] < 0:  # a new set
            visited += 1
            common, count = remaining, 0
            for at in range(begin, end):
                common &= arena[at]
                count += times[at]
            for bit in range(width):
                if (common >> bit) & 1:
                    frame_chance[depth] *= 1 + chances[bit]
                    frame_learnt[depth] -= weights[bit] * chances[bit] / (1 + chances[bit])
            remaining &= ~common
            scale, consequence = frame_chance[depth], max(frame_learnt[depth], 0.0)
            whole = weigh(remaining, factor, expected, consequence)
            full, total, others, first, second = 0, 0.0, 0, 0, 0
            for at in range(begin, end):
                mask = arena[at] & remaining
                if mask == remaining:
                    full += times[at]
                    continue
                total += times[at] * weigh(mask, factor, expected, consequence)
                others += 1
                second = first if others > 1 else at
                first = at
            total += full * whole
            full = max(full, 1)
            if others == 0:
                low += scale * whole / count
                high += scale * whole / count
                depth -= 1
                continue
            if others <= 2:
                exact = _sum_two_masks(
                    arena[first] & remaining, arena[second] & remaining, times[first], times[second] if others == 2 else 0,
                    full, whole, factor, expected, consequence,
                )  # fmt: skip
                low += scale * exact
                high += scale * exact
                depth -= 1
                continue
            own = consequence / count
            larger, larger_total = max(whole - consequence, 0.0), max(total - consequence * count, 0.0)
            most_count = max(count - 1, full)  # each attribute that is left excludes a record
            least = larger * larger / larger_total if larger_total > 0 else 0.0
            chord = larger * (1.0 / full + 1.0 / most_count) - larger_total / (full * most_count)
            chord = max(chord, least)
            has_space = end + (end - begin) <= len(arena)
            if scale * (chord - least) <= allowed or visited >= most or not has_space:
                low += scale * (own + least)
                high += scale * (own + chord)
                depth -= 1
                continue
            low += scale * own
            high += scale * own
            frame_left[depth], frame_bit[depth] = remaining, 0
        bit = frame_bit[depth]
        while bit < width and not (remaining >> bit) & 1:
            bit += 1
        if bit == width:
            depth -= 1
            continue
        frame_bit[depth] = bit + 1
        behind = remaining & ~((np.int64(2) << bit) - 1)
        top = end
        for at in range(begin, end):
            if (arena[at] >> bit) & 1:
                arena[top], times[top] = arena[at] & behind, times[at]
                top += 1
        if top - end >= _MERGED:
            merged, merged_times = arena[end:top].copy(), times[end:top].copy()
            top = end + merge_masks(merged, merged_times, arena[end:top], times[end:top])
        depth += 1
        frame_begin[depth], frame_end[depth], frame_left[depth], frame_bit[depth] = end, top, behind, -1
        frame_chance[depth] = frame_chance[depth - 1] * chances[bit]
        frame_learnt[depth] = frame_learnt[depth - 1] - weights[bit]
    return low, high, visited


# O(bytes of a mask). first_times, second_times: how many records have each mask; full: how many agree on everything.
@compiled
def _sum_two_masks(
    first: int, second: int, first_times: int, second_times: int, full: int, whole: float, factor: Any, expected: Any,
    learnt: float,
) -> float:  # fmt: skip
    """The sum where only two masks leave anything out, by whether a set lies in the first, in the second, in both or in none."""
    in_first = weigh(first, factor, expected, learnt)
    if second_times == 0:
        return (whole - in_first) / full + in_first / (full + first_times)
    in_second, in_both = weigh(second, factor, expected, learnt), weigh(first & second, factor, expected, learnt)
    return (
        (whole - in_first - in_second + in_both) / full
        + (in_first - in_both) / (full + first_times)
        + (in_second - in_both) / (full + second_times)
        + in_both / (full + first_times + second_times)
    )
