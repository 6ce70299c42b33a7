"""Released records beside their originals: which cells no longer hold their true value, and a sample to learn from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from discreet.engine.encoding.record_links import original_rows
from discreet.engine.encoding.shared_codes import as_text
from discreet.engine.recognition.written_dates import date_format, read_dates
from discreet.model.microdata import Microdata
from discreet.risks.coverage.comparison import differing_values

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FORM_ROWS = 5_000
_LEAST_PER_TARGET = 1_000
"""Masked cells that the sample holds of each masked column, where it has as many."""


@dataclass(frozen=True)
class Paired:
    """The released rows that have an original, with that original's row."""

    data: Microdata
    original: Microdata
    rows: NDArray[np.int64]
    links: NDArray[np.int64]
    _hidden: dict[str, NDArray[np.bool_]] = field(default_factory=dict, repr=False, compare=False)
    _forms: dict[str, str | None] = field(default_factory=dict, repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.rows)

    def truth(self, name: str, at: NDArray[np.int64] | None = None) -> pl.Series:
        """The true values of a column, of all paired rows or of those at some places."""
        return _gather(self.original.frame[name], self.links if at is None else self.links[at])

    def released(self, name: str, at: NDArray[np.int64] | None = None) -> pl.Series:
        """The released values of a column, likewise."""
        return _gather(self.data.frame[name], self.rows if at is None else self.rows[at])

    def true_values(self, name: str, at: NDArray[np.int64] | None = None) -> pl.Series:
        """The same as ``truth``, where dates that are stored as text or numbers are dates."""
        return self._as_dates(name, self.truth(name, at))

    def released_values(self, name: str, at: NDArray[np.int64] | None = None) -> pl.Series:
        """The same as ``released``, likewise; null where a cell of such a column is no date any more."""
        return self._as_dates(name, self.released(name, at))

    def _as_dates(self, name: str, values: pl.Series) -> pl.Series:
        if name not in self._forms:
            table = self.original if name in self.original.columns else self.data
            self._forms[name] = date_format(table.frame[name].head(_FORM_ROWS).unique().sort())
        form = self._forms[name]
        return values if form is None or values.dtype.is_float() else read_dates(values, form)

    def hidden(self, name: str) -> NDArray[np.bool_]:
        """Cells that do not hold their true value any more; a true value that is null hides nothing."""
        if name not in self._hidden:
            truth = self.truth(name)
            changed = (
                differing_values(self.released(name), truth) if name in self.data.columns else np.ones(len(self), dtype=np.bool_)
            )
            self._hidden[name] = changed & truth.is_not_null().to_numpy()
        return self._hidden[name]

    def order(self) -> NDArray[np.uint64]:
        """A fixed pseudo-random number per row that depends on its original alone, so that no order of rows matters."""
        return scramble(self.links)


def pair(data: Microdata, original: Microdata) -> Paired | None:
    """The pairs; None where nobody knows which original a released row comes from."""
    links = original_rows(data, original)
    if links is None:
        return None
    rows = np.flatnonzero(links >= 0)
    return Paired(data, original, rows, links[rows])


def draw_sample(paired: Paired, hidden: Mapping[str, NDArray[np.bool_]], size: int) -> NDArray[np.int64]:
    """Places of paired rows: about ``size`` at random, and of each masked column a thousand masked cells where it has them."""
    if len(paired) <= size:
        return np.arange(len(paired), dtype=np.int64)
    order = np.argsort(paired.order(), kind="stable")
    chosen = np.zeros(len(paired), dtype=np.bool_)
    chosen[order[:size]] = True
    for flags in hidden.values():
        if int((flags & chosen).sum()) < _LEAST_PER_TARGET:
            chosen[order[flags[order]][:_LEAST_PER_TARGET]] = True
    return np.flatnonzero(chosen)


def scramble(numbers: NDArray[np.int64]) -> NDArray[np.uint64]:
    """The finalizer of SplitMix64 (Steele, Lea & Flood 2014): equal numbers stay equal, neighbours fall far apart."""
    mixed = numbers.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    with np.errstate(over="ignore"):
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def shows_truth(released: pl.Series, truth: pl.Series) -> NDArray[np.bool_]:
    """Cells from which an intruder who knows the true value can still recognise it.

    Those that hold it; a number or date to which no other true value is nearer, such as one with a little noise; and a label that
    is no true value of anybody, such as an interval. A value that somebody else had (swapping, PRAM) shows nothing.
    """
    changed = differing_values(released, truth)
    if not changed.any():
        return ~changed
    shown = ~changed
    rows = np.flatnonzero(changed & released.is_not_null().to_numpy() & truth.is_not_null().to_numpy())
    moved, true = released.gather(rows), truth.gather(rows)
    numbers, known, all_known = numbers_of(moved), numbers_of(true), numbers_of(truth.drop_nulls().unique())
    if numbers is not None and known is not None and all_known is not None:
        shown[rows] = _nearest(numbers, np.sort(all_known[~np.isnan(all_known)])) == known
    else:
        texts = as_text(truth.drop_nulls().unique().cast(truth.dtype))
        shown[rows] = ~as_text(moved).is_in(texts.implode()).to_numpy()
    return shown


def _nearest(numbers: NDArray[np.float64], among: NDArray[np.float64]) -> NDArray[np.float64]:
    """For each number the nearest of some sorted ones."""
    if not len(among):
        return np.full(len(numbers), np.nan)
    right = np.clip(np.searchsorted(among, numbers), 1, max(len(among) - 1, 1))
    high = np.minimum(right, len(among) - 1)
    low = right - 1
    return np.where(numbers - among[low] <= among[high] - numbers, among[low], among[high])


def numbers_of(series: pl.Series) -> NDArray[np.float64] | None:
    """A column as numbers, null as NaN: dates as days, moments as days with a fraction; None where it is neither."""
    dtype = series.dtype
    if dtype.is_numeric() or dtype == pl.Boolean:
        return series.cast(pl.Float64).to_numpy()
    if dtype == pl.Date:
        return series.to_physical().cast(pl.Float64).to_numpy()
    if isinstance(dtype, pl.Datetime):
        return series.dt.epoch("us").cast(pl.Float64).to_numpy() / 86_400_000_000
    return None


def _gather(values: pl.Series, rows: NDArray[np.int64]) -> pl.Series:
    if len(rows) == len(values) and len(rows) and rows[0] == 0 and bool((np.diff(rows) == 1).all()):
        return values
    return values.gather(pl.Series(rows))
