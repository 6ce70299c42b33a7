"""Create a draft: mask, store as Parquet with the confidential link table in the project's private folder, assess and report.

The result is determined by the dataset, the policy and the release's secret key. The key is stored in the server's key ring
under the job's id before the work begins, so that an interrupted job produces the same release when it runs again.
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
from discreet.engine.runtime.progress import report_progress
from discreet.errors import PolicyError, SourceError
from discreet.keys.ring import KeyRing
from discreet.masking.generate import generate as run_plan
from discreet.masking.release import release_table, withheld_columns
from discreet.model.microdata import Microdata
from discreet.model.policy import Plan, Policy
from discreet.model.results import Assessment, Release
from discreet.model.score import Score
from discreet.report.evidence import collect, gather
from discreet.report.formats import write_form
from discreet.report.public_report.evidence import publish as public_form
from discreet.selection.validate import errors, validate
from discreet.web.jobs.key_project import key_project
from discreet.web.jobs.labels import read_with_labels, write_labels
from discreet.web.projects.comparing import write_changes
from discreet.web.workspace.stored_risks import write_risks
from discreet.web.workspace.stored_views import write_views

MASKED_FILE = "masked.parquet"
LINK_FILE = "link.parquet"


def generate_release(data: Microdata, inputs: dict[str, Any]) -> dict[str, Any]:
    """Run the plan and write all files of a release."""
    findings = validate(data, data.policy.plan)
    if plan_errors := errors(findings):
        raise PolicyError(plan_errors[0])
    plan, secret = plan_with_key(data, inputs)
    release = run_plan(data, plan, secret)
    report_progress("assessing the release", 0, 1)
    assessment = verbs.assess(data, release)
    folder = Path(inputs["folder"]) / "releases" / inputs["job"]
    create_private_folder(folder)
    masked, table = folder / MASKED_FILE, release_table(release)
    report_progress("writing the masked table", 0, 1)
    write_target(table, masked, private=True)
    write_labels(masked, table.labels, table.variable_labels)
    write_cells(masked, table.cells, private=True)
    verbs.write_link(release, folder / LINK_FILE, overwrite=True)
    write_risks(folder, data, release, assessment)
    write_views(folder, data, release, assessment)
    report_progress("comparing the release with the original", 0, 1)
    write_changes(Path(inputs["folder"]) / inputs["dataset"]["file"], masked, folder / LINK_FILE)
    report_progress("writing the report", 0, 1)
    original = Path(inputs["folder"]) / inputs["dataset"]["file"]
    evidence = collect(data, release, assessment, by=inputs["by"], original_file=original, masked_file=masked)
    _name_tables(evidence, inputs)
    public = public_form(evidence)
    write_private(folder / "report.html", write_form(public, "html"))
    write_private(folder / "report.json", write_form(public, "json"))
    write_private(folder / "report-short.html", write_form(public, "html", short=True))
    warnings = [
        *(finding.sentence for finding in findings),
        *release.warnings,
        *assessment.warnings,
        *_identifier_warnings(release),
    ]
    # the downloadable policy contains what the released labels stand for
    cells = {name: cell.model_dump(mode="json", exclude_defaults=True) for name, cell in table.cells.items()}
    policy = (
        inputs["policy"] | {"plan": inputs["policy"].get("plan", {}) | {"key": plan.key}} | ({"cells": cells} if cells else {})
    )
    row = {
        "file": f"releases/{inputs['job']}/{MASKED_FILE}", "sha256": evidence["tables"]["masked"]["sha256"],
        "records": len(table), "policy": policy,
        "ok": assessment.ok if assessment.verdicts else None,
        "assessment": _summarize_assessment(release, assessment, evidence) | {"warnings": warnings},
    }  # fmt: skip
    verdict = evidence["verdict"]["sentence"]
    result = {
        "records": release.t, "original_records": release.n, "ok": row["ok"], "status": assessment.status, "verdict": verdict,
    }  # fmt: skip
    return {"row": row, "result": result, "sentence": f"{release.t:,} of {release.n:,} records are released. {verdict}"}


def plan_with_key(data: Microdata, inputs: Mapping[str, Any]) -> tuple[Plan, bytes]:
    """The plan with its key id, and the secret key: the plan's own, or one stored under the job's id.

    The plan can name only a key that was generated in the same project.
    """
    plan, ring = data.policy.plan, KeyRing(inputs["home"], project=key_project(inputs))
    refuse_seed(plan.seed)
    if plan.key is not None:
        return plan, ring.get(plan.key).secret
    name = f"job-{inputs['job']}"
    try:
        key = ring.find(name) or ring.add(new_secret(), source=inputs["dataset"]["name"], plan=plan_digest(plan), key_id=name)
    except OSError as error:
        raise SourceError(f"the key of this release cannot be stored in the server's key ring: {error.strerror}") from None
    return plan.model_copy(update={"key": key.id}), key.secret


def refuse_seed(seed: int | None) -> None:
    """Raise if the plan has a numeric seed, because such a release could be reversed by trying seeds."""
    if seed is not None:
        raise PolicyError(
            "the plan has a numeric seed, and this server publishes no release with one: anybody can try seeds "
            "until one reverses the random steps; remove plan.seed from the policy to use a secret key instead"
        )


def write_report(data: Microdata, inputs: dict[str, Any]) -> dict[str, Any]:
    """Write the report on a release in another format."""
    from discreet.web.projects.release_files import report_name

    parameters = inputs["parameters"]
    masked = Path(inputs["folder"]) / inputs["release"]["file"]
    after = read_with_labels(masked, _reading_policy(data.policy))
    after = verbs.link(data, after.with_policy(data.policy), masked.with_name(LINK_FILE))
    original = Path(inputs["folder"]) / inputs["dataset"]["file"]
    internal = bool(parameters.get("internal") or parameters.get("reveal"))
    evidence = gather(data, after, None, internal=internal, by=inputs["by"], original_file=original, masked_file=masked)
    _name_tables(evidence, inputs)
    form = parameters.get("format", "html")
    short = bool(parameters.get("short"))
    file = masked.with_name(report_name(form, internal=internal, short=short))
    write_private(file, write_form(evidence, form, short=short))
    result = {"release": inputs["release"]["number"], "format": form, "internal": internal, "bytes": file.stat().st_size}
    which = ("short " if short else "") + ("internal" if internal else "public")
    return {"result": result, "sentence": f"the {which} report on release {inputs['release']['number']} was written as {form}"}


def _name_tables(evidence: dict[str, Any], inputs: Mapping[str, Any]) -> None:
    """Use the names that users know for the tables in a report, not the paths of the server's files."""
    evidence["tables"]["original"]["source"] = inputs["dataset"]["name"]
    evidence["tables"]["masked"]["source"] = inputs["project"]["table_name"]
    if "audit_head" in inputs:
        evidence["made"]["audit_head"] = inputs["audit_head"]


