"""Records by risk before and after masking, in the same intervals for both; and what each attribute contributes to a risk."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from discreet import registry
from discreet.model.display import format_number
from discreet.model.score import Score
from discreet.report.riskiest import ranking_field

_SIZES = (1, 2, 3, 5, 10, 100, 1_000, 10_000)
"""Lower ends of the intervals of class sizes."""
_MOST_ATTRIBUTES = 40
_LONGEST_TITLE = 110
_LOWEST = -9
"""The lowest decade of risk: all positive risks below 1e-9 are counted in it."""


def histogram(before: Score, after: Score, informed: Score | None = None) -> dict[str, Any] | None:
    """Counts per interval: before, after, and after against an intruder who knows the original values.

    None where a measure gives no number per record.
    """
    field, tables = _count_by_interval([before, after, *([informed] if informed else [])])
    if not tables:
        return None
    keys = sorted({key for table in tables for key in table})
    if field != "class_size":  # empty decades in between are shown too, so that the scale has no gaps
        positive = [key for key in keys if key > -np.inf]
        keys = [key for key in keys if key == -np.inf] + (
            list(range(int(positive[0]), int(positive[-1]) + 1)) if positive else []
        )
    names = ["before", "after", "informed"][: len(tables)]
    up_to_one = _are_at_most_one([before, after, *([informed] if informed else [])], field)
    rows = [
        {
            "label": _class_size_label(key) if field == "class_size" else _decade_label(key, up_to_one=up_to_one),
            **{name: int(table.get(key, 0)) for name, table in zip(names, tables, strict=True)},
        }
        for key in keys
    ]
    return {"field": field, "rows": rows}


def _count_by_interval(scores: list[Score]) -> tuple[str, list[dict[float, int]]]:
    if all(isinstance(score.summary.get("histogram"), Mapping) for score in scores):
        return "risk", [_from_summary(score.to_dict()["histogram"]) for score in scores]
    ranked_by = ranking_field(scores[0])
    if ranked_by is None:
        return "", []
    field = ranked_by[0]
    columns = [None if score.per_record is None else score.per_record.get_column(field, default=None) for score in scores]
    if any(column is None for column in columns):
        return "", []
    tables = []
    for column in columns:
        assert column is not None
        numbers = column.drop_nulls().cast(float).to_numpy()
        if field == "class_size":
            intervals = np.array(_SIZES)[np.searchsorted(_SIZES, numbers, side="right") - 1]
        else:
            with np.errstate(divide="ignore"):
                intervals = np.where(numbers > 0, np.maximum(np.floor(np.log10(numbers) + 1e-12), _LOWEST), -np.inf)
        keys, counts = np.unique(intervals, return_counts=True)
        tables.append({float(key): int(count) for key, count in zip(keys, counts, strict=True)})
    return field, tables


def _from_summary(table: Mapping[str, int]) -> dict[float, int]:
    return {-np.inf if key == "0" else float(int(key[2:])): int(count) for key, count in table.items()}


def _are_at_most_one(scores: list[Score], field: str) -> bool:
    """Whether the numbers are probabilities or shares, of which the decade from 1 on holds nothing but 1."""
    columns = [score.per_record[field] for score in scores if score.per_record is not None and field in score.per_record.columns]
    return bool(columns) and all(column.max() is None or float(column.cast(float).max()) <= 1.0 for column in columns)  # type: ignore[arg-type]


def _decade_label(key: float, *, up_to_one: bool = False) -> str:
    if key == -np.inf:
        return "0"
    if key == 0 and up_to_one:
        return "1"
    if -4 <= key <= 5:
        return f"{10.0**key:,.{max(0, -int(key))}f} to {10.0 ** (key + 1):,.{max(0, -int(key) - 1)}f}"
    return f"1e{int(key)} to 1e{int(key) + 1}"


def _class_size_label(key: float) -> str:
    index = _SIZES.index(int(key))
    if index + 1 == len(_SIZES):
        return f"{_SIZES[index]:,} and more"
    largest = _SIZES[index + 1] - 1
    return f"{_SIZES[index]:,}" if largest == _SIZES[index] else f"{_SIZES[index]:,} to {largest:,}"


def describe_field(measure: str, field: str) -> str:
    """What a number per record is, for the axis of a chart.

    >>> describe_field("k_anonymity", "class_size"), describe_field("reidentification", "prosecutor")
    ('size of the equivalence class', 'prosecutor risk: 1 / records in the equivalence class')
    """
    if field == "class_size":
        return "size of the equivalence class"
    is_risk = measure in registry.installed_names("risk")
    meanings = registry.load("risk", measure).record_meaning if is_risk else {}
    meaning = meanings.get(field, "").partition(";")[0].partition(" (knowledge")[0]
    return meaning if meaning and len(meaning) <= _LONGEST_TITLE else f"{field} of a record ({measure})"


def contributions(before: Score, after: Score | None = None) -> dict[str, Any] | None:
    """The attributes by falling contribution before masking; None where the measure has none.

    ``after`` is 0 where an attribute contributes nothing to the release, or is not in it.
    """
    declared = registry.load("risk", before.measure).contribution
    if declared is None or before.per_attribute is None:
        return None
    field, meaning = declared
    tables = [_by_attribute(score, field) for score in (before, after) if score is not None]
    names = sorted(tables[0], key=lambda name: -tables[0][name])  # of equal ones in the order of the table
    if not any(value for table in tables for value in table.values()):
        return None
    series = ("before", "after")[: len(tables)]
    rows = [
        {"label": name, **{label: table.get(name, 0.0) for label, table in zip(series, tables, strict=True)}} for name in names
    ]
    return {
        "measure": before.measure,
        "field": field,
        "meaning": meaning,
        "rows": rows[:_MOST_ATTRIBUTES],
        "attributes": len(rows),
    }


def _by_attribute(score: Score, field: str) -> dict[str, float]:
    table = score.per_attribute
    return {} if table is None else {row["attribute"]: float(row[field]) for row in table.iter_rows(named=True)}


def describe_contributions(entry: Mapping[str, Any]) -> str:
    """The text alternative of the chart."""
    texts = []
    for row in entry["rows"]:
        after = f" before, {format_number(row['after'])} after" if "after" in row else ""
        texts.append(f"{row['label']}: {format_number(row['before'])}{after}")
    return "; ".join(texts)
