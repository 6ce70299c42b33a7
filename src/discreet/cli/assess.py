"""discreet assess: judge a release by the limits of its policy."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import output
from discreet.cli.options import Engine, From, Json, Link, Masked, Original, Overwrite, PolicyFile, places_of


def assess(
    original: Original,
    masked: Masked,
    policy: PolicyFile,
    records: Annotated[
        Path | None,
        typer.Option(
            "--records",
            help="Write one row per masked record to this file: its re-identification risk by measure, and the worst.",
        ),
    ] = None,
    link: Link = None,
    source_format: From = None,
    overwrite: Overwrite = False,
    engine: Engine = None,
    json: Json = False,
) -> None:
    """Measure the risks before and after masking and the information loss, and judge both by the policy's limits."""
    from discreet import verbs
    from discreet.convert import load_policy
    from discreet.convert.writing.destinations import check_targets

    original, masked = places_of(original, masked, source_format)
    loaded_policy = load_policy(policy)
    check_targets(
        {"--records": records},
        {"ORIGINAL": original, "MASKED": masked, "--policy": policy, "--link": link},
        policy=loaded_policy,
        overwrite=overwrite,
    )
    with output.show_progress():
        before, after = (verbs.read(table, loaded_policy, engine=engine) for table in (original, masked))
        if link is not None:
            after = verbs.link(before, after, link)
        assessment = verbs.assess(before, after)
        if records is not None:
            from discreet.convert import write_target
            from discreet.model.microdata import Microdata

            write_target(Microdata(assessment.per_record()), records, private=True, overwrite=overwrite)
    if json:
        output.print_json(
            {
                "records": {"before": assessment.records_before, "after": assessment.records_after},
                "risks": {
                    name: {
                        "before": assessment.before[name].to_dict() if name in assessment.before else None,
                        "after": score.to_dict(),
                        "informed": assessment.informed[name].to_dict() if name in assessment.informed else None,
                        **({"bounds": dict(score.bounds)} if score.bounds else {}),
                    }
                    for name, score in assessment.after.items()
                },
                "losses": {name: score.to_dict() for name, score in assessment.losses.items()},
                "coverage": output.coverage_rows(assessment),
                "warnings": list(assessment.warnings),
                **assessment.to_dict(),
            }
        )
    else:
        output.print_assessment(assessment)
    for warning in assessment.warnings:
        output.print_message(f"warning: {warning}")
    output.print_unmet_limits(assessment, headline=json)
    if not assessment.ok:
        raise typer.Exit(1)
