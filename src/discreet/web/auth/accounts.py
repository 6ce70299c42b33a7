"""User accounts: added by an administrator, who passes on a one-time link that sets the password."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from pwdlib import PasswordHash
from pwdlib.hashers.argon2 import Argon2Hasher
from sqlalchemy import Connection, Row, delete, func, insert, or_, select, update

from discreet.web.auth import throttle
from discreet.web.auth.names import comparison_key, is_valid_name, normalize_name
from discreet.web.db import audit
from discreet.web.db.store import Store, now
from discreet.web.db.tables import identities, jobs, links, second_factors, sessions, tokens, users
from discreet.web.errors import Conflict, Forbidden, InvalidRequest, NotFound, Unauthenticated

LINK_HOURS = 72
RESCUE_MINUTES = 15
_hasher = PasswordHash((Argon2Hasher(time_cost=2, memory_cost=32 * 1024, parallelism=1),))
_dummy_hash = _hasher.hash(secrets.token_hex(16))


def _lower_priority() -> None:
    """Let guesses at passwords, which strangers cause, take no processor time from pages: on Linux, threads have priorities."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 10)


_hashing = ThreadPoolExecutor(
    4, "discreet-passwords", _lower_priority
)  # each hash needs 32 MiB, so simultaneous ones are limited


@dataclass(frozen=True)
class User:
    """A user who can log in."""

    id: int
    name: str
    admin: bool = False
    disabled: bool = False
    created: float = 0.0


def digest(secret: str) -> str:
    """The SHA-256 hash under which a secret is stored. A slow hash is unnecessary: the secret is long and random."""
    return hashlib.sha256(secret.encode()).hexdigest()


def add(connection: Connection, name: str, *, admin: bool = False, by: str = "the command line") -> tuple[User, str]:
    """Add a user; returns the user and the secret of the link that sets the password."""
    name = normalize_name(name)
    if not is_valid_name(name):
        raise InvalidRequest(
            f"'{name[:80]}' is not a valid user name: use 1 to 80 visible characters without / \\ < >, "
            "and letters of one alphabet in each word"
        )
    if (taken := find_same_name(connection, name)) is not None:
        raise Conflict(f"the user '{taken}' exists already")
    inserted = connection.execute(insert(users).values(name=name, admin=admin, disabled=False, created=now()))
    audit.record(connection, by, "user added", user=name, admin=admin)
    assert inserted.inserted_primary_key is not None
    user = get(connection, inserted.inserted_primary_key[0])
    return user, _create_link(connection, user)


def reset_password(connection: Connection, name: str, *, by: str = "the command line") -> tuple[User, str]:
    """End a user's password, sessions and tokens; returns the user and the secret of a new link that sets the password."""
    user = get_by_name(connection, name)
    if is_linked(connection, user):
        raise Conflict(f"'{user.name}' logs in through single sign-on and has no password here")
    connection.execute(update(users).where(users.c.id == user.id).values(password=None))
    end_all_access(connection, user)
    audit.record(connection, by, "password reset", user=user.name)
    return user, _create_link(connection, user)


def disable(connection: Connection, name: str, *, by: str = "the command line", disabled: bool = True) -> User:
    """Disable an account immediately (sessions, tokens, links and jobs end), or enable it again with ``disabled=False``."""
    user = get_by_name(connection, name)
    if disabled and user.admin and not _count_other_admins(connection, user):
        raise Forbidden(f"'{user.name}' is the only administrator; add another first")
    connection.execute(update(users).where(users.c.id == user.id).values(disabled=disabled))
    if disabled:
        end_all_access(connection, user)
        connection.execute(delete(links).where(links.c.user_id == user.id))
        stop_jobs(connection, user, f"cancelled because the account of {user.name} was disabled")
    audit.record(connection, by, "user disabled" if disabled else "user enabled", user=user.name)
    return get(connection, user.id)


