"""Imports that are being prepared: previews of how an uploaded file, or a table of a connected database, would be read.

A preview shows records before they belong to the project, so it is open only to the person who asked for it.
"""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import Connection, select

from discreet.web.auth.accounts import User
from discreet.web.db import audit, staging
from discreet.web.db.tables import jobs
from discreet.web.errors import Conflict, NotFound
from discreet.web.jobs import queue
from discreet.web.jobs.queue import Job
from discreet.web.projects.projects import Project
from discreet.web.settings import Settings


def get_job(connection: Connection, user: User, project: Project, job_id: str) -> Job:
    """A job that makes a preview, if the user asked for it."""
    job = queue.get(connection, project, job_id)
    if job.kind != "preview" or job.user != user.name:
        raise NotFound(f"you have no preview '{job_id[:40]}' in the project '{project.name}'")
    return job


def read_preview(settings: Settings, project: Project, job: Job) -> dict[str, Any]:
    """The content of a preview that is ready."""
    if job.state != "done":
        raise Conflict(f"the preview is not ready: it is {job.state}", state=job.state)
    try:
        text = staging.preview_path(settings.folder(project.id), job.parameters, job.id).read_text(encoding="utf-8")
    except OSError:
        raise NotFound("the preview is no longer on the server: its table was imported or discarded; upload it again") from None
    content: dict[str, Any] = json.loads(text)
    return content


def describe_source(job: Job) -> dict[str, Any]:
    """The parameters of a preview or import that say what is read."""
    return {name: job.parameters[name] for name in ("upload", "name", "source", "table") if name in job.parameters}


def discard(connection: Connection, settings: Settings, user: User, project: Project, job: Job) -> None:
    """Delete the upload of a preview, and its previews; a job that still reads it is an obstacle."""
    project.require_role("editor")
    key = staging.staging_key(job.parameters)
    query = select(jobs.c.parameters).where(
        jobs.c.project_id == project.id, jobs.c.kind.in_(("import", "preview")), jobs.c.state.in_(queue.ACTIVE)
    )
    if any(staging.staging_key(parameters) == key for parameters in connection.execute(query).scalars()):
        raise Conflict("a job is still reading it; cancel the job first")
    staging.delete_staged(settings.folder(project.id), job.parameters)
    audit.record(connection, user.name, "upload discarded", project.id, name=str(job.parameters.get("name", ""))[:200])


def latest_preview(connection: Connection, user: User, project: Project, parameters: dict[str, Any]) -> Job | None:
    """The newest preview that the user has of what an import read."""
    key = staging.staging_key(parameters)
    candidates = (job for job in queue.list_jobs(connection, project, 50) if job.kind == "preview" and job.user == user.name)
    return next((job for job in candidates if job.state == "done" and staging.staging_key(job.parameters) == key), None)
