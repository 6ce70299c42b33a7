"""The numbers of a measure in a public report, each by its kind."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.report.bands import band_text, digits_for, round_significant
from discreet.report.field_kinds import kind_of
from discreet.report.small_counts import LEAST, Range, Shown, hide_nested, hide_small, text_of

Public = int | float | str | bool | None
_WHOLE = 1e-6
_EXPECTED = ("correct", "expected_links", "claimed_links")
"""Counts of records in expectation: not whole, and small ones are not shown either."""


@dataclass(frozen=True)
class Series:
    """The numbers of one measure on one table: its fields, its number of records, and the sums that a chart of it tells."""

    fields: Mapping[str, Any]
    total: Range
    sums: tuple[Range, ...] = ()


def show_fields(measure: str, series: Series, meanings: Mapping[str, str]) -> dict[str, Public]:
    """The fields of a measure as the public report shows them.

    >>> numbers = Series({"high_risk": 3, "high_risk_share": 0.03, "mean": 0.0123456, "max": 0.345}, Range(100, 100))
    >>> show_fields("known_sets", numbers, {})
    {'high_risk': '<5', 'high_risk_share': '<0.05', 'mean': 0.0123, 'max': '0.2 to 0.5'}
    """
    kinds = {name: kind_of(measure, name, value, meanings.get(name, "")) for name, value in series.fields.items()}
    counts = {name: int(series.fields[name]) for name, kind in kinds.items() if kind == "count"}
    nested = hide_nested(counts, series.total, series.sums)
    shown: dict[str, Public] = {}
    for name, value in series.fields.items():
        kind = kinds[name]
        if value is None or isinstance(value, bool | str):
            shown[name] = value
        elif kind == "count":
            shown[name] = text_of(nested[name])
        elif kind == "size":
            shown[name] = text_of(hide_small(int(value)))
        elif kind == "extreme":
            shown[name] = band_text(float(value))
        elif kind == "share" and (text := _share(float(value), series, nested, counts, name)):
            shown[name] = text
        else:
            shown[name] = show_number(value, series.total.low, expected=name in _EXPECTED)
    return shown


def show_number(value: float, records: int, *, expected: bool = False) -> Public:
    """A number that is no count: few digits, and a band where it is an average of fewer than five records."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if expected and 0 < value < LEAST:
        return f"<{LEAST}"
    if 0 < records < LEAST and isinstance(value, float):
        return band_text(value)
    if isinstance(value, int):
        return value if abs(value) < 1000 else int(round_significant(value))
    return round_significant(value, digits_for(records))


def _share(share: float, series: Series, nested: Mapping[str, Shown], counts: Mapping[str, int], name: str) -> str | None:
    """A share in words where it would tell a count that is not shown; None where it tells none."""
    for whole in (series.total.low, *counts.values()):
        count = share * whole
        nearest = round(count)
        exact = abs(count - nearest) <= _WHOLE * max(1.0, nearest)
        if not 0 < share < 1 or whole < LEAST:
            continue
        if 0 < count < LEAST - _WHOLE and (exact or (name.endswith("share") and whole == series.total.low)):
            return f"<{LEAST / whole:.2g}"
        if exact and 0 < whole - nearest < LEAST:
            return f">{1 - LEAST / whole:.3g}"
        hidden = [nested[one] for one, number in counts.items() if number == nearest and isinstance(nested[one], Range)]
        if exact and whole == series.total.low and hidden and isinstance(hidden[0], Range):
            return f"{hidden[0].low / whole:.3g} to {hidden[0].high / whole:.3g}"
    return None


def show_attributes(measure: str, rows: Sequence[Mapping[str, Any]], total: Range) -> list[dict[str, Public]]:
    """The table of a measure by attribute."""
    made = []
    for row in rows:
        numbers = {name: value for name, value in row.items() if not isinstance(value, str)}
        shown = show_fields(measure, Series(numbers, total), {})
        made.append({name: shown.get(name, value) for name, value in row.items()})
    return made
