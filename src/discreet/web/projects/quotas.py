"""Quotas of users and projects: bytes on disk, jobs at the same time, and running time of jobs within a day.

The server has defaults; an administrator can set others for a user or a project. What a project uses on disk counts for the user
who created it. Uploads and jobs leave a part of the disk free, so that people can always log in and delete something.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Row, delete, func, insert, select

from discreet.engine.runtime.memory import format_size
from discreet.web.auth.accounts import User
from discreet.web.db import audit
from discreet.web.db.store import now
from discreet.web.db.tables import jobs, projects, quotas, users
from discreet.web.errors import DiskFull, InvalidRequest, NotFound, TooManyRequests
from discreet.web.settings import Settings

DAY_SECONDS = 24 * 3600.0
DEFAULT_JOBS = {"user": 20, "project": 20}
DEFAULT_HOURS = {"user": 48.0, "project": 48.0}
SMALL_RESULT_BYTES = 64 << 20
"""What a job may write even where a quota is exhausted: a report, an index."""
PREVIEW_SECONDS = 300.0
"""Seconds that a preview may run: somebody waits for it, and places for previews are few."""
ACTIVE_STATES = ("queued", "running")


@dataclass(frozen=True)
class Quota:
    """What a user or a project may use."""

    bytes: float
    jobs: int
    hours: float


def get_quota(connection: Connection, settings: Settings, kind: str, subject_id: int) -> Quota:
    """The quota of a user or project: as set by an administrator, otherwise the server's default."""
    row = _get_row(connection, kind, subject_id)
    default_bytes = settings.limits.user_bytes if kind == "user" else settings.limits.project_bytes
    size = default_bytes if row is None or row.bytes is None else row.bytes
    return Quota(size, _max_jobs(row, kind), _max_hours(row, kind))


def set_quota(
    connection: Connection, admin: User, kind: str, subject_id: int, *,
    size: float | None = None, jobs: int | None = None, hours: float | None = None,
) -> None:  # fmt: skip
    """Set the quota of a user or project; None is the server's default."""
    if kind not in DEFAULT_JOBS:
        raise InvalidRequest(f"a quota belongs to a user or a project; got '{kind[:20]}'")
    if any(value is not None and not 0 <= value < 1e18 for value in (size, jobs, hours)):
        raise InvalidRequest("a quota is a number that is not negative")
    connection.execute(delete(quotas).where(quotas.c.kind == kind, quotas.c.subject_id == subject_id))
    row = {"kind": kind, "subject_id": subject_id, "bytes": size, "jobs": jobs, "hours": hours}
    connection.execute(insert(quotas).values(**row))
    audit.record(connection, admin.name, "quota set", kind=kind, subject=subject_id, bytes=size, jobs=jobs, hours=hours)


def list_project_quotas(connection: Connection, settings: Settings) -> list[dict[str, Any]]:
    """For administrators: each project by number and owner, what it uses on disk and its quota; never its name."""
    query = select(projects.c.id, users.c.name).join(users, users.c.id == projects.c.owner_id).order_by(projects.c.id)
    return [
        {
            "id": row.id,
            "owner": row.name,
            "used": folder_bytes(settings.home / "projects" / str(row.id)),
            "quota": get_quota(connection, settings, "project", row.id),
        }
        for row in connection.execute(query).all()
    ]


def check_project(connection: Connection, project_id: int) -> None:
    """Raise if there is no such project."""
    known = 0 < project_id < 2**31 and connection.execute(select(projects.c.id).where(projects.c.id == project_id)).scalar()
    if not known:
        raise NotFound(f"there is no project {project_id}")


