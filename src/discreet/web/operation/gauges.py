"""Values that are read from the database and the disk when somebody asks for the metrics: the same from every process."""

from __future__ import annotations

import platform
import shutil
from collections.abc import Iterator

from sqlalchemy import Connection, func, select

from discreet import __version__
from discreet.web.core import Core
from discreet.web.db.store import now
from discreet.web.db.tables import jobs, projects, sessions, users
from discreet.web.operation.metrics import Family, Sample
from discreet.web.projects import quotas

BUILD = Family("discreet_build_info", "gauge", "Version of the server and of Python; always 1.")
JOBS = Family("discreet_jobs", "gauge", "Jobs in the database by type and state; they go with their projects.")
QUEUE = Family("discreet_jobs_queued", "gauge", "Jobs that wait for a place.")
OLDEST = Family("discreet_jobs_oldest_wait_seconds", "gauge", "Seconds that the oldest queued job has waited; 0 without any.")
SESSIONS = Family("discreet_sessions", "gauge", "Sessions that have not expired.")
ACCOUNTS = Family("discreet_users", "gauge", "Accounts that are not disabled.")
PROJECTS = Family("discreet_projects", "gauge", "Projects.")
DISK_FREE = Family("discreet_disk_free_bytes", "gauge", "Free bytes on the disk of the data directory.")
DISK_SIZE = Family("discreet_disk_size_bytes", "gauge", "Size of the disk of the data directory in bytes.")
DATA = Family("discreet_data_bytes", "gauge", "Bytes of all projects' files.")
QUOTA_MAX = Family("discreet_quota_used_ratio_max", "gauge", "The largest share of a user's disk quota that is in use.")
QUOTA_NEAR = Family("discreet_quota_users_above_90_percent", "gauge", "Users who have used more than 90 % of their disk quota.")


def read_gauges(core: Core) -> list[Sample]:
    """All values, in one read of the database."""
    with core.store.read() as connection:
        return [*_read_jobs(connection), *_read_people(connection), *_read_disk(connection, core)]


def _read_jobs(connection: Connection) -> Iterator[Sample]:
    yield Sample(BUILD, 1.0, (("version", __version__), ("python", platform.python_version())))
    query = select(jobs.c.kind, jobs.c.state, func.count().label("number")).group_by(jobs.c.kind, jobs.c.state)
    for row in connection.execute(query.order_by(jobs.c.kind, jobs.c.state)).all():
        yield Sample(JOBS, float(row.number), (("type", row.kind), ("state", row.state)))
    queue = select(func.count().label("number"), func.min(jobs.c.created).label("oldest")).where(jobs.c.state == "queued")
    waiting = connection.execute(queue).one()
    yield Sample(QUEUE, float(waiting.number))
    yield Sample(OLDEST, 0.0 if waiting.oldest is None else max(0.0, now() - waiting.oldest))


def _read_people(connection: Connection) -> Iterator[Sample]:
    for family, query in (
        (SESSIONS, select(func.count()).select_from(sessions).where(sessions.c.expires > now())),
        (ACCOUNTS, select(func.count()).select_from(users).where(~users.c.disabled)),
        (PROJECTS, select(func.count()).select_from(projects)),
    ):
        yield Sample(family, float(connection.execute(query).scalar_one()))


def _read_disk(connection: Connection, core: Core) -> Iterator[Sample]:
    disk = shutil.disk_usage(core.settings.home)
    yield Sample(DISK_FREE, float(disk.free))
    yield Sample(DISK_SIZE, float(disk.total))
    used: dict[int, float] = {}
    for row in connection.execute(select(projects.c.id, projects.c.owner_id)).all():
        size = quotas.folder_bytes(core.settings.home / "projects" / str(row.id))
        used[row.owner_id] = used.get(row.owner_id, 0.0) + size
    shares = [
        size / allowed
        for owner, size in used.items()
        if (allowed := quotas.get_quota(connection, core.settings, "user", owner).bytes) > 0
    ]
    yield Sample(DATA, sum(used.values()))
    yield Sample(QUOTA_MAX, max(shares, default=0.0))
    yield Sample(QUOTA_NEAR, float(sum(share > 0.9 for share in shares)))
