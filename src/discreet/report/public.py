"""The public form of the evidence: what anybody may read beside the release.

The exact evidence says which row of the source is how risky, and numbers with many digits tie such rows to rows of the release.
The public form holds no row numbers, no risk of a single record other than as a band, no hash of the source, and no count below
five, also not by subtraction. What is left are verdicts, bands, averages of few digits, and counts of many records.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from discreet import registry
from discreet.report.bands import round_significant
from discreet.report.field_kinds import kind_of
from discreet.report.public_fields import Series, show_attributes, show_fields
from discreet.report.public_text import soften
from discreet.report.public_verdict import show_verdict
from discreet.report.small_counts import (
    LEAST,
    Range,
    Shown,
    height_of,
    hide_in_table,
    hide_small,
    is_small,
    running_sums,
    text_of,
)

SERIES = ("before", "after", "informed")
_CONFIDENTIAL = ("riskiest", "seed", "marking")


def publish(evidence: Mapping[str, Any]) -> dict[str, Any]:
    """The public form of exact evidence; the evidence itself stays as it is."""
    tables = evidence["tables"]
    released = int(tables["masked"]["records"])
    totals = {
        "before": source_records(int(tables["original"]["records"]), released, evidence["steps"]),
        "after": Range(released, released),
        "informed": Range(released, released),
    }
    histograms, sums = [], {}
    for one in evidence["histograms"]:
        shown, sums[one["measure"]] = _histogram(one, totals)
        histograms.append(shown)
    adversaries = [_adversary(one, totals, sums.get(one["measure"], {})) for one in evidence["adversaries"]]
    losses = [_loss(one, totals) for one in evidence["losses"]]
    tried = evidence["tried"]
    public = {name: value for name, value in evidence.items() if name not in _CONFIDENTIAL}
    return public | {
        "confidential": False,
        "tables": {
            "original": _without_hash(tables["original"]) | {"records": text_of(_count(totals["before"]))},
            "masked": dict(tables["masked"]),
        },
        "verdict": show_verdict(evidence, adversaries, losses),
        "histograms": histograms,
        "adversaries": adversaries,
        "losses": losses,
        "distributions": [_distribution(one, totals) for one in evidence["distributions"]],
        "steps": [_step(one) for one in evidence["steps"]],
        "tried": None if tried is None else _tried(tried, [one["limit"] for one in evidence["verdict"]["limits"]]),
    }


def source_records(source: int, released: int, steps: Sequence[Mapping[str, Any]]) -> Range:
    """The number of records of the source as the public report shows it: a range where it would tell a small count of a step.

    >>> source_records(103, 100, [{"removed": 3, "added": 0}])
    Range(low=101, high=104)
    """
    moves = [(int(step["removed"]), 1) for step in steps] + [(int(step["added"]), -1) for step in steps]
    if not steps:
        moves = [(abs(source - released), 1 if source > released else -1)]
    low = high = source
    for count, sign in moves:
        if is_small(count):
            ends = sorted((sign * (1 - count), sign * (LEAST - 1 - count)))
            low, high = low + ends[0], high + ends[1]
    return Range(low, high)


def _count(total: Range) -> Shown:
    return hide_small(total.low) if total.exact else total


def _without_hash(table: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in table.items() if name in ("source", "records", "attributes")}


def _histogram(one: Mapping[str, Any], totals: Mapping[str, Range]) -> tuple[dict[str, Any], dict[str, list[Range]]]:
    """The records by risk, and the sums that the reader can form from each series."""
    rows = _join_class_sizes(one["rows"]) if one["field"] == "class_size" else [dict(row) for row in one["rows"]]
    sums = {}
    for series in SERIES:
        if not rows or series not in rows[0]:
            continue
        counts = [int(row[series]) for row in rows]
        # a measure that leaves records out has a total of its own
        cells = hide_in_table(counts, totals[series] if sum(counts) in totals[series] else None)
        sums[series] = running_sums(cells)
        for row, cell in zip(rows, cells, strict=True):
            row[series] = text_of(cell)
    return {**one, "rows": rows}, sums


def _join_class_sizes(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Records by class size with one row for classes of 2 to 4: that fewer than five are in classes of 2 would mean 2 or 4."""
    joined: list[dict[str, Any]] = []
    for row in rows:
        if row["label"] not in ("2", "3 to 4"):
            joined.append(dict(row))
        elif joined and joined[-1]["label"] == "2 to 4":
            joined[-1] |= {series: joined[-1][series] + row[series] for series in SERIES if series in row}
        else:
            joined.append({**row, "label": "2 to 4"})
    return joined


