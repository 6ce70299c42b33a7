"""Replacing single values by the narrowest interval or hierarchy node that brings their record under a risk threshold.

The risk is that of :mod:`discreet.engine.known_sets.sums` where a cell agrees with every cell it overlaps: a value with the
intervals that hold it, a node with the nodes above and below it, a blank with anything. Making a cell coarser lets it agree with
more, so,
as with blanks, whoever is under the threshold stays there. A coarse value weighs as much as the heaviest value in it.

Under ``missing: wildcard`` the last resort is a null, which agrees with anything. Under ``category`` a null is a value of its
own, so the last resort is written ``*``, which agrees with anything there too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
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
from discreet.engine.targeting.rule import MARGIN, Story
from discreet.engine.targeting.state import Targets
from discreet.engine.targeting.turns import turns
from discreet.errors import DataError
from discreet.masking.targeted_generalization.kernels import narrowest
from discreet.model.attribute import Level
from discreet.model.cells import EVERYTHING, ColumnCells
from discreet.model.hierarchy import Hierarchy
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST_CELLS = 1 << 22
_NULL = "\0"
QUANTILES = (64, 16, 4)
"""Equally filled intervals for numbers without a hierarchy, where there are more values than intervals."""


@dataclass(frozen=True)
class Axis:
    """One attribute: for each level the label of every code, what it costs (as ncp says), and what it weighs.

    ``null`` says that a null is a value of its own, with the code behind those of the values.
    """

    column: Column
    labels: list[list[str]]
    costs: NDArray[np.float64]
    weights: NDArray[np.float64]
    hierarchy: Hierarchy
    null: bool = False

    @property
    def height(self) -> int:
        return len(self.labels) - 1

    @classmethod
    def of(cls, data: Microdata, column: Column, weight: NDArray[np.float64], importance: float, *, null: bool) -> Axis:
        """The attribute's hierarchy, seen from its values; ``weight`` has the blank's last."""
        if overlaps(data, column):
            raise DataError(
                f"targeted_generalization needs values that are not coarse yet, but cells of '{column.name}' overlap already; "
                "put it before the steps that make them coarse"
            )
        hierarchy = _hierarchy(data, column)
        leaves = leaf_codes(column, hierarchy)[: len(column.values)]
        numeric = data.level(column.name) in (Level.NUMERIC, Level.DATE)
        labels, costs, weights = [], [], []
        for level in range(hierarchy.height + 1):
            names = [hierarchy.labels[level][leaf] for leaf in leaves]
            top = level == hierarchy.height
            if level and not top and len(set(names)) == len(names):
                continue  # not coarser than the values themselves
            labelled = encode_series(pl.Series(column.name, names, dtype=pl.String))
            group = labelled.codes.astype(np.int64)
            share = read_containment(column, labelled, hierarchy, numeric=numeric).share[group]
            heaviest = np.zeros(labelled.cardinality)
            np.maximum.at(heaviest, group, weight[: len(names)])
            own = [EVERYTHING if top else _NULL] * null  # a null agrees with nulls until it says nothing
            labels.append([*names, *own])
            cost = np.full(len(names), importance) if top else importance * share * (level > 0)
            costs.append(np.append(cost, [importance * top] * null))
            weights.append(np.append(np.full(len(names), weight[-1]) if top else heaviest[group], [weight[-1]] * null))
        return cls(column, labels, np.array(costs), np.array(weights), hierarchy, null)

    def without(self, level: int) -> Axis:
        keep = [at for at in range(len(self.labels)) if at != level]
        labels = [self.labels[at] for at in keep]
        return replace(self, labels=labels, costs=self.costs[keep], weights=self.weights[keep])


def _hierarchy(data: Microdata, column: Column) -> Hierarchy:
    numbers = native_positions(column.values) if column.values.dtype.is_numeric() else np.zeros(0)
    if column_atoms(data, column) is not None:  # recoded already: nothing coarser is known of its labels
        leaves = [leaf_text(value) for value in column.values.to_list()]
        return Hierarchy.from_rows([(leaf,) for leaf in leaves], attribute=column.name)
    if data.attribute(column.name).hierarchy is not None or data.level(column.name) is not Level.NUMERIC or not len(numbers):
        return hierarchy_of(data, column.name)
    counts = np.bincount(column.codes, minlength=column.cardinality)[: len(numbers)]
    parts = [number for number in QUANTILES if number < len(numbers)]
    levels = quantile_levels(numbers, counts, parts, column.name)
    return Hierarchy.from_rows(zip(map(leaf_text, column.values.to_list()), *levels, strict=True), attribute=column.name)


class Coarsened:
    """The table while its cells become coarser: the codes stay, each cell has a level."""

    def __init__(self, table: Targets, columns: Sequence[str], importance: dict[str, float]) -> None:
        self.table, width = table, table.tree.width
        if 2**width > _MOST_CELLS:
            raise DataError(
                f"targeted_generalization counts over at most 22 attributes at once, but {width} occur in known sets; "
                "a higher epsilon keeps fewer"
            )
        self.category = table.missing == "category"
        axes = []
        for column, name, weight in zip(table.columns[:width], table.names, table.weights, strict=False):
            null = self.category and column.has_null
            axes.append(Axis.of(table.data, column, weight, importance.get(name, 1.0), null=null))
        self.axes = _fitting(axes)
        self.may = np.array([name in columns for name in table.names[:width]], dtype=np.bool_)
        size = len(table.data)
        small = all(len(axis.column.values) < 1 << 16 for axis in self.axes)  # the table is read once per record: width is time
        self.codes: NDArray[Any] = np.zeros((size, width), np.uint16 if small else np.int32)
        self.levels = np.zeros((size, width), np.uint8)
        for at, axis in enumerate(self.axes):
            blank = axis.column.is_null
            if axis.null:
                self.codes[:, at] = axis.column.codes
                continue
            self.codes[:, at] = np.where(blank, 0, axis.column.codes)
            self.levels[blank, at] = axis.height
        self.touched: NDArray[np.bool_] = np.asarray(self.levels.any(axis=1))
        self.before = self.levels.copy()
        self.flat, self.cells = _flat(self.axes)

    def settle(self, level: float) -> Story:
        """Ever larger turns of records above the threshold, the riskiest first; each sees what those before made coarser."""
        per_record, slots = self.table.start.per_record, self.table.start.slots
        above = np.flatnonzero(per_record.risk > level)
        story, done = Story(), 0
        unsafe = [np.zeros(0, np.int64)]
        for turn in turns(self.table, slots[above], per_record.risk[above]):
            report_progress("making cells coarser", done, len(above))
            chosen, risk = self._decide(turn, level * (1 - MARGIN), self.may)
            changed = (chosen != self.levels[turn]).any(axis=1)
            taken = int((chosen != self.levels[turn]).sum())
            self.levels[turn] = chosen
            self.touched[turn] |= changed
            story.taken += taken
            story.passes.append((int(changed.sum()), taken))
            unsafe.append(turn[risk > level * (1 - MARGIN)])
            done += len(turn)
        left = np.sort(np.concatenate(unsafe))
        risk = self.risks(left)
        story.remaining, story.risk = left[risk > level], risk[risk > level]
        return story

    def risks(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """The risk of these records as the table stands, before alpha."""
        return self._decide(rows, 0.0, np.zeros_like(self.may))[1]

    def _decide(self, rows: NDArray[np.int64], limit: float, may: NDArray[np.bool_]) -> tuple[NDArray[Any], NDArray[np.float64]]:
        width = len(self.axes)
        chosen, risk = np.zeros((len(rows), width), np.uint8), np.zeros(len(rows))
        base = self.table.weight(rows)[:, width:].sum(axis=1)
        if not len(rows):
            return chosen, risk
        bounds = np.linspace(0, len(rows), thread_count() + 1).astype(np.int64)

        def work(at: int) -> None:
            narrowest(
                rows, self.codes, self.levels, self.touched, may, base, self.flat, self.table.arrays, limit, self.cells,
                chosen, risk, bounds[at], bounds[at + 1],
            )  # fmt: skip

        with ThreadPoolExecutor(thread_count()) as pool:
            list(pool.map(work, range(thread_count())))
        return chosen, risk

    def described(self, released: Mapping[str, pl.Series]) -> dict[str, ColumnCells | None]:
        """What the labels of released columns stand for; a column where cells are only blank keeps what was said of it."""
        trees = {axis.column.name: axis.hierarchy for axis in self.axes}
        data = self.table.data
        return {
            name: describe_labels(data, name, series, hierarchy=trees[name])
            for name, series in released.items()
            if series.dtype == pl.String
        }

    def released(self) -> dict[str, pl.Series]:
        """The columns whose cells changed: text where some are coarse, and of their own type where some are only null."""
        columns = {}
        for at, axis in enumerate(self.axes):
            levels, name = self.levels[:, at], axis.column.name
            changed = levels != self.before[:, at]
            if not changed.any():
                continue
            series = self.table.data.frame[name].set(pl.Series(changed & (levels == axis.height)), None)
            if self.category or (changed & (levels < axis.height)).any():
                last = [EVERYTHING if self.category else None] * len(axis.labels[0])
                texts = np.array([*axis.labels[:-1], last], dtype=object)
                texts[0] = [leaf_text(value) for value in axis.column.values.to_list()] + [None] * axis.null
                texts[:-1, len(axis.column.values) :] = None
                series = pl.Series(name, texts[levels, self.codes[:, at]].tolist(), dtype=pl.String)
            columns[name] = series
        return columns


def _fitting(axes: list[Axis]) -> list[Axis]:
    """Fewer levels where the table of all would be too large: from the highest hierarchy its finest level goes first."""
    fitting = list(axes)
    while np.prod([axis.height + 1.0 for axis in fitting]) > _MOST_CELLS:
        at = max(range(len(fitting)), key=lambda at: (fitting[at].height, at))
        fitting[at] = fitting[at].without(1)
    return fitting


def _flat(axes: Sequence[Axis]) -> tuple[tuple[NDArray[Any], ...], int]:
    """The axes as arrays for kernels, and the size of their table."""
    heights = np.array([axis.height for axis in axes], dtype=np.int64)
    strides = np.concatenate(([1], np.cumprod(heights + 1)))
    cards = np.array([max(1, len(axis.labels[0])) for axis in axes], dtype=np.int64)
    begin = np.concatenate(([0], np.cumsum(cards * (heights + 1))))
    labels, costs, weights = np.zeros(begin[-1], np.int64), np.zeros(begin[-1]), np.zeros(begin[-1])
    for at, axis in enumerate(axes):
        for level, names in enumerate(axis.labels):
            numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
            where = slice(begin[at] + level * cards[at], begin[at] + level * cards[at] + len(names))
            labels[where] = [numbers[name] for name in names]
            costs[where], weights[where] = axis.costs[level], axis.weights[level]
    return (heights, strides[:-1], begin[:-1], cards, labels, costs, weights), int(strides[-1])
