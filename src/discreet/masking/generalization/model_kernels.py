"""Compiled l-diversity and t-closeness of one class of rows, for Mondrian.

The formulas are those of ``engine.classes.diversity`` and ``engine.classes.closeness``, which work on all classes at once; the
tests compare both with the definitions. ``values`` and ``counts`` hold the distinct values of a class and their records,
``whole[value]`` the shares of the whole table, ``tree[level, value]`` the labels of a hierarchy. With v distinct values a check
is O(v^1.5) for the sort, and O(levels x size) more for a hierarchy. Trap: a value at the limit must not fail by rounding, hence
``_ROUNDING``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from discreet.engine.runtime.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

NO_DIVERSITY, DISTINCT, ENTROPY, RECURSIVE = 0, 1, 2, 3
_ROUNDING = 1e-9


class ModelArrays(NamedTuple):
    """l-diversity and t-closeness as arrays.

    ``rules`` are the diversity code (NO_DIVERSITY ... RECURSIVE), l, c and t; t is negative if t-closeness is not required.
    ``sizes[attribute]`` is the number of values of a sensitive attribute; it is empty if only k is required.
    ``whole[attribute]`` has three parts of equal width: the distribution in the whole table, its running sums, and the running
    sums of those.
    ``trees[attribute, level, code]`` is the label of a value in the hierarchy of the ground distance, and
    ``tree_heights[attribute]`` the number of its levels; 0 for the ordered and -1 for the equal distance.
    """

    rules: NDArray[np.float64]
    sizes: NDArray[np.int64]
    whole: NDArray[np.float64]
    trees: NDArray[np.int32]
    tree_heights: NDArray[np.int64]


# members: row numbers of the class. counts[row]: records of a row.
# sensitive[row, attribute]: codes of the sensitive attributes; a code from sizes[attribute] on is null.
# Takes O(members * log(members)) per attribute, and O(levels * values) more for a hierarchical distance.
@compiled
def satisfies_model(
    members: NDArray[np.int64], counts: NDArray[np.int64], sensitive: NDArray[np.int32], model: ModelArrays
) -> bool:
    """Whether a class is l-diverse and t-close in every sensitive attribute; nulls are left out."""
    rules, sizes, whole, trees, tree_heights = model
    for attribute in range(len(sizes)):
        values, value_counts = np.empty(len(members), dtype=np.int64), np.empty(len(members), dtype=np.int64)
        number = 0
        for row in members:
            if sensitive[row, attribute] < sizes[attribute]:
                values[number] = sensitive[row, attribute]
                value_counts[number] = counts[row]
                number += 1
        if number == 0:
            continue
        number = _merge_equal(values[:number], value_counts[:number])
        values, value_counts = values[:number], value_counts[:number]
        if not _is_diverse(value_counts, rules):
            return False
        if rules[3] >= 0:
            if tree_heights[attribute] < 0:
                distance = _equal_distance(values, value_counts, whole[attribute])
            elif tree_heights[attribute] == 0:
                distance = _ordered_distance(values, value_counts, whole[attribute], sizes[attribute])
            else:
                tree = trees[attribute, : tree_heights[attribute]]
                distance = _hierarchical_distance(values, value_counts, whole[attribute], sizes[attribute], tree)
            if distance > rules[3] + _ROUNDING:
                return False
    return True


@compiled
def sort_pairs(keys: NDArray[np.int64], companions: NDArray[np.int64]) -> None:
    """Sort both arrays by the first, in place, by Shell sort: quick to compile, and fast enough for the small classes here.

    It is not stable: no caller may depend on the order of equal keys.
    """
    size = len(keys)
    gap = 1
    while gap < size // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for index in range(gap, size):
            key, companion, slot = keys[index], companions[index], index
            while slot >= gap and keys[slot - gap] > key:
                keys[slot] = keys[slot - gap]
                companions[slot] = companions[slot - gap]
                slot -= gap
            keys[slot], companions[slot] = key, companion
        gap //= 3


@compiled
def _merge_equal(values: NDArray[np.int64], counts: NDArray[np.int64]) -> int:
    """Sort values and merge equal ones, adding up their counts, in place; returns the number of distinct values."""
    sort_pairs(values, counts)
    number = 0
    for index in range(len(values)):
        if number > 0 and values[number - 1] == values[index]:
            counts[number - 1] += counts[index]
        else:
            values[number], counts[number] = values[index], counts[index]
            number += 1
    return number


@compiled
def _is_diverse(counts: NDArray[np.int64], rules: NDArray[np.float64]) -> bool:
    """Whether the counts of the distinct values of a class are l-diverse: distinct, by entropy, or recursive (c, l).

    Recursive: r_1 < c (r_l + ... + r_m), with r the counts in falling order (Machanavajjhala et al. 2007).
    """
    kind, l, c = rules[0], rules[1], rules[2]  # noqa: E741
    if kind == NO_DIVERSITY:
        return True
    if len(counts) < l - _ROUNDING:
        return False
    total = counts.sum()
    if kind == ENTROPY:
        entropy = 0.0
        for count in counts:
            entropy -= count / total * np.log(count / total)
        return bool(np.exp(entropy) >= l * (1 - _ROUNDING))
    if kind == RECURSIVE:
        rising, spare = counts.copy(), counts.copy()
        sort_pairs(rising, spare)
        holding, tail = 0, total
        for index in range(len(rising) - 1, -1, -1):
            if rising[-1] < c * tail:
                holding += 1
            tail -= rising[index]
        return bool(holding >= l - _ROUNDING)
    return True


@compiled
def _equal_distance(values: NDArray[np.int64], counts: NDArray[np.int64], whole: NDArray[np.float64]) -> float:
    """Earth mover's distance with equal ground distances: half the sum of |p - q| over all values.

    Values that do not occur in the class contribute q each, which is 1 less the q of those that do.
    """
    total, distance, occurring = counts.sum(), 0.0, 0.0
    for index in range(len(values)):
        distance += abs(counts[index] / total - whole[values[index]])
        occurring += whole[values[index]]
    return float((distance + 1.0 - occurring) / 2)


@compiled
def _hierarchical_distance(
    values: NDArray[np.int64], counts: NDArray[np.int64], whole: NDArray[np.float64], size: int, tree: NDArray[np.int32]
) -> float:
    """Earth mover's distance with hierarchical ground distances: the mean over levels of the equal distance between labels."""
    distance = 0.0
    for level in range(len(tree)):
        whole_by_label = np.zeros(size)
        for value in range(size):
            whole_by_label[tree[level, value]] += whole[value]
        labels, label_counts = np.empty(len(values), dtype=np.int64), counts.copy()
        for index in range(len(values)):
            labels[index] = tree[level, values[index]]
        number = _merge_equal(labels, label_counts)
        distance += _equal_distance(labels[:number], label_counts[:number], whole_by_label)
    return float(distance / len(tree))


@compiled
def _ordered_distance(values: NDArray[np.int64], counts: NDArray[np.int64], whole: NDArray[np.float64], size: int) -> float:
    """Earth mover's distance with ordered ground distances: the sum of |P - Q| over values, divided by size - 1.

    P and Q are the cumulative distributions of the class and of the table. P is constant between two values of the class, so
    each stretch takes one bisection for the position where Q crosses P, and sums of Q come from the running sums in ``whole``:
    O(values of the class * log(size)) in total.
    """
    if size < 2:
        return 0.0
    width = len(whole) // 3
    cumulative, running = whole[width : width + size], whole[2 * width : 2 * width + size]
    total, upto = counts.sum(), 0
    distance = running[values[0]]
    for index in range(len(values)):
        upto += counts[index]
        level = upto / total
        begin = values[index]
        end = values[index + 1] if index + 1 < len(values) else size - 1
        cross, beyond = begin, end  # cross becomes the first position in the stretch where Q has reached P
        while cross < beyond:
            middle = (cross + beyond) // 2
            if cumulative[middle] < level:
                cross = middle + 1
            else:
                beyond = middle
        distance += level * (2 * cross - begin - end) - 2 * running[cross] + running[begin] + running[end]
    return float(distance / (size - 1))
