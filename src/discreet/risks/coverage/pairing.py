"""Released records beside their originals: which cells no longer hold their true value, and a sample to learn from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from discreet.engine.encoding.record_links import linked
from discreet.engine.encoding.shared_codes import as_text as engine_text
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray

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

    def __len__(self) -> int:
        return len(self.rows)

    def truth(self, name: str, at: NDArray[np.int64] | None = None) -> pl.Series:
        """The true values of a column, of all paired rows or of those at some places."""
        return _gather(self.original.frame[name], self.links if at is None else self.links[at])

    def released(self, name: str, at: NDArray[np.int64] | None = None) -> pl.Series:
        """The released values of a column, likewise."""
        return _gather(self.data.frame[name], self.rows if at is None else self.rows[at])

    def hidden(self, name: str) -> NDArray[np.bool_]:
        """Cells that do not hold their true value any more; a true value that is null hides nothing."""
        if name not in self._hidden:
            truth = self.truth(name)
            changed = differs(self.released(name), truth) if name in self.data.columns else np.ones(len(self), dtype=np.bool_)
            self._hidden[name] = changed & truth.is_not_null().to_numpy()
        return self._hidden[name]

    def order(self) -> NDArray[np.uint64]:
        """A fixed pseudo-random number per row that depends on its original alone, so that no order of rows matters."""
        return scramble(self.links)


def pair(data: Microdata, original: Microdata) -> Paired | None:
    """The pairs; None where nobody knows which original a released row comes from."""
    links = linked(data, original)
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


def differs(released: pl.Series, truth: pl.Series) -> NDArray[np.bool_]:
    """Where two columns hold different values; numbers are compared as numbers, anything else of two types as text."""
    if released.dtype.is_numeric() and truth.dtype.is_numeric() and released.dtype != truth.dtype:
        released, truth = released.cast(pl.Float64), truth.cast(pl.Float64)
    elif released.dtype != truth.dtype:
        released, truth = as_text(released), as_text(truth)
    return released.ne_missing(truth).to_numpy()


def as_text(values: pl.Series) -> pl.Series:
    """Values as they print; a whole float without its '.0'."""
    if values.dtype.is_float() and (values.drop_nulls() == values.drop_nulls().floor()).all():
        inside = values.abs().max()
        if inside is None or float(inside) < 2**62:  # type: ignore[arg-type]
            values = values.cast(pl.Int64)
    return engine_text(values)


def _gather(values: pl.Series, rows: NDArray[np.int64]) -> pl.Series:
    if len(rows) == len(values) and len(rows) and rows[0] == 0 and bool((np.diff(rows) == 1).all()):
        return values
    return values.gather(pl.Series(rows))
