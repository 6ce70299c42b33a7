"""The public form of the evidence, which may be published with the release.

The exact evidence contains the risk of rows of the source, and numbers with many digits link such rows to rows of the release.
The public form contains no row numbers, no risk of a single record other than as a band, no hash of the source, and no count
below five, not even by subtraction. What remains are verdicts, bands, averages of few digits, and counts of many records.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from discreet import registry
from discreet.report.bands import round_significant
from discreet.report.field_kinds import kind_of
from discreet.report.how_far import publish_how_far
from discreet.report.public_report.fields import Series, show_fields
from discreet.report.public_report.losses import show_loss
from discreet.report.public_report.text import coarsen_sentence
from discreet.report.public_report.verdict import show_verdict
from discreet.report.small_counts import (
    MIN_SHOWN_COUNT,
    NOT_SHOWN,
    PublicCount,
    Range,
    chart_height,
    format_count,
    hide_in_table,
    hide_small,
    is_small,
    running_sums,
)

SERIES = ("before", "after", "informed")
_CONFIDENTIAL = ("riskiest", "seed", "marking", "few_changes", "contributions")


def publish(evidence: Mapping[str, Any]) -> dict[str, Any]:
    """The public form of exact evidence, which itself is not changed."""
    tables = evidence["tables"]
    released = int(tables["masked"]["records"])
    totals = {
        "before": source_records(int(tables["original"]["records"]), released, evidence["steps"]),
        "after": Range(released, released),
        "informed": Range(released, released),
    }
    histograms, sums = [], {}
    for entry in evidence["histograms"]:
        public_histogram, sums[entry["measure"]] = _histogram(entry, totals)
        histograms.append(public_histogram)
    adversaries = [_adversary(entry, totals, sums.get(entry["measure"], {})) for entry in evidence["adversaries"]]
    few = evidence.get("few_changes", ())
    losses = [
        {**show_loss(entry, totals["before"], totals["after"], few), "notes": _coarsen_notes(entry["notes"])}
        for entry in evidence["losses"]
    ]
    search, limits = evidence["tried"], [limit["limit"] for limit in evidence["verdict"]["limits"]]
    public = {name: value for name, value in evidence.items() if name not in _CONFIDENTIAL}
    return public | {
        "confidential": False,
        "tables": {
            "original": _without_hash(tables["original"]) | {"records": format_count(_count(totals["before"]))},
            "masked": dict(tables["masked"]),
        },
        "verdict": show_verdict(evidence, adversaries, losses),
        "histograms": histograms,
        "adversaries": adversaries,
        "losses": losses,
        "distributions": [_distribution(entry, totals, few) for entry in evidence["distributions"]],
        "steps": [_step(step, totals["before"]) for step in evidence["steps"]],
        "population": _population(evidence["population"]),
        "how_far": publish_how_far(evidence.get("how_far", ())),
        "tried": None if search is None else _search(search, limits, digits=1 if few else 3),
    }


def _population(section: Mapping[str, Any]) -> dict[str, Any]:
    """What each number about the population rests on, without the numbers, which stand in the tables of the measures."""
    names = ("measure", "field", "basis")
    numbers = [{name: row[name] for name in names} | {"basis": coarsen_sentence(row["basis"])} for row in section["numbers"]]
    return {"numbers": numbers, "classes": []}


def source_records(source: int, released: int, steps: Sequence[Mapping[str, Any]]) -> Range:
    """The number of source records in the public report: a range where it would reveal a small count of a step.

    >>> source_records(103, 100, [{"removed": 3, "added": 0}])
    Range(low=101, high=104)
    """
    changes = [(int(step["removed"]), 1) for step in steps] + [(int(step["added"]), -1) for step in steps]
    if not steps:
        changes = [(abs(source - released), 1 if source > released else -1)]
    low = high = source
    for count, sign in changes:
        if is_small(count):
            ends = sorted((sign * (1 - count), sign * (MIN_SHOWN_COUNT - 1 - count)))
            low, high = low + ends[0], high + ends[1]
    return Range(low, high)


def _count(total: Range) -> PublicCount:
    return hide_small(total.low) if total.exact else total


def _without_hash(table: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in table.items() if name in ("source", "records", "attributes")}


def _histogram(entry: Mapping[str, Any], totals: Mapping[str, Range]) -> tuple[dict[str, Any], dict[str, list[Range]]]:
    """The records by risk, and for each series the sums that a reader can compute."""
    rows = _merge_small_class_sizes(entry["rows"]) if entry["field"] == "class_size" else [dict(row) for row in entry["rows"]]
    sums = {}
    for series in SERIES:
        if not rows or series not in rows[0]:
            continue
        counts = [int(row[series]) for row in rows]
        # a measure that skips records has a total of its own
        cells = hide_in_table(counts, totals[series] if sum(counts) in totals[series] else None)
        sums[series] = running_sums(cells)
        for row, cell in zip(rows, cells, strict=True):
            row[series] = format_count(cell)
    return {**entry, "rows": rows}, sums


def _merge_small_class_sizes(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Records by class size with one row for classes of 2 to 4: fewer than five records in classes of 2 would mean 2 or 4."""
    merged: list[dict[str, Any]] = []
    for row in rows:
        if row["label"] not in ("2", "3 to 4"):
            merged.append(dict(row))
        elif merged and merged[-1]["label"] == "2 to 4":
            merged[-1] |= {series: merged[-1][series] + row[series] for series in SERIES if series in row}
        else:
            merged.append({**row, "label": "2 to 4"})
    return merged


