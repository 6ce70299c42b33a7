"""Everything a report says, as plain values: the same for the page that a person reads and the JSON that a program reads.

The exact evidence is confidential; the public form (public.py) is made from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from discreet import registry, verbs
from discreet.model.attribute import Attribute
from discreet.model.microdata import Microdata
from discreet.model.notes import public_text
from discreet.model.policy import Policy
from discreet.model.results import Assessment, Release
from discreet.model.score import Score
from discreet.report import provenance
from discreet.report.coverage import coverage_rows
from discreet.report.distributions import distributions
from discreet.report.histograms import histogram
from discreet.report.public import publish
from discreet.report.redaction import Discretion
from discreet.report.search_map import tried
from discreet.report.source_rows import Rows
from discreet.report.worst import number_of, riskiest
from discreet.selection.results import Selection

FORMAT = "discreet report 2"
CONFIDENTIAL = "CONFIDENTIAL: for the data controller only"
"""What every page of an internal report is marked with."""


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
    """The evidence on a release: in its public form, or whole for the data controller (``internal``).

    ``selection`` is the search that found its plan, where one did: the result, or what ``discreet select --json`` printed.
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
    """The exact evidence, which is confidential; :func:`discreet.report.public.publish` makes its public form.

    With ``internal`` its texts may name rare values of the original, and the riskiest records are shown with their values.
    """
    release = masked if isinstance(masked, Release) else None
    table = masked.masked if isinstance(masked, Release) else masked
    found = assessment if assessment is not None else verbs.assess(original, masked)
    discretion = Discretion(original, internal=internal)
    rows = Rows.of(original, masked) if single_records else None
    key = provenance.hash_key() if internal else None
    measured = [name for name in found.after if name != "coverage"]  # which speaks of columns, not of records
    return {
        "format": FORMAT,
        "confidential": True,
        "marking": CONFIDENTIAL,
        "made": provenance.made(by),
        "tables": {
            "original": provenance.table(original, original_file) | provenance.keyed_hash(original_file, key),
            "masked": provenance.table(table, masked_file) | {"sha256": provenance.sha256(masked_file)},
        },
        "verdict": _verdict(found, release, discretion),
        "coverage": coverage_rows(found),
        "histograms": _histograms(found),
        "adversaries": [_adversary(name, found, original, discretion) for name in found.after],
        "not_measured": [name for name in registry.names("risk") if name not in found.after],
        "riskiest": [_riskiest(name, found, original, table, discretion, rows) for name in measured] if rows else [],
        "tried": None if selection is None else tried(selection, discretion),
        "losses": [_loss(score, discretion) for score in found.losses.values()],
        "distributions": distributions(original, table, discretion),
        "steps": [
            {
                "step": entry.step, "method": entry.method, "columns": list(entry.columns), "changed": entry.values_changed,
                "removed": entry.records_removed, "added": entry.records_added, "notes": _notes(entry.notes, discretion),
            }
            for entry in (release.log if release else ())
        ],
        "policy": policy_text(original.policy.with_(plan=release.plan) if release else original.policy, discretion),
        "seed": (release.plan if release else original.policy.plan).seed if internal else None,
        "key": (release.plan if release else original.policy.plan).key,
        "assumptions": [_attribute(name, original, discretion) for name in original.columns],
    }  # fmt: skip


def _notes(notes: Iterable[str], discretion: Discretion) -> list[str]:
    """Sentences of a step or a measure; those with a public text give that, unless the report is internal."""
    texts = [note if discretion.internal else public_text(note) for note in notes]
    return [discretion.sentence(text) for text in texts if text]


def policy_text(policy: Policy, discretion: Discretion) -> str:
    """The policy as a file to copy, without rare values."""
    content = policy.model_dump(mode="json", exclude_defaults=True)
    return yaml.safe_dump(discretion.policy(content), sort_keys=False, allow_unicode=True, width=120)


