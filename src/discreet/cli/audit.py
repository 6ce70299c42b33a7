"""discreet audit: verify the audit log of the web application."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import output
from discreet.cli.user import Database, Home


def audit(
    head: Annotated[
        list[str] | None,
        typer.Option("--head", help="NUMBER:HASH of an entry, as an earlier report prints it; must be in the log. Repeatable."),
    ] = None,
    export: Annotated[Path | None, typer.Option("--export", help="Write the whole log to this file, as lines of JSON.")] = None,
    database: Database = None,
    home: Home = None,
) -> None:
    """Verify the audit log of a server: that no entry was changed, removed or cut off. Exit status 1 if one was."""
    from discreet.convert.writing.atomic import write_text
    from discreet.web.db import audit as log
    from discreet.web.db.audit_key import Head
    from discreet.web.serving import open_store

    with open_store(home, database) as store:
        with store.read() as connection:
            fault = log.verify_chain(connection, [Head.parse(text) for text in head or []])
            end = log.read_head(connection)
        if export is not None:
            write_text(export, "".join(log.stream_export(store)), private=True)
    if fault is not None:
        output.print_message(f"the audit log is not intact: {fault}")
        raise typer.Exit(1)
    output.print_message(f"the audit log is intact: {end.number:,} entries; it ends with\n{end}")
