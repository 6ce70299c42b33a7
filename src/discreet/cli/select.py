"""discreet select: find the plan that keeps the limits at the least loss."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import show
from discreet.cli.options import Json, Overwrite, PolicyFile, Source
from discreet.cli.report import Internal, Reveal, evidence, ready, wants_internal
from discreet.cli.report import write as write_report


def select(
    source: Source,
    policy: PolicyFile,
    out: Annotated[Path, typer.Option("--out", "-o", help="Write the policy with the chosen plan here.", show_default=False)],
    seconds: Annotated[float | None, typer.Option("--seconds", help="How long to search; the policy's where absent.")] = None,
    trials: Annotated[int | None, typer.Option("--trials", help="How many plans to try; the policy's where absent.")] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="The search's seed; the policy's where absent.")] = None,
    resume: Annotated[
        Path | None, typer.Option("--resume", help="Keep the search in this file, and go on from it where it was stopped.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option("--report", help="Write the evidence on the chosen plan and all that were tried here, as HTML.")
    ] = None,
    internal: Internal = False,
    reveal: Reveal = False,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Search for the list of masking methods and parameters that keeps every limit at the least loss."""
    from discreet import verbs
    from discreet.convert import load_policy
    from discreet.convert.writing.atomic import write_text
    from discreet.convert.writing.destinations import check_targets, shown_place
    from discreet.selection.reasons import step_text

    said = load_policy(policy)
    inputs: dict[str, str | Path | None] = {"SOURCE": source, "--policy": policy}
    check_targets({"--out": out, "--report": report}, inputs | {"--resume": resume}, policy=said, overwrite=overwrite)
    check_targets({"--resume": resume}, inputs, policy=said, overwrite=True)  # a search goes on from its own journal
    if report is not None:
        ready(report)
    with show.progress():
        data = verbs.read(source, policy)
        found = verbs.select(data, seconds=seconds, trials=trials, seed=seed, resume=resume)
    write_text(out, found.to_yaml(out.parent), private=True, overwrite=overwrite)
    if report is not None:
        content = evidence(
            found.release.original, found.release, found.assessment, source, None, internal=wants_internal(internal, reveal),
            selection=found,
        )  # fmt: skip
        write_report(content, out=report, overwrite=overwrite)
    if json:
        show.as_json(found.to_dict() | {"placed": [one.to_dict() for one in found.placed]})
    else:
        show.verdict(found.assessment)
        show.table("Plan", ("step", "what it does"), [(at, step_text(step)) for at, step in enumerate(found.plan.steps, 1)])
        show.limits(found.assessment.verdicts)
        rows = [
            (one.name, abs(one.risk), one.loss, one.kept, "; ".join(map(step_text, found.plans[one.name].steps)))
            for one in found.frontier
        ]
        show.table("Frontier", ("plan", found.axes[0], found.axes[1], "meets the limits", "steps"), rows)
        for sentence in found.sentences:
            print(sentence)
    if not found.met:
        show.say(f"no plan that was tried meets every limit; the nearest is in {out}; {found.obstacles}")
        raise typer.Exit(1)
    show.say(f"the policy with the plan is in {out}: discreet mask {shown_place(source)} RELEASE -p {out} makes the release")
