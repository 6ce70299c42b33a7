"""Keys as axes: the order in which a partition cuts an attribute, and how the range of a group is published.

Numbers and dates have their own order; categories have the order stated in the policy, or that of the leaves of their
hierarchy. A null is behind the last value, as far from it as the whole range, because releasing null loses as much as
suppression does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl

from discreet.engine.cells.hierarchies import hierarchy_of, leaf_codes, leaf_text, level_codes
from discreet.engine.cells.range_ends import round_ends_outward
from discreet.engine.encoding.columns import Column, encode
from discreet.errors import DataError
from discreet.model.attribute import Level, text_forms
from discreet.model.cells import Group, Prefix, parse_cell, union
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray

Scale = Literal["range", "std", "none"]
_MAX_EXACT = 2**53  # integers up to this one are exact as floats


@dataclass(frozen=True)
class Axis:
    """An attribute encoded in its order, with null last; ``positions[code]`` is the scaled position of a value.

    ``runs`` are the labels of a hierarchy as runs of codes, ``(first, last, label)``, sorted by first code, longest first.
    """

    column: Column
    positions: NDArray[np.float64]
    is_category: bool
    runs: tuple[tuple[int, int, str], ...] = ()

    @property
    def codes(self) -> NDArray[Any]:
        return self.column.codes


def build_axis(data: Microdata, name: str, scale: Scale) -> Axis:
    """The axis of a key, or an error that says what is missing in its attribute."""
    level, attribute = data.level(name), data.attribute(name)
    (column,) = encode(data, [name])
    if level in (Level.NUMERIC, Level.DATE) and attribute.order is None:
        return Axis(column, _scale_positions(column, _read_numbers(column, level), scale), is_category=False)
    if attribute.order is not None:
        rank_of = {text: index for index, text in enumerate(attribute.order)}
        ranks = [next(rank_of[text] for text in text_forms(value) if text in rank_of) for value in column.values.to_list()]
        return Axis(column, _scale_positions(column, np.array(ranks, dtype=np.float64), scale), is_category=True)
    if attribute.hierarchy is not None:
        return _build_tree_axis(data, column, scale)
    if len(column.values) <= 2 or (level is Level.ORDINAL and column.values.dtype.is_numeric()):
        return Axis(column, _scale_positions(column, np.arange(len(column.values), dtype=np.float64), scale), is_category=True)
    raise DataError(
        f"the {level} key '{name}' has {len(column.values):,} values and no order in which to cut it; "
        "give it a hierarchy or a stated order in the policy"
    )


def _read_numbers(column: Column, level: Level) -> NDArray[np.float64]:
    """The values of a numeric or date key as floats, all finite."""
    values = column.values
    if level is Level.DATE and not values.dtype.is_temporal():
        raise DataError(
            f"the key '{column.name}' has the level date in the policy but is of type {values.dtype}; read it as a date"
        )
    if not (values.dtype.is_numeric() or values.dtype.is_temporal()):
        raise DataError(
            f"the key '{column.name}' has the level {level} in the policy but is of type {values.dtype}; read it as numbers"
        )
    numbers = values.to_physical().cast(pl.Float64).to_numpy()
    if not np.isfinite(numbers).all():
        raise DataError(f"the key '{column.name}' contains a number that is not finite; replace it by null or a bound")
    return numbers


def _scale_positions(column: Column, values: NDArray[np.float64], scale: Scale) -> NDArray[np.float64]:
    """Positions from 0 upwards on the scale that all keys share; the position of null, if any, is last."""
    if not len(values):
        return np.zeros(column.cardinality)
    distances = values - values.min()
    value_range = float(distances.max())
    unit = 1.0
    if scale == "range":
        unit = value_range
    elif scale == "std":
        counts = np.bincount(column.codes, minlength=column.cardinality)[: len(values)]
        unit = float(np.sqrt(np.average((distances - np.average(distances, weights=counts)) ** 2, weights=counts)))
    distances = np.append(distances, 2 * value_range if value_range else 1.0) if column.has_null else distances
    return distances / unit if unit > 0 else distances


def _build_tree_axis(data: Microdata, column: Column, scale: Scale) -> Axis:
    """The axis of a hierarchy: values in the order of the tree, siblings in the order in which the hierarchy first names them."""
    hierarchy = hierarchy_of(data, column.name)
    levels = level_codes(hierarchy)
    leaves = leaf_codes(column, hierarchy)[: len(column.values)]
    leaf_order = np.lexsort([codes for codes, _ in levels])
    rank = np.empty(len(leaf_order), dtype=np.int64)
    rank[leaf_order] = np.arange(len(leaf_order))
    order = np.argsort(rank[leaves], kind="stable")
    new_codes = np.arange(column.cardinality, dtype=column.codes.dtype)
    new_codes[order] = np.arange(len(order), dtype=column.codes.dtype)
    ordered = Column(column.name, new_codes[column.codes], column.values[order], column.has_null)
    runs = []
    for codes, labels in levels[1:]:
        label_codes = codes[leaves[order]]
        begins = np.flatnonzero(np.diff(label_codes, prepend=-1))
        ends = np.append(begins, len(label_codes))[1:] - 1
        runs += [
            (int(first), int(last), labels[label_codes[first]]) for first, last in zip(begins, ends, strict=True) if last > first
        ]
    runs.sort(key=lambda run: (run[0], -run[1]))  # stable: of labels with equal runs the finest stays first
    return Axis(
        ordered, _scale_positions(ordered, rank[leaves[order]].astype(np.float64), scale), is_category=True, runs=tuple(runs)
    )


def group_ranges(
    axis: Axis, low: NDArray[np.int32], high: NDArray[np.int32], frequencies: NDArray[np.int64], enough: int
) -> pl.Series:
    """The published label of each group from its lowest and highest code: a value, an interval, a set of categories, or null.

    ``frequencies`` are the records or persons that hold each value; an end of an interval that fewer than ``enough`` hold is
    rounded outward.
    """
    values = axis.column.values.to_list()
    width = axis.column.cardinality
    pairs, pair_of_group = np.unique(low.astype(np.int64) * width + high, return_inverse=True)
    if axis.is_category:
        write = _category_writer(axis, values)
    else:
        wide = pairs[(pairs // width < pairs % width) & (pairs % width < len(values))]
        ends = round_ends_outward(axis.column.values, wide // width, wide % width, frequencies, enough)
        write = _interval_writer(values, dict(zip(wide.tolist(), zip(*ends, strict=True), strict=True)), width)
    texts = [write(int(pair) // width, int(pair) % width) if pair % width < len(values) else None for pair in pairs]
    return pl.Series(axis.column.name, texts, dtype=pl.String).gather(pair_of_group)


def _interval_writer(values: list[Any], ends: Mapping[int, tuple[Any, Any]], width: int) -> Callable[[int, int], str]:
    """A function that formats a run of codes as a value or a closed interval; ``ends[first * width + last]`` are its ends."""

    def write(first: int, last: int) -> str:
        if first == last:
            return leaf_text(values[first])
        below, above = ends[first * width + last]
        return f"[{leaf_text(below)}, {leaf_text(above)}]"

    return write


def _category_writer(axis: Axis, values: list[Any]) -> Callable[[int, int], str]:
    """A function that formats a run of categories with as few labels of the hierarchy as possible."""
    value_texts = [(code, leaf_text(value)) for code, value in enumerate(values)]
    runs_by_start: dict[int, list[tuple[int, str]]] = {}
    for first, last, label in axis.runs:
        runs_by_start.setdefault(first, []).append((last, label))
    # a label of the hierarchy that is itself a group or pattern, such as {Cook|Waiter} or 48**, is written as its members
    of_hierarchy = {text for _, _, text in axis.runs}
    cells = {text: cell for text in of_hierarchy if isinstance(cell := parse_cell(text, "text"), Group | Prefix)}
    # escaped as the grammar of cells requires, once per label
    escaped = {
        text: str(Group(frozenset([text])))[1:-1]
        for _, text in [*value_texts, *(run for runs in runs_by_start.values() for run in runs)]
    }

    def write(first: int, last: int) -> str:
        labels = []
        while first <= last:
            end, text = next((run for run in runs_by_start.get(first, ()) if run[0] <= last), value_texts[first])
            labels.append(text)
            first = end + 1
        if len(labels) > 1 and not cells.keys().isdisjoint(labels):
            return str(union([cells.get(text, text) for text in labels], "text"))
        return labels[0] if len(labels) == 1 else "{" + "|".join([escaped[text] for text in sorted(labels)]) + "}"

    return write


def group_means(axis: Axis, group: NDArray[np.int64], low: NDArray[np.int32], high: NDArray[np.int32]) -> pl.Series:
    """The mean of each group's numbers or dates, clipped to its range against rounding; null if the group contains a null."""
    values = axis.column.values
    numbers = values.to_physical()
    if numbers.dtype.is_integer() and not values.dtype.is_temporal() and len(numbers):
        largest = max(abs(int(numbers[0])), abs(int(numbers[-1])))
        if largest > _MAX_EXACT:
            raise DataError(f"the mean of '{values.name}' would lose digits: {largest} is beyond 2^53; publish ranges")
    if not len(numbers):
        return pl.Series(values.name, [None] * len(low), dtype=pl.Float64)
    has_values = high < len(numbers)
    base = numbers[0]
    distances = np.append((numbers - base).cast(pl.Float64).to_numpy(), 0.0)
    codes = np.minimum(axis.codes, len(numbers))
    mean = np.bincount(group, weights=distances[codes], minlength=len(low)) / np.bincount(group, minlength=len(low))
    mean = np.clip(mean, distances[low], distances[np.minimum(high, len(numbers) - 1)])
    if values.dtype.is_temporal():
        means = (pl.Series(np.rint(mean).astype(np.int64)) + int(base)).cast(numbers.dtype).cast(values.dtype)
    else:
        means = pl.Series(mean) + float(base)
    return means.alias(values.name).set(pl.Series(~has_values), None)
