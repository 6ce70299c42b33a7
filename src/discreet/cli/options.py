"""Options that several commands share."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Annotated, Any

import typer

Source = Annotated[
    list[str],
    typer.Argument(
        help="A file, several files or a wildcard in quotes, - for standard input, an address such as s3://bucket/table.parquet, "
        "or a database table as URL#table.",
        show_default=False,
    ),
]
Original = Annotated[str, typer.Argument(help="The initial microdata; - for standard input.", show_default=False)]
Masked = Annotated[str, typer.Argument(help="The masked microdata; - for standard input.", show_default=False)]
From = Annotated[
    str | None,
    typer.Option("--from", help="Format of standard input: csv, tsv, parquet, arrow or jsonl. Default: as its first bytes show."),
]
To = Annotated[str | None, typer.Option("--to", help="Format of standard output: csv (default), tsv, parquet, arrow or jsonl.")]
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


def place_of(names: list[str] | str, stream_format: str | None = None, option: str = "--from") -> Any:
    """The source or target that some arguments name: one place, or a list of files that are one table."""
    from discreet.convert.places.standard_streams import StandardStream

    places = [names] if isinstance(names, str) else names
    if stream_format is not None and "-" not in places:
        raise typer.BadParameter(f"{option} is the format of a standard stream; name - as the source or target, or leave it out")
    if "-" in places and len(places) > 1:
        raise typer.BadParameter("- cannot be one of several sources; name files, or send one table to standard input")
    resolved = [StandardStream(stream_format) if place == "-" else place for place in places]
    return resolved[0] if len(resolved) == 1 else resolved


def places_of(original: str, masked: str, stream_format: str | None) -> tuple[Any, Any]:
    """Two tables to compare, of which one may be on standard input in the format that is named."""
    if stream_format is not None and "-" not in (original, masked):
        place_of([original, masked], stream_format)  # raises
    formats = [stream_format if name == "-" else None for name in (original, masked)]
    return place_of(original, formats[0]), place_of(masked, formats[1])


def check_last_argument(sources: list[str], target: str, *, overwrite: bool) -> None:
    """Raise where the last of several file names would be overwritten: it may be a source, and the target forgotten."""
    if len(sources) > 1 and overwrite and "://" not in target and Path(target).expanduser().is_file():
        raise typer.BadParameter(
            f"with several sources the last argument is the target, and '{target}' exists: remove it first, "
            "or name the sources by a wildcard in quotes"
        )


@contextmanager
def table_on_stdout(target: Any, *, json: bool) -> Iterator[None]:
    """Send everything that is printed to standard error where the table itself goes to standard output."""
    if str(target) != "-":
        yield
        return
    if json:
        raise typer.BadParameter("--json prints to standard output, which is to hold the table; name a file as the target")
    with redirect_stdout(sys.stderr):
        yield
