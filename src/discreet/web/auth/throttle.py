"""Throttling of logins: after several failures the next attempt must wait, twice as long after each further failure.

Three counts are kept: of a name at an address, of an address, and of a name from all addresses together. The third protects
against many addresses that guess at one name; it does not apply to addresses at which this user has logged in before, so nobody
can lock a colleague out from elsewhere.

An attempt is counted before the password is compared, by a comparison and change of one row that only one of several
simultaneous attempts can win. The count is taken back if the login succeeds.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from discreet.web.auth.names import comparison_key
from discreet.web.db.store import now
from discreet.web.db.tables import known_addresses, throttles
from discreet.web.errors import TooManyRequests
from discreet.web.limits.networks import network_of

WINDOW_SECONDS = 15 * 60.0
"""Seconds after which failures no longer count."""
FREE_FAILURES = 5
"""Failures of one name at one address before it must wait."""
FREE_FAILURES_PER_ADDRESS = 30
"""Failures per address before it must wait; more than per name, because many users can share an address."""
FREE_FAILURES_PER_NAME = 100
"""Failures per name from all addresses together, before addresses where the user never logged in must wait."""
KNOWN_DAYS = 90.0
"""Days for which an address counts as one where the user logs in."""


@dataclass(frozen=True)
class _Count:
    subject: str
    free: int


def check_wait(connection: Connection, name: str, address: str, user_id: int | None) -> None:
    """Raise if this name or address must wait. It needs no write transaction, in which others would wait for guesses."""
    for count in _counts(connection, name, address, user_id):
        until = connection.execute(select(throttles.c.until).where(throttles.c.subject == count.subject)).scalar()
        if until is not None and until > now():
            raise _must_wait(until - now())


def count_attempt(connection: Connection, name: str, address: str, user_id: int | None) -> None:
    """Count an attempt as a failure; raises if this name or address must wait."""
    for count in _counts(connection, name, address, user_id):
        _add_failure(connection, count)


def confirm_failure(connection: Connection, name: str, address: str, user_id: int | None) -> None:
    """After a failed login: a wait begins now, not when the password began to be compared."""
    for count in _counts(connection, name, address, user_id):
        row = connection.execute(select(throttles).where(throttles.c.subject == count.subject)).one_or_none()
        if row is not None and row.until:
            current_time = now()
            values = {"last": current_time, "until": current_time + row.until - row.last}
            connection.execute(update(throttles).where(throttles.c.subject == count.subject).values(**values))


def forgive_attempt(connection: Connection, name: str, address: str, user_id: int) -> None:
    """After a successful login: forget the failures of the name at this address, take back the other counts, know the address."""
    pair, *others = _counts(connection, name, address, user_id)
    connection.execute(delete(throttles).where(throttles.c.subject == pair.subject))
    for count in others:
        counted = (throttles.c.subject == count.subject, throttles.c.failures > 0)
        connection.execute(update(throttles).where(*counted).values(failures=throttles.c.failures - 1, until=0.0))
    this_address = (known_addresses.c.user_id == user_id, known_addresses.c.address == network_of(address))
    if not connection.execute(update(known_addresses).where(*this_address).values(at=now())).rowcount:
        connection.execute(insert(known_addresses).values(user_id=user_id, address=network_of(address), at=now()))
    connection.execute(delete(known_addresses).where(known_addresses.c.at < now() - KNOWN_DAYS * 86400))


def _counts(connection: Connection, name: str, address: str, user_id: int | None) -> list[_Count]:
    name_key, network = comparison_key(name), network_of(address)
    counts = [
        _Count(f"name:{name_key} at:{network}", FREE_FAILURES),
        _Count(f"address:{network}", FREE_FAILURES_PER_ADDRESS),
    ]
    this_address = (known_addresses.c.user_id == user_id, known_addresses.c.address == network)
    if user_id is None or connection.execute(select(known_addresses.c.at).where(*this_address)).first() is None:
        counts.append(_Count(f"name:{name_key}", FREE_FAILURES_PER_NAME))
    return counts


def _add_failure(connection: Connection, count: _Count) -> None:
    while True:
        current_time = now()
        row = connection.execute(select(throttles).where(throttles.c.subject == count.subject).with_for_update()).one_or_none()
        if row is None:
            connection.execute(delete(throttles).where(throttles.c.last < current_time - WINDOW_SECONDS))
            try:
                with connection.begin_nested():
                    first = {"subject": count.subject, "failures": 1, "last": current_time, "until": 0.0}
                    connection.execute(insert(throttles).values(**first))
                return
            except IntegrityError:
                continue  # a simultaneous attempt was first
        if row.until > current_time:
            raise _must_wait(row.until - current_time)
        failures = 1 if row.last < current_time - WINDOW_SECONDS else row.failures + 1
        # 2 ** 10 seconds is more than the window
        wait = min(WINDOW_SECONDS, 2.0 ** min(failures - count.free + 1, 10)) if failures >= count.free else 0.0
        unchanged = (
            throttles.c.subject == count.subject, throttles.c.failures == row.failures, throttles.c.until == row.until
        )  # fmt: skip
        values = {"failures": failures, "last": current_time, "until": current_time + wait if wait else 0.0}
        if connection.execute(update(throttles).where(*unchanged).values(**values)).rowcount:
            return


def _must_wait(seconds: float) -> TooManyRequests:
    return TooManyRequests(f"too many failed logins; try again in {seconds:.0f} seconds", seconds=seconds)
