"""A k-d tree from which points are removed, to find the nearest and farthest of the points that remain.

The tree is balanced and in heap order: node i has the children 2i and 2i + 1, and all leaves are at one depth. Every node has the
bounding box of its remaining points and the highest row among them, so that a search skips nodes that cannot win, ties
included: of equal distances the higher row wins. Bounds are computed like distances, term by term in the same order, so that
rounding cannot put a bound on the wrong side. Attributes are numbers, or codes of categories if ``nominal``. The distance of a
point, the bound of a box and the refreshing of an inner node are O(attributes), of a leaf O(attributes x LEAF_SIZE).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from discreet.engine.runtime.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEAF_SIZE = 8


class KDTree(NamedTuple):
    """The arrays of a tree. Points are sorted by leaf; a leaf has the positions ``start`` to ``start + size``.

    Of a position: ``points[position, attribute]``, and its row ``order[position]``. Of a row: its ``position`` and its ``leaf``.
    Of a node: ``start`` and ``size``, the box ``low[node, attribute]`` to ``high[node, attribute]``, and the highest row ``top``,
    -1 for an empty node. ``start`` and ``size`` of inner nodes are those of the full tree: only leaves shrink.
    """

    points: NDArray[np.float64]
    order: NDArray[np.int64]
    position: NDArray[np.int64]
    leaf: NDArray[np.int64]
    start: NDArray[np.int64]
    size: NDArray[np.int64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    top: NDArray[np.int64]


class Metric(NamedTuple):
    """Weights of squared distances by attribute, which attributes are nominal, and where the categories of each begin."""

    weights: NDArray[np.float64]
    nominal: NDArray[np.bool_]
    offsets: NDArray[np.int64]


class SearchStack(NamedTuple):
    """The nodes that a search still has to visit, with bounds of the distances in them; one stack per thread."""

    nodes: NDArray[np.int64]
    bounds: NDArray[np.float64]


def build_tree(values: NDArray[np.float64], weights: NDArray[np.float64], depth: int) -> KDTree:
    """The tree of all rows with its leaves at ``depth``, in O(rows * attributes * depth)."""
    rows, width = values.shape
    nodes = 1 << (depth + 1)
    order, position, leaf = np.arange(rows), np.empty(rows, np.int64), np.empty(rows, np.int64)
    start, count, top = np.zeros(nodes, np.int64), np.zeros(nodes, np.int64), np.full(nodes, -1, np.int64)
    low, high = np.full((nodes, width), np.inf), np.full((nodes, width), -np.inf)
    count[1] = rows
    _halve_nodes(values, weights, order, start, count, depth)
    points = values[order]
    position[order] = np.arange(rows)
    leaf[order] = np.repeat(np.arange(1 << depth, nodes), count[1 << depth :])
    tree = KDTree(points, order, position, leaf, start, count, low, high, top)
    _refresh_all(tree, depth)
    return tree


@compiled
def _halve_nodes(
    values: NDArray[np.float64],
    weights: NDArray[np.float64],
    order: NDArray[np.int64],
    start: NDArray[np.int64],
    count: NDArray[np.int64],
    depth: int,
) -> None:
    """Sort rows into the nodes: every node is halved across the attribute in which its box is widest."""
    width = values.shape[1]
    for node in range(1, 1 << depth):
        first, end = start[node], start[node] + count[node]
        axis, widest = 0, -1.0
        for attribute in range(width):
            lowest, highest = values[order[first], attribute], values[order[first], attribute]
            for position in range(first, end):
                value = values[order[position], attribute]
                lowest, highest = min(lowest, value), max(highest, value)
            extent = (highest - lowest) * (highest - lowest) * weights[attribute]
            if extent > widest:
                axis, widest = attribute, extent
        half = count[node] // 2
        _select_rows(order, first, end - 1, values, axis, first + half)
        start[2 * node], count[2 * node] = first, half
        start[2 * node + 1], count[2 * node + 1] = first + half, end - first - half


@compiled
def _refresh_all(tree: KDTree, depth: int) -> None:
    """Compute all nodes, O(nodes x attributes). Trap: from last to first, because a node is computed from its children."""
    for node in range((2 << depth) - 1, 0, -1):
        _refresh(node, tree, depth)


@compiled
def _select_rows(rows: NDArray[np.int64], left: int, right: int, values: NDArray[np.float64], axis: int, rank: int) -> None:
    """Quickselect, in place: the rows with the lowest values on an axis come first, up to the position ``rank``.

    O(right - left) on average. It compares values through row numbers, unlike the quickselect of balanced_partition.
    """
    while left < right:
        pivot = values[rows[(left + right) // 2], axis]
        low, high = left, right
        while low <= high:
            while values[rows[low], axis] < pivot:
                low += 1
            while values[rows[high], axis] > pivot:
                high -= 1
            if low <= high:
                rows[low], rows[high] = rows[high], rows[low]
                low += 1
                high -= 1
        if rank <= high:
            right = high
        elif rank >= low:
            left = low
        else:
            return


@compiled
def _refresh(node: int, tree: KDTree, depth: int) -> bool:
    """Compute the box and the highest row of a node from its points or children; whether anything changed."""
    width = tree.points.shape[1]
    changed = False
    if node >> depth:
        begin, end = tree.start[node], tree.start[node] + tree.size[node]
        top = -1
        for position in range(begin, end):
            top = max(top, tree.order[position])
        for axis in range(width):
            low, high = np.inf, -np.inf
            for position in range(begin, end):
                low, high = min(low, tree.points[position, axis]), max(high, tree.points[position, axis])
            changed |= low != tree.low[node, axis] or high != tree.high[node, axis]
            tree.low[node, axis], tree.high[node, axis] = low, high
    else:
        top = max(tree.top[2 * node], tree.top[2 * node + 1])
        for axis in range(width):
            low = min(tree.low[2 * node, axis], tree.low[2 * node + 1, axis])
            high = max(tree.high[2 * node, axis], tree.high[2 * node + 1, axis])
            changed |= low != tree.low[node, axis] or high != tree.high[node, axis]
            tree.low[node, axis], tree.high[node, axis] = low, high
    if top != tree.top[node]:
        tree.top[node] = top
        return True
    return bool(changed)


@compiled
def remove(row: int, tree: KDTree, depth: int) -> None:
    """Remove a row: the last point of its leaf takes its position, and boxes shrink upwards as far as they change, O(depth)."""
    node = tree.leaf[row]
    position, last = tree.position[row], tree.start[node] + tree.size[node] - 1
    tree.order[position] = tree.order[last]
    for axis in range(tree.points.shape[1]):
        tree.points[position, axis] = tree.points[last, axis]
    tree.position[tree.order[position]] = position
    tree.size[node] -= 1
    while node and _refresh(node, tree, depth):
        node >>= 1


# About O(attributes * log(rows)) for few attributes, O(attributes * rows) at worst.
@compiled
def find_farthest(
    centre: NDArray[np.float64],
    shares: NDArray[np.float64],
    from_centroid: bool,
    skipped: int,
    tree: KDTree,
    metric: Metric,
    depth: int,
    stack: SearchStack,
) -> int:
    """The row farthest from a record (which is ``skipped``), or from the centroid of the remaining records.

    ``shares[offsets[attribute] + code]`` is the share of a category in the remaining records: to the centroid, a category is as
    far as the share of the others.
    """
    best, farthest = -1.0, -1
    stack.nodes[0], stack.bounds[0], height = 1, np.inf, 1
    while height:
        height -= 1
        node, bound = stack.nodes[height], stack.bounds[height]
        if bound < best or (bound == best and tree.top[node] < farthest):
            continue
        if node >> depth:
            for position in range(tree.start[node], tree.start[node] + tree.size[node]):
                distance = _distance(position, centre, shares, from_centroid, tree, metric)
                row = tree.order[position]
                if row != skipped and (distance > best or (distance == best and row > farthest)):
                    best, farthest = distance, row
            continue
        for child in (2 * node, 2 * node + 1):
            if tree.top[child] < 0:
                continue
            stack.nodes[height] = child
            stack.bounds[height] = _largest_distance(child, centre, shares, from_centroid, tree, metric)
            height += 1
        # of two children the one with the larger bound is visited first
        if height > 1 and stack.nodes[height - 2] >> 1 == node and stack.bounds[height - 2] > stack.bounds[height - 1]:
            _swap_last_two(stack, height)
    return farthest


@compiled
def _distance(
    position: int,
    centre: NDArray[np.float64],
    shares: NDArray[np.float64],
    from_centroid: bool,
    tree: KDTree,
    metric: Metric,
) -> float:
    """The squared distance of a point from a record or from the centroid."""
    distance = 0.0
    for axis in range(len(centre)):
        value = tree.points[position, axis]
        if not metric.nominal[axis]:
            distance += metric.weights[axis] * (value - centre[axis]) ** 2
        elif from_centroid:
            distance += metric.weights[axis] * (1.0 - shares[metric.offsets[axis] + int(value)])
        else:
            distance += metric.weights[axis] * (value != centre[axis])
    return distance


@compiled
def _largest_distance(
    node: int,
    centre: NDArray[np.float64],
    shares: NDArray[np.float64],
    from_centroid: bool,
    tree: KDTree,
    metric: Metric,
) -> float:
    """An upper bound of the squared distances of the points of a node from a record or from the centroid."""
    distance = 0.0
    for axis in range(len(centre)):
        low, high = tree.low[node, axis], tree.high[node, axis]
        if not metric.nominal[axis]:
            gap = max(abs(low - centre[axis]), abs(high - centre[axis]))
            distance += metric.weights[axis] * gap**2
        elif from_centroid:
            distance += metric.weights[axis] * (1.0 - shares[metric.offsets[axis] + int(low)] if low == high else 1.0)
        else:
            distance += metric.weights[axis] * (low != high or low != centre[axis])
    return distance


@compiled
def _swap_last_two(stack: SearchStack, height: int) -> None:
    """Exchange the two nodes on top, so that the more promising child is visited first."""
    nodes, bounds = stack
    nodes[height - 2], nodes[height - 1] = nodes[height - 1], nodes[height - 2]
    bounds[height - 2], bounds[height - 1] = bounds[height - 1], bounds[height - 2]


# About O(attributes * (number + log(rows))) for few attributes, O(attributes * rows) at worst.
@compiled
def find_nearest(
    row: int,
    centre: NDArray[np.float64],
    number: int,
    rows: NDArray[np.int64],
    distances: NDArray[np.float64],
    tree: KDTree,
    metric: Metric,
    depth: int,
    stack: SearchStack,
) -> None:
    """Write the ``number`` rows nearest to a record at ``centre``, itself left out, to ``rows``, nearest first."""
    width = tree.points.shape[1]
    filled = 0
    stack.nodes[0], stack.bounds[0], height = 1, 0.0, 1
    while height:
        height -= 1
        node, bound = stack.nodes[height], stack.bounds[height]
        if filled == number and (
            bound > distances[number - 1] or (bound == distances[number - 1] and tree.top[node] < rows[number - 1])
        ):
            continue
        if node >> depth:
            for position in range(tree.start[node], tree.start[node] + tree.size[node]):
                candidate = tree.order[position]
                if candidate == row:
                    continue
                distance = 0.0
                for axis in range(width):
                    if metric.nominal[axis]:
                        distance += metric.weights[axis] * (tree.points[position, axis] != centre[axis])
                    else:
                        distance += metric.weights[axis] * (tree.points[position, axis] - centre[axis]) ** 2
                filled = _insert(candidate, distance, rows, distances, filled, number)
            continue
        for child in (2 * node, 2 * node + 1):
            if tree.top[child] < 0:
                continue
            distance = 0.0
            for axis in range(width):
                gap = max(tree.low[child, axis] - centre[axis], centre[axis] - tree.high[child, axis], 0.0)
                distance += metric.weights[axis] * ((gap > 0.0) if metric.nominal[axis] else gap**2)
            stack.nodes[height], stack.bounds[height] = child, distance
            height += 1
        # of two children the one with the smaller bound is visited first
        if height > 1 and stack.nodes[height - 2] >> 1 == node and stack.bounds[height - 2] < stack.bounds[height - 1]:
            _swap_last_two(stack, height)


@compiled
def _insert(
    candidate: int, distance: float, rows: NDArray[np.int64], distances: NDArray[np.float64], filled: int, number: int
) -> int:
    """Insert a candidate into the sorted list of at most ``number`` nearest rows, O(number); returns the length of the list."""
    slot = filled
    while slot and (distance < distances[slot - 1] or (distance == distances[slot - 1] and candidate > rows[slot - 1])):
        slot -= 1
    if slot == number:
        return filled
    filled = min(filled + 1, number)
    for later in range(filled - 1, slot, -1):
        rows[later], distances[later] = rows[later - 1], distances[later - 1]
    rows[slot], distances[slot] = candidate, distance
    return filled