def _adversary(one: Mapping[str, Any], totals: Mapping[str, Range], sums: Mapping[str, list[Range]]) -> dict[str, Any]:
    fields = [dict(field) for field in one["fields"]]
    for series in SERIES:
        if all(field[series] is None for field in fields):
            continue
        numbers = Series({field["field"]: field[series] for field in fields}, totals[series], tuple(sums.get(series, ())))
        shown = show_fields(one["measure"], numbers, {field["field"]: field["meaning"] for field in fields})
        for field in fields:
            field[series] = shown[field["field"]]
    return {**one, "fields": fields, "notes": _sentences(one["notes"])}


def _loss(one: Mapping[str, Any], totals: Mapping[str, Range]) -> dict[str, Any]:
    fields = [dict(field) for field in one["fields"]]
    before, after = totals["before"], totals["after"]
    lost = Range(before.low - after.low, before.high - after.high)  # what the two sizes tell of the records that were left out
    numbers = Series({field["field"]: field["value"] for field in fields}, before, () if lost.exact else (lost,))
    shown = show_fields(one["measure"], numbers, {field["field"]: field["meaning"] for field in fields})
    for field in fields:
        field["value"] = shown[field["field"]]
    attributes = show_attributes(one["measure"], one["attributes"], after)
    return {**one, "fields": fields, "attributes": attributes, "notes": _sentences(one["notes"])}


def _distribution(one: Mapping[str, Any], totals: Mapping[str, Range]) -> dict[str, Any]:
    rows, missing = [dict(row) for row in one["rows"]], dict(one["missing"])
    for series in ("before",) if one["removed"] else ("before", "after"):
        counts = [int(row[series]) for row in rows] + [int(missing[series])]
        *cells, blank = hide_in_table(counts, totals[series] if sum(counts) in totals[series] else None)
        for row, cell in zip(rows, cells, strict=True):
            row[series] = text_of(cell)
        missing[series] = text_of(blank)
    return {**one, "rows": rows, "missing": missing}


def _step(one: Mapping[str, Any]) -> dict[str, Any]:
    counts = {name: text_of(hide_small(int(one[name]))) for name in ("changed", "removed", "added")}
    return {**one, **counts, "notes": _sentences(one["notes"])}


def _sentences(notes: Iterable[str]) -> list[str]:
    return [text for note in notes if (text := soften(note))]


def _tried(one: Mapping[str, Any], limits: Sequence[str]) -> dict[str, Any]:
    """The plans of a search with rounded numbers; sentences that repeat numbers of the chosen plan are in the verdict already."""
    measures = {axis: registry.direction(one[axis])[1:3] for axis in ("risk", "loss")}
    rows = [{**row, **{axis: _coordinate(*measures[axis], row[axis]) for axis in measures}} for row in one["rows"]]
    repeated = (*limits, one["risk"], one["loss"], "a risk of")
    plain = [text for text in one["why"] if text.startswith("The plan:") or not any(word in text for word in repeated)]
    why = [text if text.startswith("The plan:") else soften(text, band_numbers="largest" in text) for text in plain]
    return {**one, "rows": rows, "why": why}


def _coordinate(measure: str, field: str, value: float) -> float | str:
    whole = int(value) if float(value).is_integer() else value
    kind = kind_of(measure, field, whole)
    if kind in ("count", "size") and isinstance(whole, int):
        cell = text_of(hide_small(whole))
        return cell if isinstance(cell, str) else round_significant(cell)
    return round_significant(value, 1 if kind == "extreme" else 3)


def position(value: float | str) -> float:
    """Where a map places a number of a plan, also one that is shown as text."""
    return height_of(value) or 0.0 if isinstance(value, str) else float(value)
