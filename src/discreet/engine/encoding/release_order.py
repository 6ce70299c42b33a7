"""The row order of a release: a shuffle by a secret key, and how the holder of the key aligns the rows with the originals again.

Rows in the order of the source identify people to anybody who knows that order (admission, alphabet, a register), however well
the values are masked. Released rows are therefore ordered by random draws from the release's secret key, in the same order on
every engine. The data controller, who has the original and the key, can align the rows with their originals.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from discreet.engine.cells.containment import read_containment
from discreet.engine.cells.hierarchies import usable_hierarchy
from discreet.engine.cells.midpoints import as_numbers, is_number, value_range
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
_CLEAR = 2.0  # standard errors by which one order must be better; chance exceeds it in 2 of 100 tables
_CLEAR_IF_SHORT = 1.0  # a few rows cannot reach 2 standard errors even if every value equals the original's
_ENOUGH = 20
_MOST_KEYS = 20
"""Keys whose order is tried where several releases have the same content."""


def shuffled_rows(records: NDArray[np.int64], key: bytes) -> NDArray[np.int64]:
    """The rows of a release in the order in which they are written: random, but reproducible from key and record numbers."""
    return KeyedDraw(key).order(records, _STREAM)


def release_draw(key: bytes) -> tuple[KeyedDraw, str]:
    """The draw and the stream by whose bits ``shuffled_rows`` sorts, for engines that sort by themselves."""
    return KeyedDraw(key), _STREAM


@dataclass(frozen=True)
class AlignedRelease:
    """A masked table whose rows carry the record numbers of their originals, and a warning where these are in doubt."""

    masked: Microdata
    doubt: str | None = None


def align_with_original(
    masked: Microdata, original: Microdata, plan: Plan, order_keys: Callable[[Microdata, Microdata], Sequence[bytes]]
) -> AlignedRelease:
    """A masked table that was read from a file, with the record numbers that the release's shuffle assigns to its rows.

    ``order_keys`` returns the keys that may have shuffled it, where this machine has any: the one counts in whose order the
    values agree best. Tables of different length are returned unchanged. A file may also come from elsewhere and hold its rows
    in the order of the original, so both orders are tried: the original's order is taken where the values agree clearly better
    in it, else the key's order. (For a plan without steps it is the other way round: the key's order must be clearly better,
    since discreet has masked nothing.)
    """
    if len(masked) != len(original) or len(masked) < 2 or plan.order == "kept" or not (masked.is_initial and original.is_initial):
        return AlignedRelease(masked)
    similarity = _Similarity(masked, original)
    keys = order_keys(masked, original)[:_MOST_KEYS]
    shuffles = [shuffled_rows(original.records, key) for key in keys] or [original.records]
    similarities = [similarity.of(shuffle[similarity.rows]) for shuffle in shuffles]
    best = max(range(len(shuffles)), key=lambda index: float(similarities[index].sum()))
    shuffle, in_key_order, in_original_order = shuffles[best], similarities[best], similarity.of(similarity.rows)
    gain = _standardized(in_key_order - in_original_order)
    required_gain = _CLEAR if len(similarity.rows) >= _ENOUGH else _CLEAR_IF_SHORT
    use_key_order = bool(keys) and (gain >= -required_gain if plan.steps else gain > required_gain)
    aligned = masked.replace(masked.frame, shuffle) if use_key_order else masked
    in_unrelated_order = similarity.of((similarity.rows + len(masked) // 2) % len(masked))
    better_than_chance = _standardized((in_key_order if use_key_order else in_original_order) - in_unrelated_order) > _CLEAR
    if better_than_chance or len(similarity.rows) < _ENOUGH or not similarity.is_informative:
        return AlignedRelease(aligned)
    return AlignedRelease(
        aligned,
        f"the rows of {masked.source} agree with {original.source} no better than unrelated rows, neither in the original's "
        "order nor in the order of a key on this machine; give the policy that made the release, or its link table",
    )


class _Similarity:
    """The similarity of masked rows to rows of the original: 0 to 1 per attribute, on a sample of rows."""

    def __init__(self, masked: Microdata, original: Microdata) -> None:
        size = len(masked)
        self.rows = np.arange(size) if size <= _SAMPLE else np.linspace(0, size - 1, _SAMPLE).astype(np.int64)
        self.original, self.cells = original.frame, masked.cells
        self.names = [name for name in masked.columns if name in original.columns]
        self.masked = masked.frame.select(self.names)[self.rows]
        self.hierarchies = {name: usable_hierarchy(original, name) for name in self.names}
        self.is_informative = any(self.masked[name].n_unique() > 1 for name in self.names)

    def of(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """For each sampled row its similarity to the given row of the original."""
        total, others = np.zeros(len(rows)), self.original.select(self.names)[rows]
        for name in self.names:
            total += _cell_similarity(self.masked[name], others[name], self.cells.get(name), self.hierarchies[name])
        return total


def _cell_similarity(
    masked: pl.Series, original: pl.Series, cells: ColumnCells | None, hierarchy: Hierarchy | None
) -> NDArray[np.float64]:
    """1 where a masked cell contains the original value; numbers lose by their distance; 0 where the values differ."""
    try:
        if is_number(original):
            return _number_similarity(masked, original, cells, hierarchy)
        original_column, masked_column = encode_series(original), encode_series(masked)
        containment = read_containment(original_column, masked_column, hierarchy, cells=cells)
    except UnexplainedCellError:  # measures report this error; for the row order, equal texts suffice
        return (as_text(masked) == as_text(original)).fill_null(value=False).to_numpy().astype(np.float64)
    blank = containment.blank[masked_column.codes] | original_column.is_null
    return np.where(blank, 0.0, containment.contains(masked_column.codes, original_column.codes)).astype(np.float64)


def _number_similarity(
    masked: pl.Series, original: pl.Series, cells: ColumnCells | None, hierarchy: Hierarchy | None
) -> NDArray[np.float64]:
    originals = as_numbers(original)
    with np.errstate(over="ignore", invalid="ignore"):
        spread = float(np.nanstd(originals)) if not np.isnan(originals).all() else 0.0
        if not math.isfinite(spread) or spread == 0:
            return np.zeros(len(original))
        released = as_numbers(masked, *value_range(originals), like=original, cells=cells, hierarchy=hierarchy)
        distance = np.abs(released - originals) / spread
    return np.asarray(np.nan_to_num(1 - np.minimum(distance, 1), nan=0.0))


def _standardized(gains: NDArray[np.float64]) -> float:
    """The sum of gains in standard errors, under the hypothesis that the sign of each gain is random."""

    scale = math.sqrt(float((gains * gains).sum()))
    return float(gains.sum()) / scale if scale > 0 else 0.0
