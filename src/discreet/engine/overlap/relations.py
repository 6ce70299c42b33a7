"""Which cells of a searched column agree with each cell of a queried column: those that share a value with it.

The cells of the searched column are given *places*: they are sorted by the first value they contain, wider cells first. In this
order the cells that begin inside a query's cell are neighbours, so they form one run per run of the query's values. The other
cells that agree begin before the query's cell and reach into it: where cells nest, as the levels of a hierarchy do, these are its
few ancestors. A relation is therefore a short list of runs per code, however many values a cell contains.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from discreet.engine.known_sets.threads import KernelThreads
from discreet.engine.runtime.compiled import compiled
from discreet.engine.runtime.progress import report_progress
from discreet.errors import DataError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Runs = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]
    """Runs of positions in one list: the start of each code's runs, the first position of each run, the one after its last."""

_TESTS_AT_ONCE = 2e6
"""Comparisons of two cells between two looks at the clock."""
_MOST_TESTS = 4e9
_MOST_RUNS = 50_000_000
"""Comparisons of two cells of an attribute, and runs of cells that agree, beyond which a table is refused."""
_FEW_CODES = 64
"""Query codes up to which one thread compares them."""
_FLAGS_PER_STEP, _STEPS_PER_TEST = 8, 4
"""Flags of places that are read in the time of one step from a position to a cell that holds it, and such steps in the time of
one comparison of two cells."""
_MOST_LISTED = 20_000_000
"""Total number of values in all cells up to which the values are sorted so that those of one cell are neighbours."""


class CellAtoms(Protocol):
    """The atoms of each code's cell (see :mod:`discreet.engine.cells.atoms`)."""

    @property
    def number(self) -> int: ...
    @property
    def blank(self) -> NDArray[np.bool_]: ...
    @property
    def first(self) -> NDArray[np.int64]: ...
    @property
    def last(self) -> NDArray[np.int64]: ...
    @property
    def starts(self) -> NDArray[np.int64]: ...
    @property
    def members(self) -> NDArray[np.int64]: ...


