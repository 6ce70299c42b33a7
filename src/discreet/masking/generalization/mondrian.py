"""Mondrian: multidimensional recoding by recursive cuts of the table (LeFevre, DeWitt & Ramakrishnan 2006)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from discreet.engine.cells.handover import describe_labels
from discreet.engine.cells.hierarchies import hierarchy_from_spec, hierarchy_of, leaf_codes, leaf_text, level_codes
from discreet.engine.cells.nested_groups import flatten_groups
from discreet.engine.cells.range_ends import round_ends_outward
from discreet.engine.classes.tables import class_table
from discreet.engine.encoding.columns import Column, encode
from discreet.engine.runtime.progress import report_progress
from discreet.masking.generalization.model_kernels import DISTINCT, ENTROPY, NO_DIVERSITY, RECURSIVE, ModelArrays
from discreet.masking.generalization.mondrian_kernels import AxisArrays, lowest_common, partition_rows
from discreet.masking.generalization.privacy_model import PrivacyModel
from discreet.model.attribute import Level
from discreet.model.cells import EVERYTHING, ColumnCells, Group, Interval
from discreet.model.hierarchy import Hierarchy, HierarchySpec
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MAX_GROUP_VALUES = 50
_DIVERSITY_CODES = {"distinct": DISTINCT, "entropy": ENTROPY, "recursive": RECURSIVE}


@dataclass(frozen=True)
class CuttingAxis:
    """An attribute prepared for cutting.

    ``rank[code]`` is the position of a value in the order of cutting. Of a hierarchy, by level and rank: ``labels`` are the
    numbers of the labels, ``shares`` their share of all leaves and ``names`` their texts. Of an ordered attribute, ``positions``
    are the positions on the scale of the range, by rank.
    """

    column: Column
    rank: NDArray[np.int32]
    labels: tuple[NDArray[np.int32], ...]
    shares: tuple[NDArray[np.float64], ...]
    names: tuple[list[str], ...]
    positions: NDArray[np.float64]
    numeric: bool
    hierarchy: Hierarchy | None = None

    @property
    def height(self) -> int:
        """The number of hierarchy levels above the leaves; 0 for an ordered attribute."""
        return max(len(self.labels) - 1, 0)


def mondrian(
    data: Microdata, keys: Sequence[str], model: PrivacyModel, sensitive: Sequence[Column], *, relaxed: bool, enough: int
) -> tuple[dict[str, pl.Series], dict[str, ColumnCells | None]]:
    """The released columns, each value as the interval, group or label that its class spans; and the meaning of these labels.

    An end of an interval that fewer than ``enough`` records hold is rounded outward.
    """
    axes = [_build_axis(data, column) for column in encode(data, keys)]
    columns = [(axis.rank[axis.column.codes], len(axis.rank)) for axis in axes] + [(c.codes, c.cardinality) for c in sensitive]
    if relaxed:
        order = np.argsort(data.records, kind="stable")  # ties are divided by record number, whatever the order of the rows
        codes = np.stack([column[order].astype(np.int32) for column, _ in columns], axis=1)
        counts = np.ones(len(data), dtype=np.int64)
        rows = np.empty(len(data), dtype=np.int64)
        rows[order] = np.arange(len(data))
    else:
        table, rows = class_table(columns, len(data))
        codes, counts = table.codes, table.counts
    key_codes, sensitive_codes = np.ascontiguousarray(codes[:, : len(axes)]), np.ascontiguousarray(codes[:, len(axes) :])
    arguments = (counts, _pack_axes(axes), relaxed, model.k, sensitive_codes, _pack_model(model))
    classes = partition_rows(key_codes, *arguments, by_machine_code=model.l is not None or model.t is not None)
    released: dict[str, pl.Series] = {}
    cells: dict[str, ColumnCells | None] = {}
    by_class = np.argsort(classes, kind="stable")
    first_of_class = np.searchsorted(classes[by_class], np.arange(int(classes.max(initial=-1)) + 1))
    for index, axis in enumerate(axes):
        report_progress("releasing classes", index, len(axes))
        name = axis.column.name
        labels = _release_column(axis, codes[by_class, index], first_of_class, classes, rows, enough)
        released[name] = flatten_groups(data, name, labels)
        cells[name] = describe_labels(data, name, released[name], hierarchy=axis.hierarchy)
    return released, cells


def _build_axis(data: Microdata, column: Column) -> CuttingAxis:
    """The axis of a key: by its hierarchy, as dates by month, quarter and year, by number, or by the order of its categories."""
    level, attribute, values = data.level(column.name), data.attribute(column.name), len(column.values)
    dates = values > 0 and column.values.dtype.is_temporal() and column.values.dtype != pl.Time
    if attribute.hierarchy is not None:
        return _build_tree_axis(column, hierarchy_of(data, column.name))
    if dates:
        return _build_tree_axis(column, hierarchy_from_spec(column, HierarchySpec(dates=("month", "quarter", "year")), data))
    numeric = level is Level.NUMERIC and values > 0 and _is_numeric_or_temporal(column.values)
    if not numeric and values > _MAX_GROUP_VALUES:
        return _build_tree_axis(column, hierarchy_of(data, column.name))
    positions = _as_floats(column.values) if numeric else np.arange(values, dtype=np.float64)
    order = np.argsort(positions, kind="stable")
    rank = np.empty(column.cardinality, dtype=np.int32)
    rank[order] = np.arange(values)
    rank[values:] = values  # null is last
    scaled = positions[order]
    if values > 1:
        scaled = (scaled - scaled[0]) / (scaled[-1] - scaled[0])
    if column.has_null:
        scaled = np.append(scaled, 1.0 + 1.0 / max(values, 1))
    return CuttingAxis(column, rank, (), (), (), scaled, numeric)


def _is_numeric_or_temporal(values: pl.Series) -> bool:
    return bool(values.dtype.is_numeric() or values.dtype.is_temporal())


def _as_floats(values: pl.Series) -> NDArray[np.float64]:
    """Numbers, or dates and times as their distance from the epoch, as floats."""
    return (values.to_physical() if values.dtype.is_temporal() else values).cast(pl.Float64).to_numpy()


def _build_tree_axis(column: Column, hierarchy: Hierarchy) -> CuttingAxis:
    """The axis of a hierarchy: leaves in the order of the tree, so that every label is a run; null is below the top only."""
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
        label_codes = by_leaf[level][order]
        label_ranks = (
            np.concatenate(([0], np.cumsum(label_codes[1:] != label_codes[:-1]))) if size else np.zeros(0, dtype=np.int64)
        )
        null_label = 0 if level == hierarchy.height or not size else int(label_ranks[-1]) + 1
        labels.append(np.append(label_ranks, [null_label] if column.has_null else []).astype(np.int32))
        share = np.bincount(codes, minlength=len(texts))[label_codes] / total
        shares.append(np.append(share, [share[-1] if size and level == hierarchy.height else 0.0] if column.has_null else []))
        names.append([texts[code] for code in label_codes])
    return CuttingAxis(column, rank, tuple(labels), tuple(shares), tuple(names), np.zeros(column.cardinality), False, hierarchy)


def _pack_axes(axes: Sequence[CuttingAxis]) -> AxisArrays:
    """The axes as arrays of one width."""
    width = max(1, *(len(axis.rank) for axis in axes))
    depth = max(axis.height for axis in axes) + 1
    labels = np.zeros((len(axes), depth, width), dtype=np.int32)
    shares = np.zeros((len(axes), depth, width))
    positions = np.zeros((len(axes), width))
    for index, axis in enumerate(axes):
        positions[index, : len(axis.positions)] = axis.positions
        for level, (level_labels, share) in enumerate(zip(axis.labels, axis.shares, strict=True)):
            labels[index, level, : len(level_labels)], shares[index, level, : len(share)] = level_labels, share
    return AxisArrays(np.array([axis.height for axis in axes], dtype=np.int64), labels, positions, shares)


def _pack_model(model: PrivacyModel) -> ModelArrays:
    """l-diversity and t-closeness as arrays of one width."""
    kind = _DIVERSITY_CODES[model.diversity] if model.l is not None else NO_DIVERSITY
    rules = np.array([kind, model.l or 0.0, model.c, -1.0 if model.t is None else model.t])
    width = max((attribute.values for attribute in model.sensitive), default=0) + 1
    depth = max((len(attribute.ground.levels) for attribute in model.sensitive), default=0) or 1
    whole = np.zeros((len(model.sensitive), 3 * width))
    trees = np.zeros((len(model.sensitive), depth, width), dtype=np.int32)
    heights = np.zeros(len(model.sensitive), dtype=np.int64)
    for index, attribute in enumerate(model.sensitive):
        cumulative = np.cumsum(attribute.whole)
        whole[index, : attribute.values] = attribute.whole
        whole[index, width : width + attribute.values] = cumulative
        whole[index, 2 * width : 2 * width + attribute.values + 1] = np.concatenate(([0.0], np.cumsum(cumulative)))
        heights[index] = {"equal": -1, "ordered": 0}.get(attribute.ground.kind, len(attribute.ground.levels))
        for level, groups in enumerate(attribute.ground.levels):
            trees[index, level, : attribute.values] = groups
    sizes = np.array([attribute.values for attribute in model.sensitive], dtype=np.int64)
    return ModelArrays(rules, sizes, whole, trees, heights)


def _release_column(
    axis: CuttingAxis, ranks: NDArray[np.int32], first_of_class: NDArray[np.int64], classes: NDArray[np.int32],
    rows: NDArray[np.int64], enough: int,
) -> pl.Series:  # fmt: skip
    """What each record's class spans in one attribute, as text; the unchanged column if no class spans two values.

    ``ranks`` are ordered by class, and those of a class begin at ``first_of_class``.
    """
    column = axis.column
    lowest, highest = (edge.reduceat(ranks, first_of_class).astype(np.int64) for edge in (np.minimum, np.maximum))
    if (lowest == highest).all():
        return (column.values.extend_constant(None, 1) if column.has_null else column.values).gather(column.codes)
    pairs, pair_of_class = np.unique(lowest * len(axis.rank) + highest, return_inverse=True)
    texts = _span_texts(axis, pairs // len(axis.rank), pairs % len(axis.rank), enough)
    return pl.Series(column.name, texts, dtype=pl.String).gather(pair_of_class[classes][rows])


def _span_texts(axis: CuttingAxis, lowest: NDArray[np.int64], highest: NDArray[np.int64], enough: int) -> list[str | None]:
    """A value, an interval, a group, a label or ``*`` for each span of ranks; null for a span of nulls only."""
    values = axis.column.values
    size = len(values)
    ordered = values[np.argsort(axis.rank, kind="stable")[:size]]
    leaves = [leaf_text(value) for value in ordered.to_list()]
    intervals = _intervals(axis, ordered, lowest, highest, enough) if axis.numeric else {}
    labels = np.array(axis.labels, dtype=np.int32)
    texts: list[str | None] = []
    for low, high in zip(lowest.tolist(), highest.tolist(), strict=True):
        if low == high:
            texts.append(None if low == size else leaves[low])
        elif high == size or (low == 0 and high == size - 1 and not (axis.height or axis.numeric)):
            texts.append(EVERYTHING)
        elif axis.height:
            texts.append(axis.names[lowest_common(labels, axis.height, low, high)][low])
        elif axis.numeric:
            texts.append(intervals[low, high])
        else:
            texts.append(str(Group(frozenset(leaves[low : high + 1]))))
    return texts


def _intervals(
    axis: CuttingAxis, ordered: pl.Series, lowest: NDArray[np.int64], highest: NDArray[np.int64], enough: int
) -> dict[tuple[int, int], str]:
    """The interval of each span of ranks that holds two values or more, and no null."""
    wide = (lowest < highest) & (highest < len(ordered))
    low, high = lowest[wide], highest[wide]
    frequencies = np.bincount(axis.rank[axis.column.codes], minlength=len(axis.rank))
    ends = round_ends_outward(ordered, low, high, frequencies, enough)
    return {
        (first, last): str(Interval(below, above, True, True))
        for first, last, below, above in zip(low.tolist(), high.tolist(), *ends, strict=True)
    }
