"""discreet assess: judge a release."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import show
from discreet.cli.options import Engine, Json, Link, Overwrite, PolicyFile


def assess(
    original: Annotated[str, typer.Argument(help="The initial microdata.", show_default=False)],
    masked: Annotated[str, typer.Argument(help="The masked microdata.", show_default=False)],
    policy: PolicyFile,
    records: Annotated[
        Path | None, typer.Option("--records", help="Write a row a masked record here: each adversary's chance, and the worst.")
    ] = None,
    link: Link = None,
    overwrite: Overwrite = False,
    engine: Engine = None,
    json: Json = False,
) -> None:
    """Measure risks before and after and what was lost, and judge both by the policy's limits."""
    from discreet import verbs
    from discreet.convert import load_policy
    from discreet.convert.writing.destinations import check_targets

    check_targets(
        {"--records": records},
        {"ORIGINAL": original, "MASKED": masked, "--policy": policy, "--link": link},
        policy=load_policy(policy),
        overwrite=overwrite,
    )
    with show.progress():
        before, after = verbs.read(original, policy, engine=engine), verbs.read(masked, policy, engine=engine)
        if link is not None:
            after = verbs.link(before, after, link)
        found = verbs.assess(before, after)
        if records is not None:
            from discreet.convert import write_target
            from discreet.model.microdata import Microdata

            write_target(Microdata(found.per_record()), records, private=True, overwrite=overwrite)
    if json:
        show.as_json(
            {
                "records": {"before": found.records_before, "after": found.records_after},
                "risks": {
                    name: {
                        "before": found.before[name].to_dict() if name in found.before else None,
                        "after": score.to_dict(),
                        "informed": found.informed[name].to_dict() if name in found.informed else None,
                    }
                    for name, score in found.after.items()
                },
                "losses": {name: score.to_dict() for name, score in found.losses.items()},
                "coverage": show.coverage_rows(found),
                "warnings": list(found.warnings),
                **found.to_dict(),
            }
        )
    else:
        show.assessment(found)
    for warning in found.warnings:
        show.say(f"warning: {warning}")
    show.reasons(found, headline=json)
    if not found.ok:
        raise typer.Exit(1)
