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
