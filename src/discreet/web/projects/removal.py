"""Deletion of a project: its rows, the masked tables that other programs read, then its files.

The audit log keeps a record of the project. The tables are dropped before the deletion of the rows is committed: if a table
cannot be dropped, the project remains and can be deleted again, while a table without a project could never be deleted.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, MetaData, NullPool, Table, create_engine, func, make_url, select
from sqlalchemy.exc import SQLAlchemyError

from discreet.web.auth.accounts import User
from discreet.web.db.store import DRIVERS, Store
from discreet.web.db.sweeping import delete_project_files
from discreet.web.db.tables import jobs, releases
from discreet.web.errors import Conflict
from discreet.web.jobs.queue import ACTIVE
from discreet.web.projects import projects
from discreet.web.projects.projects import Project
from discreet.web.settings import Settings

LOCK_SECONDS = 5
"""Seconds to wait for a program that is reading the table."""
_SET_LOCK_TIMEOUT = {
    "postgresql": f"SET LOCAL lock_timeout = '{LOCK_SECONDS}s'",
    "mysql": f"SET lock_wait_timeout = {LOCK_SECONDS}",
}


def delete_project(store: Store, settings: Settings, user: User, project: Project) -> None:
    """Delete a project without signed releases and active jobs."""
    with store.write() as connection:
        active_jobs = select(func.count()).where(jobs.c.project_id == project.id, jobs.c.state.in_(ACTIVE))
        if connection.execute(active_jobs).scalar_one():
            raise Conflict("a job of the project is still active; cancel it first")
        query = select(releases.c.table_name).where(releases.c.project_id == project.id, releases.c.table_name != "").distinct()
        names = connection.execute(query).scalars().all()
        projects.delete_project_rows(connection, user, project)
        try:
            _drop_tables(connection, store, settings, names)
        except SQLAlchemyError:
            raise Conflict(
                f"the masked table {', '.join(names)} could not be dropped; "
                "another program may be reading it: try again in a moment"
            ) from None
    delete_project_files(settings, project.id)


def _drop_tables(connection: Connection, store: Store, settings: Settings, names: Sequence[str]) -> None:
    if not names:
        return
    # MySQL commits when a table is dropped; the other databases drop it in the same transaction
    if settings.published == store.address and connection.dialect.name != "mysql":
        _drop_each(connection, names)
        return
    url = make_url(settings.published)
    engine = create_engine(url.set(drivername=DRIVERS[url.get_backend_name()]), poolclass=NullPool, hide_parameters=True)
    with engine.begin() as published_connection:
        _drop_each(published_connection, names)


def _drop_each(connection: Connection, names: Sequence[str]) -> None:
    if set_timeout := _SET_LOCK_TIMEOUT.get(connection.dialect.name):
        connection.exec_driver_sql(set_timeout)
    for name in names:
        Table(name, MetaData()).drop(connection, checkfirst=True)
