"""Compiled loops for counting records whose cells overlap those of a query; see :mod:`discreet.engine.overlap.splitting`.

Queries with equal cells in the set at hand are one *class*; ``parent`` and ``code`` hold, for each class of the larger set, its
class in the smaller one and its cell of the new attribute. ``links`` is (starts, groups): the groups of records that agree with
a class of the smaller set. ``runs`` is (starts, begin, end): the places that agree with a code. A record's *cell* is
``group * cardinality + place`` in a dense table, or a number given group by group. ``table[cell]`` holds the records of a cell,
``counts[class]`` and ``numbers[class]`` the records and the non-empty cells that agree with a class, ``into`` the cells of all
classes one behind the other, those of class c from ``begin[c]`` on. Loops run over the classes ``start`` to ``stop`` and cost
one step per (link, run) of a class, or per cell where they say "cell by cell". Trap: links times runs can exceed the number of
records by far, which is why :func:`measure_work` is called first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.engine.runtime.compiled import compiled


@compiled
def list_classes(table: Any, cardinality: int, parent: Any, code: Any) -> int:
    """Number the (class, code) pairs that occur, in place of their counts in ``table``; list them, and return their number."""
    listed = 0
    for key in range(len(table)):
        if table[key] > 0:
            parent[listed] = key // cardinality
            code[listed] = key % cardinality
            table[key] = listed
            listed += 1
    return listed


@compiled
def class_of(queries: Any, query_classes: Any, codes: Any, cardinality: int, table: Any, new: Any, start: int, stop: int) -> None:
    """The new class of each query."""
    for query in range(start, stop):
        new[query] = table[np.int64(query_classes[query]) * cardinality + codes[queries[query]]]


@compiled
def measure_work(parent: Any, code: Any, links: Any, runs: Any, spans: Any) -> tuple[int, int, int]:
    """The number of (class, group) pairs to visit, of steps with a run each, and of cells of a dense table that they visit."""
    starts, _ = links
    run_starts, _, _ = runs
    pairs, steps, cells = 0, 0, 0
    for class_id in range(len(parent)):
        groups = starts[parent[class_id] + 1] - starts[parent[class_id]]
        pairs += groups
        steps += groups * (run_starts[code[class_id] + 1] - run_starts[code[class_id]])
        cells += groups * spans[code[class_id]]
    return pairs, steps, cells


@compiled
def sum_counts(table: Any, sums: Any) -> None:
    """``sums[i]`` is the number of records in the cells before i."""
    total = 0
    for cell in range(len(table)):
        sums[cell] = total
        total += table[cell]
    sums[len(table)] = total


@compiled
def list_cells(table: Any, ranks: Any, cells: Any) -> None:
    """List the cells that hold records, and for every cell the number of such cells before it."""
    used = 0
    for cell in range(len(table)):
        ranks[cell] = used
        if table[cell] > 0:
            cells[used] = cell
            used += 1
    ranks[len(table)] = used


@compiled
def count_in_cells(
    parent: Any, code: Any, links: Any, cardinality: int, runs: Any, table: Any, counts: Any, start: int, stop: int
) -> None:
    """Count the records that agree with each class, cell by cell: for short runs."""
    starts, groups = links
    run_starts, run_begin, run_end = runs
    for class_id in range(start, stop):
        total = 0
        for link in range(starts[parent[class_id]], starts[parent[class_id] + 1]):
            base = np.int64(groups[link]) * cardinality
            for run in range(run_starts[code[class_id]], run_starts[code[class_id] + 1]):
                for cell in range(base + run_begin[run], base + run_end[run]):
                    total += table[cell]
        counts[class_id] = total


@compiled
def count_by_running_totals(
    parent: Any, code: Any, links: Any, cardinality: int, runs: Any, sums: Any, counts: Any, start: int, stop: int
) -> None:
    """The same from running totals over the cells: two reads per run, however long it is."""
    starts, groups = links
    run_starts, run_begin, run_end = runs
    for class_id in range(start, stop):
        total = 0
        for link in range(starts[parent[class_id]], starts[parent[class_id] + 1]):
            base = np.int64(groups[link]) * cardinality
            for run in range(run_starts[code[class_id]], run_starts[code[class_id] + 1]):
                total += sums[base + run_end[run]] - sums[base + run_begin[run]]
        counts[class_id] = total


@compiled
def count_cells(
    parent: Any, code: Any, links: Any, cardinality: int, runs: Any, table: Any, numbers: Any, start: int, stop: int
) -> None:
    """Count the groups that agree with each class, cell by cell."""
    starts, groups = links
    run_starts, run_begin, run_end = runs
    for class_id in range(start, stop):
        total = 0
        for link in range(starts[parent[class_id]], starts[parent[class_id] + 1]):
            base = np.int64(groups[link]) * cardinality
            for run in range(run_starts[code[class_id]], run_starts[code[class_id] + 1]):
                for cell in range(base + run_begin[run], base + run_end[run]):
                    total += table[cell] > 0
        numbers[class_id] = total


@compiled
def write_cells(
    parent: Any, code: Any, links: Any, cardinality: int, runs: Any, table: Any, begin: Any, into: Any, start: int, stop: int
) -> None:
    """Write the groups that agree with each class, from ``begin[class]`` on."""
    starts, groups = links
    run_starts, run_begin, run_end = runs
    for class_id in range(start, stop):
        position = begin[class_id]
        for link in range(starts[parent[class_id]], starts[parent[class_id] + 1]):
            base = np.int64(groups[link]) * cardinality
            for run in range(run_starts[code[class_id]], run_starts[code[class_id] + 1]):
                for cell in range(base + run_begin[run], base + run_end[run]):
                    if table[cell] > 0:
                        into[position] = cell
                        position += 1


@compiled
def write_ranks(
    parent: Any, code: Any, links: Any, cardinality: int, runs: Any, ranks: Any, cells: Any, begin: Any, into: Any,
    start: int, stop: int,
) -> None:  # fmt: skip
    """The same from the list of cells that hold records: for runs that are long and mostly empty.

    Their number per class comes from :func:`count_by_running_totals` with ``ranks`` in place of sums.
    """
    starts, groups = links
    run_starts, run_begin, run_end = runs
    for class_id in range(start, stop):
        position = begin[class_id]
        for link in range(starts[parent[class_id]], starts[parent[class_id] + 1]):
            base = np.int64(groups[link]) * cardinality
            for run in range(run_starts[code[class_id]], run_starts[code[class_id] + 1]):
                for rank in range(ranks[base + run_begin[run]], ranks[base + run_end[run]]):
                    into[position] = cells[rank]
                    position += 1


@compiled
def number_cells(members: Any, codes: Any, order: Any, begin: Any, cardinality: int, new: Any, first: Any, cell_code: Any,
                 table: Any) -> int:  # fmt: skip
    """Number the cells that occur, group by group and by code within a group, with a table of one group only.

    ``order`` lists the members by group, group g's from ``begin[g]``. Written are each member's cell (``new``), each group's
    first cell (``first``), each cell's code and number of members; returned is how many cells there are. O(members log codes).
    """
    local = np.full(cardinality, -1, dtype=np.int64)
    touched = np.empty(cardinality, dtype=np.int64)
    cells = 0
    for group in range(len(begin) - 1):
        first[group] = cells
        used = 0
        for place in range(begin[group], begin[group + 1]):
            member = order[place]
            code = codes[member if members is None else members[member]]
            if local[code] < 0:
                local[code] = 0
                touched[used] = code
                used += 1
        touched[:used].sort()
        for place in range(used):
            local[touched[place]] = cells + place
            cell_code[cells + place] = touched[place]
            table[cells + place] = 0
        for place in range(begin[group], begin[group + 1]):
            member = order[place]
            cell = local[codes[member if members is None else members[member]]]
            new[member] = cell
            table[cell] += 1
        for place in range(used):
            local[touched[place]] = -1
        cells += used
    first[len(begin) - 1] = cells
    return cells


@compiled
def _lower_bound(codes: Any, begin: int, end: int, code: int) -> int:
    """The first position from begin to end whose code is at least the given one; binary search."""
    while begin < end:
        middle = (begin + end) // 2
        if codes[middle] < code:
            begin = middle + 1
        else:
            end = middle
    return begin


@compiled
def count_in_numbered_cells(
    parent: Any, code: Any, links: Any, first: Any, cell_code: Any, runs: Any, sums: Any, counts: Any, numbers: Any,
    start: int, stop: int,
) -> None:  # fmt: skip
    """Count the records and the groups that agree with each class, where cells are numbered."""
    starts, groups = links
    run_starts, run_begin, run_end = runs
    for class_id in range(start, stop):
        total, cells = 0, 0
        for link in range(starts[parent[class_id]], starts[parent[class_id] + 1]):
            low, high = first[groups[link]], first[groups[link] + 1]
            for run in range(run_starts[code[class_id]], run_starts[code[class_id] + 1]):
                lower = _lower_bound(cell_code, low, high, run_begin[run])
                upper = _lower_bound(cell_code, lower, high, run_end[run])
                total += sums[upper] - sums[lower]
                cells += upper - lower
        counts[class_id], numbers[class_id] = total, cells


@compiled
def write_numbered(
    parent: Any, code: Any, links: Any, first: Any, cell_code: Any, runs: Any, begin: Any, into: Any, start: int, stop: int
) -> None:
    """Write the numbered cells that agree with each class, from ``begin[class]`` on."""
    starts, groups = links
    run_starts, run_begin, run_end = runs
    for class_id in range(start, stop):
        position = begin[class_id]
        for link in range(starts[parent[class_id]], starts[parent[class_id] + 1]):
            low, high = first[groups[link]], first[groups[link] + 1]
            for run in range(run_starts[code[class_id]], run_starts[code[class_id] + 1]):
                lower = _lower_bound(cell_code, low, high, run_begin[run])
                for cell in range(lower, _lower_bound(cell_code, lower, high, run_end[run])):
                    into[position] = cell
                    position += 1


@compiled
def add_class_counts(queries: Any, new: Any, counts: Any, totals: Any, start: int, stop: int) -> None:
    """Add the count of its class to the total of each query, which may already hold counts of other records."""
    for query in range(start, stop):
        totals[queries[query]] += counts[new[query]]


@compiled
def keep_classes(queries: Any, new: Any, rank: Any, counts: Any, kept_queries: Any, kept_classes: Any) -> int:
    """Keep the queries whose count exceeds 1, with the ``rank`` of their class among those that stay; returns their number."""
    kept_count = 0
    for query in range(len(queries)):
        if counts[queries[query]] > 1:
            kept_queries[kept_count] = queries[query]
            kept_classes[kept_count] = rank[new[query]]
            kept_count += 1
    return kept_count


@compiled
def mark_cells(into: Any, marked: Any) -> None:
    """Mark the cells that some class agrees with."""
    for link in range(len(into)):
        marked[into[link]] = 1


@compiled
def rename_cells(into: Any, table: Any, start: int, stop: int) -> None:
    """Replace each cell by its group: ``table`` holds group numbers from 1, groups are numbered from 0."""
    for link in range(start, stop):
        into[link] = table[into[link]] - 1
