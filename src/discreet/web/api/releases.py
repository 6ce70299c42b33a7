"""Releases: assessment, masked table in every format, report and signature."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query
from starlette.concurrency import run_in_threadpool
from starlette.responses import FileResponse, JSONResponse, Response

from discreet.web.api.data import RowQueryParameters
from discreet.web.api.idempotency import IdempotencyKey, run_once
from discreet.web.api.models import JobOut, ReleaseOut, Rows, SignIn
from discreet.web.api.projects import authorize_project
from discreet.web.api.routing import Number, ProjectId, create_router
from discreet.web.auth.security import REPORT_CSP, Caller, ServerCore
from discreet.web.core import Core
from discreet.web.jobs.downloading import wait_for_export
from discreet.web.jobs.queue import Job
from discreet.web.projects import releases
from discreet.web.projects.projects import Project

releases_router = create_router("releases")
WAIT_SECONDS = 10.0
"""Seconds that a download waits for the job that writes its file."""
BINARY_RESPONSE: dict[int | str, dict[str, Any]] = {
    200: {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}
}


@releases_router.get("/projects/{project_id}/releases", response_model=list[ReleaseOut])
def list_releases(core: ServerCore, access: Caller, project_id: ProjectId) -> list[ReleaseOut]:
    """The project's releases, newest first."""
    project = authorize_project(core, access, project_id)
    with core.store.read() as connection:
        return [ReleaseOut.model_validate(release) for release in releases.list_releases(connection, project)]


@releases_router.get("/projects/{project_id}/releases/{number}", response_model=ReleaseOut)
def get_release(core: ServerCore, access: Caller, project_id: ProjectId, number: Number) -> ReleaseOut:
    """One release."""
    project = authorize_project(core, access, project_id)
    with core.store.read() as connection:
        return ReleaseOut.model_validate(releases.get(connection, project, number))


@releases_router.get("/projects/{project_id}/releases/{number}/rows", response_model=Rows)
def release_rows(core: ServerCore, access: Caller, project_id: ProjectId, number: Number, row_query: RowQueryParameters) -> Rows:
    """Rows of the masked table, sorted and filtered."""
    project = authorize_project(core, access, project_id)
    with core.store.read() as connection:
        release = releases.get(connection, project, number)
    return row_query.read(core, releases.path(core.settings, release))


@releases_router.get(
    "/projects/{project_id}/releases/{number}/table",
    response_class=FileResponse,
    responses={**BINARY_RESPONSE, 202: {"model": JobOut, "description": "A job is writing the file; ask again when it is done."}},
)
async def download(
    core: ServerCore,
    access: Caller,
    project_id: ProjectId,
    number: Number,
    format: Annotated[  # noqa: A002 - the name of the query parameter
        str, Query(pattern=r"^[a-z0-9.]{1,20}$", description="The suffix of a file format, such as csv or parquet.")
    ] = "csv",
) -> Response:
    """The masked table as a file. A job writes it on first use: if that takes longer than a few seconds, the job is returned."""
    project = await run_in_threadpool(authorize_project, core, access, project_id)
    release = await run_in_threadpool(_get_release, core, project, number)
    written = await wait_for_export(core, access.user, project, release, format, WAIT_SECONDS)
    if isinstance(written, Job):
        return JSONResponse(JobOut.model_validate(written).model_dump(mode="json"), status_code=202)
    name = f"{project.table_name}_{release.number}.{format}"
    return FileResponse(written, media_type="application/octet-stream", filename=name)


def _get_release(core: Core, project: Project, number: int) -> releases.Release:
    with core.store.read() as connection:
        return releases.get(connection, project, number)


@releases_router.get(
    "/projects/{project_id}/releases/{number}/report",
    response_class=FileResponse,
    responses={200: {"content": {"text/html": {"schema": {"type": "string"}}}}},
)
def report(
    core: ServerCore,
    access: Caller,
    project_id: ProjectId,
    number: Number,
    internal: Annotated[
        bool, Query(description="The confidential report for the data controller, created by a job of kind report.")
    ] = False,
) -> FileResponse:
    """The report as one HTML file: the public one, or the internal one for users who may see the original data."""
    project = authorize_project(core, access, project_id)  # every member of a project may see the original data
    with core.store.read() as connection:
        release = releases.get(connection, project, number)
    file = releases.report_path(core.settings, release, internal=internal)
    return FileResponse(
        file, media_type="text/html; charset=utf-8", headers={"Content-Security-Policy": REPORT_CSP},
        filename=f"{project.table_name}_{release.number}_{file.name}", content_disposition_type="inline",
    )  # fmt: skip


@releases_router.post("/projects/{project_id}/releases/{number}/sign", response_model=ReleaseOut)
def sign(
    core: ServerCore, access: Caller, project_id: ProjectId, number: Number, body: SignIn, key: IdempotencyKey = None
) -> dict[str, Any]:
    """Sign off a release: afterwards it cannot be changed, only superseded."""
    project = authorize_project(core, access, project_id, "release", "owner")
    return run_once(
        core, access, key, [project_id, number, body.model_dump(mode="json")],
        lambda connection: ReleaseOut.model_validate(
            releases.sign(connection, access.user, project, number, body.note, body.name)
        ),
    )  # fmt: skip
