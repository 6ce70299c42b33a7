"""Downloads of a release in another file format: they wait for the job that writes the file, without holding a thread."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from sqlalchemy import Connection
from starlette.concurrency import run_in_threadpool

from discreet.web.auth.accounts import User
from discreet.web.core import Core
from discreet.web.errors import Conflict
from discreet.web.jobs import queue
from discreet.web.jobs.queue import Job
from discreet.web.projects import release_files
from discreet.web.projects.projects import Project
from discreet.web.projects.releases import Release

POLL_SECONDS = 0.15


async def wait_for_export(core: Core, user: User, project: Project, release: Release, form: str, seconds: float) -> Path | Job:
    """The file of a release in a format; the job that writes it where it is not there after ``seconds``. Holds no thread."""
    path = release_files.export_path(core.settings, release, form)
    if path.is_file():
        return path
    job = await run_in_threadpool(_find_or_submit, core, user, project, release, path)
    deadline = asyncio.get_running_loop().time() + seconds
    while job.active and asyncio.get_running_loop().time() < deadline:
        await asyncio.sleep(POLL_SECONDS)
        job = await run_in_threadpool(_read_job, core, project, job.id)
    if job.active:
        return job
    if job.state != "done" or not path.is_file():
        raise Conflict(f"the table was not written: {job.what}")
    return path


def _find_or_submit(core: Core, user: User, project: Project, release: Release, path: Path) -> Job:
    """The job that writes a file: the one that is queued or running already, otherwise a new one."""
    parameters = {"release": release.number, "format": path.name.removeprefix("export.")}
    with core.store.write() as connection:
        job = _find_active(connection, project, parameters)
        job = job or queue.submit(connection, user, project, "export", parameters, role="release_reader")
    core.supervisor.wake()
    return job


def _find_active(connection: Connection, project: Project, parameters: dict[str, Any]) -> Job | None:
    active = [job for job in queue.list_jobs(connection, project, 100) if job.active and job.kind == "export"]
    return next((job for job in active if parameters.items() <= job.parameters.items()), None)


def _read_job(core: Core, project: Project, job_id: str) -> Job:
    with core.store.read() as connection:
        return queue.get(connection, project, job_id)
