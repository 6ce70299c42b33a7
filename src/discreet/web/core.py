"""The objects that every request needs: settings, database, job supervisor and project watcher."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fastapi import Request

from discreet.web.auth import accounts
from discreet.web.db.store import Store
from discreet.web.limits.shared_counts import SharedCounts
from discreet.web.operation.metrics import Metrics
from discreet.web.settings import Settings

if TYPE_CHECKING:
    from discreet.web.auth.sso.provider import Provider
    from discreet.web.jobs.events import Watcher
    from discreet.web.jobs.remote_supervisor import RemoteSupervisor
    from discreet.web.jobs.supervisor import Supervisor


@dataclass(frozen=True)
class Core:
    """The state of one running server."""

    settings: Settings
    store: Store
    supervisor: Supervisor | RemoteSupervisor
    watcher: Watcher
    counts: SharedCounts | None = None
    """Where there are several web processes, what they count together."""
    provider: Provider | None = None
    """The provider of single sign-on, if one is configured."""
    metrics: Metrics = field(default_factory=Metrics)

    def first_admin_link(self) -> str | None:
        """On the first start, create an administrator and return the link that sets the password; None on later starts.

        Without passwords there is nothing to set: administrators come from the provider's group, or by a rescue link.
        """
        if not self.settings.passwords:
            return None
        with self.store.write() as connection:
            if accounts.list_users(connection):
                return None
            _, secret = accounts.add(connection, "admin", admin=True, by="first start")
        return self.welcome_url(secret)

    def welcome_url(self, secret: str) -> str:
        """The URL of a one-time link that sets a password."""
        return f"{self.settings.url}/welcome/{secret}"


def get_core(request: Request) -> Core:
    """The server that handles a request."""
    core: Core = request.app.state.core
    return core
