"""API tokens for programs, with scopes and an expiry date; shown once when created, stored as a hash."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from sqlalchemy import Connection, delete, insert, select, update

from discreet.web.auth.accounts import User, digest, get
from discreet.web.db import audit
from discreet.web.db.store import Store, now
from discreet.web.db.tables import tokens
from discreet.web.errors import InvalidRequest, NotFound, Unauthenticated

SCOPES = {
    "read": "see projects, tables, risks and releases",
    "write": "change projects, upload tables, run jobs",
    "release": "approve, return, publish and withdraw releases",
    "admin": "manage users (administrators only)",
}
PREFIX = "discreet_"


@dataclass(frozen=True)
class Token:
    """A token without its secret."""

    id: int
    name: str
    scopes: tuple[str, ...]
    created: float
    expires: float
    used: float | None


def create(connection: Connection, user: User, name: str, scopes: list[str], days: float = 90) -> tuple[Token, str]:
    """Create a token; returns the token and its secret, which is not stored."""
    if not name.strip() or len(name) > 80:
        raise InvalidRequest("a token needs a name of 1 to 80 characters, for example the program that will use it")
    if not scopes or set(scopes) - set(SCOPES):
        raise InvalidRequest(f"the scopes of a token must be among {', '.join(SCOPES)}; got {', '.join(scopes) or 'none'}")
    if "admin" in scopes and not user.admin:
        raise InvalidRequest("only an administrator's token can have the scope admin")
    if not 0 < days <= 366:
        raise InvalidRequest(f"a token can be valid for at most 366 days; got {days:g}")
    secret = PREFIX + secrets.token_urlsafe(32)
    inserted = connection.execute(
        insert(tokens).values(
            hash=digest(secret),
            user_id=user.id,
            name=name.strip(),
            scopes=" ".join(sorted(set(scopes))),
            created=now(),
            expires=now() + days * 86400,
        )
    )
    audit.record(connection, user.name, "token made", name=name.strip(), scopes=sorted(set(scopes)), days=days)
    assert inserted.inserted_primary_key is not None
    token_id = inserted.inserted_primary_key[0]
    return next(token for token in list_tokens(connection, user) if token.id == token_id), secret


def list_tokens(connection: Connection, user: User) -> list[Token]:
    """A user's tokens, newest first."""
    rows = connection.execute(select(tokens).where(tokens.c.user_id == user.id).order_by(tokens.c.id.desc())).all()
    return [Token(row.id, row.name, tuple(row.scopes.split()), row.created, row.expires, row.used) for row in rows]


def revoke(connection: Connection, user: User, token_id: int) -> None:
    """Revoke a token immediately."""
    deleted = connection.execute(delete(tokens).where(tokens.c.id == token_id, tokens.c.user_id == user.id))
    if not deleted.rowcount:
        raise NotFound(f"you have no token {token_id}")
    audit.record(connection, user.name, "token revoked", token=token_id)


def find(store: Store, secret: str) -> tuple[User, tuple[str, ...]]:
    """The user that a token belongs to, and the token's scopes."""
    with store.read() as connection:
        row = connection.execute(select(tokens).where(tokens.c.hash == digest(secret))).one_or_none()
        user = get(connection, row.user_id) if row is not None else None
    if row is None or user is None or user.disabled:
        raise Unauthenticated("the token is not valid on this server")
    if row.expires < now():
        raise Unauthenticated(f"the token '{row.name}' has expired; create a new one")
    if row.used is None or now() - row.used > 60:
        with store.write() as connection:
            connection.execute(update(tokens).where(tokens.c.id == row.id).values(used=now()))
    scopes = tuple(scope for scope in row.scopes.split() if scope != "admin" or user.admin)
    return user, scopes
