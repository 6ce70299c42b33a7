"""A release made: masked, kept as Parquet with its confidential link, assessed, told in a report, and published as a table.

All of it follows from the dataset, the policy and the release's secret key. The key is kept in the server's key ring, under the
job's id, before the work begins, so a job that was cut gives the same when it runs again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from discreet import verbs
from discreet.convert import write_target
from discreet.convert.files.cells_file import write_cells
from discreet.convert.writing.atomic import write_bytes
from discreet.engine.draws.context import plan_digest
from discreet.engine.draws.secret import new_secret
from discreet.engine.runtime.private_files import create_private_folder
from discreet.engine.runtime.progress import tell
from discreet.errors import PolicyError, SourceError
from discreet.keys.ring import KeyRing
from discreet.masking.generate import generate as run_plan
from discreet.masking.release import released, withheld
from discreet.model.microdata import Microdata
from discreet.model.policy import Plan, Policy
from discreet.model.results import Assessment, Release
from discreet.model.score import Score
from discreet.report.evidence import collect, gather
from discreet.report.page import as_json, render
from discreet.report.provenance import sha256
from discreet.report.public import publish as public_form
from discreet.selection.validate import errors, validate
from discreet.web.jobs.labels import keep_labels, read_with_labels

MASKED = "masked.parquet"
LINK = "link.parquet"


def generate(data: Microdata, brief: dict[str, Any]) -> dict[str, Any]:
    """Run the plan and make all that belongs to a release."""
    findings = validate(data, data.policy.plan)
    if wrong := errors(findings):
        raise PolicyError(wrong[0])
    plan, secret = release_key(data, brief)
    release = run_plan(data, plan, secret)
    tell("assessing the release", 0, 1)
    assessment = verbs.assess(data, release)
    folder = Path(brief["folder"]) / "releases" / brief["job"]
    create_private_folder(folder)
    masked, table = folder / MASKED, released(release)
    tell("writing the masked table", 0, 1)
    write_target(table, masked, private=True)
    keep_labels(masked, table.labels, table.variable_labels)
    write_cells(masked, table.cells, private=True)
    verbs.write_link(release, folder / LINK, overwrite=True)
    tell("writing the report", 0, 1)
    original = Path(brief["folder"]) / brief["dataset"]["file"]
    evidence = collect(data, release, assessment, by=brief["by"], original_file=original, masked_file=masked)
    _name_tables(evidence, brief)
    public = public_form(evidence)
    write_private(folder / "report.html", render(public))
    write_private(folder / "report.json", as_json(public))
    kept = [_keep(brief, one) for one in brief["kept"]]
    tell("storing the table", 0, 1)
    write_target(table, f"{brief['published']}#{brief['project']['table_name']}", private=True)
    warnings = [*(one.sentence for one in findings), *release.warnings, *assessment.warnings, *_withheld(release)]
    # whoever downloads the table gets with its policy what the labels stand for
    cells = {name: one.model_dump(mode="json", exclude_defaults=True) for name, one in table.cells.items()}
    policy = brief["policy"] | {"plan": brief["policy"].get("plan", {}) | {"key": plan.key}} | ({"cells": cells} if cells else {})
    made = {
        "file": f"releases/{brief['job']}/{MASKED}", "sha256": sha256(masked), "records": len(table),
        "table_name": brief["project"]["table_name"], "policy": policy, "kept": kept,
        "ok": assessment.ok if assessment.verdicts else None,
        "assessment": _assessed(release, assessment, evidence) | {"warnings": warnings},
    }  # fmt: skip
    verdict = evidence["verdict"]["sentence"]
    result = {
        "records": release.t, "original_records": release.n, "ok": made["ok"], "status": assessment.status, "verdict": verdict,
    }  # fmt: skip
    return {"made": made, "result": result, "sentence": f"{release.t:,} of {release.n:,} records are released. {verdict}"}


def release_key(data: Microdata, brief: Mapping[str, Any]) -> tuple[Plan, bytes]:
    """The plan with the id of its key, and the key: the plan's own, or one that is kept under the job's id."""
    plan, ring = data.policy.plan, KeyRing(brief["home"])
    refuse_seed(plan.seed)
    if plan.key is not None:
        return plan, ring.get(plan.key).secret
    name = f"job-{brief['job']}"
    try:
        found = ring.find(name) or ring.add(new_secret(), source=brief["dataset"]["name"], plan=plan_digest(plan), key_id=name)
    except OSError as error:
        raise SourceError(f"the server's key ring cannot keep the key of this release: {error.strerror}") from None
    return plan.model_copy(update={"key": found.id}), found.secret


def refuse_seed(seed: int | None) -> None:
    """Raise where a release would be, or was, made with a numeric seed."""
    if seed is not None:
        raise PolicyError(
            f"the plan has the seed {seed}, and this server publishes no release with a numeric seed: anybody can try seeds "
            "until one undoes the random steps; remove plan.seed from the policy, and a secret key is drawn"
        )


def report(data: Microdata, brief: dict[str, Any]) -> dict[str, Any]:
    """The report on a release once more, in another form."""
    from discreet.web.projects.releases import report_name

    asked = brief["parameters"]
    masked = Path(brief["folder"]) / brief["release"]["file"]
    after = read_with_labels(masked, _reading(data.policy))
    after = verbs.link(data, after.with_policy(data.policy), masked.with_name(LINK))
    original = Path(brief["folder"]) / brief["dataset"]["file"]
    internal = bool(asked.get("internal") or asked.get("reveal"))
    evidence = gather(data, after, None, internal=internal, by=brief["by"], original_file=original, masked_file=masked)
    _name_tables(evidence, brief)
    form = asked.get("format", "html")
    place = masked.with_name(report_name(form, internal=internal))
    if form == "pdf":
        from discreet.report.browser import pdf

        write_private(place, pdf(render(evidence)))
    else:
        write_private(place, render(evidence) if form == "html" else as_json(evidence))
    result = {"release": brief["release"]["number"], "format": form, "internal": internal, "bytes": place.stat().st_size}
    which = "internal" if internal else "public"
    return {"result": result, "sentence": f"the {which} report on release {brief['release']['number']} is there as {form}"}


def _name_tables(evidence: dict[str, Any], brief: Mapping[str, Any]) -> None:
    """Call the tables of a report by the names that people of the project know them by, not by the server's files."""
    evidence["tables"]["original"]["source"] = brief["dataset"]["name"]
    evidence["tables"]["masked"]["source"] = brief["project"]["table_name"]


