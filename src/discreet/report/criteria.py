"""The measures by the questions of regulators: singling out, linkability, inference, membership, and three intruders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Criterion:
    """A question, and the fields of measures that answer it, the most direct one first."""

    name: str
    question: str
    fields: tuple[str, ...]


CRITERIA = (
    Criterion(
        "Singling out", "Can records of one person be isolated?",
        (
            "singling_out.risk", "singling_out.upper", "exhaustive_attack.singled_out", "exhaustive_attack.singled_out_all",
            "k_anonymity.unique", "special_uniques.records", "reidentification.sample_uniques",
        ),
    ),
    Criterion(
        "Linkability", "Can records about the same person be linked?",
        (
            "linkability.risk", "linkability.upper", "record_linkage.correct_share", "record_linkage.upper",
            "target_linkage.mean", "repeated_records.max_probability",
        ),
    ),
    Criterion(
        "Inference", "Can a value of a person be deduced from others?",
        (
            "inference.risk", "inference.upper", "exhaustive_attack.risk", "exhaustive_attack.risk_all", "l_diversity.l",
            "l_diversity.homogeneous", "t_closeness.t", "known_sets.max",
        ),
    ),
    Criterion(
        "Membership", "Can it be told that a person is in the data?",
        ("membership.risk", "membership.upper", "membership.tpr_1", "delta_presence.max"),
    ),
    Criterion(
        "Prosecutor", "An intruder who knows that the person is in the file.",
        ("reidentification.prosecutor_max", "reidentification.prosecutor_mean", "k_anonymity.k"),
    ),
    Criterion(
        "Journalist", "An intruder who does not know who is in the file.",
        ("reidentification.journalist_max", "reidentification.journalist_mean", "individual_risk.max", "reidentification.k_map"),
    ),
    Criterion(
        "Marketer", "An intruder who links as many records as possible.",
        ("reidentification.marketer", "individual_risk.mean", "population_uniqueness.expected_matches"),
    ),
)  # fmt: skip


def rows_by_criterion(adversaries: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """For each criterion the measured fields that answer it, with their numbers as the report shows them; none where none is."""
    measured = {f"{entry['measure']}.{field['field']}": field for entry in adversaries for field in entry["fields"]}
    return [
        {
            "name": criterion.name,
            "question": criterion.question,
            "rows": [{"limit": name, **measured[name]} for name in criterion.fields if name in measured],
        }
        for criterion in CRITERIA
    ]


GAUGES = {
    "Singling out": ("singling_out.risk", "exhaustive_attack.singled_out"),
    "Linkability": ("linkability.risk", "record_linkage.correct_share"),
    "Inference": ("inference.risk", "exhaustive_attack.risk"),
}
"""Shares between 0 and 1 that stand for the three criteria of WP216, the most direct one first."""
_SCALES = (0.1, 0.2, 0.5, 1.0)


def describe_gauges(adversaries: Sequence[Mapping[str, Any]], limits: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """One gauge per criterion of WP216: value, interval, limit and status, and places on a scale as percents of its width.

    The value is that of the stronger intruder. ``value`` is None where nothing was measured or its number is not shown.
    """
    measured = {f"{entry['measure']}.{row['field']}": _stronger(row) for entry in adversaries for row in entry["fields"]}
    required = {limit["limit"]: limit for limit in limits}
    gauges = []
    for criterion in CRITERIA[: len(GAUGES)]:
        name = next((name for name in GAUGES[criterion.name] if isinstance(measured.get(name), int | float)), "")
        value = float(measured[name]) if name else None
        measure = name.partition(".")[0]
        ends = [measured.get(f"{measure}.{end}") for end in ("lower", "upper")]
        interval = [float(end) for end in ends if isinstance(end, int | float)] if name.endswith((".risk", "_share")) else []
        limit = required.get(name, {})
        shown = [number for number in (value, *interval, limit.get("wanted")) if number is not None]
        top = next((scale for scale in _SCALES if all(number <= scale for number in shown)), 1.0)
        gauges.append(
            {
                "name": criterion.name, "question": criterion.question, "field": name, "value": value,
                "interval": interval if len(interval) == 2 else [], "limit": limit.get("wanted"),
                "status": limit.get("status", ""), "top": top,
                "at": {
                    "value": _place(value, top), "limit": _place(limit.get("wanted"), top),
                    "low": _place(interval[0], top) if len(interval) == 2 else None,
                    "high": _place(interval[1], top) if len(interval) == 2 else None,
                },
            }
        )  # fmt: skip
    return gauges


def _stronger(row: Mapping[str, Any]) -> Any:
    """The number against the intruder who knows original values, where there is one."""
    return row["after"] if row.get("informed") is None else row["informed"]


def _place(number: float | None, top: float) -> float | None:
    return None if number is None else round(100 * min(1.0, max(0.0, number / top)), 2)
