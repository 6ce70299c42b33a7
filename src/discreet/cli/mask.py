"""discreet mask: run the plan of a policy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli import output
from discreet.cli.options import (
    DropDependents,
    Engine,
    From,
    Json,
    Overwrite,
    PolicyFile,
    Source,
    To,
    check_last_argument,
    place_of,
    table_on_stdout,
)
from discreet.cli.report import Internal, Reveal, check_report_targets, gather_evidence, wants_internal, write_report


def mask(
    source: Source,
    out: Annotated[str, typer.Argument(help="Where to write the masked table: a file, or URL#table.", show_default=False)],
    policy: PolicyFile,
    report: Annotated[
        Path | None, typer.Option("--report", help="Write the report to this file: HTML, or PDF or JSON by its ending.")
    ] = None,
    short_report: Annotated[
        Path | None, typer.Option("--short-report", help="Write the short report, two pages, to this file, likewise.")
    ] = None,
    internal: Internal = False,
    reveal: Reveal = False,
    link: Annotated[
        str | None,
        typer.Option("--link", help="Write the link from masked to original rows here, for loss and assess. Confidential."),
    ] = None,
    key: Annotated[
        str | None,
        typer.Option("--key", help="Repeat a release with this key from discreet key list. Default: a new key."),
    ] = None,
    write_policy: Annotated[
        Path | None,
        typer.Option("--write-policy", help="Write a policy that repeats this release (with the id of its key) to this file."),
    ] = None,
    source_format: From = None,
    target_format: To = None,
    overwrite: Overwrite = False,
    drop_dependents: DropDependents = False,
    engine: Engine = None,
    json: Json = False,
) -> None:
    """Mask a table by the policy's plan, and judge the release by the policy's limits."""
    check_last_argument(source, out, overwrite=overwrite)
    table, target = place_of(source, source_format), place_of(out, target_format, "--to")
    targets = {"OUT": target, "--report": report, "--short-report": short_report, "--link": link, "--write-policy": write_policy}
    with table_on_stdout(target, json=json):
        _mask(
            table,
            targets,
            policy,
            key,
            wants_internal(internal, reveal),
            engine,
            json=json,
            overwrite=overwrite,
            drop_dependents=drop_dependents,
        )


def _mask(
    source: Any, targets: Mapping[str, Any], policy: Path, key: str | None, internal: bool, engine: str | None, *, json: bool,
    overwrite: bool, drop_dependents: bool,
) -> None:  # fmt: skip
    from discreet import verbs
    from discreet.convert import load_policy
    from discreet.convert.writing.destinations import check_targets, format_place
    from discreet.errors import PolicyError
    from discreet.model.results import NO_LIMITS
    from discreet.selection.validate import errors, validate

    loaded_policy = load_policy(policy)
    check_targets(targets, {"SOURCE": source, "--policy": policy}, policy=loaded_policy, overwrite=overwrite)
    out, link, write_policy = targets["OUT"], targets["--link"], targets["--write-policy"]
    reports = {
        place: name == "--short-report" for name, place in targets.items() if name.endswith("report") and place is not None
    }
    if reports:
        check_report_targets(*reports)
    with output.show_progress():
        data = verbs.read(source, loaded_policy, engine=engine)
        findings = validate(data, data.policy.plan)
        if plan_errors := errors(findings):
            raise PolicyError(f"{policy}: {plan_errors[0]}")
        release = verbs.mask(data, key=key)
        assessment = verbs.assess(data, release) if data.policy.limits or reports else None
        verbs.write(release, out, overwrite=overwrite, drop_dependents=drop_dependents)
        if link is not None:
            verbs.write_link(release, link, overwrite=overwrite)
        if write_policy is not None:
            _write_policy(release, write_policy, overwrite=overwrite)
        if reports:
            evidence = gather_evidence(data, release, assessment, format_place(source), format_place(out), internal=internal)
            for place, short in reports.items():
                write_report(evidence, out=place, short=short, overwrite=overwrite)
    judged = assessment if data.policy.limits else None
    _print_release(release, judged, _list_warnings(findings, release, judged, targets), json)
    if judged is None:
        output.print_message(NO_LIMITS)
        return
    output.print_unmet_limits(judged, headline=json)
    if not judged.ok:
        raise typer.Exit(1)


def _list_warnings(findings: Iterable[Any], release: Any, judged: Any, targets: Mapping[str, Any]) -> list[str]:
    """What the owner of a release should know: findings on the plan, the release itself, and where it was written."""
    from discreet.masking.release import release_table, unmasked_identifiers

    warnings = [*(finding.sentence for finding in findings), *release.warnings]
    if judged is not None:
        warnings += [warning for warning in judged.warnings if warning not in warnings]
    if targets["OUT"] == "-" and targets["--write-policy"] is None and release_table(release).cells:
        warnings.append("what the labels stand for is not part of a stream; --write-policy FILE keeps it")
    if targets["--link"] is not None and "://" in targets["--link"]:
        warnings.append("the link table inherits the permissions of its database; restrict access to it")
    if unmasked := unmasked_identifiers(release):
        identifiers, is_one = ", ".join(unmasked), len(unmasked) == 1
        advice = f"name {'it' if is_one else 'them'} in a step remove_identifiers or pseudonymization"
        which = "identifies people, so it is" if is_one else "identify people, so they are"
        warnings.append(
            f"the masked table still identifies people by {identifiers}; {advice}"
            if release.plan.identifiers == "kept"
            else f"no step masks {identifiers}, which {which} left out; {advice}, or set identifiers: kept"
        )
    return warnings


def _print_release(release: Any, judged: Any, warnings: list[str], json: bool) -> None:
    """The release and, where it is judged, its verdict on standard output; notes and warnings on standard error."""
    from discreet.model.results import NO_LIMITS

    if json:
        not_judged = {
            "ok": None,
            "status": "incomplete",
            "judge": release.original.policy.judge,
            "gaps": [NO_LIMITS],
            "limits": [],
            "presets": [],
        }
        content: dict[str, Any] = {
            "key": release.plan.key, "records": release.t, "original_records": release.n, "sf": release.sf, "fs": release.fs,
            "steps": [_as_json_values(entry) for entry in release.log], "warnings": warnings,
            **(judged.to_dict() if judged is not None else not_judged),
        }  # fmt: skip
        output.print_json(content)
    else:
        if judged is not None:
            output.print_verdict(judged)
        output.print_release(release)
        if judged is not None:
            output.print_limits(judged.verdicts)
            output.print_presets(judged)
            output.print_coverage(judged)
    for entry in release.log:
        for note in entry.notes:
            output.print_message(f"step {entry.step} ({entry.method}): {note}")
    if release.plan.key is not None:
        output.print_message(f"random draws use the key {release.plan.key}; discreet mask --key {release.plan.key} repeats them")
    for warning in warnings:
        output.print_message(f"warning: {warning}")


def _write_policy(release: Any, target: Path, *, overwrite: bool) -> None:
    """Write the policy that repeats a release, with the meaning of its labels; it contains the id of the key, and no secret."""
    from discreet.convert.writing.atomic import write_text
    from discreet.masking.release import release_table
    from discreet.selection.results import rebase_policy

    cells = release_table(release).cells  # what the labels stand for, because a database table has no cells file beside it
    policy = release.original.policy.with_(plan=release.plan, cells=dict(cells))
    write_text(target, rebase_policy(policy, target.parent).to_yaml(), private=True, overwrite=overwrite)


def _as_json_values(entry: Any) -> dict[str, Any]:
    """An entry of the log as plain JSON values."""
    from dataclasses import asdict

    return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(entry).items()}
