"""Jobs in the database: anybody who may edit a project submits and cancels them; how they go is the supervisor's to say."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, func, insert, null, select, update

from discreet.web.auth.accounts import User
from discreet.web.db import audit
from discreet.web.db.store import now
from discreet.web.db.tables import jobs, users
from discreet.web.errors import Conflict, NotFound, TooMany
from discreet.web.jobs import job_types
from discreet.web.projects import projects
from discreet.web.projects.projects import Project

ACTIVE = ("queued", "running")
IN_PROJECT = 20
IN_ALL = 500
"""How many jobs may wait or run: in one project, and on the server."""


@dataclass(frozen=True)
class Job:
    """Some long work, as it stands."""

    id: str
    project_id: int
    kind: str
    parameters: dict[str, Any]
    state: str
    """queued, running, done, failed, cancelled or interrupted."""
    cancelling: bool
    what: str
    """What it is at, or how it ended: a sentence for people."""
    done: float
    total: float
    partial: Any
    """Results so far; None where a kind has none."""
    result: dict[str, Any] | None
    attempts: int
    created: float
    started: float | None
    finished: float | None
    user: str

    @property
    def active(self) -> bool:
        """Whether it waits or runs."""
        return self.state in ACTIVE

    @property
    def share(self) -> float:
        """How far it is, from 0 to 1."""
        return 1.0 if self.state == "done" else min(self.done / self.total, 1.0) if self.total > 0 else 0.0


def submit(connection: Connection, user: User, project: Project, kind: str, parameters: Mapping[str, Any] | None = None) -> Job:
    """Put a job at the queue's end."""
    project.demand("editor")
    content = job_types.check(project, kind, dict(parameters or {}))
    counted = select(jobs.c.project_id, func.count().label("n")).where(jobs.c.state.in_(ACTIVE)).group_by(jobs.c.project_id)
    waiting = {row.project_id: row.n for row in connection.execute(counted).all()}
    if waiting.get(project.id, 0) >= IN_PROJECT:
        raise TooMany(f"the project '{project.name}' has {IN_PROJECT} jobs waiting already; wait or cancel some", seconds=60)
    if sum(waiting.values()) >= IN_ALL:
        raise TooMany(f"the server has {IN_ALL} jobs waiting already; try again later", seconds=60)
    identity = secrets.token_hex(16)
    connection.execute(
        insert(jobs).values(
            id=identity, project_id=project.id, user_id=user.id, kind=kind, parameters=content, state="queued", cancelling=False,
            what="waiting for its turn", done=0, total=0, attempts=0, created=now(),
        )
    )  # fmt: skip
    projects.touch(connection, project.id)
    audit.note(connection, user.name, "job submitted", project.id, job=identity, kind=kind)
    return get(connection, project, identity)


def get(connection: Connection, project: Project, job_id: str) -> Job:
    """A job of a project."""
    row = connection.execute(_of(project).where(jobs.c.id == job_id)).one_or_none()
    if row is None:
        raise NotFound(f"the project '{project.name}' has no job '{job_id[:40]}'")
    return _job(row)


def all_of(connection: Connection, project: Project, limit: int = 50) -> list[Job]:
    """A project's jobs, newest first; without what they found, which :func:`get` tells."""
    light = [column for column in jobs.c if column.name not in ("partial", "result")]
    query = _of(project, *light, null().label("partial"), null().label("result"))
    return [_job(row) for row in connection.execute(query.order_by(jobs.c.created.desc(), jobs.c.id).limit(limit)).all()]


def latest(connection: Connection, project: Project, kind: str, state: str | None = None) -> Job | None:
    """The newest job of a kind, in a state where one is named; None where there is none."""
    query = _of(project).where(jobs.c.kind == kind).order_by(jobs.c.created.desc(), jobs.c.id).limit(1)
    row = connection.execute(query if state is None else query.where(jobs.c.state == state)).one_or_none()
    return None if row is None else _job(row)


def cancel(connection: Connection, user: User, project: Project, job_id: str) -> Job:
    """Take a waiting job out of the queue, or ask a running one to stop; it is ended 10 seconds later if it does not."""
    project.demand("editor")
    this = (jobs.c.id == job_id, jobs.c.project_id == project.id)
    gone = {"state": "cancelled", "what": f"cancelled by {user.name} before it began", "finished": now()}
    taken = connection.execute(update(jobs).where(*this, jobs.c.state == "queued").values(**gone)).rowcount
    asked = taken or connection.execute(update(jobs).where(*this, jobs.c.state == "running").values(cancelling=True)).rowcount
    found = get(connection, project, job_id)
    if not asked:
        raise Conflict(f"the job is over already: it is {found.state}", state=found.state)
    projects.touch(connection, project.id)
    audit.note(connection, user.name, "job cancelled", project.id, job=job_id, kind=found.kind)
    return found


def _of(project: Project, *columns: Any) -> Any:
    query = select(*(columns or (jobs,)), users.c.name.label("user")).join(users, users.c.id == jobs.c.user_id)
    return query.where(jobs.c.project_id == project.id)


def _job(row: Row[Any]) -> Job:
    return Job(**{name: row._mapping[name] for name in Job.__dataclass_fields__})
