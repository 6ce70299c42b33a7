"""discreet analyze: propose a policy for a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import output
from discreet.cli.options import From, Json, Overwrite, place_of


def analyze(
    source: Annotated[
        list[str] | None,
        typer.Argument(help="A file, several, a wildcard in quotes, - for standard input, or URL#table.", show_default=False),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write the proposed policy to this file.")] = None,
    policy: Annotated[
        Path | None, typer.Option("--policy", "-p", help="A policy with what is already decided; the proposal keeps it.")
    ] = None,
    source_format: From = None,
    overwrite: Overwrite = False,
    json: Json = False,
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON Schema of a policy file, for editors.")] = False,
) -> None:
    """Propose a role, level, known probability and sensitivity for each attribute, with the reasons."""
    if schema:
        from discreet.model.policy import Policy

        output.print_json(Policy.model_json_schema())
        return
    if not source:
        raise typer.BadParameter("give a source, or --schema")
    from discreet.convert import load_policy
    from discreet.convert.writing.atomic import write_text
    from discreet.convert.writing.destinations import check_targets, format_place
    from discreet.verbs import analyze as analyze_data
    from discreet.verbs import read

    table = place_of(source, source_format)
    loaded_policy = load_policy(policy)
    check_targets({"--out": out}, {"SOURCE": table, "--policy": policy}, policy=loaded_policy, overwrite=overwrite)
    with output.show_progress():
        profile = analyze_data(read(table, loaded_policy))
    if out is not None:
        write_text(out, profile.to_yaml(), private=True, overwrite=overwrite)
    if json:
        output.print_json(profile.to_dict())
        return
    for note in (*profile.notes, *profile.value_notes):
        output.print_message(note)
    rows = profile.review_rows()
    if rows:
        output.print_table("Proposed attributes", list(rows[0]), [list(row.values()) for row in rows])
    if out is not None:
        next_command = f"discreet risk {format_place(table)} -p {out}"
        output.print_message(f"proposed policy written to {out}: check the reasons, correct errors, then run {next_command}")
