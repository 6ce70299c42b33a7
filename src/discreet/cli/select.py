"""discreet select: search for the plan that meets the limits at the least loss."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from discreet.cli import output
from discreet.cli.options import From, Json, Overwrite, PolicyFile, Source, place_of
from discreet.cli.plans import print_plans
from discreet.cli.report import Internal, Reveal, check_report_targets, gather_evidence, wants_internal, write_report

if TYPE_CHECKING:
    from discreet.selection.options import Preference


def select(
    source: Source,
    policy: PolicyFile,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Write the policy with the chosen plan to this file.", show_default=False)
    ],
    seconds: Annotated[float | None, typer.Option("--seconds", help="How long to search. Default: as in the policy.")] = None,
    trials: Annotated[int | None, typer.Option("--trials", help="How many plans to try. Default: as in the policy.")] = None,
    prefer: Annotated[
        str | None,
        typer.Option(
            "--prefer",
            help="Which of the three plans to write: 'least loss' (default), 'most truthful' or 'safest'.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="Seed of the search. Default: as in the policy.")] = None,
    resume: Annotated[
        Path | None, typer.Option("--resume", help="Record the search in this file, and continue from it after an interruption.")
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            "--report", help="Write a report on the chosen plan and all plans tried to this file: HTML, or PDF or JSON."
        ),
    ] = None,
    internal: Internal = False,
    reveal: Reveal = False,
    source_format: From = None,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Search for the list of masking methods and parameters that meets every limit at the least loss.

    Three plans are shown side by side: the one with the least loss, the most truthful one and the safest one.
    """
    from discreet import verbs
    from discreet.assessment.limit_gaps import gaps_in_limits
    from discreet.convert import load_policy
    from discreet.convert.writing.atomic import write_text
    from discreet.convert.writing.destinations import check_targets, format_place
    from discreet.selection.comments import read_comments
    from discreet.selection.step_sentences import as_sentence, format_step

    loaded_policy = load_policy(policy)
    table = place_of(source, source_format)
    inputs: dict[str, Any] = {"SOURCE": table, "--policy": policy}
    check_targets({"--out": out, "--report": report}, inputs | {"--resume": resume}, policy=loaded_policy, overwrite=overwrite)
    check_targets({"--resume": resume}, inputs, policy=loaded_policy, overwrite=True)  # a search continues its own journal
    if report is not None:
        check_report_targets(report)
    with output.show_progress():
        data = verbs.read(table, policy)
        for gap in gaps_in_limits(data) if data.policy.limits else ():  # no plan settles them: better said before the search
            output.print_message(f"whatever the plan: {gap}")
        selection = verbs.select(
            data, seconds=seconds, trials=trials, seed=seed, prefer=cast("Preference | None", prefer), resume=resume
        )
    comments = read_comments(policy.read_text(encoding="utf-8"))
    write_text(out, selection.to_yaml(out.parent, comments=comments), private=True, overwrite=overwrite)
    if report is not None:
        content = gather_evidence(
            selection.release.original, selection.release, selection.assessment, format_place(table), None,
            internal=wants_internal(internal, reveal), selection=selection,
        )  # fmt: skip
        write_report(content, out=report, overwrite=overwrite)
    if json:
        output.print_json(selection.to_dict() | {"placed": [plan.to_dict() for plan in selection.placed]})
    else:
        for condition in selection.conditions:
            print(f"Not met: {condition} (section select of {policy}).")
        if selection.conditions:
            print("The limits by themselves:")
        output.print_verdict(selection.assessment)
        steps = [(number, as_sentence(format_step(step))) for number, step in enumerate(selection.plan.steps, 1)]
        output.print_table("Plan", ("step", "description"), steps)
        output.print_limits(selection.assessment.verdicts)
        print_plans(selection)
        for sentence in selection.sentences:
            print(sentence)
    for warning in selection.assessment.warnings:
        output.print_message(f"warning: {warning}")
    if selection.interrupted:
        output.print_message(f"interrupted: the best plan so far is written to {out}")
    if not selection.met and selection.standing:
        output.print_message(f"no plan that was tried meets every limit; closest plan written to {out}; {selection.obstacles}")
        raise typer.Exit(1)
    if not selection.met:
        gaps = len(selection.assessment.gaps)
        output.print_message(
            f"the plan meets every limit and is written to {out}, but the evidence does not cover the release: "
            f"{gaps:,} {'gap' if gaps == 1 else 'gaps'}, {'named' if json else 'listed'} above"
        )
        raise typer.Exit(1)
    output.print_message(f"policy with the plan written to {out}; next: discreet mask {format_place(table)} RELEASE -p {out}")
