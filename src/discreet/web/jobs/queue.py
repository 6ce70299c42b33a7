"""The job queue in the database. Editors of a project submit and cancel jobs; only the supervisor changes running jobs."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, bindparam, func, insert, null, select, update

from discreet.web.auth.accounts import User
from discreet.web.db import audit
from discreet.web.db.store import now
from discreet.web.db.tables import jobs, users
from discreet.web.errors import Conflict, Forbidden, NotFound, TooManyRequests
from discreet.web.jobs import generation, job_types
from discreet.web.operation.logs import current_request_id
from discreet.web.projects import policies, projects, quotas
from discreet.web.projects.projects import Project

ACTIVE = ("queued", "running")
MAX_IN_TOTAL = 500
KEPT_FOR_ADMINISTRATORS = 20
"""Maximum number of queued and running jobs on the whole server, and how many more an administrator may submit."""


@dataclass(frozen=True)
class Job:
    """A job and its current state."""

    id: str
    project_id: int
    kind: str
    parameters: dict[str, Any]
    state: str
    """queued, running, done, failed, cancelled or interrupted."""
    cancelling: bool
    what: str
    """The current step, or how the job ended: a sentence for people."""
    done: float
    total: float
    partial: Any
    """Intermediate results, such as the wizard's points; None for other kinds."""
    result: dict[str, Any] | None
    attempts: int
    created: float
    started: float | None
    finished: float | None
    user: str

    @property
    def active(self) -> bool:
        """Whether it is queued or running."""
        return self.state in ACTIVE

    @property
    def share(self) -> float:
        """Fraction done, from 0 to 1."""
        return 1.0 if self.state == "done" else min(self.done / self.total, 1.0) if self.total > 0 else 0.0


def submit(
    connection: Connection, user: User, project: Project, kind: str, parameters: Mapping[str, Any] | None = None,
    role: str = "editor",
) -> Job:  # fmt: skip
    """Append a job to the queue; a release that is generated already, or is being generated, is not generated again."""
    project.require_role("owner" if kind == "publish" else role)
    content = job_types.check_parameters(project, kind, dict(parameters or {}))
    if kind == "generate":
        content |= generation.identify(connection, project, content)
        if (earlier := generation.find_earlier_job(connection, project, content["digest"])) is not None:
            return get(connection, project, earlier)
    quotas.check_jobs(connection, user.id, project.id, project.name)
    if kind == "import" and "read" in content:
        # the options belong to the policy, so that the command line reads the file in the same way
        policies.edit(
            connection, user, project, project.revision, {"read": content["read"] or None}, "reading options of an import"
        )
    waiting = connection.execute(select(func.count()).where(jobs.c.state.in_(ACTIVE))).scalar_one()
    if waiting >= MAX_IN_TOTAL + (KEPT_FOR_ADMINISTRATORS if user.admin else 0):
        raise TooManyRequests(f"the server has {waiting} queued or running jobs already; try again later", seconds=60)
    job_id = secrets.token_hex(16)
    connection.execute(
        insert(jobs).values(
            id=job_id, project_id=project.id, user_id=user.id, kind=kind, parameters=content, state="queued", cancelling=False,
            what="queued", done=0, total=0, attempts=0, created=now(), request_id=current_request_id.get(),
        )
    )  # fmt: skip
    projects.mark_updated(connection, project.id)
    audit.record(connection, user.name, "job submitted", project.id, job=job_id, kind=kind)
    return get(connection, project, job_id)


def get(connection: Connection, project: Project, job_id: str) -> Job:
    """A job of a project."""
    row = connection.execute(_JOB, {"project": project.id, "job": job_id}).one_or_none()
    if row is None:
        raise NotFound(f"the project '{project.name}' has no job '{job_id[:40]}'")
    return _job_from_row(row)


def list_jobs(connection: Connection, project: Project, limit: int = 50, offset: int = 0) -> list[Job]:
    """A project's jobs, newest first, without their results, which :func:`get` reads."""
    columns = [column for column in jobs.c if column.name not in ("partial", "result")]
    query = _select_jobs(project, *columns, null().label("partial"), null().label("result"))
    newest = query.order_by(jobs.c.created.desc(), jobs.c.id).limit(limit).offset(offset)
    return [_job_from_row(row) for row in connection.execute(newest).all()]


