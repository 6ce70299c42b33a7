"""Deletion of a project: its rows, the table that other programs read, its keys, then its files.

The audit log keeps a record of the project. The table is dropped before the deletion of the rows is committed: if it cannot be
dropped, the project remains and can be deleted again, while a table without a project could never be deleted.
"""

from __future__ import annotations

from sqlalchemy import func, select

from discreet.web.auth.accounts import User
from discreet.web.db.store import Store
from discreet.web.db.sweeping import delete_project_files
from discreet.web.db.tables import jobs, releases
from discreet.web.errors import Conflict
from discreet.web.jobs.queue import ACTIVE
from discreet.web.projects import projects, publication, purging
from discreet.web.projects.projects import Project
from discreet.web.settings import Settings


def delete_project(store: Store, settings: Settings, user: User, project: Project) -> None:
    """Delete a project without public releases and active jobs, so that nothing of its data remains on the server."""
    with store.write() as connection:
        active_jobs = select(func.count()).where(jobs.c.project_id == project.id, jobs.c.state.in_(ACTIVE))
        if connection.execute(active_jobs).scalar_one():
            raise Conflict("a job of the project is still active; cancel it first")
        query = select(releases.c.table_name).where(releases.c.project_id == project.id, releases.c.table_name != "").distinct()
        names = list(connection.execute(query).scalars())
        projects.delete_project_rows(connection, user, project)
        publication.drop_published(settings, names)
    purging.delete_keys(settings, project.id, kept=set())
    delete_project_files(settings, project.id)
    store.reclaim()
