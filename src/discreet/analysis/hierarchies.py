"""Proposed hierarchies of keys, so that generalization can start from the proposed policy."""

from __future__ import annotations

import math

import polars as pl

from discreet.analysis.levels import ProposedLevel
from discreet.engine.recognition.formats import icd_share
from discreet.engine.recognition.value_facts import Facts
from discreet.model.attribute import Level
from discreet.model.hierarchy import HierarchySpec

_CODED_KINDS = ("postal code", "region", "occupation", "industry")
_YEAR_FIRST = {"%Y-%m-%d": (7, 4, 3), "%Y/%m/%d": (7, 4, 3), "%Y%m%d": (6, 4, 3)}
"""The numbers of leading characters that give month, year and decade."""
_LEAST_ICD, _MOST_GROUPED = 0.9, 300
_NARROWEST_INTERVALS = 16
"""The narrowest intervals divide the range into about this many."""


def propose_hierarchy(facts: Facts, proposed: ProposedLevel) -> HierarchySpec | None:
    """A hierarchy for a key; None for categories, which no rule can group."""
    if facts.distinct < 3:
        return None
    kind = facts.naming.kind.name if facts.naming.kind else ""
    if proposed.level is Level.DATE:
        return _date_hierarchy(facts, proposed.date_format)
    if proposed.date_format is not None:  # most values are dates, but not all
        return HierarchySpec(prefixes=_YEAR_FIRST[proposed.date_format]) if proposed.date_format in _YEAR_FIRST else None
    if icd_share(facts) >= _LEAST_ICD and (codes := _disease_hierarchy(facts)) is not None:
        return codes
    if kind in ("occupation", "industry", "postal code") and facts.is_whole and _have_equal_length(facts):
        length = len(str(int(facts.extremes[1])))
        return HierarchySpec(prefixes=tuple(range(length - 1, 0, -1)))
    if kind in _CODED_KINDS and facts.is_text:
        return _prefix_hierarchy(facts, always=kind == "postal code")
    if kind == "postal code" and facts.is_whole:  # a leading zero is lost, so prefixes would not be of the same digits
        return _growing_widths(10.0, 10, facts.span)
    if proposed.level is Level.NUMERIC:
        return _interval_hierarchy(facts)
    return None


def _date_hierarchy(facts: Facts, form: str | None) -> HierarchySpec | None:
    if facts.dtype == pl.Date or isinstance(facts.dtype, pl.Datetime) or (form is not None and form.startswith("%Y-%m-%d")):
        return HierarchySpec(dates=("month", "quarter", "year", "decade"))
    if form == "%Y%m%d" and not facts.is_text:
        return HierarchySpec(widths=(100, 10_000, 100_000))
    return HierarchySpec(prefixes=_YEAR_FIRST[form]) if form in _YEAR_FIRST else None


def _disease_hierarchy(facts: Facts) -> HierarchySpec | None:
    """ICD-10 codes by the classification's own levels: categories of three characters, then chapters by their letter."""
    if facts.distinct > _MOST_GROUPED:
        return None
    categories: dict[str, list[str]] = {}
    for code in facts.column.values.to_list():
        categories.setdefault(code.strip().upper()[:3], []).append(code)
    letters: dict[str, list[str]] = {}
    for category in categories:
        letters.setdefault(f"{category[0]}00-{category[0]}99", []).append(category)
    levels = [{label: tuple(members) for label, members in level.items()} for level in (categories, letters)]
    return HierarchySpec(
        groups=tuple(level for level in levels if any(len(members) > 1 for members in level.values())) or (levels[1],)
    )


def _have_equal_length(facts: Facts) -> bool:
    """Whether whole numbers have the same number of digits, three or more, as codes of a classification have."""
    low, high = facts.extremes
    return low is not None and int(low) >= 100 and len(str(int(low))) == len(str(int(high)))


def _prefix_hierarchy(facts: Facts, *, always: bool) -> HierarchySpec | None:
    """Shorter and shorter prefixes of codes with digits; unless ``always``, only if all codes have the same length."""
    lengths = facts.column.values.str.len_chars()
    shortest, longest = int(lengths.min()), int(lengths.max())  # type: ignore[arg-type]
    digits = bool(facts.column.values.str.contains(r"\d").all())
    if longest > 10 or longest < 2 or not digits or not (always or (shortest == longest and longest >= 3)):
        return None
    shorter = list(range(longest - 1, 0, -1))
    return HierarchySpec(prefixes=tuple(shorter[:: math.ceil(len(shorter) / 4)]))  # four levels at most


def _interval_hierarchy(facts: Facts) -> HierarchySpec | None:
    """Intervals of 1, 2 or 5 times a power of ten, then twice as wide at each level."""
    if "month" in facts.naming.words and facts.is_whole and facts.extremes[0] >= 1 and facts.extremes[1] <= 12:
        return HierarchySpec(widths=(3, 6), origin=1)
    if not math.isfinite(facts.span) or facts.span <= 0:
        return None
    kind = facts.naming.kind.name if facts.naming.kind else ""
    if kind in ("age", "birth year") and facts.is_whole and facts.span >= 20:
        return _growing_widths(5.0, 2, facts.span)
    target = facts.span / _NARROWEST_INTERVALS
    power = 10.0 ** math.floor(math.log10(target))
    first = next((step * power for step in (1, 2, 5) if step * power >= target), 10 * power)
    if facts.is_whole:
        first = max(2.0, first)
    return _growing_widths(first, 2, facts.span)


def _growing_widths(first: float, factor: int, span: float) -> HierarchySpec | None:
    """Up to four widths, each ``factor`` times the one before, as long as they divide the range."""
    widths: list[float] = []
    while first < span and len(widths) < 4:
        widths.append(float(f"{first:.12g}"))
        first *= factor
    return HierarchySpec(widths=tuple(widths)) if widths else None