def _adversary(entry: Mapping[str, Any], totals: Mapping[str, Range], sums: Mapping[str, list[Range]]) -> dict[str, Any]:
    fields = [dict(field) for field in entry["fields"]]
    for series in SERIES:
        if all(field[series] is None for field in fields):
            continue
        values = {field["field"]: field[series] for field in fields}
        numbers = Series(values, totals[series], tuple(sums.get(series, ())), totals["before"])
        shown = show_fields(entry["measure"], numbers, {field["field"]: field["meaning"] for field in fields})
        for field in fields:
            field[series] = shown[field["field"]]
    return {**entry, "fields": fields, "notes": _coarsen_notes(entry["notes"])}


def _distribution(entry: Mapping[str, Any], totals: Mapping[str, Range], few: Collection[str]) -> dict[str, Any]:
    rows, missing = [dict(row) for row in entry["rows"]], dict(entry["missing"])
    if entry["attribute"] in few:
        # the counts before and after differ by the few values that are not released
        for row in (*rows, missing):
            row["before"] = NOT_SHOWN
        # a row of values that are no longer released would show them
        rows = [row for row in rows if row["after"]]
    for series in ("before",) if entry["removed"] else ("after",) if entry["attribute"] in few else ("before", "after"):
        counts = [int(row[series]) for row in rows] + [int(missing[series])]
        *cells, missing_cell = hide_in_table(counts, totals[series] if sum(counts) in totals[series] else None)
        for row, cell in zip(rows, cells, strict=True):
            row[series] = format_count(cell)
        missing[series] = format_count(missing_cell)
    return {**entry, "rows": rows, "missing": missing}


def _step(entry: Mapping[str, Any], source: Range) -> dict[str, Any]:
    counts = {name: format_count(hide_small(int(entry[name]))) for name in ("removed", "added")}
    counts["changed"] = format_count(_hide_multiple(int(entry["changed"]), source, len(entry["columns"])))
    return {**entry, **counts, "notes": _coarsen_notes(entry["notes"])}


def _hide_multiple(count: int, source: Range, columns: int) -> PublicCount:
    """A number of changed values; a range where all values of some columns are changed, and the records are a range.

    >>> str(_hide_multiple(240, Range(119, 122), 2))
    '238 to 244'
    """
    for factor in range(1, columns + 1):
        possible = Range(factor * source.low, factor * source.high)
        if not source.exact and count in possible:
            return possible
    return hide_small(count)


def _coarsen_notes(notes: Iterable[str]) -> list[str]:
    return [text for note in notes if (text := coarsen_sentence(note))]


def _search(entry: Mapping[str, Any], limits: Sequence[str], digits: int) -> dict[str, Any]:
    """The plans of a search with rounded numbers, without the sentences that repeat numbers of the verdict."""
    measures = {axis: _measure_and_field(entry[axis]) for axis in ("risk", "loss")}
    rows = [
        {**row, **{axis: _round_coordinate(*measures[axis], row[axis], digits) for axis in measures}} for row in entry["rows"]
    ]
    # "The plan:", "Given up:", "a risk of" and "largest" are phrases of discreet.selection.reasons
    repeated = (*limits, entry["risk"], entry["loss"], "a risk of", "Given up:")
    sentences = [text for text in entry["why"] if text.startswith("The plan:") or not any(name in text for name in repeated)]
    why = [text if text.startswith("The plan:") else coarsen_sentence(text, band_numbers="largest" in text) for text in sentences]
    return {**entry, "rows": rows, "why": why}


def _measure_and_field(axis: str) -> tuple[str, str]:
    """The measure and the field of an axis; the objective of a search is a number of its own."""
    return registry.resolve_limit(axis)[1:3] if "." in axis else (axis, "loss")


def _round_coordinate(measure: str, field: str, value: float, digits: int) -> float | str:
    whole = int(value) if float(value).is_integer() else value
    kind = kind_of(measure, field, whole)
    if kind in ("count", "size") and isinstance(whole, int):
        cell = format_count(hide_small(whole))
        return cell if isinstance(cell, str) else round_significant(cell)
    return round_significant(value, 1 if kind == "extreme" else digits)


def map_coordinate(value: float | str) -> float:
    """The coordinate of a number on the map, also of one that is shown as text."""
    return chart_height(value) or 0.0 if isinstance(value, str) else float(value)
