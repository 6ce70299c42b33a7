"""discreet convert: a table from one format or database to another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import show
from discreet.cli.options import Source


def convert(
    source: Source,
    target: Annotated[str, typer.Argument(help="A file, or a database table as URL#table.", show_default=False)],
    policy: Annotated[Path | None, typer.Option("--policy", "-p", help="How to read the source: missing, read, levels.")] = None,
) -> None:
    """Convert a table; streams where the formats allow it, and writes the target whole or not at all."""
    from discreet.convert import convert as run
    from discreet.convert import load_policy

    with show.progress():
        rows, columns = run(source, target, load_policy(policy))
    show.say(f"{rows:,} records x {columns:,} attributes written to {_shown(target)}")


def _shown(target: str) -> str:
    """A target without the password that an address may hold."""
    from discreet.convert.address import parse_address

    return parse_address(target).name if "://" in target else target
