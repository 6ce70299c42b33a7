"""The database of published tables, which other programs read: never that of users, jobs and originals.

On PostgreSQL it is a schema of its own, on MySQL a database of its own, else a file of its own. A table is readable by the
accounts that the owner of its project names, and by nobody else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection, MetaData, NullPool, Table, create_engine, inspect, make_url, text
from sqlalchemy.exc import SQLAlchemyError

from discreet.convert.databases.database import identifier_quoter
from discreet.convert.databases.locking import exclusive_writer
from discreet.engine.runtime.private_files import create_private_file
from discreet.errors import SourceError, redact_credentials
from discreet.web.db.store import DRIVERS

SCHEMA = "discreet_releases"
"""The schema of published tables on PostgreSQL."""
LOCK_SECONDS = 5
"""Seconds to wait for a program that is reading a table."""
_SET_LOCK_TIMEOUT = {
    "postgresql": f"SET LOCAL lock_timeout = '{LOCK_SECONDS}s'",
    "mysql": f"SET lock_wait_timeout = {LOCK_SECONDS}",
}
_PRIVILEGES = {
    "postgresql": (
        "SELECT DISTINCT coalesce(r.rolname, '') FROM pg_class c CROSS JOIN LATERAL aclexplode(c.relacl) a "
        "LEFT JOIN pg_roles r ON r.oid = a.grantee JOIN pg_namespace n ON n.oid = c.relnamespace "
        "WHERE n.nspname = :place AND c.relname = :name AND a.grantee <> c.relowner"
    ),
    "mysql": (
        "SELECT DISTINCT grantee FROM information_schema.table_privileges WHERE table_schema = :place AND table_name = :name"
    ),
}


def table_address(published: str, table: str) -> str:
    """The address under which a published table is written and read."""
    return f"{published}#{SCHEMA}.{table}" if _system(published) == "postgresql" else f"{published}#{table}"


def display_address(published: str, table: str) -> str:
    """The address of a published table for people, without user name and password."""
    return redact_credentials(table_address(published, table))


def prepare(published: str) -> None:
    """Create the schema, the database or the file of published tables, unless it exists."""
    url = make_url(published)
    system = _system(published)
    if system == "sqlite":
        create_private_file(Path(str(url.database)))
    elif system == "postgresql":
        with _open(published) as connection:
            connection.execute(text(f'CREATE SCHEMA IF NOT EXISTS "{SCHEMA}"'))
    else:
        quoted = identifier_quoter("mysql")(str(url.database))
        engine = create_engine(url.set(drivername=DRIVERS["mysql"], database=""), poolclass=NullPool, hide_parameters=True)
        with engine.begin() as connection:
            connection.exec_driver_sql(f"CREATE DATABASE IF NOT EXISTS {quoted} CHARACTER SET utf8mb4")


def drop_tables(published: str, names: Sequence[str]) -> None:
    """Drop published tables, so that no file of the database contains their rows; what does not exist is left out."""
    if not names or not _exists(published):
        return
    if _system(published) == "sqlite":
        with exclusive_writer(Path(str(make_url(published).database))), _open(published) as connection:
            connection.exec_driver_sql("PRAGMA secure_delete = ON")  # freed pages are overwritten
            _drop_each(connection, None, names)
        _vacuum_file(published)
        return
    with _open(published) as connection:
        connection.exec_driver_sql(_SET_LOCK_TIMEOUT[connection.dialect.name])
        if _system(published) == "mysql":  # it keeps the rights on a table by name, for the next table of that name
            for name in names:
                _revoke_others(connection, published, name, [])
        _drop_each(connection, _place(published), names)


def list_tables(published: str) -> list[str]:
    """The tables that the database of published tables holds."""
    if not _exists(published):
        return []
    with _open(published) as connection:
        return sorted(inspect(connection).get_table_names(schema=_place(published)))


def check_grantees(published: str, accounts: Sequence[str]) -> None:
    """Raise if the database has no such account, or no accounts at all."""
    system = _system(published)
    if not accounts:
        return
    if system == "sqlite":
        raise SourceError(
            "a file of SQLite has no accounts to grant rights to; remove the names from the project's release settings, and give "
            "the account of a program the right to read the file"
        )
    if system == "postgresql":
        with _open(published) as connection:
            known = set(connection.execute(text("SELECT rolname FROM pg_roles")).scalars())
        missing = [account for account in accounts if account not in known]
    else:
        with _open(published) as connection:
            grantees = connection.execute(text("SELECT DISTINCT grantee FROM information_schema.user_privileges")).scalars()
            existing = {str(grantee) for grantee in grantees}
        missing = [account for account in accounts if _grantee(system, account) not in existing]
    if missing:
        raise SourceError(f"the database has no account '{missing[0]}'; correct the project's release settings")


def set_grants(published: str, table: str, accounts: Sequence[str]) -> None:
    """Let these accounts read a published table, and nobody else but its owner."""
    system = _system(published)
    if system == "sqlite":
        return
    place = _place(published)
    quote = identifier_quoter(system)
    qualified = quote(place, table)
    grantees = [_grantee(system, account) for account in accounts]
    try:
        with _open(published) as connection:
            _revoke_others(connection, published, table, grantees)
            for grantee in grantees:
                if system == "postgresql":
                    connection.exec_driver_sql(f"GRANT USAGE ON SCHEMA {quote(place)} TO {grantee}".replace("%", "%%"))
                connection.exec_driver_sql(f"GRANT SELECT ON {qualified} TO {grantee}".replace("%", "%%"))
    except SQLAlchemyError as error:
        reason = str(getattr(error, "orig", error)).strip().split("\n", 1)[0]
        raise SourceError(
            f"the right to read the table {table} could not be granted to {', '.join(accounts)}: {reason}"
        ) from None


def revoke_others(published: str, table: str, accounts: Sequence[str]) -> None:
    """Take the right to read a table from all accounts but these, before other rows are written into it."""
    if _system(published) != "sqlite":
        grantees = [_grantee(_system(published), account) for account in accounts]
        with _open(published) as connection:
            _revoke_others(connection, published, table, grantees)


def _revoke_others(connection: Connection, published: str, table: str, grantees: Sequence[str]) -> None:
    system, place = _system(published), _place(published)
    quote = identifier_quoter(system)
    holders = connection.execute(text(_PRIVILEGES[system]), {"place": place, "name": table}).scalars().all()
    present = [str(name) if system == "mysql" else quote(str(name)) if name else "PUBLIC" for name in holders]
    for grantee in sorted(set(present) - set(grantees)):
        connection.exec_driver_sql(f"REVOKE ALL ON {quote(place, table)} FROM {grantee}".replace("%", "%%"))


@contextmanager
def _open(published: str) -> Iterator[Connection]:
    url = make_url(published)
    engine = create_engine(url.set(drivername=DRIVERS[url.get_backend_name()]), poolclass=NullPool, hide_parameters=True)
    with engine.begin() as connection:
        yield connection


def _drop_each(connection: Connection, place: str | None, names: Sequence[str]) -> None:
    for name in names:
        Table(name, MetaData(), schema=place).drop(connection, checkfirst=True)


def _vacuum_file(published: str) -> None:
    url = make_url(published)
    engine = create_engine(url, poolclass=NullPool, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql("VACUUM")


def _exists(published: str) -> bool:
    url = make_url(published)
    if _system(published) == "sqlite":
        return Path(str(url.database)).exists()
    if _system(published) == "postgresql":
        return True
    engine = create_engine(url.set(drivername=DRIVERS["mysql"], database=""), poolclass=NullPool, hide_parameters=True)
    with engine.begin() as connection:
        return url.database in inspect(connection).get_schema_names()


def _place(published: str) -> str | None:
    """The schema of the tables: on MySQL the database."""
    system = _system(published)
    return SCHEMA if system == "postgresql" else str(make_url(published).database) if system == "mysql" else None


def _system(published: str) -> str:
    return DRIVERS[make_url(published).get_backend_name()].partition("+")[0]


def _grantee(system: str, account: str) -> str:
    """An account as SQL names it; release_settings.py admits no quotes and backslashes in names."""
    if system == "postgresql":
        return identifier_quoter("postgresql")(account)
    user, _, host = account.partition("@")
    return f"'{user}'@'{host or '%'}'"