def folder_bytes(folder: Path) -> int:
    """Bytes of all files below a folder."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(parent, name)).st_size
            except OSError:
                continue  # it was deleted meanwhile
    return total


def remaining_bytes(connection: Connection, settings: Settings, project_id: int) -> tuple[float, str]:
    """Bytes that a project may still take, and what limits them: the project, its owner, or the disk."""
    owner_id = connection.execute(select(projects.c.owner_id).where(projects.c.id == project_id)).scalar_one()
    owned = connection.execute(select(projects.c.id).where(projects.c.owner_id == owner_id)).scalars().all()
    used = {owned_id: folder_bytes(settings.home / "projects" / str(owned_id)) for owned_id in owned}
    disk = shutil.disk_usage(settings.home)
    reserved = min(settings.limits.reserved_bytes, disk.total / 10)
    return min(
        (get_quota(connection, settings, "project", project_id).bytes - used.get(project_id, 0), "the project's quota"),
        (get_quota(connection, settings, "user", owner_id).bytes - sum(used.values()), "the quota of the project's owner"),
        (disk.free - reserved, "the server's disk"),
    )


def check_room(connection: Connection, settings: Settings, project_id: int, size: float = 1) -> float:
    """Bytes that a project may still take; raises if they are fewer than ``size``."""
    remaining, limited_by = remaining_bytes(connection, settings, project_id)
    if remaining < size:
        left = format_size(remaining) if remaining > 0 else "no room"
        raise DiskFull(f"{limited_by} leaves {left}; delete datasets or projects, or ask an administrator for more")
    return remaining


def check_jobs(connection: Connection, user_id: int, project_id: int, project_name: str) -> None:
    """Raise if a user or project has as many queued and running jobs, or has used as much running time, as the quota allows."""
    for kind, subject_id, column in (("user", user_id, jobs.c.user_id), ("project", project_id, jobs.c.project_id)):
        row = _get_row(connection, kind, subject_id)
        subject = "you have" if kind == "user" else f"the project '{project_name}' has"
        active = select(func.count()).where(column == subject_id, jobs.c.state.in_(ACTIVE_STATES))
        if connection.execute(active).scalar_one() >= _max_jobs(row, kind):
            raise TooManyRequests(
                f"{subject} {_max_jobs(row, kind)} queued or running jobs already; wait or cancel some", seconds=60
            )
        if _hours_used(connection, column, subject_id) >= _max_hours(row, kind):
            raise TooManyRequests(
                f"{subject} used the {_max_hours(row, kind):g} hours of running time of a day; try again later", seconds=3600
            )


def job_seconds(connection: Connection, settings: Settings, job: Row[Any]) -> float:
    """Seconds that a job may run: the server's limit, or less where the user's running time of the day ends before."""
    if job.kind == "preview":
        return PREVIEW_SECONDS
    row = _get_row(connection, "user", job.user_id)
    left = max(0.0, _max_hours(row, "user") - _hours_used(connection, jobs.c.user_id, job.user_id))
    return float(min(settings.limits.job_hours, left + job.ran / 3600) * 3600)


def job_limits(connection: Connection, settings: Settings, project_id: int) -> dict[str, int]:
    """Limits of a job's process: its memory, the size of its files, and what an uploaded file may expand to."""
    # a table that is published grows the database file of all projects
    published = sum(file.stat().st_size for file in settings.home.glob("releases.db*"))
    return {
        "memory": settings.memory_per_job,
        "file_bytes": published + max(SMALL_RESULT_BYTES, int(remaining_bytes(connection, settings, project_id)[0])),
        "expanded_bytes": int(settings.limits.expanded_bytes),
    }


def _get_row(connection: Connection, kind: str, subject_id: int) -> Row[Any] | None:
    condition = (quotas.c.kind == kind, quotas.c.subject_id == subject_id)
    return connection.execute(select(quotas).where(*condition)).one_or_none()


def _max_jobs(row: Row[Any] | None, kind: str) -> int:
    return DEFAULT_JOBS[kind] if row is None or row.jobs is None else int(row.jobs)


def _max_hours(row: Row[Any] | None, kind: str) -> float:
    return DEFAULT_HOURS[kind] if row is None or row.hours is None else float(row.hours)


def _hours_used(connection: Connection, column: Any, subject_id: int) -> float:
    recent = (column == subject_id, jobs.c.created > now() - DAY_SECONDS)
    return float(connection.execute(select(func.coalesce(func.sum(jobs.c.ran), 0.0)).where(*recent)).scalar_one()) / 3600
