"""Which cells of a column agree with each cell that asks: those that share a value with it.

The cells of the searched column are given *places*: sorted by the first value they hold, wider cells first. In this order the
cells that begin inside the asking cell lie side by side, so they are one run for each run of the asking cell's values. What else
agrees begins before and reaches in: where cells nest, as the levels of a hierarchy do, these are the few cells above the asking
one. A relation is therefore a short list of runs per code, however many values a cell holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from discreet.engine.runtime.compiled import compiled
from discreet.errors import DataError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST_TESTS = 4e9
_MOST_RUNS = 50_000_000
"""Comparisons of two cells of an attribute, and runs of cells that agree, beyond which a table is refused."""
_MOST_LISTED = 20_000_000
"""Values in cells up to which values are sorted so that those of one cell are neighbours."""


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
    """``place`` is the place of each searched code; those that agree with the asking code c are the runs
    ``[begin[i], end[i])`` of places for i from ``starts[c]`` to ``starts[c + 1]``, which do not overlap."""

    place: NDArray[np.int64]
    starts: NDArray[np.int64]
    begin: NDArray[np.int64]
    end: NDArray[np.int64]

    @classmethod
    def equal(cls, size: int) -> Relation:
        """Equal codes agree, and no others."""
        places = np.arange(size + 1)
        return cls(places[:-1], places, places[:-1], places[1:])

    @property
    def runs(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        return self.starts, self.begin, self.end

    @cached_property
    def spans(self) -> NDArray[np.int64]:
        """How many searched codes agree with each asking code."""
        sums = np.concatenate(([0], np.cumsum(self.end - self.begin)))
        return np.asarray(sums[self.starts[1:]] - sums[self.starts[:-1]])

    def agrees(self, code: int) -> NDArray[np.bool_]:
        """Which searched codes agree with one asking code."""
        flags = np.zeros(len(self.place), dtype=np.bool_)
        for run in range(self.starts[code], self.starts[code + 1]):
            flags[self.begin[run] : self.end[run]] = True
        return np.asarray(flags[self.place])


def relate(asking: CellAtoms, held: CellAtoms, *, null: int | None, null_asks: int | None, name: str) -> Relation:
    """The relation between two columns over the same atoms.

    ``null`` is the code of a searched null that is a value of its own and ``null_asks`` that of an asking one; None where a null
    agrees with anything, as ``blank`` says of it. A cell that holds no value, such as ``3..3``, agrees with itself where a column
    is compared with itself, so that a record always agrees with itself. Cost: asking codes times coarse searched codes.
    """
    order = _neighbours(asking, held) if len(held.members) or len(asking.members) else None
    held_starts, held_first, held_last = _runs_of_positions(held, order)
    ask_starts, ask_first, ask_last = _runs_of_positions(asking, order)
    blank, size = held.blank.copy(), len(held.blank)
    alone = np.zeros(size, dtype=np.bool_)
    if null is not None:
        blank[null], alone[null] = False, True
    filled = ~blank & ~alone & (held_starts[1:] > held_starts[:-1])
    lone = np.flatnonzero(~blank & ~alone & ~filled)  # holds no value at all: agrees with blanks only
    codes = np.flatnonzero(filled)
    begins = held_first[held_starts[codes]]
    widths = held_last[held_starts[codes + 1] - 1] - begins
    codes = codes[np.lexsort((codes, -widths, begins))]
    begins = held_first[held_starts[codes]]
    listed = np.concatenate((codes, lone, np.flatnonzero(blank), np.flatnonzero(alone)))
    place = np.empty(size, dtype=np.int64)
    place[listed] = np.arange(size)
    coarse = np.flatnonzero((held_starts[codes + 1] - held_starts[codes] > 1) | (held_last[held_starts[codes]] - begins > 1))
    if len(coarse) * float(len(asking.blank)) > _MOST_TESTS:
        raise DataError(
            f"known_sets: '{name}' has {len(coarse):,} different coarse cells and {len(asking.blank):,} different values, too "
            "many to compare each with each; recode it to fewer"
        )
    blanks = (len(codes) + len(lone), len(codes) + len(lone) + int(blank.sum()))
    is_blank = asking.blank.copy()
    if null_asks is not None:
        is_blank[null_asks] = False
    own = np.full(len(asking.blank), -1, dtype=np.int64)
    if asking is held:
        own[lone] = place[lone]
    inputs = (ask_starts, ask_first, ask_last, is_blank, -1 if null_asks is None else null_asks, codes, begins, coarse,
              held_starts, held_first, held_last, *blanks, size, own)  # fmt: skip
    starts = np.zeros(len(asking.blank) + 1, dtype=np.int64)
    none = np.zeros(0, dtype=np.int64)
    _relate(*inputs, False, starts, none, none)
    starts = np.concatenate(([0], np.cumsum(starts[1:])))
    if starts[-1] > _MOST_RUNS:
        raise DataError(
            f"known_sets: the cells of '{name}' overlap in {starts[-1]:,} ways; at most {_MOST_RUNS:,} can be counted; recode "
            "it to fewer cells, or to cells that nest"
        )
    begin, end = np.empty(starts[-1], np.int64), np.empty(starts[-1], np.int64)
    _relate(*inputs, True, starts, begin, end)
    return Relation(place, starts, begin, end)


def _neighbours(*sides: CellAtoms) -> NDArray[np.int64] | None:
    """The position of each atom in an order in which cells that nest are runs; None where the cells are too large to list.

    Atoms are sorted by the coarse cells that hold them, the largest first.
    """
    holders: list[list[tuple[int, int]]] = [[] for _ in range(sides[0].number)]
    total = 0
    for at, side in enumerate(sides):
        for code in range(len(side.blank)):
            if side.blank[code]:
                continue
            inside = _atoms_of(side, code)
            total += len(inside)
            if total > _MOST_LISTED:
                return None
            if len(inside) > 1:
                for atom in inside.tolist():
                    holders[atom].append((-len(inside), 2 * code + at))
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
    """Each code's cell as sorted runs of positions, in one list with the start of each code's runs; blanks have none."""
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


@compiled
def _relate(
    ask_starts: Any, ask_first: Any, ask_last: Any, is_blank: Any, null_asks: int, codes: Any, begins: Any, coarse: Any,
    held_starts: Any, held_first: Any, held_last: Any, blank_first: int, blank_last: int, size: int, own: Any,
    write: bool, starts: Any, begin: Any, end: Any,
) -> None:  # fmt: skip
    """For each asking code the runs of places that agree: counted into ``starts[code + 1]``, or written from ``starts[code]``.

    ``codes`` are the searched codes by place, ``begins`` their first positions, ``coarse`` the places of wider cells.
    """
    for code in range(len(is_blank)):
        written = 0
        to = starts[code] if write else 0
        if is_blank[code]:
            if write:
                begin[to], end[to] = 0, size
            written = 1
        else:
            last = 0
            for run in range(ask_starts[code], ask_starts[code + 1]):
                low = np.searchsorted(begins, ask_first[run])
                high = np.searchsorted(begins, ask_last[run])
                last = ask_last[run]
                if high > low:
                    if write:
                        begin[to + written], end[to + written] = low, high
                    written += 1
            for at in range(len(coarse)):  # cells that begin outside the asking one and reach into it
                spot = coarse[at]
                if begins[spot] >= last:
                    break
                mine, other = ask_starts[code], held_starts[codes[spot]]
                inside = overlap = False
                while mine < ask_starts[code + 1] and other < held_starts[codes[spot] + 1]:
                    if ask_first[mine] <= begins[spot] < ask_last[mine]:
                        inside = True
                        break
                    if ask_first[mine] < held_last[other] and held_first[other] < ask_last[mine]:
                        overlap = True
                    if ask_last[mine] <= held_last[other]:
                        mine += 1
                    else:
                        other += 1
                if not inside:  # the asking cell may have runs left that hold the beginning
                    for rest in range(mine, ask_starts[code + 1]):
                        inside = inside or ask_first[rest] <= begins[spot] < ask_last[rest]
                if overlap and not inside:
                    if write:
                        begin[to + written], end[to + written] = spot, spot + 1
                    written += 1
            if own[code] >= 0:
                if write:
                    begin[to + written], end[to + written] = own[code], own[code] + 1
                written += 1
            upper = size if code == null_asks else blank_last
            if upper > blank_first:
                if write:
                    begin[to + written], end[to + written] = blank_first, upper
                written += 1
        if not write:
            starts[code + 1] = written
