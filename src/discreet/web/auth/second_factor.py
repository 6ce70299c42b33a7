"""Second factors of local accounts: one-time codes of an authenticator app, and recovery codes for a lost device.

Accounts of single sign-on have their second factor at the provider. Tokens are not affected: they are secrets of programs.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from sqlalchemy import Connection, Row, delete, insert, select, update

from discreet.web.auth import accounts, throttle, totp
from discreet.web.auth.accounts import User, digest
from discreet.web.db import audit
from discreet.web.db.store import Store, now
from discreet.web.db.tables import pending_logins, second_factors
from discreet.web.errors import InvalidRequest, Unauthenticated
from discreet.web.settings import Settings

PENDING_MINUTES = 5
"""How long the code may follow the password."""
RECOVERY_CODES = 10
_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"
"""Letters and digits that nobody confuses on paper."""


@dataclass(frozen=True)
class Factor:
    """The second factor of one account."""

    enrolled: bool = False
    required: bool = False
    recovery_left: int = 0


def get_factor(connection: Connection, user: User, settings: Settings | None = None) -> Factor:
    """The second factor of an account; with the settings, also whether the server requires one of everybody."""
    row = _find_row(connection, user)
    required = (row is not None and bool(row.required)) or (settings is not None and settings.require_totp)
    if row is None:
        return Factor(required=required)
    return Factor(row.confirmed is not None, required, len(row.recovery or []))


def list_factors(connection: Connection) -> dict[int, Factor]:
    """The second factors of all accounts that have one, or that an administrator requires one of, by user id."""
    rows = connection.execute(select(second_factors)).all()
    return {row.user_id: Factor(row.confirmed is not None, bool(row.required), len(row.recovery or [])) for row in rows}


def begin_enrolment(connection: Connection, user: User) -> str:
    """The secret for the user's app; it is asked for only after a first code has confirmed that the app has it."""
    row = _find_row(connection, user)
    if row is not None and row.confirmed is not None:
        raise InvalidRequest("a second factor is set up already; turn it off before you set up another")
    if row is not None and row.secret is not None:
        return str(row.secret)  # a page that is loaded again must not invalidate the code that was scanned
    secret = totp.create_secret()
    if row is None:
        connection.execute(insert(second_factors).values(user_id=user.id, secret=secret, required=False, last_step=0))
    else:
        connection.execute(update(second_factors).where(second_factors.c.user_id == user.id).values(secret=secret))
    return secret


def confirm_enrolment(connection: Connection, user: User, code: str) -> list[str]:
    """Turn the second factor on with a first code; returns the recovery codes, which are not stored."""
    row = _find_row(connection, user)
    if row is None or row.secret is None or row.confirmed is not None:
        raise InvalidRequest("the setup has expired; begin again")
    step = totp.find_step(row.secret, code)
    if step is None:
        raise InvalidRequest(
            "this code is not the one that the app should show now; check that its clock is right, and try the next"
        )
    values = {"confirmed": now(), "last_step": step}
    connection.execute(update(second_factors).where(second_factors.c.user_id == user.id).values(**values))
    audit.record(connection, user.name, "second factor set up")
    return _renew_recovery_codes(connection, user)


def renew_recovery_codes(connection: Connection, user: User) -> list[str]:
    """New recovery codes; the old ones become invalid."""
    audit.record(connection, user.name, "recovery codes renewed")
    return _renew_recovery_codes(connection, user)


def check_code(store: Store, user: User, code: str, address: str) -> None:
    """Raise unless this is the current code of the user's app, or an unused recovery code. Each works once.

    Failures are counted with those of passwords, before the code is compared.
    """
    with store.write() as connection:
        throttle.count_attempt(connection, user.name, address, user.id)
    with store.write() as connection:
        accepted = _use_code(connection, user, code)
        if accepted:
            throttle.forgive_attempt(connection, user.name, address, user.id)
        else:
            throttle.confirm_failure(connection, user.name, address, user.id)
            audit.record(connection, user.name, "login failed", address=address, factor="second")
    if not accepted:
        raise Unauthenticated("the code is wrong or was used already; wait for the app's next code")


