"""discreet loss: measure the information loss of masking."""

from __future__ import annotations

from typing import Annotated

import typer

from discreet.cli import output
from discreet.cli.options import Engine, From, Json, Link, Masked, Original, PolicyFile, places_of


def loss(
    original: Original,
    masked: Masked,
    policy: PolicyFile,
    measure: Annotated[
        list[str] | None, typer.Option("--measure", "-m", help="A loss measure; repeatable. Default: those of the policy.")
    ] = None,
    link: Link = None,
    source_format: From = None,
    engine: Engine = None,
    json: Json = False,
) -> None:
    """Measure the information loss of a masked table against its original."""
    from discreet import verbs
    from discreet.convert.writing.destinations import check_targets

    original, masked = places_of(original, masked, source_format)
    check_targets({}, {"ORIGINAL": original, "MASKED": masked})
    with output.show_progress():
        before, after = verbs.read(original, policy, engine=engine), verbs.read(masked, policy, engine=engine)
        if link is not None:
            after = verbs.link(before, after, link)
        scores = verbs.loss(before, after, measure or None)
    if json:
        output.print_json({"records": len(after), "measures": {name: score.to_dict() for name, score in scores.items()}})
    else:
        output.print_scores(scores, verbs.meanings("loss", scores))
