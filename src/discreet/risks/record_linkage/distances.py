"""Distances between masked and original records, and the rank of each masked record's own original among all originals.

The squared distance of a masked record y from an original x is the sum over the attributes of ((x - y)/s)^2 for numbers (s the
original's standard deviation) and of 0 or 1 for categories. A blank masked cell adds 0 to every distance; an original null has
distance 1 from any masked value. A coarse number is replaced by its midpoint; a coarse category has distance 0 from the values
that it contains.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from discreet.engine.cells.atoms import read_sides
from discreet.engine.cells.midpoints import as_numbers, is_number, value_range
from discreet.engine.classes.groups import group_ids
from discreet.engine.encoding.columns import encode_series, thread_count
from discreet.engine.linkage.comparisons import Comparison, compare
from discreet.engine.runtime.worker_threads import WorkerThreads
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
    """Both tables as coordinates: standardised numbers (NaN where blank) and comparisons of categories."""

    original: NDArray[np.float64]
    masked: NDArray[np.float64]
    categories: tuple[Comparison, ...]


@dataclass(frozen=True)
class NeighbourRank:
    """For each attacked record: originals nearer than its own, those equally near (its own included), and the own distance."""

    nearer: NDArray[np.int64]
    ties: NDArray[np.int64]
    distance: NDArray[np.float64]

    def within(self, number: int) -> NDArray[np.float64]:
        """The probability that the own original is among the given number of nearest, with ties broken at random."""
        return np.clip((number - self.nearer) / self.ties, 0.0, 1.0)


def build_space(
    originals: pl.DataFrame,
    masked: pl.DataFrame,
    names: Sequence[str],
    hierarchies: Mapping[str, Hierarchy],
    cells: Mapping[str, ColumnCells] | None = None,
) -> Space:
    """The coordinates of both tables in one space."""
    left, right, categories = [], [], []
    for name in names:
        tree, column_cells = hierarchies.get(name), (cells or {}).get(name)
        if is_number(originals[name]) and not _holds_groups(originals[name], masked[name], tree, column_cells):
            original_numbers = as_numbers(originals[name])
            masked_numbers = as_numbers(
                masked[name], *value_range(original_numbers), like=originals[name], cells=column_cells, hierarchy=tree
            )
            deviation = float(np.nanstd(original_numbers)) if not np.isnan(original_numbers).all() else 0.0
            if not math.isfinite(deviation) or np.isinf(masked_numbers).any():
                raise DataError(f"the numbers of '{name}' are infinite or too large to be compared; recode them first")
            scale = deviation if deviation > 0 else 1.0
            left.append(original_numbers / scale)
            right.append(masked_numbers / scale)
        else:
            categories.append(compare(originals[name], masked[name], hierarchy=tree, cells=column_cells, true=True))
    return Space(_stack(left, originals.height), _stack(right, masked.height), tuple(categories))


def _holds_groups(original: pl.Series, masked: pl.Series, tree: Hierarchy | None, cells: ColumnCells | None) -> bool:
    """Whether some masked cell is a set of numbers, which has no midpoint."""
    if tree is None and cells is None and masked.dtype == original.dtype:
        return False
    sides = [(encode_series(original), None), (encode_series(masked), cells)]
    reading = read_sides(sides, hierarchy=tree, reference=0)[1]
    return any(isinstance(cell, Group) for cell in reading.cells.values())


def _stack(columns: list[NDArray[np.float64]], size: int) -> NDArray[np.float64]:
    return np.ascontiguousarray(np.stack(columns, axis=1)) if columns else np.zeros((size, 0))


def squared_distances(space: Space, rows: NDArray[np.int64], own: NDArray[np.int64]) -> NDArray[np.float64]:
    """The squared distance of each masked record from the given original."""
    masked_numbers, original_numbers = space.masked[rows], space.original[own]
    total = np.where(
        np.isnan(masked_numbers), 0.0, np.where(np.isnan(original_numbers), 1.0, (masked_numbers - original_numbers) ** 2)
    ).sum(axis=1)
    for category in space.categories:
        values, cells = category.targets[own], category.masked[rows]
        total += (category.compare_codes(values, cells) == 0) | ((values == category.unknown) & (cells != category.blank))
    return np.asarray(total)


def served_by_tree(space: Space, rows: NDArray[np.int64], squares: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Records for which a k-d tree is exact: nothing is blank, and no original of other categories is as near as the own."""
    if np.isnan(space.original).any() or not all(category.single for category in space.categories):
        return np.zeros(len(rows), dtype=np.bool_)
    suitable: NDArray[np.bool_] = np.asarray(~np.isnan(space.masked[rows]).any(axis=1))
    for category in space.categories:
        suitable &= category.masked[rows] != category.blank
    return np.asarray(suitable & (squares < 1 - 1e-6)) if space.categories else suitable


