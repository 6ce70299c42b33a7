"""Compiled recursive partitioning. Rows are distinct combinations of key codes with how many records have them.

Every attribute's codes are numbered so that what may stand together is a run: values in their order, or leaves in the order of
their tree. A class is then told by the smallest and largest code of each attribute.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.runtime.compiled import compiled
from discreet.masking.generalization.model_kernels import holds, sort_pairs

if TYPE_CHECKING:
    from numpy.typing import NDArray


@compiled
def lowest_common(labels: NDArray[np.int32], height: int, low: int, high: int) -> int:
    """The lowest level on which two leaves have one label."""
    level = 0
    while level < height and labels[level, low] != labels[level, high]:
        level += 1
    return level


@compiled
def partition(
    codes: NDArray[np.int32],
    counts: NDArray[np.int64],
    heights: NDArray[np.int64],
    labels: NDArray[np.int32],
    places: NDArray[np.float64],
    shares: NDArray[np.float64],
    relaxed: bool,
    k: int,
    sensitive: NDArray[np.int32],
    rules: NDArray[np.float64],
    sizes: NDArray[np.int64],
    whole: NDArray[np.float64],
    trees: NDArray[np.int32],
    tree_heights: NDArray[np.int64],
) -> NDArray[np.int32]:
    """The class of each row: classes are cut in two at the median of their widest ordered attribute, or into the children of
    a hierarchical one (``heights`` above 0), as long as every part keeps the model; else the next widest is tried."""
    size, width = codes.shape
    rows = np.arange(size)
    spare = np.empty(size, dtype=np.int64)
    found = np.empty(size, dtype=np.int32)
    begins, ends = np.empty(size + 1, dtype=np.int64), np.empty(size + 1, dtype=np.int64)
    begins[0], ends[0] = 0, size
    waiting, classes = 1, 0
    bounds = np.empty(labels.shape[2] + 2, dtype=np.int64)
    least, most = np.empty(width, dtype=np.int64), np.empty(width, dtype=np.int64)
    wide = np.empty(width)
    while waiting > 0:
        waiting -= 1
        begin, end = begins[waiting], ends[waiting]
        _spans(codes, rows, begin, end, least, most)
        for at in range(width):
            wide[at] = places[at, most[at]] - places[at, least[at]]
            if heights[at] > 0:
                level = lowest_common(labels[at], heights[at], least[at], most[at])
                wide[at] = shares[at, level, most[at]]
            if least[at] == most[at]:
                wide[at] = -1.0
        parts = 0
        while parts == 0:
            at = 0
            for other in range(1, width):
                if wide[other] > wide[at]:
                    at = other
            if wide[at] < 0:
                break
            wide[at] = -1.0
            if heights[at] > 0:
                level = lowest_common(labels[at], heights[at], least[at], most[at])
                parts = _children(
                    codes, counts, rows, begin, end, at, labels[at, level - 1], least[at], most[at], k, spare, bounds
                )
            else:
                parts = _halves(codes, counts, rows, begin, end, at, least[at], most[at], k, relaxed, spare, bounds)
            if len(sizes) > 0:
                for part in range(parts):
                    members = rows[bounds[part] : bounds[part + 1]]
                    if not holds(members, counts, sensitive, rules, sizes, whole, trees, tree_heights):
                        parts = 0
                        break
        if parts == 0:
            for place in range(begin, end):
                found[rows[place]] = classes
            classes += 1
        for part in range(parts):
            begins[waiting], ends[waiting] = bounds[part], bounds[part + 1]
            waiting += 1
    return found


@compiled
def _spans(
    codes: NDArray[np.int32], rows: NDArray[np.int64], begin: int, end: int, least: NDArray[np.int64], most: NDArray[np.int64]
) -> None:
    """The smallest and largest code of every attribute among some rows."""
    width = codes.shape[1]
    for at in range(width):
        least[at] = codes[rows[begin], at]
        most[at] = codes[rows[begin], at]
    for place in range(begin + 1, end):
        row = rows[place]
        for at in range(width):
            code = codes[row, at]
            if code < least[at]:
                least[at] = code
            elif code > most[at]:
                most[at] = code


@compiled
def _halves(
    codes: NDArray[np.int32],
    counts: NDArray[np.int64],
    rows: NDArray[np.int64],
    begin: int,
    end: int,
    at: int,
    low: int,
    high: int,
    k: int,
    relaxed: bool,
    spare: NDArray[np.int64],
    bounds: NDArray[np.int64],
) -> int:
    """Cut where the two parts are most alike in size; where one is too small then, relaxed cutting divides equal values.

    Relaxed rows stand for one record each. Returns 2 parts with their bounds, or 0.
    """
    total = 0
    for place in range(begin, end):
        total += counts[rows[place]]
    if total < 2 * k:
        return 0
    dense = high - low < 4 * (end - begin) + 64
    size = high - low + 1 if dense else end - begin
    values, times = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    if dense:
        for at_code in range(size):
            values[at_code] = low + at_code
        for place in range(begin, end):
            times[codes[rows[place], at] - low] += counts[rows[place]]
    else:
        for place in range(begin, end):
            values[place - begin] = codes[rows[place], at]
            times[place - begin] = counts[rows[place]]
        sort_pairs(values, times)
    cut, left, upto = -1, 0, 0
    middle, below = -1, 0
    for place in range(size):
        if middle < 0 and upto + times[place] > total // 2:
            middle = values[place]
        if middle < 0 or values[place] < middle:
            below = upto + times[place]
        upto += times[place]
        ends_value = place + 1 < size and values[place + 1] != values[place]
        if ends_value and upto > 0 and (cut < 0 or abs(2 * upto - total) < abs(2 * left - total)):
            cut, left = values[place], upto
    more = 0  # rows of the value behind the cut that go to the left nevertheless
    if left < k or total - left < k:
        if not relaxed:
            return 0
        cut, more = middle - 1, total // 2 - below
    here, there = begin, 0
    for place in range(begin, end):
        row = rows[place]
        goes = codes[row, at] <= cut
        if more > 0 and codes[row, at] == cut + 1:
            goes = True
            more -= 1
        if goes:
            rows[here] = row
            here += 1
        else:
            spare[there] = row
            there += 1
    for place in range(there):
        rows[here + place] = spare[place]
    bounds[0], bounds[1], bounds[2] = begin, here, end
    return 2


@compiled
def _children(
    codes: NDArray[np.int32],
    counts: NDArray[np.int64],
    rows: NDArray[np.int64],
    begin: int,
    end: int,
    at: int,
    labels: NDArray[np.int32],
    low: int,
    high: int,
    k: int,
    spare: NDArray[np.int64],
    bounds: NDArray[np.int64],
) -> int:
    """One part a label of the level below; all must have k records. Labels of a run of leaves rise with the leaves."""
    first = labels[low]
    number = labels[high] - first + 1
    records, members = np.zeros(number, dtype=np.int64), np.zeros(number, dtype=np.int64)
    for place in range(begin, end):
        row = rows[place]
        child = labels[codes[row, at]] - first
        records[child] += counts[row]
        members[child] += 1
    parts, upto = 0, begin
    bounds[0] = begin
    for child in range(number):
        if members[child] > 0:
            if records[child] < k:
                return 0
            parts += 1
            bounds[parts] = upto + members[child]
        records[child] = upto
        upto += members[child]
    for place in range(begin, end):
        row = rows[place]
        child = labels[codes[row, at]] - first
        spare[records[child]] = row
        records[child] += 1
    for place in range(begin, end):
        rows[place] = spare[place]
    return parts