def list_users(connection: Connection) -> list[User]:
    """All users, ordered by name."""
    return [user_from_row(row) for row in connection.execute(select(users).order_by(users.c.name)).all()]


def get(connection: Connection, user_id: int) -> User:
    """The user with this id."""
    row = connection.execute(select(users).where(users.c.id == user_id)).one_or_none()
    if row is None:
        raise NotFound(f"user {user_id} does not exist")
    return user_from_row(row)


def get_by_name(connection: Connection, name: str) -> User:
    """The user with this name; upper and lower case are equivalent."""
    row = find_row(connection, name)
    if row is None:
        raise NotFound(f"the user '{name}' does not exist")
    return user_from_row(row)


def find_row(connection: Connection, name: str) -> Row[Any] | None:
    """The row of the user with this name, as it is stored or in another case."""
    exact, normal = name.strip(), normalize_name(name)
    same = or_(users.c.name.in_([exact, normal]), func.lower(users.c.name) == normal.lower())
    rows = connection.execute(select(users).where(same)).all()
    return min(rows, key=lambda row: (row.name != exact, row.name != normal, row.id), default=None)


def find_same_name(connection: Connection, name: str) -> str | None:
    """The name of a user that is the same as this one, or None; databases disagree about which letters are equal."""
    key = comparison_key(name)
    return next((other for other in connection.execute(select(users.c.name)).scalars() if comparison_key(other) == key), None)


def is_linked(connection: Connection, user: User) -> bool:
    """Whether a user logs in through the provider of single sign-on."""
    return connection.execute(select(identities.c.subject).where(identities.c.user_id == user.id)).first() is not None


def list_linked(connection: Connection) -> set[int]:
    """The ids of all users who log in through the provider of single sign-on."""
    return set(connection.execute(select(identities.c.user_id)).scalars())


def create_rescue_link(connection: Connection, name: str) -> tuple[User, str]:
    """The secret of a link that logs an administrator in once, for the operator of the machine when nothing else works."""
    user = get_by_name(connection, name)
    if user.disabled or not user.admin:
        raise Forbidden(f"'{user.name}' is not an active administrator; a rescue link is for administrators only")
    audit.record(connection, "the command line", "rescue link made", user=user.name)
    return user, _create_link(connection, user, "rescue", RESCUE_MINUTES / 60)


def use_rescue_link(connection: Connection, secret: str) -> User:
    """The administrator whom a rescue link logs in; the link becomes invalid."""
    user = get_by_link(connection, secret, "rescue")
    connection.execute(delete(links).where(links.c.hash == digest(secret)))
    audit.record(connection, user.name, "rescue link used")
    return user


def get_by_link(connection: Connection, secret: str, purpose: str = "password") -> User:
    """The user that a link belongs to; raises if it was used, has expired or never existed."""
    valid = (links.c.hash == digest(secret), links.c.expires > now(), links.c.purpose == purpose)
    row = connection.execute(select(links).where(*valid)).one_or_none()
    if row is None:
        raise NotFound("this link was used already or has expired; ask an administrator for a new one")
    return get(connection, row.user_id)


def set_password_with_link(connection: Connection, secret: str, password: str) -> User:
    """Set a user's password with a one-time link; the link becomes invalid, and the user's sessions and tokens end."""
    user = get_by_link(connection, secret)
    _set_password(connection, user, password)
    connection.execute(delete(links).where(links.c.user_id == user.id))
    audit.record(connection, user.name, "password set")
    return user


def change_password(connection: Connection, user: User, old: str, new: str) -> None:
    """Change the password of a user who knows the old one; all sessions and tokens of the user end."""
    check_password(connection, user, old, "the old password")
    _set_password(connection, user, new)
    audit.record(connection, user.name, "password changed")


def check_password(connection: Connection, user: User, password: str, subject: str = "the password") -> None:
    """Raise unless this is the user's password."""
    stored = connection.execute(select(users.c.password).where(users.c.id == user.id)).scalar()
    if stored is None or not _verify_password(password, stored):
        raise InvalidRequest(f"{subject} is wrong")


