"""Settings of a server: from the command line, otherwise from environment variables."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from discreet.convert.databases.address import check_address
from discreet.engine.runtime.private_files import create_private_folder, home_folder, make_tree_private
from discreet.errors import SourceError
from discreet.web.addresses import check_public_url
from discreet.web.auth.sso.settings import OidcSettings
from discreet.web.operation.logs import LogFormat

_PRIVATE_NAMES = (".server.lock", "projects", "keys", "audit.key", "audit.head", ".ballast", "metrics")
_PRIVATE_PREFIXES = ("discreet.db", "releases.db")
"""Names of the server's own files in a data directory, including SQLite's -wal, -shm and -journal files. Permissions of other
files there are not changed."""

MIN_METRICS_TOKEN = 20


@dataclass(frozen=True)
class Limits:
    """What one user, one project, one upload and one job may use. An administrator can set other quotas for a user or project."""

    job_memory: int | None = None
    """Bytes of memory of one job; default: half of the machine's memory, shared by the jobs that run at the same time."""
    job_hours: float = 24.0
    """Hours that one job may run."""
    user_bytes: float = 50e9
    project_bytes: float = 20e9
    """Bytes on disk: of all projects that a user owns, and of one project."""
    expanded_bytes: float = 16e9
    """Bytes that an uploaded file may expand to."""
    reserved_bytes: float = 500e6
    """Bytes of the disk that uploads and jobs leave free, so that people can always log in and delete."""


@dataclass(frozen=True)
class Institution:
    """What an institution adds to a server: its login, second factors, metrics, and logs for programs."""

    oidc: OidcSettings | None = None
    passwords: bool = True
    require_totp: bool = False
    metrics_token: str | None = field(default=None, repr=False)
    log_format: LogFormat = "text"


@dataclass(frozen=True)
class Settings:
    """Settings of one server."""

    home: Path
    """Data directory: tables as Parquet, reports, and the SQLite files unless another database is configured."""
    database: str = field(repr=False)
    """URL of the database of users, projects and jobs, for example ``postgresql://…``."""
    published: str = field(repr=False)
    """URL of the database of published tables, for other programs to read; see :mod:`discreet.web.projects.published_tables`."""
    url: str = "http://127.0.0.1:8080"
    """Public URL of the server, without a trailing slash; cookies are marked Secure if it is https, and hold for its path."""
    jobs: int = 1
    """Number of jobs that run at the same time."""
    workers: int = 1
    """Number of processes that answer requests; more than one needs PostgreSQL."""
    upload_limit: int = 4 << 30
    """Maximum size of an upload in bytes."""
    session_hours: float = 12.0
    """Hours after which an unused session expires."""
    trusted_proxies: tuple[str, ...] = ()
    """Addresses and networks whose X-Forwarded-For and X-Forwarded-Proto headers are believed; none by default."""
    limits: Limits = field(default_factory=Limits)
    """Limits of jobs, uploads and quotas."""
    sources: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Connected databases (name: URL) whose tables can be imported. The URLs hold passwords and are never shown."""
    self_approval: bool = False
    """Whether people may approve releases that they made themselves: for installations with a single person."""

    oidc: OidcSettings | None = None
    """The provider of single sign-on; None: local accounts only."""
    passwords: bool = True
    """Whether local accounts may log in with a password."""
    require_totp: bool = False
    """Whether every local account needs a second factor."""
    metrics_token: str | None = field(default=None, repr=False)
    """The token with which metrics are read; None: there are no metrics."""
    log_format: LogFormat = "text"
    """How the log is written: for people or for programs."""

    @classmethod
    def make(
        cls,
        home: str | Path | None = None,
        database: str | None = None,
        *,
        url: str = "http://127.0.0.1:8080",
        jobs: int = 1,
        workers: int = 1,
        sources: Sequence[str] = (),
        published: str | None = None,
        self_approval: bool = False,
        trusted_proxies: Sequence[str] = (),
        limits: Limits | None = None,
        institution: Institution | None = None,
    ) -> Self:
        """Settings for a data directory (default: DISCREET_HOME, otherwise ``~/.discreet``), with SQLite as the default database.

        If other accounts can read the data directory, its permissions are restricted; if that fails, it is refused.
        """
        chosen = institution or Institution()
        if not chosen.passwords and chosen.oidc is None:
            raise SourceError("--no-passwords needs single sign-on: name a provider with --oidc-issuer, or nobody could log in")
        if chosen.metrics_token is not None and len(chosen.metrics_token) < MIN_METRICS_TOKEN:
            raise SourceError(
                f"the token of the metrics needs at least {MIN_METRICS_TOKEN} characters; `openssl rand -hex 32` makes one"
            )
        data_directory = create_private_folder(Path(home).expanduser().resolve() if home else home_folder())
        for entry in data_directory.iterdir():
            if entry.name in _PRIVATE_NAMES or entry.name.startswith(_PRIVATE_PREFIXES):
                make_tree_private(entry)
        database_address = database or os.environ.get("DISCREET_DATABASE")
        return cls(
            home=data_directory,
            database=database_address or f"sqlite:///{data_directory / 'discreet.db'}",
            published=_published_address(data_directory, database_address, published or os.environ.get("DISCREET_PUBLISHED")),
            self_approval=self_approval,
            url=check_public_url(url),
            jobs=jobs,
            workers=_check_workers(workers, database_address),
            trusted_proxies=_check_proxies(trusted_proxies),
            limits=limits or Limits(),
            oidc=chosen.oidc,
            passwords=chosen.passwords,
            require_totp=chosen.require_totp,
            metrics_token=chosen.metrics_token,
            log_format=chosen.log_format,
            sources=dict(map(_parse_source, [*os.environ.get("DISCREET_SOURCES", "").split(), *sources])),
        )

    @property
    def secure(self) -> bool:
        """Whether browsers connect over TLS."""
        return self.url.startswith("https://")

    @property
    def path(self) -> str:
        """The path of the public URL, such as ``/discreet``; empty if the server is at the root of its host."""
        return urlsplit(self.url).path

    @property
    def origin(self) -> str:
        """Scheme, host and port of the public URL, as browsers send them in the header Origin."""
        return self.url.removesuffix(self.path)

    @property
    def memory_per_job(self) -> int:
        """Bytes of memory that one job may use."""
        if self.limits.job_memory is not None:
            return self.limits.job_memory
        return max(1 << 30, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // (2 * self.jobs))

    def folder(self, project: int) -> Path:
        """The folder of a project's tables and results, created if it does not exist."""
        project_folder = self.home / "projects" / str(project)
        return create_private_folder(project_folder)


