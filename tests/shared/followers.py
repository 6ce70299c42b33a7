"""Followers of event streams, with a session of their own."""

from __future__ import annotations

from discreet.web.auth import accounts, sessions
from discreet.web.auth.accounts import User
from discreet.web.auth.following import Follower
from discreet.web.db.store import Store
from discreet.web.projects.projects import Project
from discreet.web.settings import Settings


def make_follower(store: Store, settings: Settings, user: User, project: Project) -> Follower:
    """A follower who is logged in."""
    with store.write() as connection:
        cookie = sessions.start(connection, user, settings)
    return Follower(project.id, user.id, accounts.digest(cookie))
