"""discreet convert: copy a table from one format or database to another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import output
from discreet.cli.options import DropDependents, Overwrite, Source


def convert(
    source: Source,
    target: Annotated[str, typer.Argument(help="A file, or a database table as URL#table.", show_default=False)],
    policy: Annotated[
        Path | None, typer.Option("--policy", "-p", help="A policy that says how to read the source: missing, read, levels.")
    ] = None,
    overwrite: Overwrite = False,
    drop_dependents: DropDependents = False,
) -> None:
    """Convert a table; streams where the formats allow it, and writes the target completely or not at all."""
    from discreet.convert import convert as convert_table
    from discreet.convert import load_policy
    from discreet.convert.writing.destinations import check_targets, format_place

    loaded_policy = load_policy(policy)
    check_targets({"TARGET": target}, {"SOURCE": source, "--policy": policy}, policy=loaded_policy, overwrite=overwrite)
    with output.show_progress():
        rows, columns = convert_table(source, target, loaded_policy, overwrite=overwrite, drop_dependents=drop_dependents)
    output.print_message(f"{rows:,} records x {columns:,} attributes written to {format_place(target)}")
