"""The risks of a table for its owner: summary fields, highest-risk records, attributes and known sets.

Unlike a public report, the result names records and values; it is only for users who may see the table itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from discreet import registry
from discreet.assessment.adversaries import ADVERSARIES, side_by_side
from discreet.engine.runtime.progress import report_progress
from discreet.errors import DiscreetError
from discreet.model.microdata import Microdata
from discreet.model.score import Score
from discreet.report.histograms import contributions, histogram
from discreet.report.riskiest import riskiest

TOP_RECORDS = 10
TOP_SETS = 30
MAX_ATTRIBUTE_ROWS = 500


def measure_risks(data: Microdata, measures: list[str] | None = None) -> dict[str, Any]:
    """Compute risk measures; default: the policy's and those of the five adversaries. Failures are listed with the reason."""
    names = measures if measures is not None else list(dict.fromkeys([*data.policy.risk, *ADVERSARIES]))
    scores: dict[str, Score] = {}
    descriptions: list[dict[str, Any]] = []
    failures: list[dict[str, str]] = []
    for done, name in enumerate(names):
        report_progress(f"measuring {name}", done, len(names) + 1)
        measure = registry.create("risk", name, data.policy.risk.get(name), origin=data.policy.origin)
        try:
            scores[name] = measure.measure(data, original=data if measure.needs_original(data) else None)
            descriptions.append(_describe_score(measure, scores[name], data))
        except DiscreetError as error:
            failures.append({"measure": name, "why": str(error)})
    result: dict[str, Any] = {"records": len(data), "measures": descriptions, "not_measured": failures}
    if measures is None:
        report_progress("comparing the adversaries", len(names), len(names) + 1)
        result |= _compare_adversaries(data, scores)
    sentence = f"{len(descriptions)} of {len(names)} adversaries were measured on {len(data):,} records"
    return {"result": result, "sentence": sentence}


def _describe_score(measure: Any, score: Score, data: Microdata) -> dict[str, Any]:
    values = score.to_dict()
    bars = histogram(score, score)
    rows = riskiest(measure, score, data, TOP_RECORDS)
    for row in rows:
        index = row["record"] - 1
        row["cells"] = {name: None if value is None else str(value) for name, value in data.frame.row(index, named=True).items()}
        row["explained"] = measure.explain(data, index, original=data if measure.needs_original(data) else None)
    return {
        "measure": score.measure,
        "what": (type(measure).__doc__ or "").strip().split("\n")[0],
        "citation": measure.citation,
        "parameters": measure.parameters,
        "fields": [
            {"field": name, "meaning": measure.meaning.get(name, ""), "better": measure.better.get(name, ""), "value": value}
            for name, value in values.items()
            if not isinstance(value, Mapping)
        ],
        "tables": {name: value for name, value in values.items() if isinstance(value, Mapping)},
        "interval": score.interval,
        "notes": list(score.notes),
        "histogram": None if bars is None else {
            "field": bars["field"], "rows": [{"label": row["label"], "records": row["before"]} for row in bars["rows"]],
        },
        "worst": rows,
        "attributes": [] if score.per_attribute is None else score.per_attribute.head(MAX_ATTRIBUTE_ROWS).to_dicts(),
        "contributions": contributions(score),
        **_rank_known_sets(score, data),
    }  # fmt: skip


def _rank_known_sets(score: Score, data: Microdata) -> dict[str, Any]:
    """The known sets with the highest total risk, and the records and risk per attribute in these sets."""
    if score.measure != "known_sets" or score.per_record is None:
        return {"sets": [], "in_sets": []}
    risky = score.per_record.lazy().filter(pl.col("risk") > 0)
    sets = (
        risky.group_by("top_set")
        .agg(pl.len().alias("records"), pl.col("risk").sum(), pl.col("risk").max().alias("most"))
        .sort("risk", "top_set", descending=[True, False])
        .collect()
    )
    top_sets = [{**row, "attributes": _split_set(row["top_set"], data)} for row in sets.head(TOP_SETS).iter_rows(named=True)]
    attribute_sums: dict[str, dict[str, float]] = {}
    for row in sets.iter_rows(named=True):
        for name in _split_set(row["top_set"], data):
            sums = attribute_sums.setdefault(name, {"records": 0, "risk": 0.0})
            sums["records"] += row["records"]
            sums["risk"] += row["risk"]
    ranked = sorted(attribute_sums.items(), key=lambda pair: (-pair[1]["risk"], pair[0]))
    return {"sets": top_sets, "in_sets": [{"attribute": name, **sums} for name, sums in ranked]}


def _split_set(text: str, data: Microdata) -> list[str]:
    """The attributes of a set written as A+B; the text itself if a column name contains a +."""
    parts = [part for part in text.split("+") if part]
    return parts if all(part in data.columns for part in parts) else [text]


def _compare_adversaries(data: Microdata, scores: Mapping[str, Score]) -> dict[str, Any]:
    """Compare the five adversaries: re-identification probabilities of each, and the highest-risk records over all of them."""
    table = side_by_side(data, data, scores)
    summaries = []
    for name in ADVERSARIES:
        column = table[name].drop_nulls()
        if len(column):
            counts = {"certain": int((column >= 1).sum()), "over_half": int((column > 0.5).sum())}
            summaries.append({"measure": name, "mean": column.mean(), "max": column.max(), **counts})
    measured = [name for name in ADVERSARIES if name in table.columns]
    ranked = (
        table.with_row_index("record", 1)
        .with_columns(pl.mean_horizontal(measured).alias("all"))
        .sort("chance", "all", "record", descending=[True, True, False], nulls_last=True)
        .head(TOP_RECORDS)
        .drop("all")
    )
    return {"adversaries": summaries, "most_in_danger": ranked.to_dicts()}