def reset(connection: Connection, name: str, *, by: str = "the command line") -> User:
    """Remove the second factor of a user who has lost the device; whether one is required stays as it is."""
    user = accounts.get_by_name(connection, name)
    _remove_secret(connection, user)
    audit.record(connection, by, "second factor reset", user=user.name)
    return user


def turn_off(connection: Connection, user: User) -> None:
    """Remove the user's own second factor."""
    _remove_secret(connection, user)
    audit.record(connection, user.name, "second factor turned off")


def set_required(connection: Connection, name: str, required: bool, *, by: str) -> User:
    """Require a second factor of a user from the next login on, or no more."""
    user = accounts.get_by_name(connection, name)
    if _find_row(connection, user) is None:
        connection.execute(insert(second_factors).values(user_id=user.id, required=required, last_step=0))
    else:
        connection.execute(update(second_factors).where(second_factors.c.user_id == user.id).values(required=required))
    audit.record(connection, by, "second factor required" if required else "second factor optional", user=user.name)
    return user


def start_pending(connection: Connection, user: User) -> str:
    """Remember that a user has given the right password; returns the secret for the browser's cookie."""
    secret = secrets.token_urlsafe(32)
    connection.execute(delete(pending_logins).where(pending_logins.c.expires < now()))
    values = {"hash": digest(secret), "user_id": user.id, "expires": now() + PENDING_MINUTES * 60}
    connection.execute(insert(pending_logins).values(**values))
    return secret


def find_pending(connection: Connection, secret: str | None) -> User:
    """The user who has given the right password in this browser a moment ago."""
    valid = (pending_logins.c.hash == digest(secret or ""), pending_logins.c.expires > now())
    user_id = connection.execute(select(pending_logins.c.user_id).where(*valid)).scalar()
    user = None if user_id is None else accounts.get(connection, user_id)
    if user is None or user.disabled:
        raise Unauthenticated(f"the code has to follow the password within {PENDING_MINUTES} minutes; log in again")
    return user


def end_pending(connection: Connection, user: User) -> None:
    """Forget that a user's code is awaited."""
    connection.execute(delete(pending_logins).where(pending_logins.c.user_id == user.id))


def _use_code(connection: Connection, user: User, code: str) -> bool:
    query = select(second_factors).where(second_factors.c.user_id == user.id).with_for_update()
    row = connection.execute(query).one_or_none()
    if row is None or row.confirmed is None:
        return False
    step = totp.find_step(row.secret, code)
    if step is not None:
        # of two simultaneous logins with one code, only one changes the row
        unused = (second_factors.c.user_id == user.id, second_factors.c.last_step < step)
        return connection.execute(update(second_factors).where(*unused).values(last_step=step)).rowcount == 1
    typed = digest("".join(code.split()).replace("-", "").lower())
    remaining = [stored for stored in row.recovery or [] if stored != typed]
    if len(remaining) == len(row.recovery or []):
        return False
    connection.execute(update(second_factors).where(second_factors.c.user_id == user.id).values(recovery=remaining))
    audit.record(connection, user.name, "recovery code used", left=len(remaining))
    return True


def _renew_recovery_codes(connection: Connection, user: User) -> list[str]:
    codes = ["".join(secrets.choice(_ALPHABET) for _ in range(16)) for _ in range(RECOVERY_CODES)]
    stored = [digest(code) for code in codes]
    connection.execute(update(second_factors).where(second_factors.c.user_id == user.id).values(recovery=stored))
    return ["-".join(code[start : start + 4] for start in range(0, 16, 4)) for code in codes]


def _remove_secret(connection: Connection, user: User) -> None:
    values = {"secret": None, "confirmed": None, "recovery": None, "last_step": 0}
    connection.execute(update(second_factors).where(second_factors.c.user_id == user.id).values(**values))
    end_pending(connection, user)


def _find_row(connection: Connection, user: User) -> Row[tuple[object, ...]] | None:
    return connection.execute(select(second_factors).where(second_factors.c.user_id == user.id)).one_or_none()
