"""The riskiest records of a release: their numbers, and the reason in words that name attributes and counts, never values."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import polars as pl

from discreet.model.attribute import Role
from discreet.model.contracts import Direction, RiskMeasure
from discreet.model.microdata import Microdata
from discreet.model.score import Score

NUMBER: Mapping[str, tuple[str, Direction]] = {
    "decision": ("loss", "low"),
    "k_anonymity": ("class_size", "high"),
    "known_sets": ("risk", "low"),
    "record_linkage": ("correct", "low"),
    "repeated_records": ("probability", "low"),
    "t_closeness": ("t", "low"),
    "target_linkage": ("probability", "low"),
}
"""The field of ``per_record`` that ranks a measure's records, and which end of it is safer."""

SHOWN = 10


def number_of(score: Score) -> tuple[str, Direction] | None:
    """The ranking field of a measure: the one above, or a stranger's first number, of which less is taken to be safer."""
    if score.measure in NUMBER:
        return NUMBER[score.measure]
    frame = score.per_record
    if frame is None:
        return None
    fields = [name for name, dtype in frame.schema.items() if dtype.is_numeric()]
    return (fields[0], "low") if fields else None


def riskiest(measure: RiskMeasure, score: Score, data: Microdata, number: int = SHOWN) -> list[dict[str, Any]]:
    """The riskiest records, each with its number in the release (from 1), its risk and why."""
    ranked = number_of(score)
    if ranked is None:
        return []
    field, better = ranked
    found = score.riskiest(number) if score.riskiest is not None else _ranked(score, field, better, number)
    if found is None:
        return []
    return [
        {"record": int(row["record"]) + 1, "field": field, "risk": _finite(row[field]), "reason": _reason(measure, data, row)}
        for row in found.iter_rows(named=True)
    ]


def _ranked(score: Score, field: str, better: Direction, number: int) -> pl.DataFrame | None:
    frame = score.per_record
    if frame is None or field not in frame.columns:
        return None
    kept = frame.with_row_index("record").filter(pl.col(field).is_not_null())
    found = kept.with_columns(pl.col(field).cast(pl.Float64)).sort(
        field, "record", descending=[better == "low", False], nulls_last=True
    )
    return found.filter(pl.col(field) > 0).head(number) if better == "low" else found.head(number)


def _reason(measure: RiskMeasure, data: Microdata, row: Mapping[str, Any]) -> str:
    if measure.name in _REASONS_IN:
        return _REASONS_IN[measure.name](measure, data, row)
    return _REASONS.get(measure.name, _any_reason)(row)


def _finite(value: Any) -> float | None:
    return float(value) if value is not None and math.isfinite(value) else None


def _known_sets(measure: RiskMeasure, data: Microdata, row: Mapping[str, Any]) -> str:
    names = [name for name in row["top_set"].split("+") if name] if row["top_set"] else []
    share = f"that is {row['top_share']:.0%} of its risk"
    if not all(name in data.columns for name in names):  # an attribute's own name holds a plus
        return f"An intruder who knows {row['top_set']} finds it most surely; {share}."
    chance = math.prod(data.attribute(name).known for name in names)
    count = count_agreeing(data, names, int(row["record"]), wildcard=getattr(measure, "missing", "") == "wildcard")
    company = "finds it alone" if count == 1 else f"finds it among {count:,} records that look alike"
    knows = f"who knows {_listed(names)} (probability {chance:.3g})" if names else "who knows nothing"
    return f"An intruder {knows} {company}; {share}."


def count_agreeing(data: Microdata, names: list[str], record: int, *, wildcard: bool) -> int:
    """How many records of a table agree with one of them on some attributes, itself included."""
    same = np.ones(len(data), dtype=np.bool_)
    for name in names:
        series = data.frame[name]
        value = series[record]
        if value is None:
            agree = np.ones(len(data), dtype=np.bool_) if wildcard else series.is_null().to_numpy()
        else:
            agree = (series == value).fill_null(wildcard).to_numpy()
        same &= agree
    return int(same.sum())


def _k_anonymity(measure: RiskMeasure, data: Microdata, row: Mapping[str, Any]) -> str:
    size = int(row["class_size"])
    keys = list(getattr(measure, "keys", ())) or data.named(Role.KEY)
    others = "with nobody" if size == 1 else f"with {size - 1:,} other record{'s' if size > 2 else ''}"
    return f"It shares its values of {_listed(keys)} {others}."


def _decision(row: Mapping[str, Any]) -> str:
    people = int(row["rho"])
    who = "One person" if people == 1 else f"{people:,} people"
    return f"{who} of the intruder's dictionary could be behind it, and what it tells weighs {row['phi']:.4g}."


def _target_linkage(row: Mapping[str, Any]) -> str:
    return (
        f"An intruder has {int(row['candidates']):,} candidates for it, and links it with probability {row['probability']:.3g}."
    )


def _repeated(row: Mapping[str, Any]) -> str:
    persons = int(row["persons"])
    whose = "of one person alone" if persons == 1 else f"of {persons:,} persons"
    return f"The records that look like it are {whose}; its own person has {row['probability']:.1%} of them."


def _t_closeness(row: Mapping[str, Any]) -> str:
    return f"In its class a confidential attribute is distributed otherwise than in the table, at a distance of {row['t']:.3g}."


def _record_linkage(row: Mapping[str, Any]) -> str:
    found = "Its nearest original record is its own, so an intruder who holds the original values finds it."
    return found if row["correct"] else "Its nearest original record is another's."


def _any_reason(row: Mapping[str, Any]) -> str:
    numbers = {name: value for name, value in row.items() if name != "record" and isinstance(value, int | float)}
    return "; ".join(f"{name} {value:.4g}" for name, value in numbers.items()) + "."


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else "nothing"


_REASONS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "decision": _decision,
    "record_linkage": _record_linkage,
    "repeated_records": _repeated,
    "t_closeness": _t_closeness,
    "target_linkage": _target_linkage,
}
_REASONS_IN: Mapping[str, Callable[[RiskMeasure, Microdata, Mapping[str, Any]], str]] = {
    "k_anonymity": _k_anonymity,
    "known_sets": _known_sets,
}
"""The reasons that follow from a record's numbers alone, and those that take a look at the table."""
