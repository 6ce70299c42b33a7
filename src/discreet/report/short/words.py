"""Numbers of a report in words: how precise they are, and what risk remains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from discreet.report.page import format_number

_ATTEMPTS = {
    "singling_out.risk": "to isolate one person",
    "linkability.risk": "to link two parts of a person's data",
    "inference.risk": "to guess a confidential value of a person",
    "membership.risk": "to tell whether a person is in the data",
    "exhaustive_attack.risk": "to guess a confidential value of a person, with the best choice of known columns,",
    "exhaustive_attack.risk_all": "to guess a confidential value of a person who is known in all columns",
}
"""What an attack tries, for risks in excess of a baseline."""
_SENTENCES = {
    "reidentification.prosecutor_max": "A person known to be in the file is re-identified with a probability of {} at most.",
    "reidentification.prosecutor_mean": "A person who is known to be in the file is re-identified with a mean probability of {}.",
    "reidentification.journalist_max": "A person not known to be in the file is re-identified with a probability of {} at most.",
    "reidentification.journalist_mean": "A person not known to be in the file is re-identified with a mean probability of {}.",
    "reidentification.marketer": "An intruder who links all records is expected to be right for a share of {} of them.",
    "exhaustive_attack.singled_out": "A share of {} of the records can be isolated by some set of known columns.",
    "exhaustive_attack.singled_out_all": "A share of {} of the records can be isolated by all known columns together.",
    "k_anonymity.unique": "Records that agree with no other record on the quasi-identifiers: {}.",
    "k_anonymity.k": "Every record agrees on the quasi-identifiers with others in a class of at least {}.",
}  # fmt: skip
_ESTIMATED = ("individual_risk", "population_uniqueness", "target_linkage", "record_linkage", "delta_presence")
_OF_THE_POPULATION = ("journalist", "marketer", "k_map")


def describe_uncertainty(limit: str, evidence: Mapping[str, Any]) -> str:
    """The interval of a number, or in a word what it rests on: a count is exact, a model is an estimate."""
    measure, field = limit.split(".", 1)
    entry = next(entry for entry in evidence["adversaries"] if entry["measure"] == measure)
    numbers = {row["field"]: row for row in entry["fields"]}
    population = {(row["measure"], row["field"]): row for row in evidence["population"]["numbers"]}
    if (measure, field) in population:
        row = population[measure, field]
        if row.get("low") is not None:
            return f"{format_number(row['low'])} to {format_number(row['high'])}"
        return "estimate for the population"
    if interval := describe_interval(limit, evidence):
        return f"{interval} ({100 * entry['parameters'].get('confidence', 0.95):g} %)"
    if "attacks" in numbers:
        return "sampled attacks"
    if measure in _ESTIMATED or any(word in field for word in _OF_THE_POPULATION):
        return "estimate"
    return "exact"


def describe_interval(limit: str, evidence: Mapping[str, Any], *, per_hundred: bool = False) -> str:
    """The ends of the confidence interval of an attack's risk; empty where it has none, or where its ends are not shown."""
    measure, field = limit.split(".", 1)
    numbers = {row["field"]: row for row in next(e for e in evidence["adversaries"] if e["measure"] == measure)["fields"]}
    if not {"lower", "upper"} <= numbers.keys() or field not in ("risk", "share", "correct_share"):
        return ""
    ends = [_worse(numbers[name]) for name in ("lower", "upper")]
    if per_hundred:
        return f"{100 * ends[0]:.2g} to {100 * ends[1]:.2g}" if all(isinstance(end, int | float) for end in ends) else ""
    return " to ".join(format_number(end) for end in ends)


def describe_residual_risk(criteria: Sequence[Mapping[str, Any]]) -> list[str]:
    """One sentence per criterion that has a number, in the words of somebody who does not know the measures."""
    return [sentence for entry in criteria for row in entry["rows"][:1] if (sentence := _sentence(entry["name"], row))]


def _sentence(name: str, row: Mapping[str, Any]) -> str:
    value = row["after"]
    if value is None:
        return ""
    if row["limit"] in _ATTEMPTS:
        number = f"{100 * value:.2g}" if isinstance(value, int | float) else f"(as a share) {value}"
        interval = f"; interval {row['per_hundred']}" if row.get("per_hundred") else ""
        return (
            f"{name}: of 100 attempts {_ATTEMPTS[row['limit']]} that would fail without the release, {number} succeed because of "
            f"it{interval}."
        )
    if row["limit"] in _SENTENCES:
        return f"{name}: {_SENTENCES[row['limit']].format(format_number(value))}"
    return f"{name}: {row['limit']} is {format_number(value)} ({row['meaning']})."


def _worse(row: Mapping[str, Any]) -> Any:
    return row["after"] if row["informed"] is None else row["informed"]
