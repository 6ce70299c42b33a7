"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Source = Annotated[str, typer.Argument(help="A file, or a database table as URL#table.", show_default=False)]
PolicyFile = Annotated[Path, typer.Option("--policy", "-p", help="The policy file (YAML).", show_default=False)]
Link = Annotated[
    str | None, typer.Option("--link", help="The link that mask --link wrote; needed where records were removed or added.")
]
Engine = Annotated[str | None, typer.Option("--engine", help="local or spark. Default: that of the source or the policy.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace existing targets; sources are never overwritten.")]
DropDependents = Annotated[
    bool,
    typer.Option(
        "--drop-dependents",
        help="When a database table is replaced, drop views, indexes and rules that need columns it no longer has.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]
