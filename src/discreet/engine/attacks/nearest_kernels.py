"""Kernels of the search for the nearest released rows: a walk over the tree of their cells that leaves far branches out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.runtime.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray


# Depth first over the tree of released rows, for each person in turn. A node's children are the numbers starts[node] to
# starts[node + 1]; cells[node] is the released code on the way to it. The distance of a way is the sum of the tables' entries in
# the order of the columns; it never falls on the way down, so a branch beyond the k-th nearest record so far has no neighbour.
# The nearest child of a node is entered first, so that the bound is small soon. Time O(rows x columns) per person at worst, and
# of the order of the rows that are near where these are few.
@compiled
def find_near_rows(
    starts: NDArray[np.int64],
    cells: NDArray[np.int64],
    leaves: int,
    counts: NDArray[np.int64],
    tables: NDArray[np.float32],
    places: NDArray[np.int64],
    neighbours: int,
    limits: NDArray[np.float32],
    offsets: NDArray[np.int64],
    rows: NDArray[np.int64],
    tied: NDArray[np.bool_],
) -> int:
    """The rows up to the k-th nearest record of each person, and whether they are as far as that one; the people finished.

    ``leaves`` is the number of the first leaf, ``counts`` the records of each leaf. ``places`` has, for each person and column,
    the start of the person's row in ``tables``. The distance of the k-th nearest record is written to ``limits``, the rows of a
    person to ``rows`` and ``tied`` between two entries of ``offsets``; it stops before a person whose rows may not fit.
    """
    people, columns = len(places), places.shape[1]
    number = len(counts)
    far = np.float32(np.inf)
    near_distance = np.empty(number, dtype=np.float32)
    near_row = np.empty(number, dtype=np.int64)
    kth_distance = np.empty(neighbours, dtype=np.float32)
    kth_count = np.empty(neighbours, dtype=np.int64)
    node = np.zeros(columns, dtype=np.int64)
    nearest = np.empty(columns, dtype=np.int64)
    following = np.empty(columns, dtype=np.int64)
    total = np.zeros(columns, dtype=np.float32)
    written = 0
    for person in range(people):
        if written + number > len(rows):
            return person
        kept, near, limit = 0, 0, far
        depth = 0
        following[0] = -1
        while depth >= 0:
            place = places[person, depth]
            if following[depth] == -1:  # the node is entered: its nearest child comes first
                start = starts[node[depth]]
                child, smallest = start, far
                for other in range(start, starts[node[depth] + 1]):
                    if tables[place + cells[other]] < smallest:
                        child, smallest = other, tables[place + cells[other]]
                nearest[depth], following[depth] = child, start
                if total[depth] + smallest > limit:
                    depth -= 1
                    continue
            else:
                child = following[depth]
                if child == starts[node[depth] + 1]:
                    depth -= 1
                    continue
                following[depth] += 1
                if child == nearest[depth]:
                    continue
            distance = total[depth] + tables[place + cells[child]]
            if distance > limit:
                continue
            if depth + 1 < columns:
                depth += 1
                node[depth], total[depth], following[depth] = child, distance, -1
                continue
            row = child - leaves
            near_distance[near], near_row[near] = distance, row
            near += 1
            slot = kept
            while slot > 0 and kth_distance[slot - 1] > distance:
                slot -= 1
            for index in range(min(kept, neighbours - 1), slot, -1):
                kth_distance[index], kth_count[index] = kth_distance[index - 1], kth_count[index - 1]
            if slot < neighbours:
                kth_distance[slot], kth_count[slot] = distance, counts[row]
                kept = min(kept + 1, neighbours)
            reached = 0
            for index in range(kept):
                reached += kth_count[index]
                if reached >= neighbours:
                    limit, kept = kth_distance[index], index + 1
                    break
        for index in range(near):
            if near_distance[index] <= limit:
                rows[written], tied[written] = near_row[index], near_distance[index] == limit
                written += 1
        offsets[person + 1], limits[person] = written, limit
    return people
