"""MDAV: groups of near records, by repeatedly taking the records farthest out together with their nearest neighbours.

Domingo-Ferrer, J. & Torra, V. (2005). Ordinal, continuous and heterogeneous k-anonymity through microaggregation. Data
Mining and Knowledge Discovery 11(2), 195-212. While at least 3 size records are left: the record farthest from their
centroid and its size - 1 nearest form a group, then the record farthest from that one (found before the removal) and its
size - 1 nearest; one such group where 2 size to 3 size - 1 are left; the rest is the last group. Of equal distances the
higher row comes first. Hence every group has at least size and fewer than 2 size records.

The textbook scans all records left for each group, which is quadratic. Here the records left stand in a k-d tree whose boxes
shrink as records go, and nearest and farthest are found by bounds on the boxes: the groups are those of the scan.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.runtime.compiled import compiled
from discreet.masking.microaggregation.kd_tree import LEAF, build, farthest, nearest, remove

if TYPE_CHECKING:
    from numpy.typing import NDArray


def mdav_groups(
    values: NDArray[np.float64], weights: NDArray[np.float64], nominal: NDArray[np.bool_], size: int
) -> NDArray[np.int64]:
    """A group number a row; ``values`` has a row a record, complete, nominal attributes as codes from 0.

    The squared distance is the sum over the attributes of weight x (a - b)^2, or weight x (a != b) where nominal; that to
    the centroid is weight x (a - mean)^2, or weight x the share of the records left that have another category.
    """
    rows, width = values.shape
    if rows < 2 * size:
        return np.zeros(rows, dtype=np.int64)
    depth = 0
    while rows >> (depth + 1) >= LEAF:
        depth += 1
    tree = build(np.ascontiguousarray(values), weights, depth)
    categories = [int(values[:, at].max()) + 1 if nominal[at] else 0 for at in range(width)]
    offsets = np.cumsum([0, *categories])
    counts = np.zeros(offsets[-1], dtype=np.int64)
    groups = np.full(rows, -1, dtype=np.int64)
    sums = np.zeros(width), np.zeros(width), counts
    space = np.empty(width), np.empty(width), np.empty(len(counts)), np.empty(size, np.int64), np.empty(size)
    room = np.empty(2 * depth + 4, np.int64), np.empty(2 * depth + 4)
    _form_groups(groups, sums, space, tree, (weights, nominal, offsets), size, depth, room)
    return groups


@compiled
def _count(row: int, sign: int, sums: Any, tree: Any, metric: Any) -> None:
    """Adds a row to the centroid of what is left, or takes it away.

    A sum is kept in two floats, so that the centroid does not drift while thousands of records leave.
    """
    total, rest, counts = sums
    points, where = tree[0], tree[2]
    _, nominal, offsets = metric
    for axis in range(len(total)):
        value = sign * points[where[row], axis]
        if nominal[axis]:
            counts[offsets[axis] + int(abs(value))] += sign
            continue
        made = total[axis] + value
        part = made - total[axis]
        rest[axis] += (total[axis] - (made - part)) + (value - part)
        total[axis] = made


@compiled
def _copy(points: Any, at: int, into: Any) -> None:
    for axis in range(len(into)):
        into[axis] = points[at, axis]


@compiled
def _form_groups(groups: Any, sums: Any, space: Any, tree: Any, metric: Any, size: int, depth: int, room: Any) -> None:
    points, where = tree[0], tree[2]
    total, rest, counts = sums
    centre, seed, shares, members, distances = space
    rows = len(groups)
    for row in range(rows):
        _count(row, 1, sums, tree, metric)
    left, group = rows, 0
    while left >= 2 * size:
        for axis in range(len(centre)):
            centre[axis] = (total[axis] + rest[axis]) / left
        for at in range(len(counts)):
            shares[at] = counts[at] / left
        both = left >= 3 * size
        first, second = farthest(centre, shares, True, -1, tree, metric, depth, room), -1
        for turn in range(2):
            _copy(points, where[first], seed)
            if turn == 0 and both:
                second = farthest(seed, shares, False, first, tree, metric, depth, room)
            _take(first, group, groups, sums, seed, members, distances, tree, metric, size, depth, room)
            left -= size
            group += 1
            if not both:
                break
            if turn == 0 and groups[second] >= 0:  # all at one distance: the second seed went with the first
                second = farthest(seed, shares, False, -1, tree, metric, depth, room)
            first = second
    for row in range(rows):
        if groups[row] < 0:
            groups[row] = group


@compiled
def _take(
    first: int, group: int, groups: Any, sums: Any, seed: Any, members: Any, distances: Any, tree: Any, metric: Any, size: int,
    depth: int, room: Any,
) -> None:  # fmt: skip
    """Puts a record and its nearest into a group and out of the tree."""
    if size > 1:
        nearest(first, seed, size - 1, members, distances, tree, metric, depth, room)
    members[size - 1] = first
    for at in range(size):
        row = members[at]
        groups[row] = group
        _count(row, -1, sums, tree, metric)
        remove(row, tree, depth)


def split(
    values: NDArray[np.float64], weights: NDArray[np.float64], nominal: NDArray[np.bool_], most: int
) -> list[NDArray[np.int64]]:
    """Rows in parts of at most ``most``, halved again and again across the widest attribute (by weight), ties by row."""
    parts, done = [np.arange(len(values))], []
    while parts:
        rows = parts.pop()
        if len(rows) <= most:
            done.append(rows)
            continue
        part = values[rows]
        extent = (part.max(axis=0) - part.min(axis=0)) ** 2 * weights
        axis = int(np.argmax(np.where(nominal & ~nominal.all(), -1.0, extent)))
        order = np.argsort(part[:, axis], kind="stable")
        half = len(rows) // 2
        parts += [np.sort(rows[order[half:]]), np.sort(rows[order[:half]])]
    return done
