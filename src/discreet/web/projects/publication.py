"""Publication of an approved release as a table that other programs read, and its withdrawal.

A project has one published table. It stays as it is, whatever is generated, until another approved release is published, which
supersedes it, or until the release is withdrawn, which drops the table.
"""

from __future__ import annotations

import logging
from typing import Any

from sqlalchemy import Connection, Row, func, select, update
from sqlalchemy.exc import SQLAlchemyError

from discreet.web.auth import accounts
from discreet.web.auth.accounts import User
from discreet.web.db.store import Store
from discreet.web.db.tables import jobs, releases
from discreet.web.db.tables import projects as project_table
from discreet.web.errors import Conflict, InvalidRequest
from discreet.web.jobs import queue
from discreet.web.projects import approval, projects, published_tables
from discreet.web.projects.projects import Project
from discreet.web.projects.release_states import PUBLIC, check_publishable
from discreet.web.projects.releases import Release
from discreet.web.projects.releases import get as get_release
from discreet.web.settings import Settings

log = logging.getLogger("discreet.web")


def publish(connection: Connection, user: User, project: Project, number: int) -> queue.Job:
    """Submit the job that publishes an approved release; if one is running already, that one is returned."""
    project.require_role("owner")
    release = approval.lock(connection, project, number)
    if (running := _active_publication(connection, project)) is not None:
        if running.parameters.get("release") == number:
            return queue.get(connection, project, running.id)
        raise Conflict(f"release {running.parameters.get('release')} is being published; wait until it is")
    check_publishable(release.number, release.state)
    return queue.submit(connection, user, project, "publish", {"release": number})


def record_publication(connection: Connection, job: Row[Any], table_name: str) -> None:
    """Record that a release is published, and that it supersedes the one that was; in the transaction that ends its job."""
    user = accounts.get(connection, job.user_id)
    project = projects.get(connection, user, job.project_id, "owner")
    release = approval.lock(connection, project, job.parameters["release"])
    check_publishable(release.number, release.state)
    condition = (releases.c.project_id == project.id, releases.c.state == "published")
    for number in connection.execute(select(releases.c.number).where(*condition)).scalars().all():
        earlier = get_release(connection, project, number)
        approval.move(
            connection, user, project, earlier, "superseded", note=f"by release {release.number}", table_name="",
            superseded_by=release.number,
        )  # fmt: skip
    detail = {"table": table_name, "sha256": release.sha256, "grants": list(project.grants or [])}
    approval.move(connection, user, project, release, "published", detail=detail, table_name=table_name)


def withdraw(connection: Connection, settings: Settings, user: User, project: Project, number: int, reason: str) -> Release:
    """Withdraw an approved or published release: its table is dropped, and release readers no longer see it."""
    project.require_role("owner")
    release = approval.lock(connection, project, number)
    reason = approval.check_note(reason)
    if not reason:
        raise InvalidRequest(f"a reason has to say why release {number} is withdrawn")
    if release.state not in (*PUBLIC, "superseded"):
        raise Conflict(f"release {number} is {release.state}, so there is nothing to withdraw", state=release.state)
    if _active_publication(connection, project) is not None:
        raise Conflict("a release is being published; wait until it is, or cancel the job, before you withdraw one")
    withdrawn = approval.move(connection, user, project, release, "withdrawn", note=reason, table_name="")
    if release.state == "published":
        drop_published(settings, [release.table_name])
    return withdrawn


def drop_published(settings: Settings, names: list[str]) -> None:
    """Drop published tables before the change of their rows is committed: a table without a release could never be dropped."""
    try:
        published_tables.drop_tables(settings.published, names)
    except SQLAlchemyError:
        raise Conflict(
            f"the published table {', '.join(names)} could not be dropped; another program may be reading it: "
            "try again in a moment"
        ) from None


def drop_unpublished(store: Store, settings: Settings) -> None:
    """Drop tables under projects' public names that hold no published release; they are left from earlier versions, or from a
    publication that ended before it was recorded."""
    with store.read() as connection:
        names = set(connection.execute(select(project_table.c.table_name)).scalars())
        recorded = connection.execute(select(releases.c.table_name, releases.c.state).where(releases.c.table_name != "")).all()
    published = {row.table_name for row in recorded if row.state == "published"}
    unpublished = (names | {row.table_name for row in recorded}) - published
    try:
        present = set(published_tables.list_tables(settings.published))
        published_tables.drop_tables(settings.published, sorted(unpublished & present))
    except SQLAlchemyError as error:
        log.error("tables without a published release could not be dropped: %s", type(error).__name__)
        return
    with store.write() as connection:
        stale = (releases.c.table_name != "", releases.c.state != "published")
        if connection.execute(select(func.count()).where(*stale)).scalar_one():
            connection.execute(update(releases).where(*stale).values(table_name=""))


def _active_publication(connection: Connection, project: Project) -> Any:
    query = select(jobs.c.id, jobs.c.parameters).where(
        jobs.c.project_id == project.id, jobs.c.kind == "publish", jobs.c.state.in_(queue.ACTIVE)
    )
    return connection.execute(query).first()
