"""The fields of a measure in a public report, each treated by its kind."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.report.bands import format_band, round_significant, significant_digits
from discreet.report.field_kinds import kind_of
from discreet.report.small_counts import MIN_SHOWN_COUNT, PublicCount, Range, format_count, hide_nested, hide_small

PublicValue = int | float | str | bool | None
_TOLERANCE = 1e-6
"""A product of a share and a number of records this close to an integer, relatively, is taken for a count."""
_EXPECTED = ("correct", "expected_links", "claimed_links")
"""Expected counts of records: not integers, but small ones are not shown either."""


@dataclass(frozen=True)
class Series:
    """The numbers of one measure on one table: its fields, the number of records, and the sums known from its chart."""

    fields: Mapping[str, Any]
    total: Range
    sums: tuple[Range, ...] = ()


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
        else:
            shown[name] = show_number(value, series.total.low, expected=name in _EXPECTED)
    return shown


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
    for whole in (series.total.low, *counts.values()):
        count = share * whole
        nearest = round(count)
        exact = abs(count - nearest) <= _TOLERANCE * max(1.0, nearest)
        if not 0 < share < 1 or whole < MIN_SHOWN_COUNT:
            continue
        if 0 < count < MIN_SHOWN_COUNT - _TOLERANCE and (exact or (name.endswith("share") and whole == series.total.low)):
            return f"<{MIN_SHOWN_COUNT / whole:.2g}"
        if exact and 0 < whole - nearest < MIN_SHOWN_COUNT:
            return f">{1 - MIN_SHOWN_COUNT / whole:.3g}"
        hidden = [nested[field] for field, number in counts.items() if number == nearest and isinstance(nested[field], Range)]
        if exact and whole == series.total.low and hidden and isinstance(hidden[0], Range):
            return f"{hidden[0].low / whole:.3g} to {hidden[0].high / whole:.3g}"
    return None


def show_attributes(measure: str, rows: Sequence[Mapping[str, Any]], total: Range) -> list[dict[str, PublicValue]]:
    """The public form of the table of a measure by attribute."""
    public_rows = []
    for row in rows:
        numbers = {name: value for name, value in row.items() if not isinstance(value, str)}
        shown = show_fields(measure, Series(numbers, total), {})
        public_rows.append({name: shown.get(name, value) for name, value in row.items()})
    return public_rows
