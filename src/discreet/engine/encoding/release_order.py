"""The order of a release's rows: a keyed shuffle, and how whoever holds the key finds the originals again.

Rows in the order of the source tell who is who to anybody who knows that order (admission, alphabet, a register), however
well the values are masked. So what is written is ordered by draws of the release's secret key, which is the same order on any
engine. The owner, who has the original and the key, can lay the rows beside their originals again.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from discreet.engine.cells.containment import coarse
from discreet.engine.cells.hierarchies import usable_hierarchy
from discreet.engine.cells.midpoints import as_numbers, bounds, is_number
from discreet.engine.draws.draw import KeyedDraw
from discreet.engine.encoding.columns import encode_series
from discreet.engine.encoding.shared_codes import as_text
from discreet.errors import UnexplainedCellError
from discreet.model.cells import ColumnCells
from discreet.model.hierarchy import Hierarchy
from discreet.model.microdata import Microdata
from discreet.model.policy import Plan

if TYPE_CHECKING:
    from numpy.typing import NDArray

_STREAM = "order of the release"
_SAMPLE = 5_000
_CLEAR = 2.0  # so many standard errors make a difference; chance alone gets there in 2 of 100 tables
_CLEAR_IF_SHORT = 1.0  # a few rows cannot say more, were every value the original's
_ENOUGH = 20


def shuffled_rows(records: NDArray[np.int64], key: bytes) -> NDArray[np.int64]:
    """The rows of a release in the order in which they are written: random, and the same for the same key and records."""
    return KeyedDraw(key).order(records, _STREAM)


def release_draw(key: bytes) -> tuple[KeyedDraw, str]:
    """The draw and the stream whose bits ``shuffled_rows`` sorts by, for engines that sort by themselves."""
    return KeyedDraw(key), _STREAM


@dataclass(frozen=True)
class Placed:
    """A masked table whose rows know their originals, and a sentence where that is in doubt."""

    masked: Microdata
    doubt: str | None = None


def placed(
    masked: Microdata, original: Microdata, plan: Plan, order_key: Callable[[Microdata, Microdata], bytes | None]
) -> Placed:
    """A masked table as it was read from a file, with the record numbers that the release's shuffle gives its rows.

    ``order_key`` finds the key of the shuffle, where the owner has it. Tables of different length are returned as they are. A
    file may also come from elsewhere and hold its rows in the original's order, so both orders are tried: where the values agree
    clearly better in the original's order, that is the one; else the key's (a plan without steps has made nothing, so it must be
    clear the other way).
    """
    if len(masked) != len(original) or len(masked) < 2 or plan.order == "kept" or not (masked.is_initial and original.is_initial):
        return Placed(masked)
    key = order_key(masked, original)
    shuffle = original.records if key is None else shuffled_rows(original.records, key)
    nearness = _Nearness(masked, original)
    as_it_lies, by_key = nearness.of(nearness.rows), nearness.of(shuffle[nearness.rows])
    gain = _standardized(by_key - as_it_lies)
    clear = _CLEAR if len(nearness.rows) >= _ENOUGH else _CLEAR_IF_SHORT
    by_plan = key is not None and (gain >= -clear if plan.steps else gain > clear)
    found = masked.replace(masked.frame, shuffle) if by_plan else masked
    strangers = nearness.of((nearness.rows + len(masked) // 2) % len(masked))
    told = _standardized((by_key if by_plan else as_it_lies) - strangers) > _CLEAR
    if told or len(nearness.rows) < _ENOUGH or not nearness.says_anything:
        return Placed(found)
    return Placed(
        found,
        f"the rows of {masked.source} agree with {original.source} no better than strangers do, neither in its order nor in "
        "that of a key which this machine has; give the policy that made the release, or its link",
    )


class _Nearness:
    """How near the values of masked rows are to those of originals: 0 to 1 an attribute, on a sample of rows."""

    def __init__(self, masked: Microdata, original: Microdata) -> None:
        size = len(masked)
        self.rows = np.arange(size) if size <= _SAMPLE else np.linspace(0, size - 1, _SAMPLE).astype(np.int64)
        self.original, self.cells = original.frame, masked.cells
        self.names = [name for name in masked.columns if name in original.columns]
        self.masked = masked.frame.select(self.names)[self.rows]
        self.hierarchies = {name: usable_hierarchy(original, name) for name in self.names}
        self.says_anything = any(self.masked[name].n_unique() > 1 for name in self.names)

    def of(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """For each sampled row, its nearness to these rows of the original."""
        total, others = np.zeros(len(rows)), self.original.select(self.names)[rows]
        for name in self.names:
            total += _near(self.masked[name], others[name], self.cells.get(name), self.hierarchies[name])
        return total


def _near(masked: pl.Series, original: pl.Series, cells: ColumnCells | None, hierarchy: Hierarchy | None) -> NDArray[np.float64]:
    """1 where a masked cell holds the original value, less by the distance of numbers, 0 where it says something else."""
    try:
        if is_number(original):
            return _close(masked, original, cells, hierarchy)
        true, said = encode_series(original), encode_series(masked)
        read = coarse(true, said, hierarchy, cells=cells)
    except UnexplainedCellError:  # a measure that needs its meaning says so; the order of rows can do without
        return (as_text(masked) == as_text(original)).fill_null(value=False).to_numpy().astype(np.float64)
    blank = read.blank[said.codes] | true.is_null
    return np.where(blank, 0.0, read.contains(said.codes, true.codes)).astype(np.float64)


def _close(masked: pl.Series, original: pl.Series, cells: ColumnCells | None, hierarchy: Hierarchy | None) -> NDArray[np.float64]:
    true = as_numbers(original)
    with np.errstate(over="ignore", invalid="ignore"):
        spread = float(np.nanstd(true)) if not np.isnan(true).all() else 0.0
        if not math.isfinite(spread) or spread == 0:
            return np.zeros(len(original))
        there = as_numbers(masked, *bounds(true), like=original, cells=cells, hierarchy=hierarchy)
        apart = np.abs(there - true) / spread
    return np.asarray(np.nan_to_num(1 - np.minimum(apart, 1), nan=0.0))


def _standardized(gains: NDArray[np.float64]) -> float:
    """The sum of gains in standard errors, as if each could as well have been a loss."""
    scale = math.sqrt(float((gains * gains).sum()))
    return float(gains.sum()) / scale if scale > 0 else 0.0