def _verdict(found: Assessment, release: Release | None, discretion: Discretion) -> dict[str, Any]:
    """The three states of the verdict with the gaps in the evidence; ``ok`` is None where there are no limits to judge by."""
    say = discretion.sentence
    limits = [
        one.to_dict() | {"sentence": say(one.sentence) if one.status == "incomplete" else one.sentence} for one in found.verdicts
    ]
    warnings = [*found.warnings, *(release.warnings if release else ())]
    return found.to_dict() | {
        "ok": found.ok if limits else None,
        "sentence": " ".join(found.sentences[: len(found.sentences) - len(found.gaps)]),
        "gaps": _notes(found.gaps, discretion),
        "limits": limits,
        "warnings": _notes(warnings, discretion),
    }


def _histograms(found: Assessment) -> list[dict[str, Any]]:
    made = []
    for name, after in found.after.items():
        one = histogram(found.before[name], after, found.informed.get(name))
        if one is not None:
            made.append({"measure": name, **one})
    return made


def _adversary(name: str, found: Assessment, original: Microdata, discretion: Discretion) -> dict[str, Any]:
    loaded = registry.load("risk", name)
    measure = registry.make("risk", name, original.policy.risk.get(name), origin=original.policy.origin)
    before, after = found.before[name].to_dict(), found.after[name].to_dict()
    informed = found.informed[name].to_dict() if name in found.informed else {}
    fields = [
        {
            "field": field, "meaning": loaded.meaning.get(field, ""), "better": loaded.better.get(field, ""),
            "before": before.get(field), "after": after[field], "informed": informed.get(field),
        }
        for field in after
        if not isinstance(after[field], Mapping)
    ]  # fmt: skip
    return {
        "measure": name,
        "what": (loaded.__doc__ or "").strip().split("\n")[0],
        "citation": loaded.citation,
        "parameters": discretion.policy({"risk": {name: _plain(measure.parameters)}})["risk"][name],
        "fields": fields,
        "notes": _notes(found.after[name].notes, discretion),
    }


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def _riskiest(
    name: str, found: Assessment, original: Microdata, table: Microdata, discretion: Discretion, places: Rows
) -> dict[str, Any]:
    """The riskiest released records by one measure, with their rows in the release and in the source."""
    measure = registry.make("risk", name, original.policy.risk.get(name), origin=original.policy.origin)
    before = found.before[name]
    ranked = number_of(before) if before.riskiest is None else None
    risks = before.per_record if ranked is not None else None
    rows = riskiest(measure, found.after[name], table)
    for row in rows:
        at = row.pop("record") - 1
        source = places.source(at)
        row["release_row"], row["source_row"] = places.release(at), None if source is None else source + 1
        row["before"] = None
        if risks is not None and ranked is not None and source is not None:
            row["before"] = float(risks[ranked[0]][source])
        if discretion.internal:
            row["cells"] = {name: str(value) for name, value in table.frame.row(at, named=True).items() if value is not None}
            row["explained"] = measure.explain(table, at, original=original if measure.needs_original(table) else None)
    return {"measure": name, "rows": rows}


def _loss(score: Score, discretion: Discretion) -> dict[str, Any]:
    loaded = registry.load("loss", score.measure)
    table = score.per_attribute
    return {
        "measure": score.measure,
        "citation": loaded.citation,
        "fields": [
            {"field": field, "value": value, "meaning": loaded.meaning.get(field, "")}
            for field, value in score.to_dict().items()
            if not isinstance(value, Mapping)
        ],
        "attributes": [] if table is None else [_plain(row) for row in table.iter_rows(named=True)],
        "notes": _notes(score.notes, discretion),
    }


def _attribute(name: str, original: Microdata, discretion: Discretion) -> dict[str, Any]:
    """What the policy takes an attribute to be, and an intruder to know of it."""
    said: Attribute = original.attribute(name)
    rare = discretion.rare(said.values)
    return {
        "attribute": name,
        "role": str(said.role),
        "level": str(original.level(name)),
        "known": said.known,
        "sensitivity": said.sensitivity,
        "values": {("(withheld)" if text in rare else text): weight for text, weight in said.values.items()},
        "default": said.unlisted,
    }
