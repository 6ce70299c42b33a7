"""API tokens: for programs, with scopes and an end; shown once when made, kept as a hash."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from sqlalchemy import Connection, delete, insert, select, update

from discreet.web.auth.accounts import User, digest, get
from discreet.web.db import audit
from discreet.web.db.store import Store, now
from discreet.web.db.tables import tokens
from discreet.web.errors import Invalid, NotFound, Unknown

SCOPES = {
    "read": "see projects, tables, risks and releases",
    "write": "change projects, upload tables, run jobs",
    "release": "sign releases off",
    "admin": "manage users (administrators only)",
}
PREFIX = "discreet_"


@dataclass(frozen=True)
class Token:
    """A token as its owner may see it later."""

    id: int
    name: str
    scopes: tuple[str, ...]
    created: float
    expires: float
    used: float | None


def make(connection: Connection, user: User, name: str, scopes: list[str], days: float = 90) -> tuple[Token, str]:
    """A new token, and its secret, which is not kept."""
    if not name.strip() or len(name) > 80:
        raise Invalid("a token needs a name of 1 to 80 characters, such as the program that will use it")
    if not scopes or set(scopes) - set(SCOPES):
        raise Invalid(f"a token's scopes are some of {', '.join(SCOPES)}; got {', '.join(scopes) or 'none'}")
    if "admin" in scopes and not user.admin:
        raise Invalid("only an administrator's token can have the scope admin")
    if not 0 < days <= 366:
        raise Invalid(f"a token lives at most 366 days; got {days:g}")
    secret = PREFIX + secrets.token_urlsafe(32)
    made = connection.execute(
        insert(tokens).values(
            hash=digest(secret),
            user_id=user.id,
            name=name.strip(),
            scopes=" ".join(sorted(set(scopes))),
            created=now(),
            expires=now() + days * 86400,
        )
    )
    audit.note(connection, user.name, "token made", name=name.strip(), scopes=sorted(set(scopes)), days=days)
    assert made.inserted_primary_key is not None
    identity = made.inserted_primary_key[0]
    return next(one for one in of(connection, user) if one.id == identity), secret


def of(connection: Connection, user: User) -> list[Token]:
    """A user's tokens, newest first."""
    rows = connection.execute(select(tokens).where(tokens.c.user_id == user.id).order_by(tokens.c.id.desc())).all()
    return [Token(row.id, row.name, tuple(row.scopes.split()), row.created, row.expires, row.used) for row in rows]


def revoke(connection: Connection, user: User, identity: int) -> None:
    """End a token at once."""
    gone = connection.execute(delete(tokens).where(tokens.c.id == identity, tokens.c.user_id == user.id))
    if not gone.rowcount:
        raise NotFound(f"you have no token number {identity}")
    audit.note(connection, user.name, "token revoked", token=identity)


def find(store: Store, secret: str) -> tuple[User, tuple[str, ...]]:
    """Whose token this is and what it may do."""
    with store.read() as connection:
        row = connection.execute(select(tokens).where(tokens.c.hash == digest(secret))).one_or_none()
        user = get(connection, row.user_id) if row is not None else None
    if row is None or user is None or user.disabled:
        raise Unknown("the token is not one of this server")
    if row.expires < now():
        raise Unknown(f"the token '{row.name}' has expired; make a new one")
    if row.used is None or now() - row.used > 60:
        with store.write() as connection:
            connection.execute(update(tokens).where(tokens.c.id == row.id).values(used=now()))
    scopes = tuple(one for one in row.scopes.split() if one != "admin" or user.admin)
    return user, scopes
