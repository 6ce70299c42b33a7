"""Long work: submit, follow, cancel."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path
from starlette.responses import StreamingResponse

from discreet.web.api.idempotency import Key, once
from discreet.web.api.models import JobIn, JobOut
from discreet.web.api.projects import seen
from discreet.web.api.routing import ProjectId, router
from discreet.web.auth.security import Asking, Here
from discreet.web.jobs import events, queue

jobs = router("jobs")
JobId = Annotated[str, Path(pattern=r"^[0-9a-f]{32}$")]


@jobs.get("/projects/{project_id}/jobs", response_model=list[JobOut])
def list_jobs(core: Here, access: Asking, project_id: ProjectId) -> list[JobOut]:
    """The project's jobs, newest first."""
    project = seen(core, access, project_id)
    with core.store.read() as connection:
        return [JobOut.model_validate(one) for one in queue.all_of(connection, project)]


@jobs.post("/projects/{project_id}/jobs", response_model=JobOut, status_code=202)
def submit_job(core: Here, access: Asking, project_id: ProjectId, asked: JobIn, key: Key = None) -> dict[str, Any]:
    """Submit a job: import, analyze, risk, generate, select or report."""
    project = seen(core, access, project_id, "write", "editor")
    made = once(
        core, access, key, [project_id, asked.model_dump(mode="json")],
        lambda connection: JobOut.model_validate(queue.submit(connection, access.user, project, asked.kind, asked.parameters)),
    )  # fmt: skip
    core.supervisor.wake()
    return made


@jobs.get("/projects/{project_id}/jobs/{job}", response_model=JobOut)
def get_job(core: Here, access: Asking, project_id: ProjectId, job: JobId) -> JobOut:
    """A job as it stands, with its result once it is done."""
    project = seen(core, access, project_id)
    with core.store.read() as connection:
        return JobOut.model_validate(queue.get(connection, project, job))


@jobs.delete("/projects/{project_id}/jobs/{job}", response_model=JobOut)
def cancel_job(core: Here, access: Asking, project_id: ProjectId, job: JobId) -> JobOut:
    """Cancel a job: at once where it waits, at its next step where it runs."""
    project = seen(core, access, project_id, "write", "editor")
    with core.store.write() as connection:
        made = JobOut.model_validate(queue.cancel(connection, access.user, project, job))
    core.supervisor.wake()
    return made


@jobs.get(
    "/projects/{project_id}/jobs/{job}/events",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}, "description": "Events until it ends."}},
)
def follow_job(core: Here, access: Asking, project_id: ProjectId, job: JobId) -> StreamingResponse:
    """Server-sent events: the job's state and progress, until it is over."""
    project = seen(core, access, project_id)
    with core.store.read() as connection:
        queue.get(connection, project, job)
    return StreamingResponse(events.stream(core.store, project, job), media_type="text/event-stream")
