"""What two pages say of a release: the evidence of the full report, shortened; lists say how much they leave out.

Every text that the data controller or the data can make long is clipped, so that the pages stay two whatever they contain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from discreet.assessment.limit_sentences import limit_sentence
from discreet.report.criteria import rows_by_criterion
from discreet.report.short.words import describe_interval, describe_residual_risk, describe_uncertainty

MOST_LIMITS, MOST_STEPS, MOST_GAPS, MOST_WARNINGS, MOST_PRESETS = 8, 6, 3, 2, 2
_MOST_ROWS = {"Singling out": 2, "Linkability": 2, "Inference": 2}
"""Rows of a criterion; one row of the others."""
_BOUNDS = ("lower", "upper")
"""Fields that the interval of another field shows."""


def summarize(evidence: Mapping[str, Any]) -> dict[str, Any]:
    """The content of the short report, from the evidence of the full one, public or internal."""
    criteria = [_criterion(entry, evidence) for entry in rows_by_criterion(evidence["adversaries"])]
    return {
        "format": "discreet short report 1",
        "confidential": evidence["confidential"],
        "marking": evidence.get("marking", ""),
        "made": evidence["made"],
        "tables": {
            name: {**table, "source": clip(str(table["source"]), 70)} for name, table in evidence["tables"].items()
        },
        "verdict": _verdict(evidence["verdict"]),
        "steps": _steps(evidence),
        "criteria": criteria[:4],
        "attackers": criteria[4:],
        "environment": [
            {**statement, "text": statement["text"] and clip(statement["text"], 180)}
            for statement in evidence.get("environment", ())
        ],
        "residual_risk": describe_residual_risk(criteria),
        "not_examined": _not_examined(evidence, criteria),
        "assumptions": _assumptions(evidence),
    }  # fmt: skip


def clip(text: str, longest: int) -> str:
    """A text of at most this many characters, in one line; what is left out shows as an ellipsis.

    >>> clip("a sentence that is long", 13)
    'a sentence t…'
    """
    line = " ".join(text.split())
    return line if len(line) <= longest else line[: longest - 1].rstrip() + "…"


def clip_names(names: Sequence[str], longest: int) -> str:
    """Names in a list of at most about this many characters, with the number of those left out.

    >>> clip_names(["age", "sex", "town"], 9), clip_names([], 9)
    ('age, sex and 1 more', 'none')
    """
    shown: list[str] = []
    for name in names:
        piece = clip(str(name), 32)
        if shown and len(", ".join([*shown, piece])) > longest:
            break
        shown.append(piece)
    left = len(names) - len(shown)
    return (", ".join(shown) + (f" and {left} more" if left else "")) or "none"


def _verdict(verdict: Mapping[str, Any]) -> dict[str, Any]:
    """Limits that are not met come first; those left out are counted by their status."""
    order = ("not met", "incomplete", "met")
    limits = sorted(verdict["limits"], key=lambda limit: order.index(limit["status"]))
    left_out = [limit["status"] for limit in limits[MOST_LIMITS:]]
    return {
        "status": verdict["status"],
        "judge": verdict.get("judge", ""),
        "sentence": clip(verdict["sentence"], 240),
        "gaps": [clip(gap, 200) for gap in verdict["gaps"][:MOST_GAPS]],
        "gaps_left_out": max(0, len(verdict["gaps"]) - MOST_GAPS),
        "limits": [
            {
                **limit,
                "sentence": clip(limit["sentence"], 200),
                "words": clip(limit_sentence(limit["limit"], limit["wanted"]), 150),
            }
            for limit in limits[:MOST_LIMITS]
        ],
        "limits_left_out": {status: left_out.count(status) for status in order if status in left_out},
        "presets": [
            {
                "name": preset["name"],
                "citation": clip(preset["citation"], 150),
                "starting_values": preset.get("starting_values", ""),
                "changed": clip_names(list(preset["changed"]), 60) if preset["changed"] else "",
            }
            for preset in verdict.get("presets", ())[:MOST_PRESETS]
        ],
        "presets_left_out": max(0, len(verdict.get("presets", ())) - MOST_PRESETS),
        "not_claimed": next((preset["not_claimed"] for preset in verdict.get("presets", ())), ""),
        "warnings": [clip(warning, 200) for warning in verdict["warnings"][:MOST_WARNINGS]],
        "warnings_left_out": max(0, len(verdict["warnings"]) - MOST_WARNINGS),
    }


def _steps(evidence: Mapping[str, Any]) -> dict[str, Any]:
    """The masking steps as they ran; those of the policy where no log is at hand, and then without numbers of changes."""
    logged = [
        {"method": step["method"], "columns": clip_names(step["columns"], 45), "changed": step["changed"],
         "removed": step["removed"], "added": step["added"]}
        for step in evidence["steps"]
    ]  # fmt: skip
    if logged:
        return {"logged": True, "rows": logged[:MOST_STEPS], "left_out": max(0, len(logged) - MOST_STEPS)}
    plan = (yaml.safe_load(evidence["policy"]) or {}).get("plan") or {}
    held_out = [{"method": f"holdout of {plan['holdout']}", "columns": "–"}] if plan.get("holdout") else []
    planned = held_out + [
        {"method": clip(str(step.get("method", "")), 40), "columns": clip_names(list(step.get("columns") or ()), 60)}
        for step in plan.get("steps") or ()
    ]
    return {"logged": False, "rows": planned[:MOST_STEPS], "left_out": max(0, len(planned) - MOST_STEPS)}


def _criterion(entry: Mapping[str, Any], evidence: Mapping[str, Any]) -> dict[str, Any]:
    """A criterion with its most direct numbers, each with its interval or what else is known of its precision."""
    rows = [row for row in entry["rows"] if row["field"] not in _BOUNDS][: _MOST_ROWS.get(entry["name"], 1)]
    limits = {limit["limit"]: limit for limit in evidence["verdict"]["limits"]}
    return {
        "name": entry["name"],
        "question": entry["question"],
        "rows": [
            {
                "limit": row["limit"],
                "before": row["before"],
                "after": row["after"] if row["informed"] is None else row["informed"],
                "uncertainty": describe_uncertainty(row["limit"], evidence),
                "per_hundred": describe_interval(row["limit"], evidence, per_hundred=True),
                "meaning": clip(row["meaning"].split(";")[0], 100),
                "status": limits[row["limit"]]["status"] if row["limit"] in limits else "",
                "required": limits[row["limit"]]["wanted"] if row["limit"] in limits else None,
            }
            for row in rows
        ],
    }


def _not_examined(evidence: Mapping[str, Any], criteria: Sequence[Mapping[str, Any]]) -> list[str]:
    """What the evidence does not cover, in sentences."""
    sentences = []
    if unanswered := [entry["name"].lower() for entry in criteria if not entry["rows"]]:
        sentences.append(f"Not examined, so nothing is known about: {', '.join(unanswered)}.")
    coverage = evidence.get("coverage")
    if coverage is None:
        sentences.append("Whether every column was looked at was not measured.")
    else:
        concerns = [row["column"] for row in coverage if row["concern"] and not row["accepted"]]
        accepted = [row["column"] for row in coverage if row["accepted"]]
        sentences.append(
            f"Columns with an open concern (not examined, or restorable from others): {clip_names(concerns, 150)}."
            if concerns
            else "No released column is of concern by what it looks like, whom it singles out or what it gives back; columns "
            "that no measure examined rest on their role in the policy."
        )
        if accepted:
            sentences.append(f"Accepted by the data controller without examination: {clip_names(accepted, 110)}.")
    unstated = [statement["name"] for statement in evidence.get("environment", ()) if not statement["text"]]
    if unstated:
        sentences.append(f"Not stated about the data environment: {', '.join(unstated)}. Nothing that is stated was checked.")
    if evidence["not_measured"]:
        sentences.append(f"Measures that the policy does not include: {clip_names(evidence['not_measured'], 220)}.")
    return sentences


def _assumptions(evidence: Mapping[str, Any]) -> list[str]:
    """What the numbers rest on, in sentences."""
    by_role: dict[str, list[str]] = {}
    for attribute in evidence["assumptions"]:
        by_role.setdefault(attribute["role"], []).append(attribute["attribute"])
    sentences = [
        f"An intruder may know (quasi-identifiers): {clip_names(by_role.get('key', []), 170)}.",
        f"An intruder wants to learn (confidential): {clip_names(by_role.get('confidential', []), 120)}.",
        f"Taken as known to nobody: {clip_names(by_role.get('other', []), 100)}." if by_role.get("other") else "",
        "Numbers are those of the intruder who knows original values where there are any, else of one with the release alone.",
    ]
    if evidence["population"]["numbers"]:
        sentences.append(clip(f"The release is taken as a sample: {evidence['population']['numbers'][0]['basis']}.", 200))
    else:
        sentences.append("Counts are counts in the file, which is taken as the population.")
    sentences += [clip(sentence, 200) for entry in evidence.get("how_far", ())[:1] for sentence in entry["sentences"][:1]]
    return [sentence for sentence in sentences if sentence]
