"""discreet serve: the web application and its REST interface."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import output


def serve(
    host: Annotated[
        str, typer.Option("--host", help="The address to listen on; 127.0.0.1 accepts connections from this machine only.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", help="The port to listen on.", min=0, max=65535)] = 8080,
    database: Annotated[
        str | None,
        typer.Option("--database", help="postgresql://… or mysql://… Default: an SQLite file in the data directory."),
    ] = None,
    home: Annotated[
        Path | None, typer.Option("--home", help="The data directory. Default: DISCREET_HOME or ~/.discreet.")
    ] = None,
    url: Annotated[
        str | None, typer.Option("--url", help="The public address, such as https://… Default: host and port.")
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", help="Number of jobs that run at the same time.", min=1, max=64)] = 1,
    source: Annotated[
        list[str] | None, typer.Option("--source", help="NAME=URL of a database whose tables projects may use; repeatable.")
    ] = None,
    published: Annotated[
        str | None,
        typer.Option("--published", help="URL of the database of published tables. Default: a schema or file of its own."),
    ] = None,
    self_approval: Annotated[
        bool, typer.Option("--self-approval", help="Let people approve their own releases; every report says so.")
    ] = False,
    trusted_proxy: Annotated[
        list[str] | None,
        typer.Option("--trusted-proxy", help="Address of a proxy whose X-Forwarded-For header is believed; repeatable."),
    ] = None,
    job_memory: Annotated[
        str | None, typer.Option("--job-memory", help="Memory of one job, such as 4GB. Default: half of the machine's, shared.")
    ] = None,
    job_hours: Annotated[float, typer.Option("--job-hours", help="Hours that one job may run.", min=0.001)] = 24.0,
    user_quota: Annotated[
        str, typer.Option("--user-quota", help="Disk space of one user's projects; an administrator can change it per user.")
    ] = "50GB",
    project_quota: Annotated[str, typer.Option("--project-quota", help="Disk space of one project.")] = "20GB",
) -> None:
    """Run the web application and its REST interface."""
    from discreet.engine.runtime.memory import parse_size
    from discreet.web.serving import run_server
    from discreet.web.settings import Limits

    limits = Limits(
        job_memory=None if job_memory is None else parse_size(job_memory, "--job-memory"),
        job_hours=job_hours,
        user_bytes=parse_size(user_quota, "--user-quota"),
        project_bytes=parse_size(project_quota, "--project-quota"),
    )
    run_server(
        host, port, database=database, home=home, url=url, jobs=jobs, sources=source or [], published=published,
        self_approval=self_approval, say=output.print_message, trusted_proxies=trusted_proxy or [], limits=limits,
    )  # fmt: skip