def log_in(store: Store, name: str, password: str, address: str) -> User:
    """The user with this name and password. Takes the same time for unknown names, so that it does not reveal which exist.

    The attempt is counted as a failure before the password is compared, so that parallel guesses cannot overtake the count.
    """
    with store.read() as connection:
        row = find_row(connection, name)
        throttle.check_wait(connection, name, address, None if row is None else row.id)
    with store.write() as connection:
        throttle.count_attempt(connection, name, address, None if row is None else row.id)
    stored = row.password if row is not None and row.password is not None and not row.disabled else None
    accepted = _verify_password(password, stored or _dummy_hash) and stored is not None
    with store.write() as connection:
        if not accepted:
            throttle.confirm_failure(connection, name, address, None if row is None else row.id)
            audit.record(connection, row.name if row is not None else "somebody", "login failed", address=address)
        else:
            assert row is not None
            # with a second factor, only the right code ends the count: otherwise each right password would allow more codes
            if not _has_second_factor(connection, row.id):
                throttle.forgive_attempt(connection, name, address, row.id)
    if not accepted:
        raise Unauthenticated("the name or the password is wrong")
    assert row is not None
    return user_from_row(row)


def end_all_access(connection: Connection, user: User) -> None:
    """End all sessions and tokens of a user at once; open event streams notice it at their next check."""
    connection.execute(delete(sessions).where(sessions.c.user_id == user.id))
    connection.execute(delete(tokens).where(tokens.c.user_id == user.id))


def stop_jobs(connection: Connection, user: User, reason: str) -> None:
    """Cancel a user's queued jobs and ask the running ones to stop."""
    own = jobs.c.user_id == user.id
    cancelled = {"state": "cancelled", "what": reason[:400], "finished": now()}
    connection.execute(update(jobs).where(own, jobs.c.state == "queued").values(**cancelled))
    connection.execute(update(jobs).where(own, jobs.c.state == "running").values(cancelling=True))


def _set_password(connection: Connection, user: User, password: str) -> None:
    if len(password) < 10:
        raise InvalidRequest("a password needs at least 10 characters; a phrase of several unrelated words works well")
    if len(password) > 500:
        raise InvalidRequest("a password can have at most 500 characters")
    if password.casefold() == user.name.casefold():
        raise InvalidRequest("the password must differ from the user name")
    connection.execute(update(users).where(users.c.id == user.id).values(password=_hash_password(password)))
    end_all_access(connection, user)


def _hash_password(password: str) -> str:
    return _hashing.submit(_hasher.hash, password).result()


def _verify_password(password: str, stored: str) -> bool:
    return _hashing.submit(_hasher.verify, password, stored).result()


def _has_second_factor(connection: Connection, user_id: int) -> bool:
    query = select(second_factors.c.user_id).where(second_factors.c.user_id == user_id, second_factors.c.confirmed.is_not(None))
    return connection.execute(query).first() is not None


def _create_link(connection: Connection, user: User, purpose: str = "password", hours: float = LINK_HOURS) -> str:
    secret = secrets.token_urlsafe(32)
    connection.execute(delete(links).where((links.c.user_id == user.id) | (links.c.expires < now())))
    values = {"hash": digest(secret), "user_id": user.id, "expires": now() + hours * 3600, "purpose": purpose}
    connection.execute(insert(links).values(**values))
    return secret


def _count_other_admins(connection: Connection, user: User) -> int:
    query = select(func.count()).where(users.c.admin, ~users.c.disabled, users.c.id != user.id)
    return int(connection.execute(query).scalar_one())


def user_from_row(row: object) -> User:
    """A row of the table of users as a ``User``."""
    return User(**{name: getattr(row, name) for name in ("id", "name", "admin", "disabled", "created")})
