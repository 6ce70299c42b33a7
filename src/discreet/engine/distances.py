"""Distances between masked and original records, and how near each masked record's own original is.

The squared distance of a masked record y from an original x adds, attribute by attribute, ((x - y)/s)^2 for numbers (s the
original's standard deviation) and 0 or 1 for categories. A blank masked cell says nothing and adds 0 to every distance;
an original's null is 1 away from anything said. Coarse numbers stand at their midpoint; a coarse category is 0 away from
what it contains.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from discreet.engine.columns import threads
from discreet.engine.comparisons import Comparison, compare
from discreet.engine.midpoints import as_numbers, bounds, is_number
from discreet.model.hierarchy import Hierarchy

if TYPE_CHECKING:
    from numpy.typing import NDArray

NEAREST = 10
_SAME = 1e-9
_MOST_COMPARED = 4_000_000_000


@dataclass(frozen=True)
class Space:
    """Both tables as coordinates: standardised numbers (NaN where blank) and compared categories."""

    original: NDArray[np.float64]
    masked: NDArray[np.float64]
    categories: tuple[Comparison, ...]

    @property
    def plain(self) -> bool:
        """Whether all is numbers and nothing is blank, so that a k-d tree serves."""
        return not self.categories and not np.isnan(self.original).any() and not np.isnan(self.masked).any()


@dataclass(frozen=True)
class Nearness:
    """A number an attacked record: originals nearer than its own, those as near (its own included), and the distance."""

    nearer: NDArray[np.int64]
    ties: NDArray[np.int64]
    distance: NDArray[np.float64]

    def within(self, number: int) -> NDArray[np.float64]:
        """The probability that its own original is among so many nearest, ties being broken at random."""
        return np.clip((number - self.nearer) / self.ties, 0.0, 1.0)


def space(originals: pl.DataFrame, masked: pl.DataFrame, names: Sequence[str], hierarchies: dict[str, Hierarchy]) -> Space:
    """Lay both tables into one space."""
    left, right, categories = [], [], []
    for name in names:
        if is_number(originals[name]) and name not in hierarchies:
            here = as_numbers(originals[name])
            there = as_numbers(masked[name], *bounds(here))
            deviation = float(np.nanstd(here)) if not np.isnan(here).all() else 0.0
            scale = deviation if deviation > 0 else 1.0
            left.append(here / scale)
            right.append(there / scale)
        else:
            categories.append(compare(originals[name], masked[name], hierarchy=hierarchies.get(name)))
    return Space(_stack(left, originals.height), _stack(right, masked.height), tuple(categories))


def _stack(columns: list[NDArray[np.float64]], size: int) -> NDArray[np.float64]:
    return np.ascontiguousarray(np.stack(columns, axis=1)) if columns else np.zeros((size, 0))


def attackable(where: Space) -> int:
    """How many records may be attacked at a bearable cost: all by a tree, a sample where every pair must be looked at."""
    return len(where.masked) if where.plain else max(1_000, _MOST_COMPARED // max(1, len(where.original)))


def nearness(where: Space, rows: NDArray[np.int64], *owners: NDArray[np.int64], enough: Sequence[int]) -> list[Nearness]:
    """How near each attacked masked record is to its own original among all, for each way of saying whose it is.

    Counting may stop where ``enough`` originals are nearer.
    """
    if where.plain and where.original.shape[1] and len(rows):
        return _by_tree(where, rows, owners, enough)
    return [_by_looking(where, rows, own, stop) for own, stop in zip(owners, enough, strict=True)]


def _by_tree(where: Space, rows: NDArray[np.int64], owners: Sequence[NDArray[np.int64]], enough: Sequence[int]) -> list[Nearness]:
    from scipy.spatial import cKDTree

    points, times = _distinct(where.original)
    tree = cKDTree(points, balanced_tree=False)
    asked = where.masked[rows]
    most = min(NEAREST + 1, len(points))
    first = tree.query(asked, k=np.arange(1, most + 1), workers=threads())
    made = []
    for own, stop in zip(owners, enough, strict=True):
        distance = np.sqrt(((where.original[own] - asked) ** 2).sum(axis=1))
        nearer, ties = np.zeros(len(rows), dtype=np.int64), np.zeros(len(rows), dtype=np.int64)
        todo, wanted, (found, at) = np.arange(len(rows)), most, first
        while True:
            bound = distance[todo][:, None]
            close = found < bound * (1 - _SAME)
            same = ~close & (found <= bound * (1 + _SAME))
            nearer[todo] = (times[at] * close).sum(axis=1)
            ties[todo] = (times[at] * same).sum(axis=1)
            # where its own original lies beyond all that were asked for, or level with the last of them, ask for more
            short = (found[:, -1] <= bound[:, 0] * (1 + _SAME)) & (nearer[todo] < stop) & (wanted < len(points))
            todo, wanted = todo[short], min(wanted * 8, len(points))
            if not len(todo):
                break
            found, at = tree.query(asked[todo], k=np.arange(1, wanted + 1), workers=threads())
        made.append(Nearness(nearer, np.maximum(ties, 1), distance))
    return made


def _distinct(points: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The different points, and how many records stand on each."""
    order = np.lexsort(points.T)
    fresh = np.ones(len(points), dtype=np.bool_)
    fresh[1:] = (points[order[1:]] != points[order[:-1]]).any(axis=1)
    numbers = np.cumsum(fresh) - 1
    return points[order[fresh]], np.bincount(numbers)


def _by_looking(where: Space, rows: NDArray[np.int64], own: NDArray[np.int64], enough: int) -> Nearness:
    from discreet.engine.looking import look

    parts = np.array_split(np.arange(len(rows)), threads())
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

    def one_part(part: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        at = rows[part]
        tables = (blanks, offsets, first, last, starts, members)
        return look(where.original, where.masked[at], originals, masked[at], *tables, own[part], enough)

    with ThreadPoolExecutor(len(parts)) as pool:
        found = list(pool.map(one_part, parts))
    nearer, ties, distance = (np.concatenate(side) for side in zip(*found, strict=True))
    return Nearness(nearer, ties, distance)
