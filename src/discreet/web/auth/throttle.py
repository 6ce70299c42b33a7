"""Throttling of logins: after several failures a user name or an address must wait, twice as long after each further failure."""

from __future__ import annotations

from sqlalchemy import Connection, delete, func, insert, select

from discreet.web.db.store import now
from discreet.web.db.tables import attempts
from discreet.web.errors import TooManyRequests

WINDOW_SECONDS = 15 * 60.0
"""Seconds after which a failure no longer counts."""
FREE_FAILURES = 5
"""Failures per user name within the window before it must wait."""
FREE_FAILURES_PER_ADDRESS = 30
"""Failures per address before it must wait; more than per name, because many users can share an address."""


def check_allowed(connection: Connection, name: str, address: str) -> None:
    """Raise if this name or address must wait."""
    for subject, free in ((_name_key(name), FREE_FAILURES), (_address_key(address), FREE_FAILURES_PER_ADDRESS)):
        count, last = connection.execute(
            select(func.count(), func.max(attempts.c.at)).where(
                attempts.c.subject == subject, attempts.c.at > now() - WINDOW_SECONDS
            )
        ).one()
        if count >= free:
            wait = min(WINDOW_SECONDS, 2.0 ** (count - free + 1)) - (now() - last)
            if wait > 0:
                raise TooManyRequests(f"too many failed logins; try again in {wait:.0f} seconds", seconds=wait)


def record_failure(connection: Connection, name: str, address: str) -> None:
    """Record a failed login and delete failures outside the window."""
    connection.execute(delete(attempts).where(attempts.c.at < now() - WINDOW_SECONDS))
    connection.execute(
        insert(attempts), [{"subject": subject, "at": now()} for subject in (_name_key(name), _address_key(address))]
    )


def clear_failures(connection: Connection, name: str) -> None:
    """Delete the failures of a name after a successful login."""
    connection.execute(delete(attempts).where(attempts.c.subject == _name_key(name)))


def _name_key(name: str) -> str:
    return f"name:{name.casefold()[:150]}"


def _address_key(address: str) -> str:
    return f"address:{address[:150]}"