def write_private(file: Path, content: str | bytes) -> None:
    """Write a file atomically, readable only by its owner."""
    write_bytes(file, content.encode() if isinstance(content, str) else content, private=True)


def _reading_policy(policy: Policy) -> Policy:
    return Policy(read=policy.read, missing=policy.missing)


def _identifier_warnings(release: Release) -> list[str]:
    left_out = withheld_columns(release)
    still_released = [name for name in release.exposed if name not in left_out]
    warnings = []
    if left_out:
        warnings.append(
            f"{', '.join(left_out)} identify people and are not changed by any step, so they are left out of the release"
        )
    if still_released:
        warnings.append(f"the masked table still contains direct identifiers: {', '.join(still_released)}")
    return warnings


def _summarize_assessment(release: Release, assessment: Assessment, evidence: Mapping[str, Any]) -> dict[str, Any]:
    """The exact assessment, for the members of the project, who may also see the original data."""
    return {
        "records_before": assessment.records_before, "records_after": assessment.records_after,
        "before": _score_values(assessment.before), "after": _score_values(assessment.after),
        "informed": _score_values(assessment.informed),
        "coverage": evidence["coverage"],
        "losses": _score_values(assessment.losses), "verdict": evidence["verdict"], "histograms": evidence["histograms"],
        "adversaries": evidence["adversaries"], "not_measured": evidence["not_measured"], "riskiest": evidence["riskiest"],
        "loss": evidence["losses"], "steps": [asdict(entry) for entry in release.log], "sf": release.sf, "fs": release.fs,
    }  # fmt: skip


def _score_values(scores: Mapping[str, Score]) -> dict[str, dict[str, Any]]:
    return {name: score.to_dict() for name, score in scores.items()}