@dataclass(frozen=True)
class Relation:
    """The searched codes that agree with each query code.

    ``place[code]`` is the place of a searched code. The places that agree with the query code c are the runs ``[begin[i],
    end[i])`` for i from ``starts[c]`` to ``starts[c + 1]``; these runs do not overlap.
    """

    place: NDArray[np.int64]
    starts: NDArray[np.int64]
    begin: NDArray[np.int64]
    end: NDArray[np.int64]

    @classmethod
    def equal(cls, size: int) -> Relation:
        """The relation in which only equal codes agree."""
        places = np.arange(size + 1)
        return cls(places[:-1], places, places[:-1], places[1:])

    @cached_property
    def is_equal(self) -> bool:
        """Whether equal codes agree and no others do, so that no overlap has to be looked up."""
        places = np.arange(len(self.place) + 1)
        return (
            len(self.starts) == len(places)
            and len(self.begin) == len(self.place)
            and bool((self.place == places[:-1]).all() and (self.starts == places).all())
            and bool((self.begin == places[:-1]).all() and (self.end == places[1:]).all())
        )

    @property
    def runs(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        return self.starts, self.begin, self.end

    @cached_property
    def spans(self) -> NDArray[np.int64]:
        """The number of searched codes that agree with each query code."""
        sums = np.concatenate(([0], np.cumsum(self.end - self.begin)))
        return np.asarray(sums[self.starts[1:]] - sums[self.starts[:-1]])

    def agrees(self, code: int) -> NDArray[np.bool_]:
        """Which searched codes agree with one query code."""
        flags = np.zeros(len(self.place), dtype=np.bool_)
        for run in range(self.starts[code], self.starts[code + 1]):
            flags[self.begin[run] : self.end[run]] = True
        return np.asarray(flags[self.place])


def relate(queried: CellAtoms, searched: CellAtoms, *, null: int | None, queried_null: int | None, name: str) -> Relation:
    """The relation between two columns over the same atoms.

    ``null`` is the code of a searched null that is a value of its own, and ``queried_null`` that of a queried null; None where a
    null agrees with anything, as ``blank`` says. An empty cell, such as ``3..3``, agrees with itself where a column is compared
    with itself, so that a record always agrees with itself. Cost: O(query codes x coarse searched codes).
    """
    order = _nesting_order(queried, searched) if len(searched.members) or len(queried.members) else None
    searched_starts, searched_first, searched_last = _runs_of_positions(searched, order)
    query_starts, query_first, query_last = _runs_of_positions(queried, order)
    blank, size = searched.blank.copy(), len(searched.blank)
    is_null_value = np.zeros(size, dtype=np.bool_)
    if null is not None:
        blank[null], is_null_value[null] = False, True
    filled = ~blank & ~is_null_value & (searched_starts[1:] > searched_starts[:-1])
    without_values = np.flatnonzero(~blank & ~is_null_value & ~filled)  # empty cells: they agree with blanks only
    codes = np.flatnonzero(filled)
    begins = searched_first[searched_starts[codes]]
    widths = searched_last[searched_starts[codes + 1] - 1] - begins
    codes = codes[np.lexsort((codes, -widths, begins))]
    begins = searched_first[searched_starts[codes]]
    listed = np.concatenate((codes, without_values, np.flatnonzero(blank), np.flatnonzero(is_null_value)))
    place = np.empty(size, dtype=np.int64)
    place[listed] = np.arange(size)
    coarse = np.flatnonzero(
        (searched_starts[codes + 1] - searched_starts[codes] > 1) | (searched_last[searched_starts[codes]] - begins > 1)
    )
    if len(coarse) * float(len(queried.blank)) > _MOST_TESTS:
        raise DataError(
            f"known_sets: '{name}' has {len(coarse):,} different coarse cells and {len(queried.blank):,} different values, too "
            "many to compare each with each; recode it to fewer"
        )
    blanks = (len(codes) + len(without_values), len(codes) + len(without_values) + int(blank.sum()))
    is_blank = queried.blank.copy()
    if queried_null is not None:
        is_blank[queried_null] = False
    own = np.full(len(queried.blank), -1, dtype=np.int64)
    if queried is searched:
        own[without_values] = place[without_values]
    null_code = -1 if queried_null is None else queried_null
    query_runs, searched_runs = (query_starts, query_first, query_last), (searched_starts, searched_first, searched_last)
    holders = _holders(codes, searched_runs, query_runs, len(coarse)) if order is not None else None
    inputs: list[Any] = [*query_runs, is_blank, null_code, *blanks, size, own]
    inputs += [codes, begins, coarse, *searched_runs] if holders is None else [*holders, len(codes)]
    kernel: Any = _relate if holders is None else _relate_by_holders

    at_once = max(1, int(_TESTS_AT_ONCE // max(1, len(coarse))))

    def relate_all(write: bool, starts: NDArray[np.int64], begin: NDArray[np.int64], end: NDArray[np.int64]) -> None:
        with KernelThreads() as threads:
            for first in range(0, len(queried.blank), at_once):
                report_progress(f"comparing the cells of {name}", first, len(queried.blank))

                def relate_slice(start: int, stop: int, first: int = first) -> None:
                    kernel(*inputs, write, starts, begin, end, first + start, first + stop)

                threads.run_slices(relate_slice, min(at_once, len(queried.blank) - first), least=_FEW_CODES)

    starts = np.zeros(len(queried.blank) + 1, dtype=np.int64)
    none = np.zeros(0, dtype=np.int64)
    relate_all(False, starts, none, none)
    starts = np.concatenate(([0], np.cumsum(starts[1:])))
    if starts[-1] > _MOST_RUNS:
        raise DataError(
            f"known_sets: the cells of '{name}' overlap in {starts[-1]:,} ways; at most {_MOST_RUNS:,} can be counted; recode "
            "it to fewer cells, or to cells that nest"
        )
    begin, end = np.empty(starts[-1], np.int64), np.empty(starts[-1], np.int64)
    relate_all(True, starts, begin, end)
    return Relation(place, starts, begin, end)


def _holders(codes: NDArray[np.int64], searched: Runs, queried: Runs, coarse: int) -> tuple[Any, ...] | None:
    """For each position the places of the cells that hold it, as starts and places; None where comparing cells takes less.

    A query finds the cells that agree with it under its own positions, which are few where cells are groups of values.
    """
    positions = max(int(searched[2].max(initial=0)), int(queried[2].max(initial=0)))
    holding, asking = (_count_holders(runs, positions) for runs in (searched, queried))
    steps, cells = int(holding @ asking), len(queried[0]) - 1
    if steps + cells * len(codes) // _FLAGS_PER_STEP > _STEPS_PER_TEST * coarse * cells:
        return None
    starts = np.concatenate(([0], np.cumsum(holding)))
    places = np.empty(starts[-1], dtype=np.int64)
    _list_holders(codes, *searched, starts[:-1].copy(), places)
    return starts, places


def _count_holders(runs: Runs, positions: int) -> NDArray[np.int64]:
    """How many cells hold each position."""
    _, first, last = runs
    changes = np.bincount(first, minlength=positions + 1) - np.bincount(last, minlength=positions + 1)
    return np.cumsum(changes)[:positions]


def _nesting_order(*sides: CellAtoms) -> NDArray[np.int64] | None:
    """The position of each atom in an order in which nested cells are runs; None where the cells are too large to list.

    Atoms are sorted by the coarse cells that contain them, the largest cell first.
    """
    holders: list[list[tuple[int, int]]] = [[] for _ in range(sides[0].number)]
    listed = 0
    for side_number, side in enumerate(sides):
        for code in range(len(side.blank)):
            if side.blank[code]:
                continue
            atoms = _atoms_of(side, code)
            listed += len(atoms)
            if listed > _MOST_LISTED:
                return None
            if len(atoms) > 1:
                for atom in atoms.tolist():
                    holders[atom].append((-len(atoms), 2 * code + side_number))
    order = sorted(range(len(holders)), key=lambda atom: (sorted(holders[atom]), atom))
    position = np.empty(len(order), dtype=np.int64)
    position[order] = np.arange(len(order))
    return position


def _atoms_of(side: CellAtoms, code: int) -> NDArray[np.int64]:
    if side.last[code] > side.first[code]:
        return np.arange(side.first[code], side.last[code])
    return side.members[side.starts[code] : side.starts[code + 1]]


def _runs_of_positions(
    side: CellAtoms, position: NDArray[np.int64] | None
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The sorted runs of positions of each code's cell, in one list with the start of each code's runs; blanks have none."""
    size = len(side.blank)
    if not len(side.members) and position is None:
        filled = ~side.blank & (side.last > side.first)
        return np.concatenate(([0], np.cumsum(filled))), side.first[filled], side.last[filled]
    starts = np.zeros(size + 1, dtype=np.int64)
    firsts, lasts = [], []
    for code in range(size):
        if not side.blank[code]:
            atoms = _atoms_of(side, code)
            atoms = np.unique(atoms if position is None else position[atoms])
            if len(atoms):
                breaks = np.flatnonzero(np.diff(atoms) > 1)
                firsts.append(atoms[np.concatenate(([0], breaks + 1))])
                lasts.append(atoms[np.concatenate((breaks, [len(atoms) - 1]))] + 1)
                starts[code + 1] = len(firsts[-1])
    none = np.zeros(0, dtype=np.int64)
    return np.cumsum(starts), np.concatenate([none, *firsts]), np.concatenate([none, *lasts])


# query_first/last and searched_first/last: runs of positions, ascending; two cells are the runs from query_run up to query_end,
# and from searched_run up to searched_end. begin: first position of the searched cell. O(runs of both cells).
@compiled
def _reaches_from_outside(
    query_first: Any, query_last: Any, query_run: int, query_end: int, searched_first: Any, searched_last: Any,
    searched_run: int, searched_end: int, begin: int,
) -> bool:  # fmt: skip
    """Whether a searched cell has a position of the query's cell, but does not begin inside it."""
    overlap = False
    while query_run < query_end and searched_run < searched_end:
        if query_first[query_run] <= begin < query_last[query_run]:
            return False
        if query_first[query_run] < searched_last[searched_run] and searched_first[searched_run] < query_last[query_run]:
            overlap = True
        if query_last[query_run] <= searched_last[searched_run]:
            query_run += 1
        else:
            searched_run += 1
    for rest in range(query_run, query_end):  # a later run of the query's cell may contain the beginning
        if query_first[rest] <= begin < query_last[rest]:
            return False
    return overlap


# begin, end: the runs of all codes, written only where ``write`` is true. O(1).
@compiled
def _put(write: bool, begin: Any, end: Any, at: int, first: int, last: int) -> int:
    """Write a run at its place, if it is not empty; the number of runs that this makes."""
    if last <= first:
        return 0
    if write:
        begin[at], end[at] = first, last
    return 1


# own[code]: place of an empty cell that agrees with itself, else -1. Blank searched codes have the places blank_first to
# blank_last, and a null that is a value of its own the last one. O(1).
@compiled
def _put_special(
    write: bool, begin: Any, end: Any, at: int, code: int, queried_null: int, blank_first: int, blank_last: int, size: int,
    own: Any,
) -> int:  # fmt: skip
    """Write the runs of the places that hold no values: an empty cell, blanks and a null; their number."""
    written = _put(write, begin, end, at, own[code], own[code] + 1 if own[code] >= 0 else -1)
    return written + _put(write, begin, end, at + written, blank_first, size if code == queried_null else blank_last)


# query_starts/first/last and searched_starts/first/last: the runs of positions of each code's cell. codes[place]: searched code
# at a place. begins[place]: first position of its cell, ascending. coarse: places of cells of several positions. O(query codes
# x coarse). Trap: a cell that begins inside the query's cell is already in a run found by binary search and must not be written
# twice.
@compiled
def _relate(
    query_starts: Any, query_first: Any, query_last: Any, is_blank: Any, queried_null: int, blank_first: int, blank_last: int,
    size: int, own: Any, codes: Any, begins: Any, coarse: Any, searched_starts: Any, searched_first: Any, searched_last: Any,
    write: bool, starts: Any, begin: Any, end: Any, start: int, stop: int,
) -> None:  # fmt: skip
    """The runs of places that agree with each query code from ``start`` to ``stop``.

    They are counted into ``starts[code + 1]``, or written from ``starts[code]``.
    """
    for code in range(start, stop):
        written, last = 0, 0
        target = starts[code] if write else 0
        if is_blank[code]:
            written = _put(write, begin, end, target, 0, size)
        else:
            for run in range(query_starts[code], query_starts[code + 1]):
                low = np.searchsorted(begins, query_first[run])
                high = np.searchsorted(begins, query_last[run])
                last = query_last[run]
                written += _put(write, begin, end, target + written, low, high)
            for index in range(len(coarse)):  # cells that begin outside the query's cell and reach into it
                place = coarse[index]
                if begins[place] >= last:
                    break
                if _reaches_from_outside(
                    query_first, query_last, query_starts[code], query_starts[code + 1], searched_first, searched_last,
                    searched_starts[codes[place]], searched_starts[codes[place] + 1], begins[place],
                ):  # fmt: skip
                    written += _put(write, begin, end, target + written, place, place + 1)
            written += _put_special(write, begin, end, target + written, code, queried_null, blank_first, blank_last, size, own)
        if not write:
            starts[code + 1] = written


# codes[place]: searched code at a place; searched_starts/first/last: the runs of positions of its cell. next_place[position]:
# where the next place is written that holds it, advanced here. O(positions of all cells).
@compiled
def _list_holders(
    codes: Any, searched_starts: Any, searched_first: Any, searched_last: Any, next_place: Any, places: Any
) -> None:
    """List the places of the cells that hold each position."""
    for place in range(len(codes)):
        for run in range(searched_starts[codes[place]], searched_starts[codes[place] + 1]):
            for position in range(searched_first[run], searched_last[run]):
                places[next_place[position]] = place
                next_place[position] += 1


# query_starts/first/last: the runs of positions of each query code's cell. holder_starts/holders: the places of the cells that
# hold each position; places below ``filled`` hold some. O(cells under the positions of each query, and filled flags).
@compiled
def _relate_by_holders(
    query_starts: Any, query_first: Any, query_last: Any, is_blank: Any, queried_null: int, blank_first: int, blank_last: int,
    size: int, own: Any, holder_starts: Any, holders: Any, filled: int,
    write: bool, starts: Any, begin: Any, end: Any, start: int, stop: int,
) -> None:  # fmt: skip
    """The same as ``_relate``, with the cells that agree looked up under each position of the query's cell."""
    agrees = np.zeros(filled, dtype=np.uint8)
    for code in range(start, stop):
        written = 0
        target = starts[code] if write else 0
        if is_blank[code]:
            written = _put(write, begin, end, target, 0, size)
        else:
            agrees[:] = 0
            for run in range(query_starts[code], query_starts[code + 1]):
                for at in range(holder_starts[query_first[run]], holder_starts[query_last[run]]):
                    agrees[holders[at]] = 1
            low = -1
            for place in range(filled):
                if agrees[place] and low < 0:
                    low = place
                elif not agrees[place] and low >= 0:
                    written += _put(write, begin, end, target + written, low, place)
                    low = -1
            if low >= 0:
                written += _put(write, begin, end, target + written, low, filled)
            written += _put_special(write, begin, end, target + written, code, queried_null, blank_first, blank_last, size, own)
        if not write:
            starts[code + 1] = written
