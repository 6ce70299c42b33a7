"""People: added by an administrator, who hands them a link that sets their password once."""

from __future__ import annotations

import hashlib
import re
import secrets
import threading
from dataclasses import dataclass

from pwdlib import PasswordHash
from pwdlib.hashers.argon2 import Argon2Hasher
from sqlalchemy import Connection, delete, func, insert, select, update

from discreet.web.auth import throttle
from discreet.web.db import audit
from discreet.web.db.store import Store, now
from discreet.web.db.tables import links, sessions, tokens, users
from discreet.web.errors import Conflict, Forbidden, Invalid, NotFound, Unknown

LINK_HOURS = 72
NAME = re.compile(r"[^\s/\\<>\x00-\x1f\x7f](?:[^/\\<>\x00-\x1f\x7f]{0,78}[^\s/\\<>\x00-\x1f\x7f])?")
_hasher = PasswordHash((Argon2Hasher(time_cost=2, memory_cost=32 * 1024, parallelism=1),))
_at_once = threading.BoundedSemaphore(4)  # a crowd at the door must not take all the memory: a hash needs 32 MiB
_nobody = _hasher.hash(secrets.token_hex(16))


@dataclass(frozen=True)
class User:
    """Somebody who can log in."""

    id: int
    name: str
    admin: bool = False
    disabled: bool = False
    created: float = 0.0


def digest(secret: str) -> str:
    """What the database keeps of a secret that is long and random already."""
    return hashlib.sha256(secret.encode()).hexdigest()


def add(connection: Connection, name: str, *, admin: bool = False, by: str = "the command line") -> tuple[User, str]:
    """A new user, and the secret of the link that sets the password."""
    name = name.strip()
    if not NAME.fullmatch(name):
        raise Invalid(f"'{name[:80]}' is no user name: 1 to 80 characters, none of / \\ < >")
    taken = connection.execute(select(users.c.name).where(func.lower(users.c.name) == name.lower())).scalar()
    if taken is not None:
        raise Conflict(f"there is a user '{taken}' already")
    made = connection.execute(insert(users).values(name=name, admin=admin, disabled=False, created=now()))
    audit.note(connection, by, "user added", user=name, admin=admin)
    assert made.inserted_primary_key is not None
    user = get(connection, made.inserted_primary_key[0])
    return user, _link(connection, user)


def reset(connection: Connection, name: str, *, by: str = "the command line") -> tuple[User, str]:
    """A new link for somebody who lost the password; the old password and all sessions end now."""
    user = named(connection, name)
    connection.execute(update(users).where(users.c.id == user.id).values(password=None))
    end_all(connection, user)
    audit.note(connection, by, "password reset", user=user.name)
    return user, _link(connection, user)


def disable(connection: Connection, name: str, *, by: str = "the command line", disabled: bool = True) -> User:
    """Lock somebody out at once, or let them in again."""
    user = named(connection, name)
    if disabled and user.admin and not _other_admins(connection, user):
        raise Forbidden(f"'{user.name}' is the only administrator; add another first")
    connection.execute(update(users).where(users.c.id == user.id).values(disabled=disabled))
    if disabled:
        end_all(connection, user)
        connection.execute(delete(tokens).where(tokens.c.user_id == user.id))
    audit.note(connection, by, "user disabled" if disabled else "user enabled", user=user.name)
    return get(connection, user.id)


def all_users(connection: Connection) -> list[User]:
    """Everybody, by name."""
    return [of_row(row) for row in connection.execute(select(users).order_by(users.c.name)).all()]


def get(connection: Connection, identity: int) -> User:
    """The user with this number."""
    row = connection.execute(select(users).where(users.c.id == identity)).one_or_none()
    if row is None:
        raise NotFound(f"there is no user number {identity}")
    return of_row(row)


def named(connection: Connection, name: str) -> User:
    """The user with this name, however it is capitalised."""
    row = connection.execute(select(users).where(func.lower(users.c.name) == name.strip().lower())).one_or_none()
    if row is None:
        raise NotFound(f"there is no user '{name}'")
    return of_row(row)


def by_link(connection: Connection, secret: str) -> User:
    """Whose link this is; raises where it was used, is too old, or never was one."""
    row = connection.execute(select(links).where(links.c.hash == digest(secret), links.c.expires > now())).one_or_none()
    if row is None:
        raise NotFound("this link was used already or is too old; ask an administrator for a new one")
    return get(connection, row.user_id)


def use_link(connection: Connection, secret: str, password: str) -> User:
    """Set the password that a link allows to set; the link is spent, and every session ends."""
    user = by_link(connection, secret)
    _set(connection, user, password)
    connection.execute(delete(links).where(links.c.user_id == user.id))
    audit.note(connection, user.name, "password set")
    return user


def change_password(connection: Connection, user: User, old: str, new: str) -> None:
    """A new password for somebody who knows the old one; every session ends."""
    stored = connection.execute(select(users.c.password).where(users.c.id == user.id)).scalar()
    if stored is None or not _verify(old, stored):
        raise Invalid("the old password is not right")
    _set(connection, user, new)
    audit.note(connection, user.name, "password changed")


def log_in(store: Store, name: str, password: str, address: str) -> User:
    """The user behind a name and password; takes the same time whether or not the name exists."""
    with store.read() as connection:
        throttle.check(connection, name, address)
        row = connection.execute(select(users).where(func.lower(users.c.name) == name.strip().lower())).one_or_none()
    stored = row.password if row is not None and row.password is not None and not row.disabled else None
    right = _verify(password, stored or _nobody) and stored is not None
    with store.write() as connection:
        if not right:
            throttle.failed(connection, name, address)
            audit.note(connection, row.name if row is not None else "somebody", "login failed", address=address)
        else:
            throttle.succeeded(connection, name)
    if not right:
        raise Unknown("the name or the password is not right")
    assert row is not None
    return of_row(row)


def end_all(connection: Connection, user: User) -> None:
    """End every session of a user, wherever it is open."""
    connection.execute(delete(sessions).where(sessions.c.user_id == user.id))


def _set(connection: Connection, user: User, password: str) -> None:
    if len(password) < 10:
        raise Invalid("a password has at least 10 characters; a few words that only you would put together are good")
    if len(password) > 500:
        raise Invalid("a password has at most 500 characters")
    if password.casefold() == user.name.casefold():
        raise Invalid("the password must not be the name")
    connection.execute(update(users).where(users.c.id == user.id).values(password=_hash(password)))
    end_all(connection, user)


def _hash(password: str) -> str:
    with _at_once:
        return _hasher.hash(password)


def _verify(password: str, stored: str) -> bool:
    with _at_once:
        return _hasher.verify(password, stored)


def _link(connection: Connection, user: User) -> str:
    secret = secrets.token_urlsafe(32)
    connection.execute(delete(links).where((links.c.user_id == user.id) | (links.c.expires < now())))
    connection.execute(insert(links).values(hash=digest(secret), user_id=user.id, expires=now() + LINK_HOURS * 3600))
    return secret


def _other_admins(connection: Connection, user: User) -> int:
    others = select(func.count()).where(users.c.admin, ~users.c.disabled, users.c.id != user.id)
    return int(connection.execute(others).scalar_one())


def of_row(row: object) -> User:
    """The user that a row of the table tells of."""
    return User(**{name: getattr(row, name) for name in ("id", "name", "admin", "disabled", "created")})
