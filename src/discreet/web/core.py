"""What every request needs, in one place: the settings, the database, the jobs' supervisor, and the watcher of projects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fastapi import Request

from discreet.web.auth import accounts
from discreet.web.db.store import Store
from discreet.web.settings import Settings

if TYPE_CHECKING:
    from discreet.web.jobs.events import Watcher
    from discreet.web.jobs.supervisor import Supervisor


@dataclass(frozen=True)
class Core:
    """One running server."""

    settings: Settings
    store: Store
    supervisor: Supervisor
    watcher: Watcher

    def first_link(self) -> str | None:
        """On the very first start: an administrator, and the link that sets the password; later None."""
        with self.store.write() as connection:
            if accounts.all_users(connection):
                return None
            _, secret = accounts.add(connection, "admin", admin=True, by="the first start")
        return self.link(secret)

    def link(self, secret: str) -> str:
        """The address of a one-time link."""
        return f"{self.settings.url}/welcome/{secret}"


def core_of(request: Request) -> Core:
    """The server that a request came to."""
    found: Core = request.app.state.core
    return found