def latest_job(connection: Connection, project: Project, kind: str, state: str | None = None) -> Job | None:
    """The newest job of a kind (and state, if given), or None."""
    query = _select_jobs(project).where(jobs.c.kind == kind).order_by(jobs.c.created.desc(), jobs.c.id).limit(1)
    row = connection.execute(query if state is None else query.where(jobs.c.state == state)).one_or_none()
    return None if row is None else _job_from_row(row)


_RECENT = 200
"""Jobs among which the newest measurements are looked for."""


def latest_measurements(connection: Connection, project: Project) -> tuple[list[Job], list[Job]]:
    """The newest measurements of the risk, newest first: under the policy's probabilities, and under others (``known``)."""
    recent = [job for job in list_jobs(connection, project, _RECENT) if job.kind == "risk"]
    return [job for job in recent if not job.parameters.get("known")], [job for job in recent if job.parameters.get("known")]


def cancel(connection: Connection, user: User, project: Project, job_id: str) -> Job:
    """Cancel a queued job, or ask a running one to stop; its process is killed 10 seconds later if it has not stopped."""
    project.require_role("editor")
    job = get(connection, project, job_id)
    affected = _cancel(connection, job.id, f"cancelled by {user.name} before it started")
    job = get(connection, project, job_id)
    if not affected:
        raise Conflict(f"the job has ended already ({job.state})", state=job.state)
    projects.mark_updated(connection, project.id)
    audit.record(connection, user.name, "job cancelled", project.id, job=job_id, kind=job.kind)
    return job


@dataclass(frozen=True)
class ActiveJob:
    """A queued or running job as an administrator sees it: who uses how much, but nothing of the data or the project's name."""

    id: str
    project_id: int
    user: str
    kind: str
    state: str
    cancelling: bool
    created: float
    started: float | None


def list_active(connection: Connection) -> list[ActiveJob]:
    """The queued and running jobs of all users, oldest first, for administrators."""
    columns = (jobs.c.id, jobs.c.project_id, jobs.c.kind, jobs.c.state, jobs.c.cancelling, jobs.c.created, jobs.c.started)
    query = select(*columns, users.c.name.label("user")).join(users, users.c.id == jobs.c.user_id)
    rows = connection.execute(query.where(jobs.c.state.in_(ACTIVE)).order_by(jobs.c.created, jobs.c.id)).mappings()
    return [ActiveJob(**row) for row in rows]


def cancel_any(connection: Connection, admin: User, job_id: str) -> None:
    """Cancel a job of any user, as an administrator."""
    if not admin.admin:
        raise Forbidden("only administrators may do this")
    row = connection.execute(select(jobs.c.project_id, jobs.c.kind).where(jobs.c.id == job_id)).one_or_none()
    if row is None:
        raise NotFound(f"there is no job '{job_id[:40]}'")
    if not _cancel(connection, job_id, f"cancelled by the administrator {admin.name} before it started"):
        raise Conflict("the job has ended already")
    projects.mark_updated(connection, row.project_id)
    audit.record(connection, admin.name, "job cancelled", row.project_id, job=job_id, kind=row.kind)


def _cancel(connection: Connection, job_id: str, reason: str) -> bool:
    """Cancel a queued job, or ask a running one to stop; whether it was either."""
    cancelled = {"state": "cancelled", "what": reason, "finished": now()}
    if connection.execute(update(jobs).where(jobs.c.id == job_id, jobs.c.state == "queued").values(**cancelled)).rowcount:
        return True
    running = (jobs.c.id == job_id, jobs.c.state == "running")
    return bool(connection.execute(update(jobs).where(*running).values(cancelling=True)).rowcount)


def _select_jobs(project: Project, *columns: Any) -> Any:
    return _select_of_project(project.id, *columns)


def _select_of_project(project_id: Any, *columns: Any) -> Any:
    query = select(*(columns or (jobs,)), users.c.name.label("user")).join(users, users.c.id == jobs.c.user_id)
    return query.where(jobs.c.project_id == project_id)


_JOB = _select_of_project(bindparam("project")).where(jobs.c.id == bindparam("job"))
"""Built once, because programs ask for the state of their jobs again and again."""


def _job_from_row(row: Row[Any]) -> Job:
    return Job(**{name: row._mapping[name] for name in Job.__dataclass_fields__})
