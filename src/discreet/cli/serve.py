"""discreet serve: the web application and its REST interface."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import institution, output


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
        str | None,
        typer.Option("--url", help="The public address, such as https://host or https://host/discreet. Default: host and port."),
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", help="Number of jobs that run at the same time.", min=1, max=64)] = 1,
    workers: Annotated[
        int,
        typer.Option(
            "--workers", help="Number of processes that answer requests; more than one needs PostgreSQL.", min=1, max=64
        ),
    ] = 1,
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
    oidc_issuer: institution.OidcIssuer = None,
    oidc_client_id: institution.OidcClientId = None,
    oidc_secret_file: institution.OidcSecretFile = None,
    oidc_name: institution.OidcName = "single sign-on",
    oidc_scope: institution.OidcScope = None,
    oidc_groups_claim: institution.OidcGroupsClaim = "groups",
    oidc_login_group: institution.OidcLoginGroup = None,
    oidc_admin_group: institution.OidcAdminGroup = None,
    oidc_no_new_accounts: institution.OidcNoNewAccounts = False,
    oidc_session_hours: institution.OidcSessionHours = 12.0,
    oidc_token_days: institution.OidcTokenDays = 30.0,
    no_passwords: institution.NoPasswords = False,
    require_totp: institution.RequireTotp = False,
    metrics_token_file: institution.MetricsTokenFile = None,
    log_format: institution.LogFormatChoice = institution.LogFormatOption.text,
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
    chosen = institution.build_institution(
        oidc_issuer=oidc_issuer, oidc_client_id=oidc_client_id, oidc_secret_file=oidc_secret_file, oidc_name=oidc_name,
        oidc_scope=oidc_scope, oidc_groups_claim=oidc_groups_claim, oidc_login_group=oidc_login_group,
        oidc_admin_group=oidc_admin_group, oidc_no_new_accounts=oidc_no_new_accounts,
        oidc_session_hours=oidc_session_hours, oidc_token_days=oidc_token_days, no_passwords=no_passwords,
        require_totp=require_totp, metrics_token_file=metrics_token_file, log_format=log_format,
    )  # fmt: skip
    run_server(
        host, port, database=database, home=home, url=url, jobs=jobs, workers=workers, sources=source or [],
        published=published, self_approval=self_approval, trusted_proxies=trusted_proxy or [],
        limits=limits, institution=chosen, say=output.print_message,
    )  # fmt: skip
