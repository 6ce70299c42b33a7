"""discreet loss: measure what masking cost."""

from __future__ import annotations

from typing import Annotated

import typer

from discreet.cli import show
from discreet.cli.options import Engine, Json, Link, PolicyFile


def loss(
    original: Annotated[str, typer.Argument(help="The initial microdata.", show_default=False)],
    masked: Annotated[str, typer.Argument(help="The masked microdata.", show_default=False)],
    policy: PolicyFile,
    measure: Annotated[
        list[str] | None, typer.Option("--measure", "-m", help="A loss measure; the policy's where none is named.")
    ] = None,
    link: Link = None,
    engine: Engine = None,
    json: Json = False,
) -> None:
    """Measure what a masked table lost of its original."""
    from discreet import verbs

    with show.progress():
        before, after = verbs.read(original, policy, engine=engine), verbs.read(masked, policy, engine=engine)
        if link is not None:
            after = verbs.link(before, after, link)
        found = verbs.loss(before, after, measure or None)
    if json:
        show.as_json({"records": len(after), "measures": {name: score.to_dict() for name, score in found.items()}})
    else:
        show.scores(found, verbs.meanings("loss", found))
