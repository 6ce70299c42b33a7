"""Where a server lives and what it allows: from the command line, else from the environment."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from discreet.convert.databases.address import check_address
from discreet.engine.runtime.private_files import create_private_folder, home_folder, make_tree_private
from discreet.errors import SourceError

_INSIDE = (".server.lock", "projects", "keys")
_DATABASES = ("discreet.db", "releases.db")
"""What is ours in a data directory, with SQLite's -wal, -shm and -journal; what else lies there is left alone."""


@dataclass(frozen=True)
class Settings:
    """One server's settings."""

    home: Path
    """The data directory: tables as Parquet, reports, and the SQLite files where no other database is named."""
    database: str = field(repr=False)
    """The address of the database of users, projects and jobs, such as ``postgresql://…``."""
    published: str = field(repr=False)
    """The address of the database that masked tables are stored in, for other programs to read."""
    url: str = "http://127.0.0.1:8080"
    """How browsers reach it; cookies are Secure where this is https."""
    jobs: int = 1
    """Jobs that run at once."""
    upload_limit: int = 4 << 30
    """Bytes that one upload may have."""
    session_hours: float = 12.0
    """How long a session lasts that nobody uses."""
    sources: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Databases by name whose tables projects may use; their addresses, which hold passwords, are told to nobody."""

    @classmethod
    def make(
        cls,
        home: str | Path | None = None,
        database: str | None = None,
        *,
        url: str = "http://127.0.0.1:8080",
        jobs: int = 1,
        sources: Sequence[str] = (),
    ) -> Self:
        """Settings with DISCREET_HOME (else ``~/.discreet``) and by default an SQLite file in it.

        A data directory that other accounts can read is tightened, or refused where its rights cannot be changed.
        """
        place = create_private_folder(Path(home).expanduser().resolve() if home else home_folder())
        for inside in place.iterdir():
            if inside.name in _INSIDE or inside.name.startswith(_DATABASES):
                make_tree_private(inside)
        named = database or os.environ.get("DISCREET_DATABASE")
        return cls(
            home=place,
            database=named or f"sqlite:///{place / 'discreet.db'}",
            published=named or f"sqlite:///{place / 'releases.db'}",
            url=url.rstrip("/"),
            jobs=jobs,
            sources=dict(map(_source, [*os.environ.get("DISCREET_SOURCES", "").split(), *sources])),
        )

    @property
    def secure(self) -> bool:
        """Whether browsers come over TLS."""
        return self.url.startswith("https://")

    def folder(self, project: int) -> Path:
        """Where the tables and results of one project are kept."""
        place = self.home / "projects" / str(project)
        return create_private_folder(place)


def _source(text: str) -> tuple[str, str]:
    name, equals, address = text.partition("=")
    if not equals or not name.isidentifier() or "://" not in address:
        raise SourceError("a source is NAME=ADDRESS, such as clinic=postgresql://host/name; the name is letters, digits and _")
    check_address(address)
    return name, address
