"""A k-d tree from which points are taken away: nearest and farthest among those that are left.

The tree is balanced and stands in heap order: node i has the children 2i and 2i + 1, all leaves lie at one depth. Every
node knows the box of the points it still holds and the highest row among them, so a search skips what cannot win, ties
included: of equal distances the higher row wins. Bounds are computed as distances are, term by term in
the same order, so that rounding cannot put a bound on the wrong side. Attributes are numbers, or codes of categories where
``nominal``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.runtime.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEAF = 8


def build(values: NDArray[np.float64], weights: NDArray[np.float64], depth: int) -> tuple[Any, ...]:
    """The arrays of a tree with its leaves at ``depth``: points, order, where, leaf, start, count, low, high, top."""
    rows, width = values.shape
    nodes = 1 << (depth + 1)
    order, where, leaf = np.arange(rows), np.empty(rows, np.int64), np.empty(rows, np.int64)
    start, count, top = np.zeros(nodes, np.int64), np.zeros(nodes, np.int64), np.full(nodes, -1, np.int64)
    low, high = np.full((nodes, width), np.inf), np.full((nodes, width), -np.inf)
    count[1] = rows
    _split(values, weights, order, start, count, depth)
    points = values[order]
    where[order] = np.arange(rows)
    leaf[order] = np.repeat(np.arange(1 << depth, nodes), count[1 << depth :])
    tree = points, order, where, leaf, start, count, low, high, top
    _refresh_all(tree, depth)
    return tree


@compiled
def _split(values: Any, weights: Any, order: Any, start: Any, count: Any, depth: int) -> None:
    """Halves every node across the attribute in which its box is widest."""
    width = values.shape[1]
    for node in range(1, 1 << depth):
        first, end = start[node], start[node] + count[node]
        axis, widest = 0, -1.0
        for at in range(width):
            least, most = values[order[first], at], values[order[first], at]
            for place in range(first, end):
                value = values[order[place], at]
                least, most = min(least, value), max(most, value)
            extent = (most - least) * (most - least) * weights[at]
            if extent > widest:
                axis, widest = at, extent
        half = count[node] // 2
        _select(order, first, end - 1, values, axis, first + half)
        start[2 * node], count[2 * node] = first, half
        start[2 * node + 1], count[2 * node + 1] = first + half, end - first - half


@compiled
def _refresh_all(tree: Any, depth: int) -> None:
    for node in range((2 << depth) - 1, 0, -1):
        _refresh(node, tree, depth)


@compiled
def _select(part: Any, left: int, right: int, values: Any, axis: int, place: int) -> None:
    """Hoare's quickselect: the rows with the lowest values first, up to ``place``."""
    while left < right:
        pivot = values[part[(left + right) // 2], axis]
        one, other = left, right
        while one <= other:
            while values[part[one], axis] < pivot:
                one += 1
            while values[part[other], axis] > pivot:
                other -= 1
            if one <= other:
                part[one], part[other] = part[other], part[one]
                one += 1
                other -= 1
        if place <= other:
            right = other
        elif place >= one:
            left = one
        else:
            return


@compiled
def _refresh(node: int, tree: Any, depth: int) -> bool:
    """Box and highest row of a node from what it holds; whether anything changed."""
    points, order, _, _, start, count, low, high, top = tree
    width = points.shape[1]
    changed = False
    if node >> depth:
        begin, end = start[node], start[node] + count[node]
        best = -1
        for at in range(begin, end):
            best = max(best, order[at])
        for axis in range(width):
            least, most = np.inf, -np.inf
            for at in range(begin, end):
                least, most = min(least, points[at, axis]), max(most, points[at, axis])
            changed |= least != low[node, axis] or most != high[node, axis]
            low[node, axis], high[node, axis] = least, most
    else:
        best = max(top[2 * node], top[2 * node + 1])
        for axis in range(width):
            least = min(low[2 * node, axis], low[2 * node + 1, axis])
            most = max(high[2 * node, axis], high[2 * node + 1, axis])
            changed |= least != low[node, axis] or most != high[node, axis]
            low[node, axis], high[node, axis] = least, most
    if best != top[node]:
        top[node] = best
        return True
    return bool(changed)


@compiled
def remove(row: int, tree: Any, depth: int) -> None:
    """Takes a row out of the tree."""
    points, order, where, leaf, start, count, _, _, _ = tree
    node = leaf[row]
    at, last = where[row], start[node] + count[node] - 1
    order[at] = order[last]
    for axis in range(points.shape[1]):
        points[at, axis] = points[last, axis]
    where[order[at]] = at
    count[node] -= 1
    while node and _refresh(node, tree, depth):
        node >>= 1


@compiled
def farthest(centre: Any, shares: Any, central: bool, skip: int, tree: Any, metric: Any, depth: int, room: Any) -> int:
    """The row farthest from a record (``skip`` itself left out), or from the centroid where ``central``.

    ``metric`` is weights, nominal, and the place of each attribute's first category in ``shares``, the categories' shares
    of the records left; ``room`` is a stack of nodes with their bounds.
    """
    points, order, _, _, start, count, low, high, top = tree
    weights, nominal, offsets = metric
    stack, bounds = room
    width = points.shape[1]
    best, found = -1.0, -1
    stack[0], bounds[0], height = 1, np.inf, 1
    while height:
        height -= 1
        node, bound = stack[height], bounds[height]
        if bound < best or (bound == best and top[node] < found):
            continue
        if node >> depth:
            for at in range(start[node], start[node] + count[node]):
                distance = 0.0
                for axis in range(width):
                    if not nominal[axis]:
                        distance += weights[axis] * (points[at, axis] - centre[axis]) ** 2
                    elif central:
                        distance += weights[axis] * (1.0 - shares[offsets[axis] + int(points[at, axis])])
                    else:
                        distance += weights[axis] * (points[at, axis] != centre[axis])
                if order[at] != skip and (distance > best or (distance == best and order[at] > found)):
                    best, found = distance, order[at]
            continue
        for child in (2 * node, 2 * node + 1):
            if top[child] < 0:
                continue
            distance = 0.0
            for axis in range(width):
                least, most = low[child, axis], high[child, axis]
                if not nominal[axis]:
                    gap = max(abs(least - centre[axis]), abs(most - centre[axis]))
                    distance += weights[axis] * gap**2
                elif central:
                    distance += weights[axis] * (1.0 - shares[offsets[axis] + int(least)] if least == most else 1.0)
                else:
                    distance += weights[axis] * (least != most or least != centre[axis])
            stack[height], bounds[height] = child, distance
            height += 1
        if height > 1 and stack[height - 2] >> 1 == node and bounds[height - 2] > bounds[height - 1]:
            stack[height - 2], stack[height - 1] = stack[height - 1], stack[height - 2]
            bounds[height - 2], bounds[height - 1] = bounds[height - 1], bounds[height - 2]
    return found


@compiled
def nearest(row: int, centre: Any, number: int, rows: Any, distances: Any, tree: Any, metric: Any, depth: int, room: Any) -> None:
    """The ``number`` rows nearest to a record, itself left out, into ``rows``, nearest first."""
    points, order, _, _, start, count, low, high, top = tree
    weights, nominal, _ = metric
    stack, bounds = room
    width = points.shape[1]
    filled = 0
    stack[0], bounds[0], height = 1, 0.0, 1
    while height:
        height -= 1
        node, bound = stack[height], bounds[height]
        if filled == number and (
            bound > distances[number - 1] or (bound == distances[number - 1] and top[node] < rows[number - 1])
        ):
            continue
        if node >> depth:
            for at in range(start[node], start[node] + count[node]):
                other = order[at]
                if other == row:
                    continue
                distance = 0.0
                for axis in range(width):
                    if nominal[axis]:
                        distance += weights[axis] * (points[at, axis] != centre[axis])
                    else:
                        distance += weights[axis] * (points[at, axis] - centre[axis]) ** 2
                place = filled
                while place and (
                    distance < distances[place - 1] or (distance == distances[place - 1] and other > rows[place - 1])
                ):
                    place -= 1
                if place == number:
                    continue
                filled = min(filled + 1, number)
                for later in range(filled - 1, place, -1):
                    rows[later], distances[later] = rows[later - 1], distances[later - 1]
                rows[place], distances[place] = other, distance
            continue
        for child in (2 * node, 2 * node + 1):
            if top[child] < 0:
                continue
            distance = 0.0
            for axis in range(width):
                gap = max(low[child, axis] - centre[axis], centre[axis] - high[child, axis], 0.0)
                distance += weights[axis] * ((gap > 0.0) if nominal[axis] else gap**2)
            stack[height], bounds[height] = child, distance
            height += 1
        if height > 1 and stack[height - 2] >> 1 == node and bounds[height - 2] < bounds[height - 1]:
            stack[height - 2], stack[height - 1] = stack[height - 1], stack[height - 2]
            bounds[height - 2], bounds[height - 1] = bounds[height - 1], bounds[height - 2]
