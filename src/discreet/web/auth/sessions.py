"""Sessions: a random cookie whose hash is stored; created at login, deleted at logout, expired when unused."""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, delete, insert, or_, select, update

from discreet.web.auth.accounts import User, digest, user_from_row
from discreet.web.db.store import Store, now, suppress_full_disk
from discreet.web.db.tables import sessions, users
from discreet.web.errors import Forbidden
from discreet.web.settings import Settings

MAX_SESSION_SECONDS = 7 * 24 * 3600.0
"""Maximum age of a session in seconds, even if it is in use."""

_VALID_SESSION = (
    select(sessions.c.hash, sessions.c.csrf, sessions.c.seen, sessions.c.id_token, users)
    .join(users, users.c.id == sessions.c.user_id)
    .where(
        sessions.c.hash == bindparam("secret"),
        sessions.c.expires > bindparam("now"),
        sessions.c.created > bindparam("oldest"),
        or_(sessions.c.ends.is_(None), sessions.c.ends > bindparam("now")),
    )
)
"""Built once, because every request of a browser needs it and building it takes longer than running it."""


@dataclass(frozen=True)
class Session:
    """A user logged in on one browser."""

    user: User
    csrf: str
    hash: str
    id_token: str | None = None
    """Of a login through a provider, for the logout there."""

    def check_csrf(self, sent: str | None) -> None:
        """Raise if a form or script does not send the session's CSRF token, which other sites cannot know."""
        if not sent or not hmac.compare_digest(sent.encode(), self.csrf.encode()):
            raise Forbidden("this form belongs to an earlier login or to another site; reload the page and try again")


def start(
    connection: Connection, user: User, settings: Settings, *, hours: float | None = None, id_token: str | None = None
) -> str:
    """Start a session and return its cookie; expired sessions are deleted.

    With ``hours`` the session ends after them however much it is used, so that the provider is asked again.
    """
    secret = secrets.token_urlsafe(32)
    started = now()
    connection.execute(delete(sessions).where(sessions.c.expires < started))
    connection.execute(
        insert(sessions).values(
            hash=digest(secret),
            user_id=user.id,
            csrf=secrets.token_urlsafe(32),
            created=started,
            seen=started,
            expires=started + settings.session_hours * 3600,
            ends=None if hours is None else started + hours * 3600,
            id_token=id_token,
        )
    )
    return secret


def find(store: Store, secret: str | None, settings: Settings) -> Session | None:
    """The session of a cookie, or None; using a session extends it."""
    if not secret:
        return None
    current_time = now()
    parameters = {"secret": digest(secret), "now": current_time, "oldest": current_time - MAX_SESSION_SECONDS}
    with store.read() as connection:
        row = connection.execute(_VALID_SESSION, parameters).one_or_none()
    if row is None or row.disabled:
        return None
    if current_time - row.seen > 60:
        with suppress_full_disk(), store.write() as connection:
            renewed = {"seen": current_time, "expires": current_time + settings.session_hours * 3600}
            connection.execute(update(sessions).where(sessions.c.hash == row.hash).values(**renewed))
    return Session(user_from_row(row), row.csrf, row.hash, row.id_token)


def end(connection: Connection, session: Session, *, everywhere: bool = True) -> None:
    """Log out on every browser, or only on this one."""
    which = sessions.c.user_id == session.user.id if everywhere else sessions.c.hash == session.hash
    connection.execute(delete(sessions).where(which))
