"""Tables of connected databases, which the administrator grants to people: one table, or all tables of a database.

Nobody has a grant at the start, not even an administrator: a connected database may hold more than a project needs.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, NullPool, create_engine, delete, insert, inspect, make_url, select
from sqlalchemy.exc import IntegrityError

from discreet.web.auth.accounts import User, get_by_name
from discreet.web.db import audit
from discreet.web.db.store import DRIVERS
from discreet.web.db.tables import grants, users
from discreet.web.errors import Conflict, Forbidden, InvalidRequest, NotFound
from discreet.web.settings import Settings

ALL_TABLES = "*"
CONNECT_SECONDS = 5
"""Seconds that a connected database may take to respond."""


def list_sources(connection: Connection, settings: Settings, user: User) -> list[str]:
    """The names of the connected databases of which a user may import something."""
    query = select(grants.c.source).where(grants.c.user_id == user.id).distinct()
    return sorted(set(connection.execute(query).scalars()) & set(settings.sources))


def list_tables(connection: Connection, settings: Settings, user: User, source: str) -> list[str]:
    """The tables and views of a connected database that a user may import; those of another type of database as granted."""
    granted = _granted_tables(connection, user.id, source) if source in settings.sources else set()
    if not granted:
        raise NotFound(f"no database is connected for you as '{source[:80]}'")
    if ALL_TABLES not in granted:
        return sorted(granted)
    return sorted(_existing_tables(settings, source))


def check_granted(connection: Connection, settings: Settings, user_id: int, source: str, table: str) -> None:
    """Raise unless a user may import a table; a source that is not connected gets the same answer."""
    granted = _granted_tables(connection, user_id, source) if source in settings.sources else set()
    if ALL_TABLES not in granted and _normalize(table) not in {_normalize(name) for name in granted}:
        raise Forbidden(f"the table '{table[:80]}' of '{source[:80]}' was not granted to you; ask an administrator")


def grant(connection: Connection, settings: Settings, admin: User, name: str, source: str, table: str = ALL_TABLES) -> None:
    """Let a user import a table of a connected database, or all of them (``*``)."""
    user, table = get_by_name(connection, name), table.strip() or ALL_TABLES
    if source not in settings.sources:
        raise InvalidRequest(f"no database is connected as '{source[:80]}'; connected: {', '.join(settings.sources) or 'none'}")
    if len(table) > 300 or not table.isprintable():
        raise InvalidRequest("the name of a table has at most 300 printable characters")
    try:
        with connection.begin_nested():
            connection.execute(insert(grants).values(user_id=user.id, source=source, table_name=table))
    except IntegrityError:
        raise Conflict(f"'{user.name}' has this grant already") from None
    audit.record(connection, admin.name, "source granted", user=user.name, source=source, table=table)


def revoke(connection: Connection, admin: User, name: str, source: str, table: str) -> None:
    """Take a grant back; datasets that were imported stay."""
    user = get_by_name(connection, name)
    this_grant = (grants.c.user_id == user.id, grants.c.source == source, grants.c.table_name == table)
    if not connection.execute(delete(grants).where(*this_grant)).rowcount:
        raise NotFound(f"'{user.name}' has no such grant")
    audit.record(connection, admin.name, "source revoked", user=user.name, source=source, table=table)


def list_grants(connection: Connection) -> list[dict[str, Any]]:
    """All grants: user, source and table."""
    query = select(users.c.name.label("user"), grants.c.source, grants.c.table_name.label("table"))
    rows = connection.execute(query.join(users, users.c.id == grants.c.user_id).order_by(users.c.name, grants.c.source))
    return [dict(row) for row in rows.mappings()]


def _granted_tables(connection: Connection, user_id: int, source: str) -> set[str]:
    condition = (grants.c.user_id == user_id, grants.c.source == source)
    return set(connection.execute(select(grants.c.table_name).where(*condition)).scalars())


def _normalize(table: str) -> str:
    """A table's name without quotes, in lower case: how databases compare names that are not quoted."""
    return table.replace('"', "").replace("`", "").strip().lower()


def _existing_tables(settings: Settings, source: str) -> Iterable[str]:
    from discreet.convert.errors import convert_errors

    url = make_url(settings.sources[source])
    driver = DRIVERS.get(url.get_backend_name())
    if driver is None:  # its tables cannot be listed
        return []
    passwords = [url.password] if isinstance(url.password, str) else []
    # a user waits for the response
    connect_options = {} if driver == "sqlite" else {"connect_timeout": CONNECT_SECONDS}
    with convert_errors(f"the database '{source}'", "cannot be read", passwords):
        engine = create_engine(url.set(drivername=driver), poolclass=NullPool, connect_args=connect_options)
        with engine.connect() as connection:
            inspector = inspect(connection)
            names = {*inspector.get_table_names(), *inspector.get_view_names()}
    return [name for name in names if not name.lower().startswith("discreet_")]
