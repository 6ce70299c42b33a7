"""Login attempts throttled: after a few failures a name, or an address, waits, longer each time."""

from __future__ import annotations

from sqlalchemy import Connection, delete, func, insert, select

from discreet.web.db.store import now
from discreet.web.db.tables import attempts
from discreet.web.errors import TooMany

WINDOW = 15 * 60.0
"""Seconds after which a failure is forgotten."""
FREE = 5
"""Failures of one name in the window that cost nothing."""
FREE_ADDRESS = 30
"""Failures from one address, behind which many people may sit."""


def check(connection: Connection, name: str, address: str) -> None:
    """Raise where this name or address must wait."""
    for subject, free in ((_name(name), FREE), (_address(address), FREE_ADDRESS)):
        count, last = connection.execute(
            select(func.count(), func.max(attempts.c.at)).where(attempts.c.subject == subject, attempts.c.at > now() - WINDOW)
        ).one()
        if count >= free:
            wait = min(WINDOW, 2.0 ** (count - free + 1)) - (now() - last)
            if wait > 0:
                raise TooMany(f"too many failed logins; try again in {wait:.0f} seconds", seconds=wait)


def failed(connection: Connection, name: str, address: str) -> None:
    """Remember a failure, and forget old ones."""
    connection.execute(delete(attempts).where(attempts.c.at < now() - WINDOW))
    connection.execute(insert(attempts), [{"subject": one, "at": now()} for one in (_name(name), _address(address))])


def succeeded(connection: Connection, name: str) -> None:
    """A name that got in starts anew."""
    connection.execute(delete(attempts).where(attempts.c.subject == _name(name)))


def _name(name: str) -> str:
    return f"name:{name.casefold()[:150]}"


def _address(address: str) -> str:
    return f"address:{address[:150]}"
