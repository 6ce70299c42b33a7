"""Accounts of people who log in through the provider.

An account is linked to a person by the provider's issuer and subject, which never change and are never used again. Names and
e-mail addresses do change hands, so an account is never linked because of one. A linked account has no password: otherwise it
would outlive the person's account at the provider.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, delete, insert, select, update

from discreet.web.auth import accounts
from discreet.web.auth.accounts import User
from discreet.web.auth.names import comparison_key, is_valid_name, normalize_name
from discreet.web.auth.sso.claims import Claims, read_groups
from discreet.web.auth.sso.settings import OidcSettings
from discreet.web.db import audit
from discreet.web.db.store import now
from discreet.web.db.tables import identities, links, user_groups, users
from discreet.web.errors import Conflict, InvalidRequest

NAME_CLAIMS = ("preferred_username", "email", "name", "sub")


@dataclass(frozen=True)
class Outcome:
    """The outcome of a login at the provider: the user, or a sentence that says why not."""

    user: User | None
    refusal: str = ""


def log_in(connection: Connection, settings: OidcSettings, claims: Claims, address: str) -> Outcome:
    """The account of a person who has logged in at the provider, with administration and groups as the provider says now.

    Returns a refusal rather than raising, because what it ends for a person who lost a group must be committed.
    """
    groups = read_groups(claims.values, settings.groups_claim)
    user = find_user(connection, claims.issuer, claims.subject)
    if settings.login_groups and not set(settings.login_groups) & set(groups):
        if user is not None:
            end_access(connection, user, groups)
        audit.record(connection, user.name if user else "somebody", "login refused", reason="group", address=address)
        return Outcome(None, "your account is not in a group that may use this server; ask whoever manages the groups")
    if user is None:
        if not settings.create_accounts:
            audit.record(connection, "somebody", "login refused", reason="no account", address=address)
            return Outcome(None, "you have no account on this server yet; ask an administrator to link yours")
        user = _create_user(connection, claims)
    if user.disabled:
        audit.record(connection, user.name, "login refused", reason="disabled", address=address)
        return Outcome(None, "your account on this server is disabled; ask an administrator")
    this_identity = (identities.c.issuer == claims.issuer, identities.c.subject == claims.subject)
    connection.execute(update(identities).where(*this_identity).values(confirmed=now()))
    _store_groups(connection, user, groups)
    if settings.admin_group is not None:
        _set_admin(connection, user, settings.admin_group in groups)
    return Outcome(accounts.get(connection, user.id))


def link(connection: Connection, name: str, issuer: str, subject: str, *, by: str = "the command line") -> User:
    """Link an account to a person at the provider; its password, links, sessions and tokens end."""
    user = accounts.get_by_name(connection, name)
    if not issuer or not 0 < len(subject) <= 255 or len(issuer) > 300:
        raise InvalidRequest("an account is linked by the provider's address and the subject, 1 to 255 characters")
    other = find_user(connection, issuer, subject)
    if other is not None and other.id != user.id:
        raise Conflict(f"this person is linked to the account '{other.name}' already")
    connection.execute(delete(identities).where(identities.c.user_id == user.id))
    connection.execute(insert(identities).values(issuer=issuer, subject=subject, user_id=user.id))
    connection.execute(update(users).where(users.c.id == user.id).values(password=None))
    connection.execute(delete(links).where(links.c.user_id == user.id))
    accounts.end_all_access(connection, user)
    audit.record(connection, by, "user linked", user=user.name, issuer=issuer)
    return user


def unlink(connection: Connection, name: str, *, by: str = "the command line") -> User:
    """Make a linked account a local one, without a password; its groups, sessions and tokens end."""
    user = accounts.get_by_name(connection, name)
    connection.execute(delete(identities).where(identities.c.user_id == user.id))
    end_access(connection, user, [])
    audit.record(connection, by, "user unlinked", user=user.name)
    return user


def find_user(connection: Connection, issuer: str, subject: str) -> User | None:
    """The account that is linked to a person; None if there is none. Equal means equal to the letter."""
    query = select(identities.c.issuer, identities.c.subject, identities.c.user_id)
    rows = connection.execute(query.where(identities.c.issuer == issuer, identities.c.subject == subject)).all()
    # MySQL compares text without regard to case
    user_id = next((row.user_id for row in rows if (row.issuer, row.subject) == (issuer, subject)), None)
    return None if user_id is None else accounts.get(connection, user_id)


def end_access(connection: Connection, user: User, groups: Sequence[str]) -> None:
    """End sessions and tokens of a user who may not log in any more, and take groups and administration away."""
    accounts.end_all_access(connection, user)
    accounts.stop_jobs(connection, user, f"cancelled because the access of {user.name} ended")
    _store_groups(connection, user, groups)
    _set_admin(connection, user, False)


def _create_user(connection: Connection, claims: Claims) -> User:
    claimed_name = next(
        (
            normalize_name(claims.values[name])
            for name in NAME_CLAIMS
            if isinstance(claims.values.get(name), str) and is_valid_name(normalize_name(claims.values[name]))
        ),
        "user",
    )
    taken = set(map(comparison_key, connection.execute(select(users.c.name)).scalars()))
    name, number = claimed_name, 1
    while comparison_key(name) in taken:  # a name proves nothing: whoever has it already is somebody else
        number += 1
        name = f"{claimed_name[:74]} {number}"
    inserted = connection.execute(insert(users).values(name=name, admin=False, disabled=False, created=now()))
    assert inserted.inserted_primary_key is not None
    user = accounts.get(connection, inserted.inserted_primary_key[0])
    connection.execute(insert(identities).values(issuer=claims.issuer, subject=claims.subject, user_id=user.id))
    audit.record(connection, "single sign-on", "user added", user=name, issuer=claims.issuer)
    return user


def _store_groups(connection: Connection, user: User, groups: Sequence[str]) -> None:
    stored = set(connection.execute(select(user_groups.c.group_name).where(user_groups.c.user_id == user.id)).scalars())
    if stored == set(groups):
        return
    connection.execute(delete(user_groups).where(user_groups.c.user_id == user.id))
    for group in groups:
        connection.execute(insert(user_groups).values(user_id=user.id, group_name=group))
    audit.record(connection, "single sign-on", "groups changed", user=user.name, groups=sorted(groups))


def _set_admin(connection: Connection, user: User, admin: bool) -> None:
    if user.admin != admin:
        connection.execute(update(users).where(users.c.id == user.id).values(admin=admin))
        audit.record(connection, "single sign-on", "administration changed", user=user.name, admin=admin)
