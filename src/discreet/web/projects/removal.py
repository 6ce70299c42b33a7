"""A project deleted with all that is its own: rows, the masked table that other programs read, then its files.

The audit log keeps that it was there. The table goes before the rows are gone for good: a project whose table could not be taken
away stays and can be deleted again, while a table without a project would be nobody's.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, MetaData, NullPool, Table, create_engine, func, make_url, select
from sqlalchemy.exc import SQLAlchemyError

from discreet.web.auth.accounts import User
from discreet.web.db.store import DRIVERS, Store
from discreet.web.db.sweeping import forget
from discreet.web.db.tables import jobs, releases
from discreet.web.errors import Conflict
from discreet.web.jobs.queue import ACTIVE
from discreet.web.projects import projects
from discreet.web.projects.projects import Project
from discreet.web.settings import Settings

WAIT = 5
"""Seconds that a program which reads the table is waited for."""
_PATIENCE = {"postgresql": f"SET LOCAL lock_timeout = '{WAIT}s'", "mysql": f"SET lock_wait_timeout = {WAIT}"}


def remove(store: Store, settings: Settings, user: User, project: Project) -> None:
    """Delete a project that has nothing signed off and no job at work."""
    with store.write() as connection:
        working = select(func.count()).where(jobs.c.project_id == project.id, jobs.c.state.in_(ACTIVE))
        if connection.execute(working).scalar_one():
            raise Conflict("a job of the project is still at work; cancel it first")
        named = select(releases.c.table_name).where(releases.c.project_id == project.id, releases.c.table_name != "").distinct()
        names = connection.execute(named).scalars().all()
        projects.remove(connection, user, project)
        try:
            _drop(connection, store, settings, names)
        except SQLAlchemyError:
            raise Conflict(
                f"the masked table {', '.join(names)} could not be taken out of the database; "
                "another program may be reading it: try again in a moment"
            ) from None
    forget(settings, project.id)


def _drop(connection: Connection, store: Store, settings: Settings, names: Sequence[str]) -> None:
    if not names:
        return
    # MySQL ends a transaction where a table is dropped; the others do both in one
    if settings.published == store.address and connection.dialect.name != "mysql":
        _dropped(connection, names)
        return
    url = make_url(settings.published)
    engine = create_engine(url.set(drivername=DRIVERS[url.get_backend_name()]), poolclass=NullPool, hide_parameters=True)
    with engine.begin() as other:
        _dropped(other, names)


def _dropped(connection: Connection, names: Sequence[str]) -> None:
    if patience := _PATIENCE.get(connection.dialect.name):
        connection.exec_driver_sql(patience)
    for name in names:
        Table(name, MetaData()).drop(connection, checkfirst=True)
