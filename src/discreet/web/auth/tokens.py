"""API tokens for programs, with scopes and an expiry date; shown once when created, stored as a hash."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, bindparam, delete, insert, select, update

from discreet.web.auth.accounts import User, digest, get
from discreet.web.db import audit
from discreet.web.db.store import Store, now, suppress_full_disk
from discreet.web.db.tables import identities, tokens
from discreet.web.errors import Forbidden, InvalidRequest, NotFound, Unauthenticated

SCOPES = {
    "read": "see projects, tables, risks and releases",
    "write": "change projects, upload tables, run jobs",
    "release": "approve, return, publish and withdraw releases",
    "admin": "manage users (administrators only)",
}
PREFIX = "discreet_"
_TOKEN = (
    select(tokens, identities.c.user_id.label("linked"), identities.c.confirmed)
    .outerjoin(identities, identities.c.user_id == tokens.c.user_id)
    .where(tokens.c.hash == bindparam("secret"))
)
"""Built once, because every request of a program needs it."""


@dataclass(frozen=True)
class Token:
    """A token without its secret."""

    id: int
    name: str
    scopes: tuple[str, ...]
    created: float
    expires: float
    used: float | None
    parent_id: int | None = None
    """The token that created it, and with which it ends."""
    hash: str = ""


def create(
    connection: Connection, user: User, name: str, scopes: list[str], days: float = 90, parent: Token | None = None
) -> tuple[Token, str]:
    """Create a token; returns the token and its secret, which is not stored.

    A token that another one creates has no scope that its parent lacks, expires with it at the latest, and ends with it.
    """
    if not name.strip() or len(name) > 80:
        raise InvalidRequest("a token needs a name of 1 to 80 characters, for example the program that will use it")
    if not scopes or set(scopes) - set(SCOPES):
        raise InvalidRequest(f"the scopes of a token must be among {', '.join(SCOPES)}; got {', '.join(scopes) or 'none'}")
    if "admin" in scopes and not user.admin:
        raise InvalidRequest("only an administrator's token can have the scope admin")
    if not 0 < days <= 366:
        raise InvalidRequest(f"a token can be valid for at most 366 days; got {days:g}")
    if parent is not None and (wider := set(scopes) - set(parent.scopes)):
        raise Forbidden(f"the token '{parent.name}' does not have the scope {', '.join(sorted(wider))}, so it cannot grant it")
    expires = now() + days * 86400
    if parent is not None:
        alive = connection.execute(select(tokens.c.expires).where(tokens.c.id == parent.id).with_for_update()).scalar()
        if alive is None:
            raise Unauthenticated("the token is not valid on this server")
        expires = min(expires, alive)
    secret = PREFIX + secrets.token_urlsafe(32)
    inserted = connection.execute(
        insert(tokens).values(
            hash=digest(secret),
            user_id=user.id,
            name=name.strip(),
            scopes=" ".join(sorted(set(scopes))),
            created=now(),
            expires=expires,
            parent_id=None if parent is None else parent.id,
        )
    )
    audit.record(connection, user.name, "token made", name=name.strip(), scopes=sorted(set(scopes)), expires=round(expires))
    assert inserted.inserted_primary_key is not None
    token_id = inserted.inserted_primary_key[0]
    return next(token for token in list_tokens(connection, user) if token.id == token_id), secret


def list_tokens(connection: Connection, user: User) -> list[Token]:
    """A user's tokens, newest first."""
    rows = connection.execute(select(tokens).where(tokens.c.user_id == user.id).order_by(tokens.c.id.desc())).all()
    return [_token_from_row(row, row.scopes.split()) for row in rows]


def revoke(connection: Connection, user: User, token_id: int) -> None:
    """Revoke a token immediately, and with it the tokens that it created, and those that they created."""
    rows = connection.execute(select(tokens.c.id, tokens.c.parent_id).where(tokens.c.user_id == user.id)).all()
    parents = {row.id: row.parent_id for row in rows}
    if token_id not in parents:
        raise NotFound(f"you have no token {token_id}")
    ended = {token_id}
    while children := {child for child, parent in parents.items() if parent in ended} - ended:
        ended |= children
    connection.execute(delete(tokens).where(tokens.c.id.in_(ended)))
    audit.record(connection, user.name, "token revoked", token=token_id)


def find(store: Store, secret: str, linked_days: float | None = None) -> tuple[User, Token]:
    """The user that a token belongs to, and the token with the scopes that it has now.

    ``linked_days`` is how long ago a user who logs in through a provider may have done so: a person who has left the institution
    does not log in again, and the provider tells nobody.
    """
    with store.read() as connection:
        row = connection.execute(_TOKEN, {"secret": digest(secret)}).one_or_none()
        user = get(connection, row.user_id) if row is not None else None
    if row is None or user is None or user.disabled:
        raise Unauthenticated("the token is not valid on this server")
    if row.expires < now():
        raise Unauthenticated(f"the token '{row.name}' has expired; create a new one")
    if row.linked is not None and linked_days is not None and (row.confirmed or 0.0) < now() - linked_days * 86400:
        raise Unauthenticated(
            f"the token '{row.name}' waits for its owner: log in to the server in a browser, which is needed every "
            f"{linked_days:g} days"
        )
    if row.used is None or now() - row.used > 60:
        with suppress_full_disk(), store.write() as connection:
            connection.execute(update(tokens).where(tokens.c.id == row.id).values(used=now()))
    return user, _token_from_row(row, [scope for scope in row.scopes.split() if scope != "admin" or user.admin])


def _token_from_row(row: Row[Any], scopes: Sequence[str]) -> Token:
    return Token(row.id, row.name, tuple(scopes), row.created, row.expires, row.used, row.parent_id, row.hash)
