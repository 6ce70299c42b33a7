"""discreet convert: a table from one format or database to another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import show
from discreet.cli.options import DropDependents, Overwrite, Source


def convert(
    source: Source,
    target: Annotated[str, typer.Argument(help="A file, or a database table as URL#table.", show_default=False)],
    policy: Annotated[Path | None, typer.Option("--policy", "-p", help="How to read the source: missing, read, levels.")] = None,
    overwrite: Overwrite = False,
    drop_dependents: DropDependents = False,
) -> None:
    """Convert a table; streams where the formats allow it, and writes the target whole or not at all."""
    from discreet.convert import convert as run
    from discreet.convert import load_policy
    from discreet.convert.writing.destinations import check_targets, shown_place

    said = load_policy(policy)
    check_targets({"TARGET": target}, {"SOURCE": source, "--policy": policy}, policy=said, overwrite=overwrite)
    with show.progress():
        rows, columns = run(source, target, said, overwrite=overwrite, drop_dependents=drop_dependents)
    show.say(f"{rows:,} records x {columns:,} attributes written to {shown_place(target)}")
