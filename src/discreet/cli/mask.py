"""discreet mask: run the plan of a policy."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli import show
from discreet.cli.options import DropDependents, Engine, Json, Overwrite, PolicyFile, Source
from discreet.cli.report import Internal, Reveal, evidence, ready, wants_internal
from discreet.cli.report import write as write_report


def mask(
    source: Source,
    out: Annotated[str, typer.Argument(help="Where the masked table goes: a file, or URL#table.", show_default=False)],
    policy: PolicyFile,
    report: Annotated[Path | None, typer.Option("--report", help="Write the evidence here, as HTML.")] = None,
    internal: Internal = False,
    reveal: Reveal = False,
    link: Annotated[
        str | None,
        typer.Option("--link", help="Write here which original each masked row comes from; confidential, for loss and assess."),
    ] = None,
    key: Annotated[
        str | None,
        typer.Option("--key", help="Repeat a release with this key of the key ring (discreet key list); default: a new key."),
    ] = None,
    write_policy: Annotated[
        Path | None,
        typer.Option("--write-policy", help="Write the policy that repeats this release here: with the id of its key."),
    ] = None,
    overwrite: Overwrite = False,
    drop_dependents: DropDependents = False,
    engine: Engine = None,
    json: Json = False,
) -> None:
    """Mask a table by the policy's plan, and judge the release by the policy's limits."""
    from discreet import verbs
    from discreet.convert import load_policy
    from discreet.convert.writing.destinations import check_targets
    from discreet.errors import PolicyError
    from discreet.masking.release import untouched
    from discreet.model.results import NO_LIMITS
    from discreet.selection.validate import errors, validate

    check_targets(
        {"OUT": out, "--report": report, "--link": link, "--write-policy": write_policy},
        {"SOURCE": source, "--policy": policy},
        policy=load_policy(policy),
        overwrite=overwrite,
    )
    if report is not None:
        ready(report)
    with show.progress():
        data = verbs.read(source, policy, engine=engine)
        findings = validate(data, data.policy.plan)
        if wrong := errors(findings):
            raise PolicyError(f"{policy}: {wrong[0]}")
        release = verbs.mask(data, key=key)
        assessment = verbs.assess(data, release) if data.policy.limits or report is not None else None
        verbs.write(release, out, overwrite=overwrite, drop_dependents=drop_dependents)
        if link is not None:
            verbs.write_link(release, link, overwrite=overwrite)
        if write_policy is not None:
            _write_policy(release, write_policy, overwrite=overwrite)
        if report is not None:
            told = evidence(data, release, assessment, source, out, internal=wants_internal(internal, reveal))
            write_report(told, out=report, overwrite=overwrite)
    judged = assessment if data.policy.limits else None
    warnings = [*(one.sentence for one in findings), *release.warnings]
    if link is not None and "://" in link:
        warnings.append("the link has the rights that its store gives; see that nobody but its owner can read it there")
    if what := ", ".join(untouched(release)):
        advice = "add remove_identifiers or pseudonymization to the plan"
        warnings.append(
            f"the masked table still names people by {what}; {advice}"
            if release.plan.identifiers == "kept"
            else f"no step works on {what}, which would name people, so they are left out; {advice}, or say identifiers: kept"
        )
    if json:
        not_judged = {"ok": None, "status": "incomplete", "judge": data.policy.judge, "gaps": [NO_LIMITS], "limits": []}
        content: dict[str, Any] = {
            "key": release.plan.key, "records": release.t, "original_records": release.n, "sf": release.sf, "fs": release.fs,
            "steps": [vars_of(entry) for entry in release.log], "warnings": warnings,
            **(judged.to_dict() if judged is not None else not_judged),
        }  # fmt: skip
        show.as_json(content)
    else:
        if judged is not None:
            show.verdict(judged)
        show.release(release)
        if judged is not None:
            show.limits(judged.verdicts)
            show.coverage(judged)
    for entry in release.log:
        for note in entry.notes:
            show.say(f"step {entry.step} ({entry.method}): {note}")
    if release.plan.key is not None:
        show.say(f"the random choices come from the key {release.plan.key}; discreet mask --key {release.plan.key} repeats them")
    for warning in warnings:
        show.say(f"warning: {warning}")
    if judged is None:
        show.say(NO_LIMITS)
        return
    show.reasons(judged, headline=json)
    if not judged.ok:
        raise typer.Exit(1)


def _write_policy(release: Any, target: Path, *, overwrite: bool) -> None:
    """The policy that repeats a release, with what its labels stand for; it names the key by its id, and holds no secret."""
    from discreet.convert.writing.atomic import write_text
    from discreet.masking.release import released
    from discreet.selection.results import move_policy

    cells = released(release).cells  # what the labels stand for, also where no file beside the release can say so
    policy = release.original.policy.with_(plan=release.plan, cells=dict(cells))
    write_text(target, move_policy(policy, target.parent).to_yaml(), private=True, overwrite=overwrite)


def vars_of(value: Any) -> dict[str, Any]:
    """A frozen record as plain JSON values."""
    from dataclasses import asdict

    return {name: list(one) if isinstance(one, tuple) else one for name, one in asdict(value).items()}
