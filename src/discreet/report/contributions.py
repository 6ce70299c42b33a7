"""What each attribute contributes to a risk, for measures that say so: the bars of a chart, before and after masking."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet import registry
from discreet.model.score import Score

MOST_ATTRIBUTES = 40


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
        "rows": rows[:MOST_ATTRIBUTES],
        "attributes": len(rows),
    }


def _by_attribute(score: Score, field: str) -> dict[str, float]:
    table = score.per_attribute
    return {} if table is None else {row["attribute"]: float(row[field]) for row in table.iter_rows(named=True)}


def describe_contributions(entry: Mapping[str, Any]) -> str:
    """The text alternative of the chart."""
    return "; ".join(
        f"{row['label']}: {row['before']:,.6g}" + (f" before, {row['after']:,.6g} after" if "after" in row else "")
        for row in entry["rows"]
    )
