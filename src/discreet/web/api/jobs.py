"""Jobs: submit, follow and cancel."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path
from starlette.responses import Response, StreamingResponse

from discreet.web.api.idempotency import IdempotencyKey, run_once
from discreet.web.api.models import ActiveJobOut, JobIn, JobOut
from discreet.web.api.people import require_admin
from discreet.web.api.projects import authorize_project
from discreet.web.api.routing import PAGED, PageOf, ProjectId, create_router
from discreet.web.auth.following import Follower
from discreet.web.auth.security import Caller, ServerCore
from discreet.web.jobs import events, queue
from discreet.web.projects import access_log, projects, sources

jobs_router = create_router("jobs")
RESULTS_WITH_VALUES = ("analyze", "risk", "select")
"""Kinds of jobs whose results name values or records of the initial microdata."""
JobId = Annotated[str, Path(pattern=r"^[0-9a-f]{32}$")]


@jobs_router.get("/jobs", response_model=list[ActiveJobOut])
def list_active_jobs(core: ServerCore, access: Caller) -> list[ActiveJobOut]:
    """The queued and running jobs of all users, without anything of their data (administrators only)."""
    require_admin(access)
    with core.store.read() as connection:
        return [ActiveJobOut.model_validate(job) for job in queue.list_active(connection)]


@jobs_router.delete("/jobs/{job}", status_code=204)
def cancel_any_job(core: ServerCore, access: Caller, job: JobId) -> None:
    """Cancel a job of any user (administrators only)."""
    require_admin(access)
    with core.store.write() as connection:
        queue.cancel_any(connection, access.user, job)
    core.supervisor.wake()


@jobs_router.get("/projects/{project_id}/jobs", response_model=list[JobOut], responses=PAGED)
def list_jobs(core: ServerCore, access: Caller, project_id: ProjectId, paging: PageOf, response: Response) -> list[JobOut]:
    """The project's jobs, newest first."""
    project = authorize_project(core, access, project_id)
    with core.store.read() as connection:
        listed = queue.list_jobs(connection, project, paging.limit + 1, paging.offset)
    return [_describe_job(job, access) for job in paging.send(response, listed)]


@jobs_router.post("/projects/{project_id}/jobs", response_model=JobOut, status_code=202)
def submit_job(
    core: ServerCore, access: Caller, project_id: ProjectId, body: JobIn, key: IdempotencyKey = None
) -> dict[str, Any]:
    """Submit a job: preview, import, analyze, risk, generate, select or report."""
    project = authorize_project(core, access, project_id, "write", "editor")
    if body.kind in ("import", "preview") and isinstance(source := body.parameters.get("source"), str):
        with core.store.read() as connection:
            table = str(body.parameters.get("table", ""))
            sources.check_granted(connection, core.settings, access.user.id, source, table)
    submitted = run_once(
        core, access, key, [project_id, body.model_dump(mode="json")],
        lambda connection: JobOut.model_validate(queue.submit(connection, access.user, project, body.kind, body.parameters)),
    )  # fmt: skip
    core.supervisor.wake()
    return submitted


@jobs_router.get("/projects/{project_id}/jobs/{job}", response_model=JobOut)
def get_job(core: ServerCore, access: Caller, project_id: ProjectId, job: JobId) -> Response:
    """The state of a job, with its result once it is done."""
    access.require_scope("read")
    with core.store.read() as connection:
        project = projects.get(connection, access.user, project_id)
        requested_job = queue.get(connection, project, job)
    if requested_job.result is not None and requested_job.kind in RESULTS_WITH_VALUES:
        access_log.record_original(
            core.store, access.user, project, requested_job.parameters.get("dataset"), what=f"{requested_job.kind} result"
        )
    # written here, in the request's thread: FastAPI would check and write it in another one, and programs ask often
    return Response(_describe_job(requested_job, access).model_dump_json(), media_type="application/json")


def _describe_job(job: queue.Job, access: Caller) -> JobOut:
    """A job as a user sees it: the name of an upload opens it, so only the one who uploaded it is told."""
    described = JobOut.model_validate(job)
    if job.user != access.user.name:
        described.parameters = {name: value for name, value in job.parameters.items() if name != "upload"}
    return described


@jobs_router.delete("/projects/{project_id}/jobs/{job}", response_model=JobOut)
def cancel_job(core: ServerCore, access: Caller, project_id: ProjectId, job: JobId) -> JobOut:
    """Cancel a job: immediately if it is queued, at its next step if it is running."""
    project = authorize_project(core, access, project_id, "write", "editor")
    with core.store.write() as connection:
        cancelled = JobOut.model_validate(queue.cancel(connection, access.user, project, job))
    core.supervisor.wake()
    return cancelled


@jobs_router.get(
    "/projects/{project_id}/jobs/{job}/events",
    response_class=StreamingResponse,
    responses={
        200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}, "description": "Events until the job ends."}
    },
)
def follow_job(core: ServerCore, access: Caller, project_id: ProjectId, job: JobId) -> StreamingResponse:
    """Server-sent events with the job's state and progress, until it ends."""
    project = authorize_project(core, access, project_id)
    with core.store.read() as connection:
        followed = queue.get(connection, project, job)
    if followed.kind in RESULTS_WITH_VALUES:  # intermediate results name values too
        dataset = followed.parameters.get("dataset")
        access_log.record_original(core.store, access.user, project, dataset, what=f"{followed.kind} events")
    follower = Follower(project.id, access.user.id, access.credential)
    stream = events.stream_job(core.store, project, job, follower)
    return StreamingResponse(stream, media_type="text/event-stream", headers=events.STREAM_HEADERS)
