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
    """Replace the counts of (class, code) by numbers of the pairs that occur, and list these; how many they are."""
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
    for at in range(start, stop):
        new[at] = table[np.int64(query_classes[at]) * cardinality + codes[queries[at]]]


@compiled
def measure_work(parent: Any, code: Any, links: Any, spans: Any) -> tuple[int, int]:
    """How many (class, group) there are to look at, and how many cells of a dense table these look at."""
    starts, _ = links
    pairs, cells = 0, 0
    for at in range(len(parent)):
        groups = starts[parent[at] + 1] - starts[parent[at]]
        pairs += groups
        cells += groups * spans[code[at]]
    return pairs, cells


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
    """The cells that hold records, and for every cell how many such cells are before it."""
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
    """The records that agree with each class, cell by cell: for runs that are short."""
    starts, groups = links
    run_starts, run_begin, run_end = runs
    for at in range(start, stop):
        total = 0
        for link in range(starts[parent[at]], starts[parent[at] + 1]):
            base = np.int64(groups[link]) * cardinality
            for run in range(run_starts[code[at]], run_starts[code[at] + 1]):
                for cell in range(base + run_begin[run], base + run_end[run]):
                    total += table[cell]
        counts[at] = total


@compiled
def count_by_running_totals(
    parent: Any, code: Any, links: Any, cardinality: int, runs: Any, sums: Any, counts: Any, start: int, stop: int
) -> None:
    """The same from sums over the cells before each cell: two reads per run, however long it is."""
    starts, groups = links
    run_starts, run_begin, run_end = runs
    for at in range(start, stop):
        total = 0
        for link in range(starts[parent[at]], starts[parent[at] + 1]):
            base = np.int64(groups[link]) * cardinality
            for run in range(run_starts[code[at]], run_starts[code[at] + 1]):
                total += sums[base + run_end[run]] - sums[base + run_begin[run]]
        counts[at] = total


@compiled
def count_cells(
    parent: Any, code: Any, links: Any, cardinality: int, runs: Any, table: Any, numbers: Any, start: int, stop: int
) -> None:
    """How many groups agree with each class, cell by cell."""
    starts, groups = links
    run_starts, run_begin, run_end = runs
    for at in range(start, stop):
        total = 0
        for link in range(starts[parent[at]], starts[parent[at] + 1]):
            base = np.int64(groups[link]) * cardinality
            for run in range(run_starts[code[at]], run_starts[code[at] + 1]):
                for cell in range(base + run_begin[run], base + run_end[run]):
                    total += table[cell] > 0
        numbers[at] = total


@compiled
def write_cells(
    parent: Any, code: Any, links: Any, cardinality: int, runs: Any, table: Any, begin: Any, into: Any, start: int, stop: int
) -> None:
    """The groups that agree with each class, from ``begin[class]`` on."""
    starts, groups = links
    run_starts, run_begin, run_end = runs
    for at in range(start, stop):
        to = begin[at]
        for link in range(starts[parent[at]], starts[parent[at] + 1]):
            base = np.int64(groups[link]) * cardinality
            for run in range(run_starts[code[at]], run_starts[code[at] + 1]):
                for cell in range(base + run_begin[run], base + run_end[run]):
                    if table[cell] > 0:
                        into[to] = cell
                        to += 1


@compiled
def write_ranks(
    parent: Any, code: Any, links: Any, cardinality: int, runs: Any, ranks: Any, cells: Any, begin: Any, into: Any,
    start: int, stop: int,
) -> None:  # fmt: skip
    """The same by the list of cells that hold records: for runs that are long and mostly empty.

    How many there are is what :func:`look_sums` finds with ``ranks`` for sums.
    """
    starts, groups = links
    run_starts, run_begin, run_end = runs
    for at in range(start, stop):
        to = begin[at]
        for link in range(starts[parent[at]], starts[parent[at] + 1]):
            base = np.int64(groups[link]) * cardinality
            for run in range(run_starts[code[at]], run_starts[code[at] + 1]):
                for rank in range(ranks[base + run_begin[run]], ranks[base + run_end[run]]):
                    into[to] = cells[rank]
                    to += 1


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
            at = order[place]
            code = codes[at if members is None else members[at]]
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
            at = order[place]
            cell = local[codes[at if members is None else members[at]]]
            new[at] = cell
            table[cell] += 1
        for place in range(used):
            local[touched[place]] = -1
        cells += used
    first[len(begin) - 1] = cells
    return cells


@compiled
def _search(codes: Any, begin: int, end: int, code: int) -> int:
    """The first place from begin to end whose code is at least this one."""
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
    """The records and the groups that agree with each class, where cells are numbered."""
    starts, groups = links
    run_starts, run_begin, run_end = runs
    for at in range(start, stop):
        total, cells = 0, 0
        for link in range(starts[parent[at]], starts[parent[at] + 1]):
            low, high = first[groups[link]], first[groups[link] + 1]
            for run in range(run_starts[code[at]], run_starts[code[at] + 1]):
                lower = _search(cell_code, low, high, run_begin[run])
                upper = _search(cell_code, lower, high, run_end[run])
                total += sums[upper] - sums[lower]
                cells += upper - lower
        counts[at], numbers[at] = total, cells


@compiled
def write_numbered(
    parent: Any, code: Any, links: Any, first: Any, cell_code: Any, runs: Any, begin: Any, into: Any, start: int, stop: int
) -> None:
    """The numbered cells that agree with each class, from ``begin[class]`` on."""
    starts, groups = links
    run_starts, run_begin, run_end = runs
    for at in range(start, stop):
        to = begin[at]
        for link in range(starts[parent[at]], starts[parent[at] + 1]):
            low, high = first[groups[link]], first[groups[link] + 1]
            for run in range(run_starts[code[at]], run_starts[code[at] + 1]):
                lower = _search(cell_code, low, high, run_begin[run])
                for cell in range(lower, _search(cell_code, lower, high, run_end[run])):
                    into[to] = cell
                    to += 1


@compiled
def add_class_counts(queries: Any, new: Any, counts: Any, totals: Any, start: int, stop: int) -> None:
    """Give each query the count of its class, added to what other records brought it."""
    for at in range(start, stop):
        totals[queries[at]] += counts[new[at]]


@compiled
def keep_classes(queries: Any, new: Any, rank: Any, counts: Any, new_asking: Any, new_asked: Any) -> int:
    """The queries that are not alone and whose class still has records here, with their class; how many they are."""
    to = 0
    for at in range(len(queries)):
        if counts[queries[at]] > 1 and rank[new[at]] >= 0:
            new_asking[to] = queries[at]
            new_asked[to] = rank[new[at]]
            to += 1
    return to


@compiled
def mark_cells(into: Any, marked: Any) -> None:
    """Mark the cells that some class agrees with."""
    for at in range(len(into)):
        marked[into[at]] = 1


@compiled
def rename_cells(into: Any, table: Any, start: int, stop: int) -> None:
    """Cells by the group numbers from 1 that a table gives them; groups from 0."""
    for at in range(start, stop):
        into[at] = table[into[at]] - 1
