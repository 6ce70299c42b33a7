"""What a score must be, whichever measure gave it."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from fnmatch import fnmatchcase
from typing import Any

import polars as pl

from discreet.model.contracts import LossMeasure, RiskMeasure
from discreet.model.score import Score
from discreet.testing.findings import Findings
from discreet.testing.samples import same


def check_score(findings: Findings, situation: str, measure: RiskMeasure | LossMeasure, score: Any, *records: int) -> bool:
    """Note what is wrong with a score on so many records (or targets); say whether it can be looked at further."""
    if not isinstance(score, Score):
        findings.add(f"{situation}: measure returns {type(score).__name__}, not a discreet.Score")
        return False
    findings.need(score.measure == measure.name, f"{situation}: the score is named '{score.measure}', not '{measure.name}'")
    for field, value in score.summary.items():
        inner = list(value.values()) if isinstance(value, Mapping) else [value]
        for number in inner:
            _number(findings, situation, field, number)
    if score.per_record is not None:
        message = f"{situation}: per_record has {score.per_record.height} rows for {' or '.join(map(str, records))} records"
        findings.need(score.per_record.height in records, message)
    if score.per_attribute is not None:
        findings.need(
            "attribute" in score.per_attribute.columns, f"{situation}: per_attribute has no column 'attribute' with their names"
        )
    if score.interval is not None:
        low, high = score.interval
        findings.need(low <= high, f"{situation}: the interval ends at {high}, below its beginning {low}")
    findings.need(all(isinstance(note, str) for note in score.notes), f"{situation}: notes are sentences, in a tuple")
    findings.attempt(f"{situation}, the score as JSON", score.to_json)
    return score.per_record is None or score.per_record.height in records


def check_fields(findings: Findings, measure: RiskMeasure | LossMeasure, score: Score) -> None:
    """The fields of a score have directions and meanings."""
    check_directions(findings, measure, score)
    check_meanings(findings, measure, score)


def check_directions(findings: Findings, measure: RiskMeasure | LossMeasure, score: Score) -> None:
    """Every numeric field has a direction or is declared neutral, and no other field is named."""
    findings.need(
        bool(measure.better),
        "better is empty: no limit can be set; say for a field of the summary whether 'low' or 'high' is better",
    )
    occasional = _occasional_fields(measure)
    for field, direction in measure.better.items():
        message = f"better names '{field}', which the summary does not have; it has {', '.join(score.summary)}"
        findings.need(field in score.summary or field in occasional, message)
        findings.need(direction in ("low", "high"), f"better['{field}'] is {direction!r}; it must be 'low' or 'high'")
    for field, value in score.summary.items():
        if not isinstance(value, Mapping):
            findings.need(
                field in measure.better or field in measure.neutral,
                f"the summary's '{field}' has no direction: say in better whether 'low' or 'high' is, or name it in neutral",
            )
    for field in measure.neutral:
        findings.need(field not in measure.better, f"'{field}' is in better and in neutral; keep one")
        findings.need(field in score.summary or field in occasional, f"neutral names '{field}', which the summary does not have")


def _occasional_fields(measure: RiskMeasure | LossMeasure) -> Collection[str]:
    return measure.occasional if isinstance(measure, RiskMeasure) else ()


def check_meanings(findings: Findings, measure: RiskMeasure | LossMeasure, score: Score) -> None:
    """Every field of the summary and every column of per_record has a meaning; so may columns that only some data have."""
    for field in score.summary:
        findings.need(bool(measure.meaning.get(field)), f"the summary's '{field}' has no meaning: say in meaning what it is")
    columns = [] if score.per_record is None else score.per_record.columns
    for column in columns:
        findings.need(
            any(words and fnmatchcase(column, name) for name, words in measure.record_meaning.items()),
            f"the column '{column}' of per_record has no meaning: say in record_meaning what it is",
        )
    for field in measure.meaning:
        message = f"meaning speaks of '{field}', which the summary does not have; it has {', '.join(score.summary)}"
        findings.need(field in score.summary or field in _occasional_fields(measure), message)


def check_same(findings: Findings, sentence: str, first: Score, second: Score, order: Any = None) -> None:
    """Two scores agree; the records of the second stand where ``order`` says in the first."""
    for field, value in first.summary.items():
        if not _agree(value, second.summary.get(field)):
            findings.add(f"{sentence}: '{field}' is {value} and then {second.summary.get(field)}")
            return
    if first.per_record is not None and second.per_record is not None:
        rows = first.per_record if order is None else first.per_record[order]
        for name in rows.columns:
            column = second.per_record.get_column(name, default=None)
            if column is None or not (same(rows[name], column) or _names_rows(rows[name], column, order)):
                findings.add(f"{sentence}: '{name}' of single records differs")
                return


def _names_rows(first: pl.Series, second: pl.Series, order: Any) -> bool:
    """Whether the column holds row numbers, which go with the rows."""
    if order is None or not (first.dtype.is_integer() and second.dtype.is_integer()) or second.min() is None:
        return False
    inside = second.drop_nulls().is_between(0, len(order) - 1).all()
    return bool(inside) and same(first.cast(pl.Int64), pl.Series(order).cast(pl.Int64).gather(second))


def _number(findings: Findings, situation: str, field: str, value: Any) -> None:
    if value is None:
        return
    if not isinstance(value, int | float):
        kind = f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
        findings.add(f"{situation}: the summary's '{field}' is {value!r} ({kind}), not a number; use int, float or None")
    elif math.isnan(value):
        findings.add(f"{situation}: the summary's '{field}' is not a number (nan); use None where there is none")


def _agree(first: Any, second: Any) -> bool:
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return first.keys() == second.keys() and all(_agree(first[name], second[name]) for name in first)
    if isinstance(first, int | float) and isinstance(second, int | float):
        return math.isclose(first, second, rel_tol=1e-9, abs_tol=1e-12) or (math.isnan(first) and math.isnan(second))
    return bool(first == second)
