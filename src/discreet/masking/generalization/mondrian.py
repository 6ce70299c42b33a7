"""Mondrian: classes by recursive cuts of the table, several attributes at once (LeFevre, DeWitt & Ramakrishnan 2006)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from discreet.engine.cells.handover import describe
from discreet.engine.cells.hierarchies import hierarchy_from, hierarchy_of, leaf_codes, leaf_text, level_codes
from discreet.engine.classes.tables import class_table
from discreet.engine.encoding.columns import Column, encode
from discreet.masking.generalization.model_kernels import DISTINCT, ENTROPY, NO_DIVERSITY, RECURSIVE
from discreet.masking.generalization.mondrian_kernels import lowest_common, partition
from discreet.masking.generalization.numbers import as_numbers
from discreet.masking.generalization.privacy_model import PrivacyModel
from discreet.model.attribute import Level
from discreet.model.cells import EVERYTHING, ColumnCells, Group, Interval
from discreet.model.hierarchy import Hierarchy, HierarchySpec
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST_IN_A_GROUP = 50
_KINDS = {"distinct": DISTINCT, "entropy": ENTROPY, "recursive": RECURSIVE}


@dataclass(frozen=True)
class Axis:
    """One attribute made ready for cutting: ``rank[code]`` puts its codes in the order of cutting."""

    column: Column
    rank: NDArray[np.int32]
    labels: tuple[NDArray[np.int32], ...]
    shares: tuple[NDArray[np.float64], ...]
    names: tuple[list[str], ...]
    places: NDArray[np.float64]
    numeric: bool
    hierarchy: Hierarchy | None = None

    @property
    def height(self) -> int:
        """0 for an ordered attribute, else the levels of its hierarchy above the leaves."""
        return max(len(self.labels) - 1, 0)


def mondrian(
    data: Microdata, keys: Sequence[str], model: PrivacyModel, sensitive: Sequence[Column], *, relaxed: bool
) -> tuple[dict[str, pl.Series], dict[str, ColumnCells | None]]:
    """The released columns, each value as the interval, group or label that its class spans, and what they stand for."""
    axes = [_axis(data, column) for column in encode(data, keys)]
    columns = [(axis.rank[axis.column.codes], len(axis.rank)) for axis in axes] + [(c.codes, c.cardinality) for c in sensitive]
    if relaxed:
        order = np.argsort(data.records, kind="stable")  # ties are divided in the order of the records, however they lie
        codes = np.stack([column[order].astype(np.int32) for column, _ in columns], axis=1)
        counts = np.ones(len(data), dtype=np.int64)
        rows = np.empty(len(data), dtype=np.int64)
        rows[order] = np.arange(len(data))
    else:
        table, rows = class_table(columns, len(data))
        codes, counts = table.codes, table.counts
    heights, labels, places, shares = _shapes(axes)
    rules, sizes, whole, trees, tree_heights = _rules(model)
    own, other = np.ascontiguousarray(codes[:, : len(axes)]), np.ascontiguousarray(codes[:, len(axes) :])
    found = partition(
        own, counts, heights, labels, places, shares, relaxed, model.k, other, rules, sizes, whole, trees, tree_heights
    )
    made = {axis.column.name: _released(axis, codes[:, at], found, rows) for at, axis in enumerate(axes)}
    hierarchies = {axis.column.name: axis.hierarchy for axis in axes}
    return made, {name: describe(data, name, series, hierarchy=hierarchies[name]) for name, series in made.items()}


def _axis(data: Microdata, column: Column) -> Axis:
    level, attribute, values = data.level(column.name), data.attribute(column.name), len(column.values)
    dates = values > 0 and column.values.dtype.is_temporal() and column.values.dtype != pl.Time
    if attribute.hierarchy is not None:
        return _tree(column, hierarchy_of(data, column.name))
    if dates:
        return _tree(column, hierarchy_from(column, HierarchySpec(dates=("month", "quarter", "year")), data))
    numeric = level is Level.NUMERIC and len(as_numbers(column.values)) > 0
    if not numeric and values > _MOST_IN_A_GROUP:
        return _tree(column, hierarchy_of(data, column.name))
    places = as_numbers(column.values) if numeric else np.arange(values, dtype=np.float64)
    order = np.argsort(places, kind="stable")
    rank = np.empty(column.cardinality, dtype=np.int32)
    rank[order] = np.arange(values)
    rank[values:] = values  # null comes last
    ordered = places[order]
    if values > 1:
        ordered = (ordered - ordered[0]) / (ordered[-1] - ordered[0])
    if column.has_null:
        ordered = np.append(ordered, 1.0 + 1.0 / max(values, 1))
    return Axis(column, rank, (), (), (), ordered, numeric)


def _tree(column: Column, hierarchy: Hierarchy) -> Axis:
    """Leaves in the order of their tree, so that every label is a run; a null hangs below the top alone."""
    leaves = leaf_codes(column, hierarchy)[: len(column.values)]
    levels = level_codes(hierarchy)
    by_leaf = [codes[leaves] for codes, _ in levels]
    order = np.lexsort(by_leaf) if len(leaves) else np.zeros(0, dtype=np.int64)
    size = len(leaves)
    rank = np.empty(column.cardinality, dtype=np.int32)
    rank[order] = np.arange(size)
    rank[size:] = size
    labels, shares, names = [], [], []
    total = len(hierarchy.leaves)
    for level, (codes, texts) in enumerate(levels):
        own = by_leaf[level][order]
        changes = np.concatenate(([0], np.cumsum(own[1:] != own[:-1]))) if size else np.zeros(0, dtype=np.int64)
        last = 0 if level == hierarchy.height or not size else int(changes[-1]) + 1
        labels.append(np.append(changes, [last] if column.has_null else []).astype(np.int32))
        share = np.bincount(codes, minlength=len(texts))[own] / total
        shares.append(np.append(share, [share[-1] if size and level == hierarchy.height else 0.0] if column.has_null else []))
        names.append([texts[code] for code in own])
    return Axis(column, rank, tuple(labels), tuple(shares), tuple(names), np.zeros(column.cardinality), False, hierarchy)


def _shapes(axes: Sequence[Axis]) -> tuple[NDArray[Any], ...]:
    """The axes as arrays of one width."""
    width = max(1, *(len(axis.rank) for axis in axes))
    depth = max(axis.height for axis in axes) + 1
    labels = np.zeros((len(axes), depth, width), dtype=np.int32)
    shares = np.zeros((len(axes), depth, width))
    places = np.zeros((len(axes), width))
    for at, axis in enumerate(axes):
        places[at, : len(axis.places)] = axis.places
        for level, (numbers, share) in enumerate(zip(axis.labels, axis.shares, strict=True)):
            labels[at, level, : len(numbers)], shares[at, level, : len(share)] = numbers, share
    return np.array([axis.height for axis in axes], dtype=np.int64), labels, places, shares


def _rules(model: PrivacyModel) -> tuple[NDArray[Any], ...]:
    """The model as arrays: rules, sizes, distributions with their running sums, trees and their heights (-1 equal, 0 ordered)."""
    kind = _KINDS[model.diversity] if model.l is not None else NO_DIVERSITY
    rules = np.array([kind, model.l or 0.0, model.c, -1.0 if model.t is None else model.t])
    width = max((one.values for one in model.sensitive), default=0) + 1
    depth = max((len(one.ground.levels) for one in model.sensitive), default=0) or 1
    whole = np.zeros((len(model.sensitive), 3 * width))
    trees = np.zeros((len(model.sensitive), depth, width), dtype=np.int32)
    heights = np.zeros(len(model.sensitive), dtype=np.int64)
    for at, one in enumerate(model.sensitive):
        q = np.cumsum(one.whole)
        whole[at, : one.values] = one.whole
        whole[at, width : width + one.values] = q
        whole[at, 2 * width : 2 * width + one.values + 1] = np.concatenate(([0.0], np.cumsum(q)))
        heights[at] = {"equal": -1, "ordered": 0}.get(one.ground.kind, len(one.ground.levels))
        for level, numbers in enumerate(one.ground.levels):
            trees[at, level, : one.values] = numbers
    sizes = np.array([one.values for one in model.sensitive], dtype=np.int64)
    return rules, sizes, whole, trees, heights


def _released(axis: Axis, ranks: NDArray[np.int32], found: NDArray[np.int32], rows: NDArray[np.int64]) -> pl.Series:
    """What each record's class spans in one attribute, as text; the column itself where no class spans two values."""
    column = axis.column
    classes = int(found.max()) + 1 if len(found) else 0
    least, most = np.full(classes, len(axis.rank)), np.full(classes, -1)
    np.minimum.at(least, found, ranks)
    np.maximum.at(most, found, ranks)
    if (least == most).all():
        return (column.values.extend_constant(None, 1) if column.has_null else column.values).gather(column.codes)
    pairs, back = np.unique(least * len(axis.rank) + most, return_inverse=True)
    texts = _texts(axis, pairs // len(axis.rank), pairs % len(axis.rank))
    return pl.Series(column.name, texts, dtype=pl.String).gather(back[found][rows])


def _texts(axis: Axis, least: NDArray[np.int64], most: NDArray[np.int64]) -> list[str | None]:
    """A value, an interval, a group, a label or ``*`` for each span; null where it has nothing but nulls."""
    values = axis.column.values
    size = len(values)
    ordered = values[np.argsort(axis.rank, kind="stable")[:size]]
    leaves = [leaf_text(value) for value in ordered.to_list()]
    numbers = ordered.to_list()
    labels = np.array(axis.labels, dtype=np.int32)
    made: list[str | None] = []
    for low, high in zip(least.tolist(), most.tolist(), strict=True):
        if low == high:
            made.append(None if low == size else leaves[low])
        elif high == size or (low == 0 and high == size - 1 and not (axis.height or axis.numeric)):
            made.append(EVERYTHING)
        elif axis.height:
            made.append(axis.names[lowest_common(labels, axis.height, low, high)][low])
        elif axis.numeric:
            made.append(str(Interval(numbers[low], numbers[high], True, True)))
        else:
            made.append(str(Group(frozenset(leaves[low : high + 1]))))
    return made
