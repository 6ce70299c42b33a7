"""Everything a report says, as plain values: the same for the page a person reads and the JSON a machine reads."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from discreet import registry, verbs
from discreet.engine.links import linked
from discreet.model.attribute import Attribute
from discreet.model.microdata import Microdata
from discreet.model.results import Assessment, Release
from discreet.model.score import Score
from discreet.report import provenance
from discreet.report.discretion import WITHHELD, Discretion
from discreet.report.distributions import distributions
from discreet.report.histograms import histogram
from discreet.report.tried import tried
from discreet.report.worst import number_of, riskiest
from discreet.selection.results import Selection

FORMAT = "discreet report 1"


def gather(
    original: Microdata,
    masked: Microdata | Release,
    assessment: Assessment | None = None,
    *,
    reveal: bool = False,
    by: str | None = None,
    original_file: str | Path | None = None,
    masked_file: str | Path | None = None,
    selection: Selection | Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The evidence on a release; ``reveal`` lets it name single values, which it otherwise never does.

    ``selection`` is the search that found its plan, where one did: the result, or what ``discreet select --json`` printed.
    """
    release = masked if isinstance(masked, Release) else None
    table = masked.masked if isinstance(masked, Release) else masked
    found = assessment if assessment is not None else verbs.assess(original, masked)
    discretion = Discretion(original, reveal=reveal)
    say = discretion.sentence
    return {
        "format": FORMAT,
        "reveal": reveal,
        "made": provenance.made(by),
        "tables": {
            "original": provenance.table(original, original_file),
            "masked": provenance.table(table, masked_file),
        },
        "verdict": _verdict(found, release, discretion),
        "histograms": _histograms(found),
        "adversaries": [_adversary(name, found, original, discretion) for name in found.after],
        "not_measured": [name for name in registry.names("risk") if name not in found.after],
        "riskiest": [_riskiest(name, found, original, table, discretion) for name in found.after],
        "tried": None if selection is None else tried(selection, discretion),
        "losses": [_loss(score, discretion) for score in found.losses.values()],
        "distributions": distributions(original, table, discretion),
        "steps": [
            {
                "step": entry.step, "method": entry.method, "columns": list(entry.columns), "changed": entry.values_changed,
                "removed": entry.records_removed, "added": entry.records_added, "notes": [say(note) for note in entry.notes],
            }
            for entry in (release.log if release else ())
        ],
        "policy": policy_text(original, discretion),
        "seed": (release.plan if release else original.policy.plan).seed if reveal else WITHHELD,
        "assumptions": [_attribute(name, original, discretion) for name in original.columns],
    }  # fmt: skip


def policy_text(original: Microdata, discretion: Discretion) -> str:
    """The policy as a file to copy, without rare values."""
    content = original.policy.model_dump(mode="json", exclude_defaults=True)
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
        "gaps": [say(gap) for gap in found.gaps],
        "limits": limits,
        "warnings": [say(one) for one in warnings],
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
        "notes": [discretion.sentence(note) for note in found.after[name].notes],
    }


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def _riskiest(name: str, found: Assessment, original: Microdata, table: Microdata, discretion: Discretion) -> dict[str, Any]:
    measure = registry.make("risk", name, original.policy.risk.get(name), origin=original.policy.origin)
    after = found.after[name]
    rows = riskiest(measure, after, table)
    _before(rows, found.before[name], original, table)
    for row in rows if discretion.reveal else ():
        at = row["record"] - 1
        row["cells"] = {column: str(value) for column, value in table.frame.row(at, named=True).items() if value is not None}
        known = original if measure.needs_original(table) else None
        row["explained"] = measure.explain(table, at, original=known)
    return {"measure": name, "rows": rows}


def _before(rows: list[dict[str, Any]], before: Score, original: Microdata, table: Microdata) -> None:
    """What the records' own originals had, where it is known which they are and is told without counting all again."""
    links = linked(table, original)
    ranked = number_of(before) if before.riskiest is None else None
    frame = before.per_record if ranked is not None else None
    for row in rows:
        at = -1 if links is None else int(links[row["record"] - 1])
        row["before"] = float(frame[ranked[0]][at]) if frame is not None and ranked is not None and at >= 0 else None


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
        "notes": [discretion.sentence(note) for note in score.notes],
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
