"""discreet analyze: propose a policy for a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import show
from discreet.cli.options import Json, Overwrite


def analyze(
    source: Annotated[str | None, typer.Argument(help="A file, or a database table as URL#table.", show_default=False)] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write the proposed policy here.")] = None,
    policy: Annotated[Path | None, typer.Option("--policy", "-p", help="What is decided already; it is kept.")] = None,
    overwrite: Overwrite = False,
    json: Json = False,
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON Schema of a policy file, for editors.")] = False,
) -> None:
    """Propose role, level, known probability and sensitivity of each attribute, with a reason for each."""
    if schema:
        from discreet.model.policy import Policy

        show.as_json(Policy.model_json_schema())
        return
    if source is None:
        raise typer.BadParameter("name a source, or ask for --schema")
    from discreet.convert import load_policy
    from discreet.convert.writing.atomic import write_text
    from discreet.convert.writing.destinations import check_targets, shown_place
    from discreet.verbs import analyze as run
    from discreet.verbs import read

    check_targets({"--out": out}, {"SOURCE": source, "--policy": policy}, policy=load_policy(policy), overwrite=overwrite)
    with show.progress():
        found = run(read(source, policy))
    if out is not None:
        write_text(out, found.to_yaml(), private=True, overwrite=overwrite)
    if json:
        show.as_json(found.to_dict())
        return
    rows = found.rows()
    if rows:
        show.table("Proposed attributes", list(rows[0]), [list(row.values()) for row in rows])
    if out is not None:
        following = f"discreet risk {shown_place(source)} -p {out}"
        show.say(f"the proposal is in {out}: read the reasons, change what is not so, then run {following}")