def _published_address(home: Path, database: str | None, published: str | None) -> str:
    """The address of the database of published tables: never that of the server's own tables, except a schema of its own."""
    system, _, _ = (database or "sqlite").partition(":")
    if published is not None:
        check_address(published)
        if system.partition("+")[0] not in ("postgresql", "postgres") and published == (
            database or f"sqlite:///{home / 'discreet.db'}"
        ):
            raise SourceError(
                "published tables need a database of their own, not that of users, jobs and originals; name another"
            )
        return published
    if system.startswith("postgres"):
        return str(database)
    if system.startswith(("mysql", "mariadb")):
        check_address(str(database))
        address, question, options = str(database).partition("?")
        return f"{address}_releases{question}{options}"
    return f"sqlite:///{home / 'releases.db'}"


def _check_workers(workers: int, database: str | None) -> int:
    """The number of web processes; raises where the database cannot serve several."""
    system = (database or "sqlite").partition(":")[0].partition("+")[0]
    if workers > 1 and system not in ("postgresql", "postgres"):
        name = {"sqlite": "SQLite, which has one writer at a time", "mysql": "MySQL", "mariadb": "MariaDB"}.get(system, system)
        raise SourceError(
            f"--workers {workers} needs PostgreSQL, not {name}; name it with --database postgresql://…, or leave --workers out"
        )
    return workers


def _check_proxies(texts: Sequence[str]) -> tuple[str, ...]:
    for text in texts:
        try:
            ipaddress.ip_network(text.strip(), strict=False)
        except ValueError:
            raise SourceError(
                f"'{text}' is not the address of a proxy; expected an address or a network, for example 10.0.0.7 or 10.0.0.0/24"
            ) from None
    return tuple(text.strip() for text in texts)


def _parse_source(text: str) -> tuple[str, str]:
    name, equals, address = text.partition("=")
    if not equals or not name.isidentifier() or "://" not in address:
        raise SourceError(
            "a source is NAME=URL, for example clinic=postgresql://host/name; NAME consists of letters, digits and _"
        )
    check_address(address)
    return name, address