def publish(brief: dict[str, Any]) -> dict[str, Any]:
    """A release stored as a table of its own, which later releases leave alone."""
    refuse_seed((brief["release"]["policy"].get("plan") or {}).get("seed"))
    kept = _keep(brief, brief["release"])
    return {"result": kept, "sentence": f"release {kept['number']} is stored as the table {kept['table_name']}"}


def write_private(place: Path, content: str | bytes) -> None:
    """A file of the owner's alone, whole or not at all."""
    write_bytes(place, content.encode() if isinstance(content, str) else content, private=True)


def _keep(brief: Mapping[str, Any], one: Mapping[str, Any]) -> dict[str, Any]:
    name = str(one["table_name"])
    tell(f"storing release {one['number']} as {name}", 0, 1)
    write_target(read_with_labels(Path(brief["folder"]) / one["file"], Policy()), f"{brief['published']}#{name}", private=True)
    return {"number": one["number"], "table_name": name}


def _reading(policy: Policy) -> Policy:
    return Policy(read=policy.read, missing=policy.missing)


def _withheld(release: Release) -> list[str]:
    left_out = withheld(release)
    still = [name for name in release.exposed if name not in left_out]
    told = []
    if left_out:
        told.append(f"{', '.join(left_out)} would name people and no step works on them, so they are left out")
    if still:
        told.append(f"the masked table still names people by {', '.join(still)}")
    return told


def _assessed(release: Release, found: Assessment, evidence: Mapping[str, Any]) -> dict[str, Any]:
    """The exact assessment, for the members of the project, who may see the original as well."""
    return {
        "records_before": found.records_before, "records_after": found.records_after,
        "before": _numbers(found.before), "after": _numbers(found.after), "informed": _numbers(found.informed),
        "coverage": evidence["coverage"],
        "losses": _numbers(found.losses), "verdict": evidence["verdict"], "histograms": evidence["histograms"],
        "adversaries": evidence["adversaries"], "not_measured": evidence["not_measured"], "riskiest": evidence["riskiest"],
        "loss": evidence["losses"], "steps": [asdict(entry) for entry in release.log], "sf": release.sf, "fs": release.fs,
    }  # fmt: skip


def _numbers(scores: Mapping[str, Score]) -> dict[str, dict[str, Any]]:
    return {name: score.to_dict() for name, score in scores.items()}
