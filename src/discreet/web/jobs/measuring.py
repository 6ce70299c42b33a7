"""The risks of a table for its owner: number by number, record by record, by attribute and by set.

Unlike a report, this names records and values: only those see it who see the table itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from discreet import registry
from discreet.assessment.adversaries import ADVERSARIES, side_by_side
from discreet.engine.runtime.progress import tell
from discreet.errors import DiscreetError
from discreet.model.microdata import Microdata
from discreet.model.score import Score
from discreet.report.histograms import histogram
from discreet.report.worst import riskiest

SHOWN = 10
SETS = 30
ROWS = 500


def measure(data: Microdata, measures: list[str] | None = None) -> dict[str, Any]:
    """Every measure asked for, or the policy's and the five adversaries'; why one cannot be told is told instead."""
    wanted = measures if measures is not None else list(dict.fromkeys([*data.policy.risk, *ADVERSARIES]))
    found: dict[str, Score] = {}
    told: list[dict[str, Any]] = []
    silent: list[dict[str, str]] = []
    for done, name in enumerate(wanted):
        tell(f"measuring {name}", done, len(wanted) + 1)
        one = registry.make("risk", name, data.policy.risk.get(name), origin=data.policy.origin)
        try:
            found[name] = one.measure(data, original=data if one.needs_original(data) else None)
            told.append(_told(one, found[name], data))
        except DiscreetError as error:
            silent.append({"measure": name, "why": str(error)})
    result: dict[str, Any] = {"records": len(data), "measures": told, "not_measured": silent}
    if measures is None:
        tell("the adversaries side by side", len(wanted), len(wanted) + 1)
        result |= _adversaries(data, found)
    sentence = f"{len(told)} of {len(wanted)} adversaries were measured on {len(data):,} records"
    return {"result": result, "sentence": sentence}


def _told(one: Any, score: Score, data: Microdata) -> dict[str, Any]:
    values = score.to_dict()
    drawn = histogram(score, score)
    rows = riskiest(one, score, data, SHOWN)
    for row in rows:
        at = row["record"] - 1
        row["cells"] = {name: None if value is None else str(value) for name, value in data.frame.row(at, named=True).items()}
        row["explained"] = one.explain(data, at, original=data if one.needs_original(data) else None)
    return {
        "measure": score.measure,
        "what": (type(one).__doc__ or "").strip().split("\n")[0],
        "citation": one.citation,
        "parameters": one.parameters,
        "fields": [
            {"field": name, "meaning": one.meaning.get(name, ""), "better": one.better.get(name, ""), "value": value}
            for name, value in values.items()
            if not isinstance(value, Mapping)
        ],
        "tables": {name: value for name, value in values.items() if isinstance(value, Mapping)},
        "interval": score.interval,
        "notes": list(score.notes),
        "histogram": None if drawn is None else {
            "field": drawn["field"], "rows": [{"label": row["label"], "records": row["before"]} for row in drawn["rows"]],
        },
        "worst": rows,
        "attributes": [] if score.per_attribute is None else score.per_attribute.head(ROWS).to_dicts(),
        **_by_set(score, data),
    }  # fmt: skip


def _by_set(score: Score, data: Microdata) -> dict[str, Any]:
    """Which sets of attributes give most records away, and how often each attribute is among them."""
    if score.measure != "known_sets" or score.per_record is None:
        return {"sets": [], "in_sets": []}
    risky = score.per_record.lazy().filter(pl.col("risk") > 0)
    sets = (
        risky.group_by("top_set")
        .agg(pl.len().alias("records"), pl.col("risk").sum(), pl.col("risk").max().alias("most"))
        .sort("risk", "top_set", descending=[True, False])
        .collect()
    )
    told = [{**row, "attributes": _names(row["top_set"], data)} for row in sets.head(SETS).iter_rows(named=True)]
    counts: dict[str, dict[str, float]] = {}
    for row in sets.iter_rows(named=True):
        for name in _names(row["top_set"], data):
            held = counts.setdefault(name, {"records": 0, "risk": 0.0})
            held["records"] += row["records"]
            held["risk"] += row["risk"]
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1]["risk"], pair[0]))
    return {"sets": told, "in_sets": [{"attribute": name, **held} for name, held in ranked]}


def _names(text: str, data: Microdata) -> list[str]:
    """The attributes of a set that is written with + between them; the text as it is where a name holds a + itself."""
    parts = [part for part in text.split("+") if part]
    return parts if all(part in data.columns for part in parts) else [text]


def _adversaries(data: Microdata, found: Mapping[str, Score]) -> dict[str, Any]:
    """The five side by side: how likely each finds a record, and the records most in danger from any of them."""
    table = side_by_side(data, data, found)
    chances = []
    for name in ADVERSARIES:
        column = table[name].drop_nulls()
        if len(column):
            counts = {"certain": int((column >= 1).sum()), "over_half": int((column > 0.5).sum())}
            chances.append({"measure": name, "mean": column.mean(), "max": column.max(), **counts})
    known = [name for name in ADVERSARIES if name in table.columns]
    ranked = (
        table.with_row_index("record", 1)
        .with_columns(pl.mean_horizontal(known).alias("all"))
        .sort("chance", "all", "record", descending=[True, True, False], nulls_last=True)
        .head(SHOWN)
        .drop("all")
    )
    return {"adversaries": chances, "most_in_danger": ranked.to_dicts()}
