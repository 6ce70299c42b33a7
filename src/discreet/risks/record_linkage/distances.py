"""Distances between masked and original records, and how near each masked record's own original is.

The squared distance of a masked record y from an original x adds, attribute by attribute, ((x - y)/s)^2 for numbers (s the
original's standard deviation) and 0 or 1 for categories. A blank masked cell says nothing and adds 0 to every distance;
an original's null is 1 away from anything said. Coarse numbers stand at their midpoint; a coarse category is 0 away from
what it contains.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from discreet.engine.cells.atoms import read_sides
from discreet.engine.cells.midpoints import as_numbers, is_number, value_range
from discreet.engine.classes.groups import group_ids
from discreet.engine.encoding.columns import encode_series, thread_count
from discreet.engine.linkage.comparisons import Comparison, compare
from discreet.errors import DataError
from discreet.model.cells import ColumnCells, Group
from discreet.model.hierarchy import Hierarchy

if TYPE_CHECKING:
    from numpy.typing import NDArray

NEAREST = 10
_SAME = 1e-9
_MOST_COMPARED = 1_000_000_000
_CHUNK = 4096


@dataclass(frozen=True)
class Space:
    """Both tables as coordinates: standardised numbers (NaN where blank) and compared categories."""

    original: NDArray[np.float64]
    masked: NDArray[np.float64]
    categories: tuple[Comparison, ...]


@dataclass(frozen=True)
class Nearness:
    """A number an attacked record: originals nearer than its own, those as near (its own included), and the distance."""

    nearer: NDArray[np.int64]
    ties: NDArray[np.int64]
    distance: NDArray[np.float64]

    def within(self, number: int) -> NDArray[np.float64]:
        """The probability that its own original is among so many nearest, ties being broken at random."""
        return np.clip((number - self.nearer) / self.ties, 0.0, 1.0)


def space(
    originals: pl.DataFrame,
    masked: pl.DataFrame,
    names: Sequence[str],
    hierarchies: Mapping[str, Hierarchy],
    cells: Mapping[str, ColumnCells] | None = None,
) -> Space:
    """Lay both tables into one space."""
    left, right, categories = [], [], []
    for name in names:
        tree, own = hierarchies.get(name), (cells or {}).get(name)
        if is_number(originals[name]) and not _holds_groups(originals[name], masked[name], tree, own):
            here = as_numbers(originals[name])
            there = as_numbers(masked[name], *value_range(here), like=originals[name], cells=own, hierarchy=tree)
            deviation = float(np.nanstd(here)) if not np.isnan(here).all() else 0.0
            if not math.isfinite(deviation) or np.isinf(there).any():
                raise DataError(f"the numbers of '{name}' are infinite or too large to be compared; recode them first")
            scale = deviation if deviation > 0 else 1.0
            left.append(here / scale)
            right.append(there / scale)
        else:
            categories.append(compare(originals[name], masked[name], hierarchy=tree, cells=own, true=True))
    return Space(_stack(left, originals.height), _stack(right, masked.height), tuple(categories))


def _holds_groups(original: pl.Series, masked: pl.Series, tree: Hierarchy | None, cells: ColumnCells | None) -> bool:
    """Whether some masked cell is a set of numbers that has no midpoint to stand at."""
    if tree is None and cells is None and masked.dtype == original.dtype:
        return False
    sides = [(encode_series(original), None), (encode_series(masked), cells)]
    said = read_sides(sides, hierarchy=tree, reference=0)[1]
    return any(isinstance(cell, Group) for cell in said.cells.values())


def _stack(columns: list[NDArray[np.float64]], size: int) -> NDArray[np.float64]:
    return np.ascontiguousarray(np.stack(columns, axis=1)) if columns else np.zeros((size, 0))


def own_squares(where: Space, rows: NDArray[np.int64], own: NDArray[np.int64]) -> NDArray[np.float64]:
    """The squared distance of masked records from given originals."""
    said, true = where.masked[rows], where.original[own]
    total = np.where(np.isnan(said), 0.0, np.where(np.isnan(true), 1.0, (said - true) ** 2)).sum(axis=1)
    for one in where.categories:
        values, cells = one.targets[own], one.masked[rows]
        total += (one.agree(values, cells) == 0) | ((values == one.unknown) & (cells != one.blank))
    return np.asarray(total)


def easy(where: Space, rows: NDArray[np.int64], squares: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Records that a tree serves: nothing is blank, and no original of other categories can be as near as their own."""
    if np.isnan(where.original).any() or not all(one.single for one in where.categories):
        return np.zeros(len(rows), dtype=np.bool_)
    found: NDArray[np.bool_] = np.asarray(~np.isnan(where.masked[rows]).any(axis=1))
    for one in where.categories:
        found &= one.masked[rows] != one.blank
    return np.asarray(found & (squares < 1 - 1e-6)) if where.categories else found


