"""The fields of a measure in a public report, each treated by its kind."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from discreet.report.bands import format_band, round_significant, significant_digits
from discreet.report.field_kinds import kind_of
from discreet.report.small_counts import (
    MIN_SHOWN_COUNT,
    NOT_SHOWN,
    PublicCount,
    Range,
    format_count,
    hide_near_sums,
    hide_nested,
    hide_small,
)

PublicValue = int | float | str | bool | None
_TOLERANCE = 1e-6
"""A product of a share and a number of records this close to an integer, relatively, is taken for a count."""
_EXPECTED = ("correct", "expected_links", "claimed_links")
"""Expected counts of records: not integers, but small ones are not shown either."""
_SHARES_OF_RECORDS = re.compile(r"share$|^within_|^excess$|^interval_disclosure$|^marketer$|^over_threshold$")
"""Shares of the records, exact or expected: not shown where they mean fewer than five records, or all but fewer than five."""
_FUNCTIONS_OF_A_SHARE = ("lower", "upper", "excess")
"""Bounds of a share, from which it can be computed."""


@dataclass(frozen=True)
class Series:
    """The numbers of one measure on one table: its fields, the number of records, and the sums known from its chart.

    ``source`` is the number of records of the source, which no field must reveal where it is a range.
    """

    fields: Mapping[str, Any]
    total: Range
    sums: tuple[Range, ...] = ()
    source: Range | None = None


def show_fields(measure: str, series: Series, meanings: Mapping[str, str]) -> dict[str, PublicValue]:
    """The public form of the fields of a measure.

    >>> numbers = Series({"high_risk": 3, "high_risk_share": 0.03, "mean": 0.0123456, "max": 0.345}, Range(100, 100))
    >>> show_fields("known_sets", numbers, {})
    {'high_risk': '<5', 'high_risk_share': '<0.05', 'mean': 0.0123, 'max': '0.2 to 0.5'}
    """
    kinds = {name: kind_of(measure, name, value, meanings.get(name, "")) for name, value in series.fields.items()}
    counts = {name: int(series.fields[name]) for name, kind in kinds.items() if kind == "count"}
    nested = hide_nested(counts, series.total, series.sums)
    shown: dict[str, PublicValue] = {}
    for name, value in series.fields.items():
        kind = kinds[name]
        if value is None or isinstance(value, bool | str):
            shown[name] = value
        elif kind == "count":
            shown[name] = format_count(nested[name])
        elif kind == "size":
            shown[name] = format_count(hide_small(int(value)))
        elif kind == "extreme":
            shown[name] = format_band(float(value))
        elif kind == "share" and (text := _hide_share(float(value), series, nested, counts, name)):
            shown[name] = text
        elif name in _EXPECTED and value >= MIN_SHOWN_COUNT:
            shown[name] = _show_expected_count(float(value), series)
        else:
            public = show_number(value, series.total.low, expected=name in _EXPECTED)
            shown[name] = _hide_source_size(float(value), series.source) or public
    if any(isinstance(shown[name], str) for name, kind in kinds.items() if kind == "share" and name.endswith("share")):
        shown |= {name: NOT_SHOWN for name in _FUNCTIONS_OF_A_SHARE if isinstance(shown.get(name), float)}
    return shown


def _show_expected_count(value: float, series: Series) -> PublicValue:
    """An expected count of records; a range where the difference from the number of records would be a small count."""
    known = [series.total] if series.source is None else [series.total, series.source]
    public = hide_near_sums(round(value), known, max(total.high for total in known))
    return str(public) if isinstance(public, Range) else show_number(value, series.total.low)


def _hide_source_size(value: float, source: Range | None) -> str | None:
    """A number that is the number of source records, or one divided by it, as a range where that number is one.

    >>> _hide_source_size(1 / 120, Range(119, 122)), _hide_source_size(0.25, Range(119, 122))
    ('0.0082 to 0.0084', None)
    """
    if source is None or source.exact or not math.isfinite(value) or value <= 0:
        return None
    if source.low - 0.5 < value < source.high + 0.5:
        return str(source)
    if source.low - 0.5 < 1 / value < source.high + 0.5:
        return f"{1 / source.high:.2g} to {1 / source.low:.2g}"
    return None


def show_number(value: float, records: int, *, expected: bool = False) -> PublicValue:
    """The public form of a number that is not a count: few digits, or a band if it is an average over fewer than five records."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if expected and 0 < value < MIN_SHOWN_COUNT:
        return f"<{MIN_SHOWN_COUNT}"
    if 0 < records < MIN_SHOWN_COUNT and isinstance(value, float):
        return format_band(value)
    if isinstance(value, int):
        return value if abs(value) < 1000 else int(round_significant(value))
    return round_significant(value, significant_digits(records))


def _hide_share(
    share: float, series: Series, nested: Mapping[str, PublicCount], counts: Mapping[str, int], name: str
) -> str | None:
    """A share as text where it would reveal a count that is not shown; None where it reveals none."""
    if not 0 < share < 1:
        return None
    total, of_records = series.total, _SHARES_OF_RECORDS.search(name) is not None
    for whole in (*range(total.low, total.high + 1), *counts.values()):
        if whole < MIN_SHOWN_COUNT:
            continue
        count, is_total = share * whole, whole in total
        nearest = round(count)
        exact = abs(count - nearest) <= _TOLERANCE * max(1.0, nearest) or (of_records and is_total)
        if exact and count < MIN_SHOWN_COUNT - _TOLERANCE:
            return f"<{MIN_SHOWN_COUNT / whole:.2g}"
        if exact and whole - count < MIN_SHOWN_COUNT - _TOLERANCE:
            return f">{1 - MIN_SHOWN_COUNT / whole:.3g}"
        hidden = [nested[field] for field, number in counts.items() if number == nearest and isinstance(nested[field], Range)]
        if exact and is_total and hidden and isinstance(hidden[0], Range):
            return f"{hidden[0].low / total.high:.3g} to {hidden[0].high / total.low:.3g}"
    if not total.exact:
        # a count divided by its share would be the number of records
        for count in counts.values():
            if total.low - 0.5 < count / share < total.high + 0.5:
                return f"{count / total.high:.3g} to {count / total.low:.3g}"
    return None
