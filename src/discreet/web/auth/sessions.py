"""Sessions: a random cookie whose hash is in the database; new at login, gone at logout, dead when unused."""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass

from sqlalchemy import Connection, delete, insert, select, update

from discreet.web.auth.accounts import User, digest, of_row
from discreet.web.db.store import Store, now
from discreet.web.db.tables import sessions, users
from discreet.web.errors import Forbidden
from discreet.web.settings import Settings

LONGEST = 7 * 24 * 3600.0
"""Seconds after which a session ends however much it is used."""


@dataclass(frozen=True)
class Session:
    """Somebody logged in on one browser."""

    user: User
    csrf: str
    hash: str

    def check(self, said: str | None) -> None:
        """Raise where a form or script does not say the session's own word, which other sites cannot know."""
        if not said or not hmac.compare_digest(said.encode(), self.csrf.encode()):
            raise Forbidden("this form is from an older login or from another site; reload the page and try again")


def start(connection: Connection, user: User, settings: Settings) -> str:
    """A new session's cookie; sessions that are over are swept out."""
    secret = secrets.token_urlsafe(32)
    at = now()
    connection.execute(delete(sessions).where(sessions.c.expires < at))
    connection.execute(
        insert(sessions).values(
            hash=digest(secret),
            user_id=user.id,
            csrf=secrets.token_urlsafe(32),
            created=at,
            seen=at,
            expires=at + settings.session_hours * 3600,
        )
    )
    return secret


def find(store: Store, secret: str | None, settings: Settings) -> Session | None:
    """The session behind a cookie, or None; one in use goes on."""
    if not secret:
        return None
    at = now()
    with store.read() as connection:
        row = connection.execute(
            select(sessions.c.hash, sessions.c.csrf, sessions.c.seen, users)
            .join(users, users.c.id == sessions.c.user_id)
            .where(sessions.c.hash == digest(secret), sessions.c.expires > at, sessions.c.created > at - LONGEST)
        ).one_or_none()
    if row is None or row.disabled:
        return None
    if at - row.seen > 60:
        with store.write() as connection:
            later = {"seen": at, "expires": at + settings.session_hours * 3600}
            connection.execute(update(sessions).where(sessions.c.hash == row.hash).values(**later))
    return Session(of_row(row), row.csrf, row.hash)


def end(connection: Connection, session: Session, *, everywhere: bool = True) -> None:
    """Log out: on every browser, or on this one only."""
    which = sessions.c.user_id == session.user.id if everywhere else sessions.c.hash == session.hash
    connection.execute(delete(sessions).where(which))
