"""The content of a report as plain values: the same for the HTML page and for the JSON file.

The exact evidence is confidential; the public form (public.py) is derived from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from discreet import registry, verbs
from discreet.model.attribute import Attribute
from discreet.model.guess import ends_of
from discreet.model.knowledge import BY_SCENARIO
from discreet.model.microdata import Microdata
from discreet.model.notes import public_text
from discreet.model.policy import Policy
from discreet.model.results import Assessment, Release
from discreet.model.score import Score
from discreet.model.yaml_text import dump_yaml
from discreet.report import provenance
from discreet.report.coverage import coverage_rows
from discreet.report.distributions import distributions
from discreet.report.few_changes import attributes_with_few_changes
from discreet.report.histograms import contributions, histogram
from discreet.report.how_far import describe_how_far
from discreet.report.population.basis import population_numbers
from discreet.report.population.class_sizes import class_size_rows
from discreet.report.public_report.evidence import publish
from discreet.report.redaction import WITHHELD, Redactor
from discreet.report.riskiest import ranking_field, riskiest
from discreet.report.search_map import describe_search
from discreet.report.source_rows import RowNumbers
from discreet.selection.results import Selection

FORMAT = "discreet report 2"
CONFIDENTIAL = "CONFIDENTIAL: for the data controller only"
"""The marking on every page of an internal report."""
_WORSE_ENDS = (
    "counts of records and effective class sizes that are not decided over all known sets are given at the less safe end of "
    "their interval; 'discreet assess' shows both ends"
)


def gather(
    original: Microdata,
    masked: Microdata | Release,
    assessment: Assessment | None = None,
    *,
    internal: bool = False,
    by: str | None = None,
    original_file: str | Path | None = None,
    masked_file: str | Path | None = None,
    selection: Selection | Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The evidence on a release: the public form, or all of it for the data controller (``internal``).

    ``selection`` is the search that chose the plan, if there was one: its result, or the output of ``discreet select --json``.
    """
    exact = collect(
        original, masked, assessment, internal=internal, single_records=internal, by=by, original_file=original_file,
        masked_file=masked_file, selection=selection,
    )  # fmt: skip
    return exact if internal else publish(exact)


