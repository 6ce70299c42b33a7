"""discreet convert: copy a table from one format or database to another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import output
from discreet.cli.options import DropDependents, From, Overwrite, Source, To, check_last_argument, place_of


def convert(
    source: Source,
    target: Annotated[
        str,
        typer.Argument(help="A file, - for standard output, or URL#table.", show_default=False),
    ],
    policy: Annotated[
        Path | None, typer.Option("--policy", "-p", help="A policy that says how to read the source: missing, read, levels.")
    ] = None,
    source_format: From = None,
    target_format: To = None,
    overwrite: Overwrite = False,
    drop_dependents: DropDependents = False,
) -> None:
    """Convert a table; streams where the formats allow it, and writes the target completely or not at all."""
    from discreet.convert import convert as convert_table
    from discreet.convert import load_policy
    from discreet.convert.places.standard_streams import STANDARD_OUTPUT
    from discreet.convert.writing.destinations import check_targets, format_place

    loaded_policy = load_policy(policy)
    check_last_argument(source, target, overwrite=overwrite)
    table, target = place_of(source, source_format), place_of(target, target_format, "--to")
    check_targets({"TARGET": target}, {"SOURCE": table, "--policy": policy}, policy=loaded_policy, overwrite=overwrite)
    written_to = STANDARD_OUTPUT if target == "-" else format_place(target)
    with output.show_progress():
        rows, columns = convert_table(table, target, loaded_policy, overwrite=overwrite, drop_dependents=drop_dependents)
    output.print_message(f"{rows:,} records x {columns:,} attributes written to {written_to}")
