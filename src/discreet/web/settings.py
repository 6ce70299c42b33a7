"""Where a server lives and what it allows: from the command line, else from the environment."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Self


@dataclass(frozen=True)
class Settings:
    """One server's settings."""

    home: Path
    """The data directory: tables as Parquet, reports, and the SQLite files where no other database is named."""
    database: str
    """The address of the database of users, projects and jobs, such as ``postgresql://…``."""
    published: str
    """The address of the database that masked tables are stored in, for other programs to read."""
    url: str = "http://127.0.0.1:8080"
    """How browsers reach it; cookies are Secure where this is https."""
    jobs: int = 1
    """Jobs that run at once."""
    upload_limit: int = 4 << 30
    """Bytes that one upload may have."""
    session_hours: float = 12.0
    """How long a session lasts that nobody uses."""

    @classmethod
    def make(
        cls, home: str | Path | None = None, database: str | None = None, *, url: str = "http://127.0.0.1:8080", jobs: int = 1
    ) -> Self:
        """Settings with DISCREET_HOME (else ``~/.discreet``) and an SQLite file in it where nothing else is said."""
        place = Path(home or os.environ.get("DISCREET_HOME") or Path.home() / ".discreet").expanduser().resolve()
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        named = database or os.environ.get("DISCREET_DATABASE")
        return cls(
            home=place,
            database=named or f"sqlite:///{place / 'discreet.db'}",
            published=named or f"sqlite:///{place / 'releases.db'}",
            url=url.rstrip("/"),
            jobs=jobs,
        )

    @property
    def secure(self) -> bool:
        """Whether browsers come over TLS."""
        return self.url.startswith("https://")

    def folder(self, project: int) -> Path:
        """Where the tables and results of one project are kept."""
        place = self.home / "projects" / str(project)
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        return place
