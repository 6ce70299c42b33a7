"""The riskiest records of a release, each with its risk and a reason that names attributes and counts, never values."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import polars as pl

from discreet.engine.known_sets.family import Knowledge
from discreet.engine.known_sets.sums import probability_of
from discreet.model.attribute import Role
from discreet.model.contracts import Direction, RiskMeasure
from discreet.model.microdata import Microdata
from discreet.model.score import Score

RANKING_FIELDS: Mapping[str, tuple[str, Direction]] = {
    "decision": ("loss", "low"),
    "k_anonymity": ("class_size", "high"),
    "known_sets": ("risk", "low"),
    "record_linkage": ("correct", "low"),
    "repeated_records": ("probability", "low"),
    "special_uniques": ("score", "low"),
    "t_closeness": ("t", "low"),
    "target_linkage": ("probability", "low"),
}
"""For each measure the field of ``per_record`` that ranks its records, and whether low or high is safer."""
DEFAULT_NUMBER = 10


def ranking_field(score: Score) -> tuple[str, Direction] | None:
    """The field that ranks the records of a measure; for a third-party measure its first number, low being safer."""
    if score.measure in RANKING_FIELDS:
        return RANKING_FIELDS[score.measure]
    per_record = score.per_record
    if per_record is None:
        return None
    fields = [name for name, dtype in per_record.schema.items() if dtype.is_numeric()]
    return (fields[0], "low") if fields else None


def riskiest(measure: RiskMeasure, score: Score, data: Microdata, number: int = DEFAULT_NUMBER) -> list[dict[str, Any]]:
    """The riskiest records, each with its number in the release (from 1), its risk and the reason."""
    ranked_by = ranking_field(score)
    if ranked_by is None:
        return []
    field, better = ranked_by
    records = score.riskiest(number) if score.riskiest is not None else _rank(score, field, better, number)
    if records is None:
        return []
    return [
        {
            "record": int(row["record"]) + 1,
            "field": field,
            "risk": _finite_or_none(row[field]),
            "reason": _reason(measure, data, row),
        }
        for row in records.iter_rows(named=True)
    ]


def _rank(score: Score, field: str, better: Direction, number: int) -> pl.DataFrame | None:
    per_record = score.per_record
    if per_record is None or field not in per_record.columns:
        return None
    measured = per_record.with_row_index("record").filter(pl.col(field).is_not_null())
    records = measured.with_columns(pl.col(field).cast(pl.Float64)).sort(
        field, "record", descending=[better == "low", False], nulls_last=True
    )
    return records.filter(pl.col(field) > 0).head(number) if better == "low" else records.head(number)


def _reason(measure: RiskMeasure, data: Microdata, row: Mapping[str, Any]) -> str:
    if measure.name in _REASONS_FROM_TABLE:
        return _REASONS_FROM_TABLE[measure.name](measure, data, row)
    return _REASONS_FROM_SCORE.get(measure.name, _generic_reason)(row)


def _finite_or_none(value: Any) -> float | None:
    return float(value) if value is not None and math.isfinite(value) else None


def _known_sets_reason(measure: RiskMeasure, data: Microdata, row: Mapping[str, Any]) -> str:
    names = [name for name in row["top_set"].split("+") if name] if row["top_set"] else []
    share = f"this is {row['top_share']:.0%} of its risk"
    if not all(name in data.columns for name in names):  # the name of an attribute contains a plus
        return f"The set {row['top_set']} contributes most to its risk; {share}."
    chance = ""
    if not data.policy.scenarios:  # which have probabilities of their own
        knowledge_is: Knowledge = getattr(measure, "knowledge", "products")
        chance = f" (probability {probability_of(data, names, knowledge_is):.3g})"
    count = count_agreeing(data, names, int(row["record"]), wildcard=getattr(measure, "missing", "") == "wildcard")
    matches = "identifies it uniquely" if count == 1 else f"finds {count:,} records that match"
    knowledge = f"who knows {_join_names(names)}{chance}" if names else "who knows nothing"
    return f"An intruder {knowledge} {matches}; {share}."


def count_agreeing(data: Microdata, names: list[str], record: int, *, wildcard: bool) -> int:
    """How many records of a table agree with one of them on some attributes, itself included.

    With ``wildcard`` a missing value agrees with anything.
    """
    agreeing = np.ones(len(data), dtype=np.bool_)
    for name in names:
        series = data.frame[name]
        value = series[record]
        if value is None:
            agrees = np.ones(len(data), dtype=np.bool_) if wildcard else series.is_null().to_numpy()
        else:
            agrees = (series == value).fill_null(wildcard).to_numpy()
        agreeing &= agrees
    return int(agreeing.sum())


def _k_anonymity_reason(measure: RiskMeasure, data: Microdata, row: Mapping[str, Any]) -> str:
    size = int(row["class_size"])
    keys = list(getattr(measure, "keys", ())) or data.named(Role.KEY)
    if size == 1:
        return f"It is a sample unique: no other record has its values of {_join_names(keys)}."
    return f"It is in an equivalence class of {size:,} records with its values of {_join_names(keys)}."


def _decision_reason(row: Mapping[str, Any]) -> str:
    people = int(row["rho"])
    candidates = "One person" if people == 1 else f"{people:,} persons"
    return f"{candidates} of the intruder's dictionary could be this record; its sensitivity is {row['phi']:.4g}."


def _target_linkage_reason(row: Mapping[str, Any]) -> str:
    return (
        f"An intruder has {int(row['candidates']):,} candidates for it, and links it with probability {row['probability']:.3g}."
    )


def _repeated_records_reason(row: Mapping[str, Any]) -> str:
    persons = int(row["persons"])
    owners = "one person" if persons == 1 else f"{persons:,} persons"
    return f"The records of its equivalence class belong to {owners}; its own person has {row['probability']:.1%} of them."


def _t_closeness_reason(row: Mapping[str, Any]) -> str:
    return (
        f"In its equivalence class a confidential attribute differs from its distribution in the table, distance {row['t']:.3g}."
    )


def _record_linkage_reason(row: Mapping[str, Any]) -> str:
    if row["correct"]:
        return "Its nearest original record is its own, so an intruder who knows the original values re-identifies it."
    return "Its nearest original record is that of another person."


def _generic_reason(row: Mapping[str, Any]) -> str:
    numbers = {name: value for name, value in row.items() if name != "record" and isinstance(value, int | float)}
    return "; ".join(f"{name} {value:.4g}" for name, value in numbers.items()) + "."


def _join_names(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else "nothing"


_REASONS_FROM_SCORE: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "decision": _decision_reason,
    "record_linkage": _record_linkage_reason,
    "repeated_records": _repeated_records_reason,
    "t_closeness": _t_closeness_reason,
    "target_linkage": _target_linkage_reason,
}
_REASONS_FROM_TABLE: Mapping[str, Callable[[RiskMeasure, Microdata, Mapping[str, Any]], str]] = {
    "k_anonymity": _k_anonymity_reason,
    "known_sets": _known_sets_reason,
}
"""Reasons from the numbers of a record alone, and reasons that also need the table."""
