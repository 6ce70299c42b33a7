"""Information loss in a public report.

Where all values of an attribute but a few are released as they are, its loss and the statistics of its original values are
equations for these few values (see few_changes.py). They are not shown, and neither is a total from which they follow.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from discreet.report.bands import format_band, round_significant, significant_digits
from discreet.report.public_report.fields import PublicValue, Series, show_fields
from discreet.report.small_counts import MIN_SHOWN_COUNT, NOT_SHOWN, Range, format_count, is_small

_PARAMETERS = ("weight", "range")
_COUNTS_PER_ATTRIBUTE = ("suppressed", "changed", "false")
_OF_SEVERAL_ATTRIBUTES = ("correlation", "regression", "contingency")
"""Fields of an attribute that depend on the values of others too."""
_ON_PAIRS = "associations"
"""The measure of which all fields of an attribute do."""
_NOT_OF_THE_ORIGINAL = {"discernibility.metric", "discernibility.average_class", "integrity.loss", "propensity.coefficients"}
"""Fields that the release alone gives, or that count statistics."""


def show_loss(entry: Mapping[str, Any], source: Range, released: Range, few: Collection[str]) -> dict[str, Any]:
    """The fields and the attributes of one measure of loss; ``few`` are the attributes with few changed values."""
    fields = [dict(field) for field in entry["fields"]]
    removed = Range(source.low - released.low, source.high - released.high)  # as far as the two sizes reveal it
    values = {field["field"]: field["value"] for field in fields}
    numbers = Series(values, source, () if removed.exact else (removed,), source)
    meanings = {field["field"]: field["meaning"] for field in fields}
    rows = entry["attributes"]
    hidden = {row["attribute"] for row in rows if "attribute" in row and (row["attribute"] in few or _has_few_changes(row))}
    shown = show_fields(entry["measure"], numbers, meanings)
    if hidden or (few and not rows):
        shown |= _hide_totals(entry["measure"], values, rows, hidden, released.low)
    shown |= _show_sums_of_counts(values, rows)
    for field in fields:
        field["value"] = shown[field["field"]]
    return {
        **entry,
        "fields": fields,
        "attributes": [_show_attribute(entry["measure"], row, released, hidden) for row in rows],
    }


def _has_few_changes(row: Mapping[str, Any]) -> bool:
    return any(isinstance(row.get(name), int) and is_small(row[name]) for name in _COUNTS_PER_ATTRIBUTE)


def _is_bounded(row: Mapping[str, Any]) -> bool:
    """Whether the loss of an attribute is at most one per changed value, and few are changed."""
    return isinstance(row.get("changed"), int) and is_small(row["changed"]) and 0 <= row.get("loss", -1.0) <= 1


def _show_attribute(measure: str, row: Mapping[str, Any], released: Range, hidden: Collection[str]) -> dict[str, PublicValue]:
    numbers = {name: value for name, value in row.items() if not isinstance(value, str)}
    shown: dict[str, PublicValue] = {**row, **show_fields(measure, Series(numbers, released), {})}
    for name, value in numbers.items():
        if not isinstance(value, float) or name in _PARAMETERS or name.endswith("_after"):
            continue
        if row.get("attribute") in hidden:
            shown[name] = _hide_number(row, name, value, released.low)
        elif hidden and (name in _OF_SEVERAL_ATTRIBUTES or measure == _ON_PAIRS):
            shown[name] = NOT_SHOWN
    return {name: shown[name] for name in row}


def _hide_number(row: Mapping[str, Any], name: str, value: float, records: int) -> str:
    if name != "loss" or "changed" not in row:
        return NOT_SHOWN
    if _is_bounded(row):
        return f"<{MIN_SHOWN_COUNT / max(records, MIN_SHOWN_COUNT):.2g}"
    return format_band(value)


def _hide_totals(
    measure: str, values: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], hidden: Collection[str], records: int
) -> dict[str, PublicValue]:
    """The numbers of a measure over all attributes, some of which are hidden."""
    shown: dict[str, PublicValue] = {}
    for name, value in values.items():
        exact_count = isinstance(value, int) and name != "before"
        if value is None or isinstance(value, bool | str) or exact_count or f"{measure}.{name}" in _NOT_OF_THE_ORIGINAL:
            continue
        if not rows:
            shown[name] = format_band(float(value))
        elif name == "loss" and all("changed" in row for row in rows):
            shown[name] = _show_weighted_sum(float(value), rows, hidden, records)
        else:
            shown[name] = NOT_SHOWN
    return shown


def _show_weighted_sum(value: float, rows: Sequence[Mapping[str, Any]], hidden: Collection[str], records: int) -> str:
    """The range of a weighted mean that follows from what is shown: each hidden loss is anything up to its bound."""
    concealed = [row for row in rows if row["attribute"] in hidden]
    if not all(map(_is_bounded, concealed)) or not all(isinstance(row.get("weight"), float) for row in rows):
        return format_band(value)
    digits = significant_digits(records)
    low = sum(row["weight"] * round_significant(row["loss"], digits) for row in rows if row["attribute"] not in hidden)
    high = low + sum(row["weight"] for row in concealed) * MIN_SHOWN_COUNT / max(records, MIN_SHOWN_COUNT)
    return f"{low:.3g} to {high:.3g}"


def _show_sums_of_counts(values: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> dict[str, PublicValue]:
    """Counts that are sums over attributes, as ranges where a small count of an attribute would follow from them."""
    shown: dict[str, PublicValue] = {}
    for name in _COUNTS_PER_ATTRIBUTE:
        counts = [row[name] for row in rows if isinstance(row.get(name), int)]
        small = sum(map(is_small, counts))
        if small and isinstance(values.get(name), int) and values[name] == sum(counts):
            rest = sum(count for count in counts if not is_small(count))
            shown[name] = format_count(Range(rest + small, rest + (MIN_SHOWN_COUNT - 1) * small))
    return shown