def attackable(where: Space, rows: NDArray[np.int64], own: NDArray[np.int64]) -> int:
    """How many records may be attacked at a bearable cost: a sample where many must be compared with every original."""
    hard = int((~easy(where, rows, own_squares(where, rows, own))).sum())
    most = _MOST_COMPARED // max(1, len(where.original))
    return len(rows) if hard <= most else max(1_000, len(rows) * most // hard)


def nearness(
    where: Space, rows: NDArray[np.int64], own: NDArray[np.int64], stranger: NDArray[np.int64]
) -> tuple[Nearness, Nearness]:
    """How near each attacked masked record is to its own original among all, and to a stranger's for control.

    Counting stops where ten originals are nearer (one for the stranger, who can only be right by being the nearest).
    """
    squares = own_squares(where, rows, own)
    by_tree = easy(where, rows, squares)
    control = own_squares(where, rows, stranger)
    made = [Nearness(np.zeros(len(rows), np.int64), np.ones(len(rows), np.int64), np.sqrt(one)) for one in (squares, control)]
    if by_tree.any():
        chosen = np.flatnonzero(by_tree)
        for one, (nearer, ties) in zip(made, _by_tree(where, rows[chosen], squares[chosen], control[chosen]), strict=True):
            one.nearer[chosen], one.ties[chosen] = nearer, ties
    rest = np.flatnonzero(~by_tree)
    for one, true, enough in zip(made, (own, stranger), (NEAREST, 1), strict=True):
        one.nearer[rest], one.ties[rest] = _by_looking(where, rows[rest], true[rest], enough)
    return made[0], made[1]


Counts = tuple["NDArray[np.int64]", "NDArray[np.int64]"]


def _by_tree(
    where: Space, rows: NDArray[np.int64], squares: NDArray[np.float64], control: NDArray[np.float64]
) -> tuple[Counts, Counts]:
    """Counts by a k-d tree that is only asked for what lies within the own original's distance.

    A stranger further than that has the own original before him; one within it stands in the same answer.
    """
    from scipy.spatial import cKDTree

    here, there = _coordinates(where, rows)
    points, times = _distinct(here)
    times = np.append(times, 0)
    tree = cKDTree(points, balanced_tree=False)
    nearer, ties = np.zeros(len(rows), dtype=np.int64), np.ones(len(rows), dtype=np.int64)
    strange, level = np.ones(len(rows), dtype=np.int64), np.ones(len(rows), dtype=np.int64)
    order = np.argsort(squares, kind="stable")
    for start in range(0, len(rows), _CHUNK):
        todo, wanted = order[start : start + _CHUNK], min(NEAREST + 1, len(points))
        reach = float(np.sqrt(squares[todo[-1]])) * (1 + 2 * _SAME) + 1e-100  # the tree squares it
        while len(todo):
            found, at = tree.query(there[todo], k=np.arange(1, wanted + 1), workers=thread_count(), distance_upper_bound=reach)
            found, counts = found**2, times[at]
            bound = squares[todo][:, None]
            nearer[todo], ties[todo] = _count(found, counts, bound)
            beside = control[todo] <= squares[todo] * (1 + _SAME)
            strange[todo], level[todo] = np.where(beside, _count(found, counts, control[todo][:, None]), 1)
            # where its own original lies level with the last that were asked for, or beyond, ask for more
            short = (found[:, -1] <= bound[:, 0] * (1 + _SAME)) & (nearer[todo] < NEAREST) & (wanted < len(points))
            todo, wanted = todo[short], min(wanted * 8, len(points))
    return (nearer, np.maximum(ties, 1)), (strange, np.maximum(level, 1))


def _count(found: NDArray[np.float64], counts: NDArray[np.int64], bound: NDArray[np.float64]) -> Counts:
    close = found < bound * (1 - _SAME)
    same = ~close & (found <= bound * (1 + _SAME))
    return (counts * close).sum(axis=1), (counts * same).sum(axis=1)


def _coordinates(where: Space, rows: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Points of both sides, with one more coordinate that keeps different categories 2 apart."""
    if not where.categories:
        return where.original, where.masked[rows]
    pairs = []
    for one in where.categories:
        nobody = one.blank + 1
        code = np.append(np.where(one.last > one.first, one.first, nobody), nobody)
        pairs.append((np.concatenate((code[one.targets], one.masked[rows])), one.blank + 2))
    size = len(where.original)
    groups = 2.0 * group_ids(pairs, size + len(rows))[0]
    return np.column_stack((where.original, groups[:size])), np.column_stack((where.masked[rows], groups[size:]))


def _distinct(points: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The different points, and how many records stand on each."""
    order = np.lexsort(points.T)
    fresh = np.ones(len(points), dtype=np.bool_)
    fresh[1:] = (points[order[1:]] != points[order[:-1]]).any(axis=1)
    numbers = np.cumsum(fresh) - 1
    return points[order[fresh]], np.bincount(numbers)


def _by_looking(where: Space, rows: NDArray[np.int64], own: NDArray[np.int64], enough: int) -> Counts:
    from discreet.risks.record_linkage.brute_force import look

    parts = np.array_split(np.arange(len(rows)), thread_count())
    categories = where.categories
    originals, masked = np.zeros((len(where.original), 0), np.int64), np.zeros((len(where.masked), 0), np.int64)
    if categories:
        originals = np.stack([one.targets for one in categories], axis=1)
        masked = np.stack([one.masked for one in categories], axis=1)
    blanks = np.array([one.blank for one in categories], dtype=np.int64)
    offsets = np.cumsum([0, *(one.unknown + 1 for one in categories)])
    nothing = [np.zeros(0, dtype=np.int64)]
    # the unknown original value closes each attribute's part: it agrees with no code
    first = np.concatenate([np.append(one.first, 0) for one in categories] or nothing)
    last = np.concatenate([np.append(one.last, 0) for one in categories] or nothing)
    sizes = np.concatenate([np.append(np.diff(one.starts), 0) for one in categories] or nothing)
    starts = np.concatenate(([0], np.cumsum(sizes)))
    members = np.concatenate([one.members for one in categories] or nothing)

    def one_part(part: NDArray[np.int64]) -> Counts:
        at = rows[part]
        tables = (blanks, offsets, first, last, starts, members)
        return look(where.original, where.masked[at], originals, masked[at], *tables, own[part], enough)

    with ThreadPoolExecutor(len(parts)) as pool:
        found = list(pool.map(one_part, parts))
    return np.concatenate([nearer for nearer, _ in found]), np.concatenate([ties for _, ties in found])