def collect(
    original: Microdata,
    masked: Microdata | Release,
    assessment: Assessment | None = None,
    *,
    internal: bool = False,
    single_records: bool = True,
    by: str | None = None,
    original_file: str | Path | None = None,
    masked_file: str | Path | None = None,
    selection: Selection | Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The exact evidence, which is confidential; :func:`discreet.report.public_report.evidence.publish` derives its public form.

    With ``internal`` texts may contain rare values of the original, and the riskiest records are listed with their values.
    """
    release = masked if isinstance(masked, Release) else None
    table = masked.masked if isinstance(masked, Release) else masked
    assessment = assessment if assessment is not None else verbs.assess(original, masked)
    redactor = Redactor(original, internal=internal)
    rows = RowNumbers.of(original, masked) if single_records else None
    key = provenance.hash_key() if internal else None
    measured = [name for name in assessment.after if name != "coverage"]  # which is about columns, not records
    return {
        "format": FORMAT,
        "confidential": True,
        "marking": CONFIDENTIAL,
        "made": provenance.describe_run(by),
        "tables": {
            "original": provenance.describe_table(original, original_file) | provenance.keyed_hash(original_file, key),
            "masked": provenance.describe_table(table, masked_file) | {"sha256": provenance.sha256(masked_file)},
        },
        "verdict": _verdict(assessment, release, redactor),
        "how_far": describe_how_far(original, masked, assessment),
        "coverage": coverage_rows(assessment),
        "environment": [
            {"name": name, "meaning": meaning, "text": text and redactor.redact_sentence(text)}
            for name, meaning, text in original.policy.environment.statements()
        ],
        "histograms": _histograms(assessment),
        "contributions": [
            entry
            for name, after in assessment.after.items()
            if (entry := contributions(assessment.before[name], after)) is not None
        ],
        "adversaries": [_adversary(name, assessment, original, redactor) for name in assessment.after],
        "not_measured": [name for name in registry.installed_names("risk") if name not in assessment.after],
        "riskiest": [_riskiest(name, assessment, original, table, redactor, rows) for name in measured] if rows else [],
        "tried": None if selection is None else describe_search(selection, redactor),
        "losses": [_loss(score, redactor) for score in assessment.losses.values()],
        "distributions": distributions(original, table, redactor),
        "few_changes": attributes_with_few_changes(original, table),
        "steps": [
            {
                "step": entry.step, "method": entry.method, "columns": list(entry.columns), "changed": entry.values_changed,
                "removed": entry.records_removed, "added": entry.records_added, "notes": _notes(entry.notes, redactor),
            }
            for entry in (release.log if release else ())
        ],
        "policy": policy_text(original.policy.with_(plan=release.plan) if release else original.policy, redactor),
        "seed": (release.plan if release else original.policy.plan).seed if internal else None,
        "key": (release.plan if release else original.policy.plan).key,
        "assumptions": [_attribute(name, original, redactor) for name in original.columns],
        "population": {
            "numbers": population_numbers(assessment),
            "classes": [
                {"measure": name, "rows": bands}
                for name, score in assessment.after.items()
                if len(bands := class_size_rows(score)) > 1
            ],
        },
    }  # fmt: skip


def _notes(notes: Iterable[str], redactor: Redactor) -> list[str]:
    """The notes of a step or a measure; a note with a public text is replaced by it, unless the report is internal."""
    texts = [note if redactor.internal else public_text(note) for note in notes]
    return [redactor.redact_sentence(text) for text in texts if text]


def policy_text(policy: Policy, redactor: Redactor) -> str:
    """The policy as YAML, without rare values."""
    content = policy.model_dump(mode="json", exclude_defaults=True)
    return dump_yaml(redactor.redact_policy(content))


def _verdict(assessment: Assessment, release: Release | None, redactor: Redactor) -> dict[str, Any]:
    """The verdict with its limits and the gaps in the evidence; ``ok`` is None where there are no limits."""
    limits = [
        verdict.to_dict()
        | {"sentence": redactor.redact_sentence(verdict.sentence) if verdict.status == "incomplete" else verdict.sentence}
        for verdict in assessment.verdicts
    ]
    warnings = [*assessment.warnings, *(release.warnings if release else ())]
    return assessment.to_dict() | {
        "ok": assessment.ok if limits else None,
        "sentence": " ".join(assessment.sentences[: len(assessment.sentences) - len(assessment.gaps)]),
        "gaps": _notes(assessment.gaps, redactor),
        "limits": limits,
        "warnings": _notes(warnings, redactor),
    }


def _histograms(assessment: Assessment) -> list[dict[str, Any]]:
    histograms = []
    for name, after in assessment.after.items():
        counts = histogram(assessment.before[name], after, assessment.informed.get(name))
        if counts is not None:
            histograms.append({"measure": name, **counts})
    return histograms


def _adversary(name: str, assessment: Assessment, original: Microdata, redactor: Redactor) -> dict[str, Any]:
    plugin = registry.load("risk", name)
    measure = registry.create("risk", name, original.policy.risk.get(name), origin=original.policy.origin)
    scores = [by_measure.get(name) for by_measure in (assessment.before, assessment.after, assessment.informed)]
    before, after, informed = ({} if score is None else _at_worse_ends(score, plugin.better) for score in scores)
    notes = _notes(assessment.after[name].notes, redactor)
    if any(score is not None and any(low < high for low, high in score.certified.values()) for score in scores):
        notes.append(_WORSE_ENDS)
    fields = [
        {
            "field": field, "meaning": plugin.meaning.get(field, ""), "better": plugin.better.get(field, ""),
            "before": before.get(field), "after": after[field], "informed": informed.get(field),
        }
        for field in after
        if not isinstance(after[field], Mapping)
    ]  # fmt: skip
    return {
        "measure": name,
        "what": (plugin.__doc__ or "").strip().split("\n")[0],
        "citation": plugin.citation,
        "parameters": redactor.redact_policy({"risk": {name: _json_values(measure.parameters)}})["risk"][name],
        "fields": fields,
        "scenarios": _scenarios(name, assessment) if redactor.internal else [],
        "notes": notes,
    }


def _at_worse_ends(score: Score, better: Mapping[str, str]) -> dict[str, Any]:
    """The fields of a score; counts and class sizes over all known sets, at the less safe end where they are not decided."""
    fields = score.to_dict()
    ends = {name: low if better.get(name) == "high" else high for name, (low, high) in score.certified.items()}
    return fields | {name: round(end) if isinstance(fields.get(name), int) else end for name, end in ends.items()}


def _scenarios(name: str, assessment: Assessment) -> list[dict[str, Any]]:
    """The numbers of each scenario of the policy, before and after; empty where it has none."""
    scores = {"before": assessment.before, "after": assessment.after, "informed": assessment.informed}
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for series, by_measure in scores.items():
        summary = by_measure[name].to_dict() if name in by_measure else {}
        for field, values in summary.items():
            if not field.endswith(BY_SCENARIO) or not isinstance(values, Mapping):
                continue
            for scenario, value in values.items():
                key = (scenario, field.removesuffix(BY_SCENARIO))
                empty = {"scenario": scenario, "field": key[1], "before": None, "after": None, "informed": None}
                rows.setdefault(key, empty)[series] = value
    scenarios = list(dict.fromkeys(scenario for scenario, _ in rows))
    return [rows[key] for key in sorted(rows, key=lambda key: scenarios.index(key[0]))]


def _json_values(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _json_values(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_json_values(inner) for inner in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def _riskiest(
    name: str, assessment: Assessment, original: Microdata, table: Microdata, redactor: Redactor, row_numbers: RowNumbers
) -> dict[str, Any]:
    """The riskiest released records by one measure, with their rows in the release and in the source."""
    measure = registry.create("risk", name, original.policy.risk.get(name), origin=original.policy.origin)
    before = assessment.before[name]
    ranked_by = ranking_field(before) if before.riskiest is None else None
    risks_before = before.per_record if ranked_by is not None else None
    rows = riskiest(measure, assessment.after[name], table)
    for row in rows:
        record = row.pop("record") - 1
        source = row_numbers.in_source(record)
        row["release_row"], row["source_row"] = row_numbers.in_release(record), None if source is None else source + 1
        row["before"] = None
        if risks_before is not None and ranked_by is not None and source is not None:
            risk = risks_before[ranked_by[0]][source]
            row["before"] = None if risk is None else float(risk)  # a record that was not attacked has none
        if redactor.internal:
            row["cells"] = {
                column: str(value) for column, value in table.frame.row(record, named=True).items() if value is not None
            }
            row["explained"] = measure.explain(table, record, original=original if measure.needs_original(table) else None)
    return {"measure": name, "rows": rows}


def _loss(score: Score, redactor: Redactor) -> dict[str, Any]:
    plugin = registry.load("loss", score.measure)
    table = score.per_attribute
    return {
        "measure": score.measure,
        "citation": plugin.citation,
        "fields": [
            {"field": field, "value": value, "meaning": plugin.meaning.get(field, "")}
            for field, value in score.to_dict().items()
            if not isinstance(value, Mapping)
        ],
        "attributes": [] if table is None else [_json_values(row) for row in table.iter_rows(named=True)],
        "notes": _notes(score.notes, redactor),
    }


def _attribute(name: str, original: Microdata, redactor: Redactor) -> dict[str, Any]:
    """What the policy assumes about an attribute: its role, level, sensitivity and probability of being known."""
    attribute: Attribute = original.attribute(name)
    rare = redactor.find_rare(attribute.values)
    return {
        "attribute": name,
        "role": str(attribute.role),
        "level": str(original.level(name)),
        "known": ends_of(attribute.known),
        "sensitivity": ends_of(attribute.sensitivity),
        "values": {(WITHHELD if text in rare else text): ends_of(weight) for text, weight in attribute.values.items()},
        "default": ends_of(attribute.unlisted),
    }
