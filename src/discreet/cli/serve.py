"""discreet serve: the web application and its REST interface."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import show


def serve(
    host: Annotated[str, typer.Option("--host", help="Where to listen; 127.0.0.1 is this machine only.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", help="The port to listen on.", min=0, max=65535)] = 8080,
    database: Annotated[
        str | None,
        typer.Option("--database", help="postgresql://… or mysql://…; an SQLite file in the data directory where absent."),
    ] = None,
    home: Annotated[
        Path | None, typer.Option("--home", help="The data directory; DISCREET_HOME or ~/.discreet where absent.")
    ] = None,
    url: Annotated[
        str | None, typer.Option("--url", help="How browsers reach it where that is not host and port, such as https://…")
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", help="Jobs that run at once.", min=1, max=64)] = 1,
    source: Annotated[
        list[str] | None, typer.Option("--source", help="NAME=ADDRESS of a database whose tables projects may use; repeatable.")
    ] = None,
) -> None:
    """Run the web application: log in, upload, classify, mask, look, release."""
    from discreet.web.serving import run

    run(host, port, database=database, home=home, url=url, jobs=jobs, sources=source or [], say=show.say)
