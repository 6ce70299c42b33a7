"""Compiled Mondrian partitioning of a table of distinct rows.

A row is a distinct combination of key codes; its count says how many records have it. The codes of every attribute are numbered
so that the values that may be released together are a run of codes: values in their order, or leaves in the order of their
tree. A class is therefore described by its smallest and largest code in each attribute.

Rows are not moved. A permutation of the row numbers, ``rows``, is rearranged in place so that every class is a run of it, from
``begin`` to ``end``; ``spare`` has space for one class. Looking at a class, or cutting it in one attribute, is linear in its
rows, unless a loop says otherwise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from discreet.engine.runtime.compiled import FEW_ROWS, compiled, interpreted_if_few
from discreet.engine.runtime.progress import report_progress
from discreet.masking.generalization.model_kernels import ModelArrays, satisfies_model, sort_pairs

if TYPE_CHECKING:
    from numpy.typing import NDArray


_ROWS_PER_TURN = 2_000_000
"""Rows that are looked at between two reports of progress: some tenths of a second."""


class AxisArrays(NamedTuple):
    """The attributes as arrays.

    ``heights[attribute]`` is the number of hierarchy levels above the leaves, 0 for an ordered attribute.
    ``labels[attribute, level, code]`` is the number of the label of a leaf; labels of a run of leaves rise with the leaves.
    ``positions[attribute, code]`` is the position of a value of an ordered attribute, its range scaled to 1.
    ``shares[attribute, level, code]`` is the share of all leaves that a label covers.
    """

    heights: NDArray[np.int64]
    labels: NDArray[np.int32]
    positions: NDArray[np.float64]
    shares: NDArray[np.float64]


@interpreted_if_few(1 << 20)
def lowest_common(labels: NDArray[np.int32], height: int, low: int, high: int) -> int:
    """The lowest hierarchy level on which two leaves have the same label; ``labels[level, leaf]``."""
    level = 0
    while level < height and labels[level, low] != labels[level, high]:
        level += 1
    return level


class Classes(NamedTuple):
    """The work of a partition that is not done yet.

    ``rows`` is the permutation of the row numbers, ``spare`` has space for one class, ``class_of_row`` is the result. The classes
    that may still be cut are a stack (numba's cache does not survive recursion): the runs of ``rows`` from ``begins[i]`` to
    ``ends[i]`` for ``i < state[0]``. ``state[1]`` is the number of classes that are final.
    """

    rows: NDArray[np.int64]
    spare: NDArray[np.int64]
    class_of_row: NDArray[np.int32]
    begins: NDArray[np.int64]
    ends: NDArray[np.int64]
    state: NDArray[np.int64]

    @classmethod
    def of(cls, size: int) -> Classes:
        """All rows as one class."""
        begins, ends = np.zeros(size + 1, dtype=np.int64), np.full(size + 1, size, dtype=np.int64)
        rows, spare = np.arange(size), np.empty(size, dtype=np.int64)
        return cls(rows, spare, np.empty(size, dtype=np.int32), begins, ends, np.array([1, 0], dtype=np.int64))


# codes[row, attribute]: key codes in the order of cutting. counts[row]: records of the row.
# sensitive[row, attribute]: codes of the sensitive attributes.
# Each level of cuts passes over all rows once per attribute that is tried: O(rows * attributes * depth), depth about
# log2(records / k) for ordered attributes, and O(rows * log(rows)) more for a cut of an attribute with sparse codes.
# Returns after about ``most`` rows that were looked at, so that the caller can stop.
@interpreted_if_few(4 * FEW_ROWS)
def cut_classes(
    codes: NDArray[np.int32],
    counts: NDArray[np.int64],
    axes: AxisArrays,
    relaxed: bool,
    k: int,
    sensitive: NDArray[np.int32],
    model: ModelArrays,
    work: Classes,
    most: int,
) -> None:
    """Cut the classes that wait at the median of their widest ordered attribute, or into the children of their label in a
    hierarchical one, if every part satisfies the model; else the next widest attribute is tried."""
    width = codes.shape[1]
    heights, labels = axes.heights, axes.labels
    rows, spare, begins, ends = work.rows, work.spare, work.begins, work.ends
    waiting, classes, seen = work.state[0], work.state[1], 0
    bounds = np.empty(labels.shape[2] + 2, dtype=np.int64)
    lowest, highest = np.empty(width, dtype=np.int64), np.empty(width, dtype=np.int64)
    widths = np.empty(width)
    while waiting > 0 and seen < most:
        waiting -= 1
        begin, end = begins[waiting], ends[waiting]
        seen += end - begin
        _find_spans(codes, rows, begin, end, lowest, highest)
        _measure_widths(axes, lowest, highest, widths)
        parts = 0
        while parts == 0:
            attribute = _find_widest(widths)
            if widths[attribute] < 0:
                break
            widths[attribute] = -1.0  # tried
            seen += end - begin
            low, high = lowest[attribute], highest[attribute]
            if heights[attribute] > 0:
                level = lowest_common(labels[attribute], heights[attribute], low, high)
                children = labels[attribute, level - 1]
                parts = _cut_into_children(codes, counts, rows, begin, end, attribute, children, low, high, k, spare, bounds)
            else:
                parts = _cut_in_two(codes, counts, rows, begin, end, attribute, low, high, k, relaxed, spare, bounds)
            if len(model.sizes) > 0:
                for part in range(parts):
                    members = rows[bounds[part] : bounds[part + 1]]
                    if not satisfies_model(members, counts, sensitive, model):
                        parts = 0
                        break
        if parts == 0:
            for position in range(begin, end):
                work.class_of_row[rows[position]] = classes
            classes += 1
        for part in range(parts):
            begins[waiting], ends[waiting] = bounds[part], bounds[part + 1]
            waiting += 1
    work.state[0], work.state[1] = waiting, classes


def partition_rows(codes: NDArray[np.int32], *arguments: Any, by_machine_code: bool = False) -> NDArray[np.int32]:
    """The class of each row, in turns between which a deadline can stop the work; see ``cut_classes`` for the arguments.

    ``by_machine_code``: however few the rows, because logarithms of the interpreter differ in the last bit.
    """
    kernel: Any = cut_classes
    cut = kernel.machine_code if by_machine_code else kernel
    work = Classes.of(len(codes))
    while work.state[0] > 0:
        report_progress("cutting the table", int(work.state[1]), 0)
        cut(codes, *arguments, work, _ROWS_PER_TURN)
    return work.class_of_row


@compiled
def _find_spans(
    codes: NDArray[np.int32],
    rows: NDArray[np.int64],
    begin: int,
    end: int,
    lowest: NDArray[np.int64],
    highest: NDArray[np.int64],
) -> None:
    """Write the smallest and the largest code of every attribute in a class to ``lowest`` and ``highest``."""
    width = codes.shape[1]
    for attribute in range(width):
        lowest[attribute] = codes[rows[begin], attribute]
        highest[attribute] = codes[rows[begin], attribute]
    for position in range(begin + 1, end):
        row = rows[position]
        for attribute in range(width):
            code = codes[row, attribute]
            if code < lowest[attribute]:
                lowest[attribute] = code
            elif code > highest[attribute]:
                highest[attribute] = code


@compiled
def _measure_widths(axes: AxisArrays, lowest: NDArray[np.int64], highest: NDArray[np.int64], widths: NDArray[np.float64]) -> None:
    """Write the width of a class in every attribute, as a share of the whole range or of all leaves; -1 for a single value."""
    for attribute in range(len(widths)):
        low, high = lowest[attribute], highest[attribute]
        if low == high:
            widths[attribute] = -1.0
        elif axes.heights[attribute] > 0:
            level = lowest_common(axes.labels[attribute], axes.heights[attribute], low, high)
            widths[attribute] = axes.shares[attribute, level, high]
        else:
            widths[attribute] = axes.positions[attribute, high] - axes.positions[attribute, low]


@compiled
def _find_widest(widths: NDArray[np.float64]) -> int:
    """The first attribute of the largest width. Not np.argmax, which would prefer NaN (an attribute with infinite values)."""
    widest = 0
    for attribute in range(1, len(widths)):
        if widths[attribute] > widths[widest]:
            widest = attribute
    return widest


@compiled
def _cut_in_two(
    codes: NDArray[np.int32],
    counts: NDArray[np.int64],
    rows: NDArray[np.int64],
    begin: int,
    end: int,
    attribute: int,
    low: int,
    high: int,
    k: int,
    relaxed: bool,
    spare: NDArray[np.int64],
    bounds: NDArray[np.int64],
) -> int:
    """Cut a class of an ordered attribute between the two values where its parts are closest to equal in size.

    If a part has fewer than k records then, relaxed cutting divides the records of the median value instead; rows must stand for
    one record each in that case. Returns 2, with the limits of the parts in ``bounds``, or 0 if the class cannot be cut.
    """
    total = 0
    for position in range(begin, end):
        total += counts[rows[position]]
    if total < 2 * k:
        return 0
    values, value_counts = _count_values(codes, counts, rows, begin, end, attribute, low, high)
    cut, left, median, below_median = _find_cut(values, value_counts, total)
    moved = 0  # rows of the value behind the cut that go to the left part nevertheless
    if left < k or total - left < k:
        if not relaxed:
            return 0
        cut, moved = median - 1, total // 2 - below_median
    bounds[0], bounds[1], bounds[2] = begin, _split_rows(codes, rows, begin, end, attribute, cut, moved, spare), end
    return 2


@compiled
def _count_values(
    codes: NDArray[np.int32],
    counts: NDArray[np.int64],
    rows: NDArray[np.int64],
    begin: int,
    end: int,
    attribute: int,
    low: int,
    high: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The codes of one attribute in a class, in rising order, and their records.

    Dense codes are counted in a table, in O(rows + codes), with a count of 0 for those that do not occur; of sparse codes the
    rows are sorted, in about O(rows * log(rows)), and a code may be repeated.
    """
    dense = high - low < 4 * (end - begin) + 64
    size = high - low + 1 if dense else end - begin
    values, value_counts = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    if dense:
        for offset in range(size):
            values[offset] = low + offset
        for position in range(begin, end):
            value_counts[codes[rows[position], attribute] - low] += counts[rows[position]]
    else:
        for position in range(begin, end):
            values[position - begin] = codes[rows[position], attribute]
            value_counts[position - begin] = counts[rows[position]]
        sort_pairs(values, value_counts)
    return values, value_counts


@compiled
def _find_cut(values: NDArray[np.int64], value_counts: NDArray[np.int64], total: int) -> tuple[int, int, int, int]:
    """The last value of the left part of the most even cut, the records of that part, the median, and the records below it.

    A cut lies between two different values: repeated entries of one value (see ``_count_values``) must not be separated.
    """
    size = len(values)
    cut, left, upto = -1, 0, 0
    median, below_median = -1, 0
    for index in range(size):
        if median < 0 and upto + value_counts[index] > total // 2:
            median = values[index]
        if median < 0 or values[index] < median:
            below_median = upto + value_counts[index]
        upto += value_counts[index]
        ends_value = index + 1 < size and values[index + 1] != values[index]
        if ends_value and upto > 0 and (cut < 0 or abs(2 * upto - total) < abs(2 * left - total)):
            cut, left = values[index], upto
    return cut, left, median, below_median


@compiled
def _split_rows(
    codes: NDArray[np.int32],
    rows: NDArray[np.int64],
    begin: int,
    end: int,
    attribute: int,
    cut: int,
    moved: int,
    spare: NDArray[np.int64],
) -> int:
    """Put the rows with codes up to ``cut``, and the first ``moved`` rows of the next code, before the others.

    The order within both parts is kept. Returns where the right part begins.
    """
    left_end, right_size = begin, 0
    for position in range(begin, end):
        row = rows[position]
        goes_left = codes[row, attribute] <= cut
        if moved > 0 and codes[row, attribute] == cut + 1:
            goes_left = True
            moved -= 1
        if goes_left:
            rows[left_end] = row
            left_end += 1
        else:
            spare[right_size] = row
            right_size += 1
    for index in range(right_size):
        rows[left_end + index] = spare[index]
    return left_end


@compiled
def _cut_into_children(
    codes: NDArray[np.int32],
    counts: NDArray[np.int64],
    rows: NDArray[np.int64],
    begin: int,
    end: int,
    attribute: int,
    labels: NDArray[np.int32],
    low: int,
    high: int,
    k: int,
    spare: NDArray[np.int64],
    bounds: NDArray[np.int64],
) -> int:
    """Cut a class into one part per label of the level below; ``labels[code]`` are these labels and rise with the leaves.

    Returns the number of parts, with their limits in ``bounds``, or 0 if a part would have fewer than k records.
    """
    first = labels[low]
    number = labels[high] - first + 1
    records, members = np.zeros(number, dtype=np.int64), np.zeros(number, dtype=np.int64)
    for position in range(begin, end):
        row = rows[position]
        child = labels[codes[row, attribute]] - first
        records[child] += counts[row]
        members[child] += 1
    parts, upto = 0, begin
    next_position = np.empty(number, dtype=np.int64)
    bounds[0] = begin
    for child in range(number):
        if members[child] > 0:
            if records[child] < k:
                return 0
            parts += 1
            bounds[parts] = upto + members[child]
        next_position[child] = upto
        upto += members[child]
    for position in range(begin, end):
        row = rows[position]
        child = labels[codes[row, attribute]] - first
        spare[next_position[child]] = row
        next_position[child] += 1
    for position in range(begin, end):
        rows[position] = spare[position]
    return parts
