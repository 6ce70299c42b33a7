"""The distribution of every attribute before and after masking, as bars that can be brushed.

Both sides share their bars where the masked values are of the kind of the original ones; labels of a recoding get bars of their
own, because no original value says where they belong.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.engine.runtime.progress import report_progress
from discreet.model.attribute import Role
from discreet.model.microdata import Microdata
from discreet.model.results import Release
from discreet.web.projects.comparing import find_changed

MOST_BARS = 10
BARS = "bars"
"""Where the cache of a table holds the bars of its columns, with their counts."""
_TAILS = (0.01, 0.99)
_MAX_LABEL = 30
_LEFT_OUT = (Role.IDENTIFIER, Role.PERSON, Role.HOUSEHOLD)


@dataclass(frozen=True)
class Bars:
    """How the values of an attribute fall into bars: listed values, or intervals between edges; others and missing come last."""

    labels: tuple[str, ...]
    values: tuple[Any, ...] = ()
    edges: tuple[float, ...] = ()

    def assign(self, column: pl.Series) -> NDArray[np.int64]:
        """The bar of each value; the last but one holds other values, the last missing ones."""
        others, missing = len(self.labels) - 2, len(self.labels) - 1
        if self.edges:
            numbers = column.to_physical().cast(pl.Float64).fill_null(np.nan).to_numpy()
            inner = np.searchsorted(np.array(self.edges[1:-1]), numbers, side="right")
            return np.where(np.isnan(numbers), missing, inner).astype(np.int64)
        text = column.cast(pl.String) if column.dtype != pl.String else column
        places = {str(value): at for at, value in enumerate(self.values)}
        codes = text.replace_strict(list(places), list(places.values()), default=others, return_dtype=pl.Int64)
        return np.where(text.is_null().to_numpy(), missing, codes.fill_null(missing).to_numpy()).astype(np.int64)

    def count(self, column: pl.Series) -> list[int]:
        """Records per bar."""
        return [int(count) for count in np.bincount(self.assign(column), minlength=len(self.labels))]


@dataclass(frozen=True)
class Multiple:
    """One attribute: its bars before and after, and how many of its values were changed."""

    name: str
    bars: Bars
    before: list[int]
    after: list[int] | None
    """Counts in the same bars; None where the attribute is not released or has other labels."""
    own_bars: Bars | None
    own_after: list[int] | None
    """Bars of their own for released labels that the original does not have."""
    changed: int
    released: int
    removed: bool

    @property
    def share(self) -> float:
        """The share of the released values that differ from the original."""
        return 1.0 if self.removed else self.changed / self.released if self.released else 0.0


def describe_multiples(release: Release) -> list[Multiple]:
    """One entry per attribute that takes part, those with the most changes first."""
    names, multiples = shown_attributes(release.original), []
    for done, name in enumerate(names):
        report_progress("counting values before and after", done, len(names))
        multiples.append(_describe(release, name))
    return sorted(multiples, key=lambda one: -one.share)


def shown_attributes(data: Microdata) -> list[str]:
    """The attributes that are drawn: all but those that identify people or households."""
    return [name for name in data.columns if data.attribute(name).role not in _LEFT_OUT]


def _describe(release: Release, name: str) -> Multiple:
    original = release.original.frame[name]
    known = release.original.cache.setdefault(BARS, {})
    if name not in known:
        bars = make_bars(original)
        known[name] = bars, bars.count(original)
    bars, before = known[name]
    if name not in release.masked.columns:
        return Multiple(name, bars, before, None, None, None, 0, 0, removed=True)
    masked = release.masked.frame[name]
    linked = release.masked.records >= 0
    sources = original.gather(release.masked.records[linked])
    changed = int(find_changed(sources, masked.filter(linked)).sum())
    same_kind = not bars.edges or _is_quantity(masked.dtype)
    after = bars.count(masked) if same_kind else None
    # a recoding writes labels of its own, which would all be "others"
    if after is not None and not (not bars.edges and after[-2] > max(before[-2], len(masked) // 20)):
        return Multiple(name, bars, before, after, None, None, changed, len(masked), removed=False)
    own = make_bars(masked)
    return Multiple(name, bars, before, None, own, own.count(masked), changed, len(masked), removed=False)


def make_bars(column: pl.Series) -> Bars:
    """The bars of a column: its most frequent values, or intervals of equal width between the tails."""
    known = column.drop_nulls()
    if known.dtype.is_float():
        known = known.filter(known.is_finite())
    counts = known.alias("value").value_counts(name="n")
    if _is_quantity(known.dtype) and len(counts) > MOST_BARS:
        return _make_intervals(known)
    top = counts.sort(["n", "value"], descending=[True, False]).head(MOST_BARS)
    shown = top.sort("value") if _is_quantity(known.dtype) else top
    values = [str(value) for value in shown["value"].cast(pl.String)]
    return Bars((*map(_shorten, values), "others", "missing"), values=tuple(values))


def _make_intervals(known: pl.Series) -> Bars:
    numbers = known.to_physical().cast(pl.Float64).to_numpy()
    low, high = (float(end) for end in np.quantile(numbers, _TAILS))
    if low == high:
        low, high = float(numbers.min()), float(numbers.max())
    edges = np.linspace(low, high, MOST_BARS + 1)
    if known.dtype.is_integer() or known.dtype == pl.Date:
        edges = np.unique(np.round(edges))
    ends = _label_edges(edges, known.dtype)
    inner = [f"{first} to {last}" for first, last in itertools.pairwise(ends[1:-1])]
    labels = (f"below {ends[1]}", *inner, f"{ends[-2]} and more") if len(ends) > 2 else (f"{ends[0]} to {ends[-1]}",)
    return Bars((*labels, "others", "missing"), edges=tuple(edges.tolist()))


def _label_edges(edges: Sequence[float] | NDArray[np.float64], dtype: pl.DataType) -> list[str]:
    if dtype == pl.Date:
        return [str(value) for value in pl.Series(np.asarray(edges).astype(np.int32)).cast(pl.Date)]
    if isinstance(dtype, pl.Datetime):
        return [str(value)[:16] for value in pl.Series(np.asarray(edges).astype(np.int64)).cast(dtype)]
    return [f"{edge:.4g}" if abs(edge) < 1e4 else f"{edge:,.0f}" for edge in edges]


def _is_quantity(dtype: pl.DataType) -> bool:
    return dtype.is_numeric() or dtype in (pl.Date, pl.Datetime)


def _shorten(text: str) -> str:
    return text if len(text) <= _MAX_LABEL else text[:_MAX_LABEL] + "…"
