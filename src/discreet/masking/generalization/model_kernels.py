"""Compiled l-diversity and t-closeness of one set of rows, for partitioning; the formulas are those of engine.diversity."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.runtime.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

NO_DIVERSITY, DISTINCT, ENTROPY, RECURSIVE = 0, 1, 2, 3
EQUAL, ORDERED, HIERARCHICAL = 0, 1, 2
_ROUNDING = 1e-9


@compiled
def holds(
    members: NDArray[np.int64],
    counts: NDArray[np.int64],
    sensitive: NDArray[np.int32],
    rules: NDArray[np.float64],
    sizes: NDArray[np.int64],
    whole: NDArray[np.float64],
    trees: NDArray[np.int32],
    tree_heights: NDArray[np.int64],
) -> bool:
    """Whether rows keep the rules in every sensitive attribute.

    ``rules`` are diversity, l, c, t (negative: none); ``sizes`` the number of values of each attribute (codes from there on are
    null); ``whole[attribute]`` its distribution in the table; ``tree_heights`` -1 for equal, 0 for ordered distance.
    """
    for at in range(len(sizes)):
        values, times = np.empty(len(members), dtype=np.int64), np.empty(len(members), dtype=np.int64)
        number = 0
        for row in members:
            if sensitive[row, at] < sizes[at]:
                values[number] = sensitive[row, at]
                times[number] = counts[row]
                number += 1
        if number == 0:
            continue
        number = _histogram(values[:number], times[:number])
        values, times = values[:number], times[:number]
        if not _diverse(times, rules):
            return False
        if rules[3] >= 0:
            if tree_heights[at] < 0:
                away = _equal(values, times, whole[at])
            elif tree_heights[at] == 0:
                away = _ordered(values, times, whole[at], sizes[at])
            else:
                away = 0.0
                for level in range(tree_heights[at]):
                    grouped = np.zeros(sizes[at])
                    for value in range(sizes[at]):
                        grouped[trees[at, level, value]] += whole[at, value]
                    merged, sums = np.empty(number, dtype=np.int64), times.copy()
                    for place in range(number):
                        merged[place] = trees[at, level, values[place]]
                    size = _histogram(merged, sums)
                    away += _equal(merged[:size], sums[:size], grouped)
                away /= tree_heights[at]
            if away > rules[3] + _ROUNDING:
                return False
    return True


@compiled
def sort_pairs(keys: NDArray[np.int64], others: NDArray[np.int64]) -> None:
    """Shell's sort of both arrays by the first, in place: short to compile, and classes are small."""
    size = len(keys)
    gap = 1
    while gap < size // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for at in range(gap, size):
            key, other, place = keys[at], others[at], at
            while place >= gap and keys[place - gap] > key:
                keys[place] = keys[place - gap]
                others[place] = others[place - gap]
                place -= gap
            keys[place], others[place] = key, other
        gap //= 3


@compiled
def _histogram(values: NDArray[np.int64], times: NDArray[np.int64]) -> int:
    """Bring together equal values and their weights, rising, in place; returns how many there are."""
    sort_pairs(values, times)
    number = 0
    for at in range(len(values)):
        if number > 0 and values[number - 1] == values[at]:
            times[number - 1] += times[at]
        else:
            values[number], times[number] = values[at], times[at]
            number += 1
    return number


@compiled
def _diverse(times: NDArray[np.int64], rules: NDArray[np.float64]) -> bool:
    kind, l, c = rules[0], rules[1], rules[2]  # noqa: E741
    if kind == NO_DIVERSITY:
        return True
    if len(times) < l - _ROUNDING:
        return False
    total = times.sum()
    if kind == ENTROPY:
        entropy = 0.0
        for one in times:
            entropy -= one / total * np.log(one / total)
        return bool(np.exp(entropy) >= l * (1 - _ROUNDING))
    if kind == RECURSIVE:
        rising, spare = times.copy(), times.copy()
        sort_pairs(rising, spare)
        holding, tail = 0, total
        for at in range(len(rising) - 1, -1, -1):
            if rising[-1] < c * tail:
                holding += 1
            tail -= rising[at]
        return bool(holding >= l - _ROUNDING)
    return True


@compiled
def _equal(values: NDArray[np.int64], times: NDArray[np.int64], whole: NDArray[np.float64]) -> float:
    total, away, inside = times.sum(), 0.0, 0.0
    for at in range(len(values)):
        away += abs(times[at] / total - whole[values[at]])
        inside += whole[values[at]]
    return float((away + 1.0 - inside) / 2)


@compiled
def _ordered(values: NDArray[np.int64], times: NDArray[np.int64], whole: NDArray[np.float64], size: int) -> float:
    """Sum of |P - Q| over size - 1; the table's running sums are in the rest of ``whole``: Q, then sums of Q."""
    if size < 2:
        return 0.0
    width = len(whole) // 3
    q, running = whole[width : width + size], whole[2 * width : 2 * width + size]
    total, upto = times.sum(), 0
    away = running[values[0]]
    for at in range(len(values)):
        upto += times[at]
        level = upto / total
        begin = values[at]
        end = values[at + 1] if at + 1 < len(values) else size - 1
        cross, beyond = begin, end  # the first place in the stretch where Q has reached P
        while cross < beyond:
            middle = (cross + beyond) // 2
            if q[middle] < level:
                cross = middle + 1
            else:
                beyond = middle
        away += level * (2 * cross - begin - end) - 2 * running[cross] + running[begin] + running[end]
    return float(away / (size - 1))
