"""MDAV: groups of similar records, formed repeatedly around the most distant records.

Domingo-Ferrer, J. & Torra, V. (2005). Ordinal, continuous and heterogeneous k-anonymity through microaggregation. Data
Mining and Knowledge Discovery 11(2), 195-212. While at least 3 size records remain: the record farthest from their centroid and
its size - 1 nearest records form a group, then the record farthest from that one (chosen before the removal) and its size - 1
nearest. If 2 size to 3 size - 1 records remain, one such group is formed; the rest is the last group. Of equal distances the
higher row comes first. Hence every group has at least size and fewer than 2 size records.

The textbook scans all remaining records for each group, which is quadratic. Here they are in a k-d tree whose boxes shrink as
records are removed, and nearest and farthest records are found by bounds on the boxes: the groups are those of the scan, which
``scan.py`` does on small tables, for which the compiler is not worth loading.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from discreet.engine.runtime.compiled import FEW_ROWS, compiled, is_compiler_loaded
from discreet.masking.microaggregation.kd_tree import (
    LEAF_SIZE,
    KDTree,
    Metric,
    SearchStack,
    build_tree,
    find_farthest,
    find_nearest,
    remove,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Remaining(NamedTuple):
    """Sums over the records that remain, by attribute: of numbers, in two floats, and counts of categories by offset and code.

    ``correction`` is the rounding error of ``total``, so that the centroid does not drift while thousands of records are removed.
    """

    total: NDArray[np.float64]
    correction: NDArray[np.float64]
    counts: NDArray[np.int64]


class Scratch(NamedTuple):
    """Arrays to work in: the centroid, the record around which a group forms, the shares of categories, and its members."""

    centroid: NDArray[np.float64]
    seed: NDArray[np.float64]
    shares: NDArray[np.float64]
    members: NDArray[np.int64]
    distances: NDArray[np.float64]
    stack: SearchStack


def mdav_groups(
    values: NDArray[np.float64], weights: NDArray[np.float64], nominal: NDArray[np.bool_], size: int
) -> NDArray[np.int64]:
    """One group number per row; ``values`` has one row per record, without NaN, nominal attributes as codes from 0.

    The squared distance is the sum over the attributes of weight x (a - b)^2, or of weight x (a != b) if nominal; the distance
    to the centroid is weight x (a - mean)^2, or weight x the share of the remaining records with another category.
    """
    rows, width = values.shape
    if rows < 2 * size:
        return np.zeros(rows, dtype=np.int64)
    if rows <= FEW_ROWS and not is_compiler_loaded():
        from discreet.masking.microaggregation.scan import scan_groups

        return scan_groups(values, weights, nominal, size)
    depth = 0
    while rows >> (depth + 1) >= LEAF_SIZE:
        depth += 1
    tree = build_tree(np.ascontiguousarray(values), weights, depth)
    categories = [int(values[:, axis].max()) + 1 if nominal[axis] else 0 for axis in range(width)]
    offsets = np.cumsum([0, *categories])
    remaining = Remaining(np.zeros(width), np.zeros(width), np.zeros(offsets[-1], dtype=np.int64))
    stack = SearchStack(np.empty(2 * depth + 4, np.int64), np.empty(2 * depth + 4))
    scratch = Scratch(np.empty(width), np.empty(width), np.empty(offsets[-1]), np.empty(size, np.int64), np.empty(size), stack)
    groups = np.full(rows, -1, dtype=np.int64)
    _form_groups(groups, remaining, scratch, tree, Metric(weights, nominal, offsets), size, depth)
    return groups


@compiled
def _add_row(row: int, sign: int, remaining: Remaining, tree: KDTree, metric: Metric) -> None:
    """Add a row to the sums over the remaining records (sign 1), or take it away (sign -1), by Knuth's two-sum.

    O(attributes). Trap: a plain sum would drift as records leave, and with it the farthest record.
    """
    total, correction, counts = remaining
    for axis in range(len(total)):
        value = sign * tree.points[tree.position[row], axis]
        if metric.nominal[axis]:
            counts[metric.offsets[axis] + int(abs(value))] += sign
            continue
        new_total = total[axis] + value
        part = new_total - total[axis]
        correction[axis] += (total[axis] - (new_total - part)) + (value - part)
        total[axis] = new_total


@compiled
def _copy_point(points: NDArray[np.float64], position: int, target: NDArray[np.float64]) -> None:
    """Copy a point, O(attributes). Trap: a view would change when :func:`remove` puts another point at its position."""
    for axis in range(len(target)):
        target[axis] = points[position, axis]


# groups[row] is -1 for the rows that remain. About O(rows * attributes * log(rows)) for few attributes; with many of them the
# bounds exclude little, and it becomes the quadratic scan.
@compiled
def _form_groups(
    groups: NDArray[np.int64],
    remaining: Remaining,
    scratch: Scratch,
    tree: KDTree,
    metric: Metric,
    size: int,
    depth: int,
) -> None:
    """Write the group of each row to ``groups``."""
    total, correction, counts = remaining
    centroid, shares, seed, stack = scratch.centroid, scratch.shares, scratch.seed, scratch.stack
    rows = len(groups)
    for row in range(rows):
        _add_row(row, 1, remaining, tree, metric)
    left, group = rows, 0
    while left >= 2 * size:
        for axis in range(len(centroid)):
            centroid[axis] = (total[axis] + correction[axis]) / left
        for category in range(len(counts)):
            shares[category] = counts[category] / left
        forms_two = left >= 3 * size
        first, second = find_farthest(centroid, shares, True, -1, tree, metric, depth, stack), -1
        for turn in range(2):
            _copy_point(tree.points, tree.position[first], seed)
            if turn == 0 and forms_two:
                second = find_farthest(seed, shares, False, first, tree, metric, depth, stack)
            _form_group(first, group, groups, remaining, scratch, tree, metric, size, depth)
            left -= size
            group += 1
            if not forms_two:
                break
            if turn == 0 and groups[second] >= 0:  # all at one distance: the second seed joined the first group
                second = find_farthest(seed, shares, False, -1, tree, metric, depth, stack)
            first = second
    for row in range(rows):
        if groups[row] < 0:
            groups[row] = group


@compiled
def _form_group(
    first: int,
    group: int,
    groups: NDArray[np.int64],
    remaining: Remaining,
    scratch: Scratch,
    tree: KDTree,
    metric: Metric,
    size: int,
    depth: int,
) -> None:
    """Put a record, whose point is the seed, and its nearest records into a group, and remove them from the tree.

    O(size) searches of the tree at most, as for :func:`find_nearest` and :func:`remove`.
    """
    members = scratch.members
    if size > 1:
        find_nearest(first, scratch.seed, size - 1, members, scratch.distances, tree, metric, depth, scratch.stack)
    members[size - 1] = first
    for index in range(size):
        row = members[index]
        groups[row] = group
        _add_row(row, -1, remaining, tree, metric)
        remove(row, tree, depth)


def split_rows(
    values: NDArray[np.float64], weights: NDArray[np.float64], nominal: NDArray[np.bool_], most: int
) -> list[NDArray[np.int64]]:
    """Rows in parts of at most ``most``, by repeated halving across the widest attribute (by weight), ties by row."""
    parts, done = [np.arange(len(values))], []
    while parts:
        rows = parts.pop()
        if len(rows) <= most:
            done.append(rows)
            continue
        part = values[rows]
        extent = (part.max(axis=0) - part.min(axis=0)) ** 2 * weights
        # nominal attributes have no widths to compare; they are cut only if there are no others
        axis = int(np.argmax(np.where(nominal & ~nominal.all(), -1.0, extent)))
        order = np.argsort(part[:, axis], kind="stable")
        half = len(rows) // 2
        parts += [np.sort(rows[order[half:]]), np.sort(rows[order[:half]])]
    return done
