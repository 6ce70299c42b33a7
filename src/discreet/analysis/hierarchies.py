"""How a key's values could become coarser, so that generalization works from the proposed policy."""

from __future__ import annotations

import math

import polars as pl

from discreet.analysis.levels import LevelFound
from discreet.engine.recognition.value_facts import Facts
from discreet.model.attribute import Level
from discreet.model.hierarchy import HierarchySpec

_CODED_PLACES = ("postal code", "region", "occupation", "industry")
_YEAR_FIRST = {"%Y-%m-%d": (7, 4, 3), "%Y/%m/%d": (7, 4, 3), "%Y%m%d": (6, 4, 3)}
"""Characters that say month, year and decade."""
_STEPS = 16
"""The narrowest intervals split the range into about this many."""


def hierarchy_of(facts: Facts, found: LevelFound) -> HierarchySpec | None:
    """A hierarchy for a key, or None where words have no rule to become coarser by."""
    if facts.distinct < 3:
        return None
    kind = facts.naming.kind.name if facts.naming.kind else ""
    if found.level is Level.DATE:
        return _dates(facts, found.date_format)
    if found.date_format is not None:  # some values are no dates, but most begin with the year
        return HierarchySpec(prefixes=_YEAR_FIRST[found.date_format]) if found.date_format in _YEAR_FIRST else None
    if kind in _CODED_PLACES and facts.is_text:
        return _prefixes(facts, always=kind == "postal code")
    if kind == "postal code" and facts.is_whole:
        return _widths_of(10.0, 10, facts.span)
    if found.level is Level.NUMERIC:
        return _numbers(facts)
    return None


def _dates(facts: Facts, form: str | None) -> HierarchySpec | None:
    if facts.dtype == pl.Date or isinstance(facts.dtype, pl.Datetime) or (form is not None and form.startswith("%Y-%m-%d")):
        return HierarchySpec(dates=("month", "quarter", "year", "decade"))
    if form == "%Y%m%d" and not facts.is_text:
        return HierarchySpec(widths=(100, 10_000, 100_000))
    return HierarchySpec(prefixes=_YEAR_FIRST[form]) if form in _YEAR_FIRST else None


def _prefixes(facts: Facts, *, always: bool) -> HierarchySpec | None:
    lengths = facts.column.values.str.len_chars()
    shortest, longest = int(lengths.min()), int(lengths.max())  # type: ignore[arg-type]
    digits = bool(facts.column.values.str.contains(r"\d").all())
    if longest > 10 or longest < 2 or not digits or not (always or (shortest == longest and longest >= 3)):
        return None
    kept = [length for length in range(longest - 1, 0, -1) if length < longest]
    return HierarchySpec(prefixes=tuple(kept[:: math.ceil(len(kept) / 4)]))


def _numbers(facts: Facts) -> HierarchySpec | None:
    if "month" in facts.naming.words and facts.is_whole and facts.extremes[0] >= 1 and facts.extremes[1] <= 12:
        return HierarchySpec(widths=(3, 6), origin=1)
    if not math.isfinite(facts.span) or facts.span <= 0:
        return None
    kind = facts.naming.kind.name if facts.naming.kind else ""
    if kind in ("age", "birth year") and facts.is_whole and facts.span >= 20:
        return _widths_of(5.0, 2, facts.span)
    target = facts.span / _STEPS
    power = 10.0 ** math.floor(math.log10(target))
    first = next((step * power for step in (1, 2, 5) if step * power >= target), 10 * power)
    if facts.is_whole:
        first = max(2.0, first)
    return _widths_of(first, 2, facts.span)


def _widths_of(first: float, times: int, span: float) -> HierarchySpec | None:
    """Widths from the first, each ``times`` the one before, as long as they split the range."""
    widths: list[float] = []
    while first < span and len(widths) < 4:
        widths.append(float(f"{first:.12g}"))
        first *= times
    return HierarchySpec(widths=tuple(widths)) if widths else None