def affordable_attacks(space: Space, rows: NDArray[np.int64], own: NDArray[np.int64]) -> int:
    """How many records can be attacked at an acceptable cost: a sample where many must be compared with every original."""
    hard = int((~served_by_tree(space, rows, squared_distances(space, rows, own))).sum())
    most = _MOST_COMPARED // max(1, len(space.original))
    return len(rows) if hard <= most else max(1_000, len(rows) * most // hard)


def rank_originals(
    space: Space, rows: NDArray[np.int64], own: NDArray[np.int64], control_rows: NDArray[np.int64]
) -> tuple[NeighbourRank, NeighbourRank]:
    """The rank of each attacked record's own original among all originals, and that of a random original as a control attack.

    Counting stops when ten originals are nearer (one for the control, where only the nearest counts).
    """
    squares = squared_distances(space, rows, own)
    by_tree = served_by_tree(space, rows, squares)
    control = squared_distances(space, rows, control_rows)
    ranks = [
        NeighbourRank(np.zeros(len(rows), np.int64), np.ones(len(rows), np.int64), np.sqrt(rank)) for rank in (squares, control)
    ]
    if by_tree.any():
        chosen = np.flatnonzero(by_tree)
        for rank, (nearer, ties) in zip(ranks, _rank_by_tree(space, rows[chosen], squares[chosen], control[chosen]), strict=True):
            rank.nearer[chosen], rank.ties[chosen] = nearer, ties
    rest = np.flatnonzero(~by_tree)
    for rank, true_rows, enough in zip(ranks, (own, control_rows), (NEAREST, 1), strict=True):
        rank.nearer[rest], rank.ties[rest] = _rank_by_brute_force(space, rows[rest], true_rows[rest], enough)
    return ranks[0], ranks[1]


Counts = tuple["NDArray[np.int64]", "NDArray[np.int64]"]


def _rank_by_tree(
    space: Space, rows: NDArray[np.int64], squares: NDArray[np.float64], control: NDArray[np.float64]
) -> tuple[Counts, Counts]:
    """Ranks from a k-d tree that is queried only within the distance of the own original.

    A control original beyond that distance has the own original before it; one within it is in the same answer.
    """
    from scipy.spatial import cKDTree

    original_points, masked_points = _coordinates(space, rows)
    points, times = _distinct(original_points)
    times = np.append(times, 0)
    tree = cKDTree(points, balanced_tree=False)
    nearer, ties = np.zeros(len(rows), dtype=np.int64), np.ones(len(rows), dtype=np.int64)
    control_nearer, control_ties = np.ones(len(rows), dtype=np.int64), np.ones(len(rows), dtype=np.int64)
    order = np.argsort(squares, kind="stable")
    for start in range(0, len(rows), _CHUNK):
        pending, neighbours = order[start : start + _CHUNK], min(NEAREST + 1, len(points))
        reach = (
            float(np.sqrt(squares[pending[-1]])) * (1 + 2 * _SAME) + 1e-100
        )  # the tree squares the bound, which must not become 0
        while len(pending):
            squared, index = tree.query(
                masked_points[pending], k=np.arange(1, neighbours + 1), workers=thread_count(), distance_upper_bound=reach
            )
            squared, counts = squared**2, times[index]
            bound = squares[pending][:, None]
            nearer[pending], ties[pending] = _count_within(squared, counts, bound)
            in_reach = control[pending] <= squares[pending] * (1 + _SAME)
            control_nearer[pending], control_ties[pending] = np.where(
                in_reach, _count_within(squared, counts, control[pending][:, None]), 1
            )
            # where the own original is as far as the last neighbour returned, or farther, query more neighbours
            incomplete = (squared[:, -1] <= bound[:, 0] * (1 + _SAME)) & (nearer[pending] < NEAREST) & (neighbours < len(points))
            pending, neighbours = pending[incomplete], min(neighbours * 8, len(points))
    return (nearer, np.maximum(ties, 1)), (control_nearer, np.maximum(control_ties, 1))


def _count_within(squared: NDArray[np.float64], counts: NDArray[np.int64], bound: NDArray[np.float64]) -> Counts:
    close = squared < bound * (1 - _SAME)
    same = ~close & (squared <= bound * (1 + _SAME))
    return (counts * close).sum(axis=1), (counts * same).sum(axis=1)


def _coordinates(space: Space, rows: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Points of both sides, with one more coordinate that keeps different categories at distance 2 or more."""
    if not space.categories:
        return space.original, space.masked[rows]
    pairs = []
    for category in space.categories:
        no_code = category.blank + 1
        code = np.append(np.where(category.last > category.first, category.first, no_code), no_code)
        pairs.append((np.concatenate((code[category.targets], category.masked[rows])), category.blank + 2))
    size = len(space.original)
    groups = 2.0 * group_ids(pairs, size + len(rows))[0]
    return np.column_stack((space.original, groups[:size])), np.column_stack((space.masked[rows], groups[size:]))


def _distinct(points: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The distinct points, and the number of records at each."""
    order = np.lexsort(points.T)
    is_new = np.ones(len(points), dtype=np.bool_)
    is_new[1:] = (points[order[1:]] != points[order[:-1]]).any(axis=1)
    numbers = np.cumsum(is_new) - 1
    return points[order[is_new]], np.bincount(numbers)


def _rank_by_brute_force(space: Space, rows: NDArray[np.int64], own: NDArray[np.int64], enough: int) -> Counts:
    from discreet.risks.record_linkage.brute_force import count_nearer

    parts = np.array_split(np.arange(len(rows)), thread_count())
    categories = space.categories
    originals, masked = np.zeros((len(space.original), 0), np.int64), np.zeros((len(space.masked), 0), np.int64)
    if categories:
        originals = np.stack([category.targets for category in categories], axis=1)
        masked = np.stack([category.masked for category in categories], axis=1)
    blanks = np.array([category.blank for category in categories], dtype=np.int64)
    offsets = np.cumsum([0, *(category.unknown + 1 for category in categories)])
    nothing = [np.zeros(0, dtype=np.int64)]
    # the last entry of each attribute is the unknown original value, which agrees with no code
    first = np.concatenate([np.append(category.first, 0) for category in categories] or nothing)
    last = np.concatenate([np.append(category.last, 0) for category in categories] or nothing)
    sizes = np.concatenate([np.append(category.listed.counts, 0) for category in categories] or nothing)
    starts = np.concatenate(([0], np.cumsum(sizes)))
    members = np.concatenate([category.listed.members for category in categories] or nothing)

    def count_part(part: NDArray[np.int64]) -> Counts:
        masked_rows = rows[part]
        tables = (blanks, offsets, first, last, starts, members)
        return count_nearer(space.original, space.masked[masked_rows], originals, masked[masked_rows], *tables, own[part], enough)

    with WorkerThreads(len(parts)) as pool:
        counts = list(pool.map(count_part, parts))
    return np.concatenate([nearer for nearer, _ in counts]), np.concatenate([ties for _, ties in counts])
