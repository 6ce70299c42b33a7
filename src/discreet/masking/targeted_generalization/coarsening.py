"""Replacing single values by the narrowest interval or hierarchy node that brings their record below a risk threshold.

The risk is that of :mod:`discreet.engine.known_sets.sums`, with cells agreeing if they overlap: a value with the intervals that
contain it, a node with its ancestors and descendants, a suppressed cell with every cell. A coarser cell agrees with more cells,
so records below the threshold stay below it. The weight of a coarse cell is the largest weight of the values in it.

With ``missing: wildcard`` the last resort is a null, which agrees with any value. With ``category`` a null is a value of its own,
so the last resort is ``*``, which agrees with any value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from discreet.engine.cells.containment import read_containment
from discreet.engine.cells.handover import describe_labels
from discreet.engine.cells.hierarchies import hierarchy_of, leaf_codes, leaf_text
from discreet.engine.cells.intervals import quantile_levels
from discreet.engine.cells.positions import native_positions
from discreet.engine.encoding.columns import Column, encode_series, thread_count
from discreet.engine.overlap.columns import column_atoms, overlaps
from discreet.engine.runtime.progress import report_progress
from discreet.engine.runtime.worker_threads import WorkerThreads
from discreet.engine.targeting.rule import MARGIN, TargetingOutcome
from discreet.engine.targeting.state import TargetingState
from discreet.engine.targeting.turns import order_in_turns
from discreet.errors import DataError
from discreet.masking.targeted_generalization.kernels import generalize_records
from discreet.model.attribute import Level
from discreet.model.cells import EVERYTHING, ColumnCells
from discreet.model.hierarchy import Hierarchy
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MAX_TABLE_CELLS = 1 << 22
_NULL_LABEL = "\0"
QUANTILES = (64, 16, 4)
"""Numbers of quantile intervals per level, for numeric attributes without a hierarchy that have more values than intervals."""


@dataclass(frozen=True)
class AttributeAxis:
    """The levels of generalization of one attribute: ``[level, code]`` arrays of labels, costs (as in ncp) and weights.

    With ``null_is_value`` a null is a value of its own, with the code after those of the values.
    """

    column: Column
    labels: list[list[str]]
    costs: NDArray[np.float64]
    weights: NDArray[np.float64]
    hierarchy: Hierarchy
    null_is_value: bool = False

    @property
    def height(self) -> int:
        return len(self.labels) - 1

    @classmethod
    def of(
        cls,
        data: Microdata,
        column: Column,
        value_weights: NDArray[np.float64],
        importance: float,
        *,
        null_is_value: bool,
    ) -> AttributeAxis:
        """The axis of a column, by its hierarchy; ``value_weights`` holds one weight per code, that of a null last.

        Intermediate levels that do not merge any values of the column are left out.
        """
        if overlaps(data, column):
            raise DataError(
                f"targeted_generalization needs original values, but cells of '{column.name}' overlap already; "
                "put this step before the steps that recode the column"
            )
        hierarchy = _build_hierarchy(data, column)
        leaf_indices = leaf_codes(column, hierarchy)[: len(column.values)]
        numeric = data.level(column.name) in (Level.NUMERIC, Level.DATE)
        labels, costs, weights = [], [], []
        for level in range(hierarchy.height + 1):
            names = [hierarchy.labels[level][leaf] for leaf in leaf_indices]
            is_top = level == hierarchy.height
            if level and not is_top and len(set(names)) == len(names):
                continue  # not coarser than the values themselves
            labelled = encode_series(pl.Series(column.name, names, dtype=pl.String))
            groups = labelled.codes.astype(np.int64)
            share = read_containment(column, labelled, hierarchy, numeric=numeric).share[groups]
            heaviest_by_group = np.zeros(labelled.cardinality)
            np.maximum.at(heaviest_by_group, groups, value_weights[: len(names)])
            # a null agrees only with nulls, except at the top level
            null_label = [EVERYTHING if is_top else _NULL_LABEL] * null_is_value
            labels.append([*names, *null_label])
            cost = np.full(len(names), importance) if is_top else importance * share * (level > 0)
            costs.append(np.append(cost, [importance * is_top] * null_is_value))
            weight = np.full(len(names), value_weights[-1]) if is_top else heaviest_by_group[groups]
            weights.append(np.append(weight, [value_weights[-1]] * null_is_value))
        return cls(column, labels, np.array(costs), np.array(weights), hierarchy, null_is_value)

    def without_level(self, level: int) -> AttributeAxis:
        """A copy without one level of generalization."""
        keep = [index for index in range(len(self.labels)) if index != level]
        labels = [self.labels[index] for index in keep]
        return replace(self, labels=labels, costs=self.costs[keep], weights=self.weights[keep])


def _build_hierarchy(data: Microdata, column: Column) -> Hierarchy:
    """The hierarchy of the policy; default for numbers: quantile intervals, for other attributes: suppression only."""
    numbers = native_positions(column.values) if column.values.dtype.is_numeric() else np.zeros(0)
    if column_atoms(data, column) is not None:  # already recoded: its labels have no hierarchy
        leaves = [leaf_text(value) for value in column.values.to_list()]
        return Hierarchy.from_rows([(leaf,) for leaf in leaves], attribute=column.name)
    if data.attribute(column.name).hierarchy is not None or data.level(column.name) is not Level.NUMERIC or not len(numbers):
        return hierarchy_of(data, column.name)
    counts = np.bincount(column.codes, minlength=column.cardinality)[: len(numbers)]
    parts = [number for number in QUANTILES if number < len(numbers)]
    levels = quantile_levels(numbers, counts, parts, column.name)
    return Hierarchy.from_rows(zip(map(leaf_text, column.values.to_list()), *levels, strict=True), attribute=column.name)


class CoarseningState:
    """A table whose cells are being generalized: ``codes[record, attribute]`` stay, ``levels[record, attribute]`` rise.

    ``has_coarse_cells[record]`` says that a level is above 0, ``allowed[attribute]`` which attributes may be generalized.
    """

    def __init__(self, table: TargetingState, columns: Sequence[str], importance: dict[str, float]) -> None:
        self.table, width = table, table.tree.width
        if 2**width > _MAX_TABLE_CELLS:
            raise DataError(
                f"targeted_generalization counts over at most 22 attributes at once, but {width} occur in known sets; "
                "use a higher epsilon to keep fewer of them"
            )
        self.null_is_category = table.missing == "category"
        axes = []
        for column, name, weights in zip(table.columns[:width], table.names, table.value_weights, strict=False):
            null_is_value = self.null_is_category and column.has_null
            cost = importance.get(name, 1.0)
            axes.append(AttributeAxis.of(table.data, column, weights, cost, null_is_value=null_is_value))
        self.axes = _drop_levels_to_fit(axes)
        self.allowed = np.array([name in columns for name in table.names[:width]], dtype=np.bool_)
        size = len(table.data)
        # narrow codes, because the kernel reads the whole table once per record above the threshold
        fits_uint16 = all(len(axis.column.values) < 1 << 16 for axis in self.axes)
        self.codes: NDArray[Any] = np.zeros((size, width), np.uint16 if fits_uint16 else np.int32)
        self.levels = np.zeros((size, width), np.uint8)
        for index, axis in enumerate(self.axes):
            is_null = axis.column.is_null
            if axis.null_is_value:
                self.codes[:, index] = axis.column.codes
                continue
            self.codes[:, index] = np.where(is_null, 0, axis.column.codes)
            self.levels[is_null, index] = axis.height
        self.has_coarse_cells: NDArray[np.bool_] = np.asarray(self.levels.any(axis=1))
        self.initial_levels = self.levels.copy()
        self.axis_arrays, self.table_size = _flatten(self.axes)

    def generalize_until_safe(self, level: float) -> TargetingOutcome:
        """Generalize the records above the threshold in turns of growing size, the highest risks first.

        Each turn sees the cells generalized in earlier turns. ``level`` is the threshold before alpha.
        """
        per_record, slots = self.table.initial.per_record, self.table.initial.slots
        above = np.flatnonzero(per_record.risk > level)
        outcome, processed = TargetingOutcome(), 0
        unsafe_parts = [np.zeros(0, np.int64)]
        for turn in order_in_turns(self.table, slots[above], per_record.risk[above]):
            report_progress("generalizing cells", processed, len(above))
            chosen, risk = self._choose_levels(turn, level * (1 - MARGIN), self.allowed)
            changed = (chosen != self.levels[turn]).any(axis=1)
            changed_count = int((chosen != self.levels[turn]).sum())
            self.levels[turn] = chosen
            self.has_coarse_cells[turn] |= changed
            outcome.values_changed += changed_count
            outcome.passes.append((int(changed.sum()), changed_count))
            unsafe_parts.append(turn[risk > level * (1 - MARGIN)])
            processed += len(turn)
        candidates = np.sort(np.concatenate(unsafe_parts))
        risk = self.compute_risks(candidates)
        outcome.remaining, outcome.remaining_risk = candidates[risk > level], risk[risk > level]
        return outcome

    def compute_risks(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """The current risk of these records, before alpha."""
        return self._choose_levels(rows, 0.0, np.zeros_like(self.allowed))[1]

    def _choose_levels(
        self, rows: NDArray[np.int64], limit: float, allowed: NDArray[np.bool_]
    ) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """The levels ``[row, attribute]`` that bring these records to at most the limit or as low as possible, and the risks."""
        width = len(self.axes)
        chosen, risk = np.zeros((len(rows), width), np.uint8), np.zeros(len(rows))
        base = self.table.record_weights(rows)[:, width:].sum(axis=1)
        if not len(rows):
            return chosen, risk
        bounds = np.linspace(0, len(rows), thread_count() + 1).astype(np.int64)

        def generalize_slice(index: int) -> None:
            generalize_records(
                rows, self.codes, self.levels, self.has_coarse_cells, allowed, base, self.axis_arrays, self.table.family_arrays,
                limit, self.table_size, chosen, risk, bounds[index], bounds[index + 1],
            )  # fmt: skip

        with WorkerThreads(thread_count()) as pool:
            list(pool.map(generalize_slice, range(thread_count())))
        return chosen, risk

    def describe_columns(self, released: Mapping[str, pl.Series]) -> dict[str, ColumnCells | None]:
        """The values behind the labels of released columns; a column with suppressed cells only keeps its description."""
        hierarchies = {axis.column.name: axis.hierarchy for axis in self.axes}
        data = self.table.data
        return {
            name: describe_labels(data, name, series, hierarchy=hierarchies[name])
            for name, series in released.items()
            if series.dtype == pl.String
        }

    def released_columns(self) -> dict[str, pl.Series]:
        """The columns with changed cells: as text if some are coarse, with their own type if they are only suppressed."""
        columns = {}
        for index, axis in enumerate(self.axes):
            levels, name = self.levels[:, index], axis.column.name
            changed = levels != self.initial_levels[:, index]
            if not changed.any():
                continue
            series = self.table.data.frame[name].set(pl.Series(changed & (levels == axis.height)), None)
            if self.null_is_category or (changed & (levels < axis.height)).any():
                top_labels = [EVERYTHING if self.null_is_category else None] * len(axis.labels[0])
                texts = np.array([*axis.labels[:-1], top_labels], dtype=object)
                texts[0] = [leaf_text(value) for value in axis.column.values.to_list()] + [None] * axis.null_is_value
                texts[:-1, len(axis.column.values) :] = None
                series = pl.Series(name, texts[levels, self.codes[:, index]].tolist(), dtype=pl.String)
            columns[name] = series
        return columns


def _drop_levels_to_fit(axes: list[AttributeAxis]) -> list[AttributeAxis]:
    """Drop levels until the table over all levels fits: each time the finest level of the highest hierarchy."""
    fitting = list(axes)
    while np.prod([axis.height + 1.0 for axis in fitting]) > _MAX_TABLE_CELLS:
        highest = max(range(len(fitting)), key=lambda index: (fitting[index].height, index))
        fitting[highest] = fitting[highest].without_level(1)
    return fitting


def _flatten(axes: Sequence[AttributeAxis]) -> tuple[tuple[NDArray[Any], ...], int]:
    """The axes as flat arrays for the kernels (see there), and the size of the table over all levels."""
    heights = np.array([axis.height for axis in axes], dtype=np.int64)
    strides = np.concatenate(([1], np.cumprod(heights + 1)))
    cardinalities = np.array([max(1, len(axis.labels[0])) for axis in axes], dtype=np.int64)
    starts = np.concatenate(([0], np.cumsum(cardinalities * (heights + 1))))
    labels, costs, weights = np.zeros(starts[-1], np.int64), np.zeros(starts[-1]), np.zeros(starts[-1])
    for index, axis in enumerate(axes):
        for level, names in enumerate(axis.labels):
            numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
            begin = starts[index] + level * cardinalities[index]
            span = slice(begin, begin + len(names))
            labels[span] = [numbers[name] for name in names]
            costs[span], weights[span] = axis.costs[level], axis.weights[level]
    return (heights, strides[:-1], starts[:-1], cardinalities, labels, costs, weights), int(strides[-1])
