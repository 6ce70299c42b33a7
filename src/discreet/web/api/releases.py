"""Releases: assessment, masked table in every format, and report; see :mod:`discreet.web.api.gate` for their states."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import Query
from starlette.concurrency import run_in_threadpool
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response

from discreet.web.api.data import RowQueryParameters
from discreet.web.api.models import JobOut, ReleaseOut, Rows
from discreet.web.api.projects import authorize_project
from discreet.web.api.routing import PAGED, Number, PageOf, ProjectId, create_router
from discreet.web.auth.accounts import User
from discreet.web.auth.security import REPORT_CSP, Caller, ServerCore
from discreet.web.core import Core
from discreet.web.jobs.downloading import wait_for_export
from discreet.web.jobs.queue import Job
from discreet.web.projects import access_log, release_files, releases
from discreet.web.projects.projects import Project
from discreet.web.projects.releases import Release

releases_router = create_router("releases")
WAIT_SECONDS = 10.0
"""Seconds that a download waits for the job that writes its file."""
BINARY_RESPONSE: dict[int | str, dict[str, Any]] = {
    200: {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}
}


@releases_router.get("/projects/{project_id}/releases", response_model=list[ReleaseOut], responses=PAGED)
def list_releases(
    core: ServerCore, access: Caller, project_id: ProjectId, paging: PageOf, response: Response
) -> list[ReleaseOut]:
    """The project's releases, newest first; release readers get those that are approved."""
    project = authorize_project(core, access, project_id, role="release_reader")
    with core.store.read() as connection:
        listed = paging.send(response, releases.list_releases(connection, project)[paging.offset : paging.stop])
    # their assessments are part of the answer
    if drafts := [release for release in listed if not release.open_to_readers]:
        numbers = [release.number for release in drafts]
        access_log.record_release(core.store, access.user, project, drafts[0], what="viewed", listed=numbers)
    return [ReleaseOut.model_validate(release) for release in listed]


@releases_router.get("/projects/{project_id}/releases/{number}", response_model=ReleaseOut)
def get_release(core: ServerCore, access: Caller, project_id: ProjectId, number: Number) -> ReleaseOut:
    """One release."""
    project = authorize_project(core, access, project_id, role="release_reader")
    with core.store.read() as connection:
        release = releases.get(connection, project, number)
    if not release.open_to_readers:
        access_log.record_release(core.store, access.user, project, release, assessment="whole")
    return ReleaseOut.model_validate(release)


@releases_router.get("/projects/{project_id}/releases/{number}/rows", response_model=Rows)
def release_rows(core: ServerCore, access: Caller, project_id: ProjectId, number: Number, row_query: RowQueryParameters) -> Rows:
    """Rows of the masked table, sorted and filtered."""
    project = authorize_project(core, access, project_id, role="release_reader")
    with core.store.read() as connection:
        release = releases.get(connection, project, number)
    file = release_files.path(core.settings, release)
    access_log.record_release(core.store, access.user, project, release, rows=row_query.options["offset"])
    return row_query.read(core, file)


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
    project = await run_in_threadpool(authorize_project, core, access, project_id, role="release_reader")
    release = await run_in_threadpool(_get_release, core, project, number)
    written = await wait_for_export(core, access.user, project, release, format, WAIT_SECONDS)
    if isinstance(written, Job):
        return JSONResponse(JobOut.model_validate(written).model_dump(mode="json"), status_code=202)
    await run_in_threadpool(access_log.record_release, core.store, access.user, project, release, "downloaded", format=format)
    name = f"{project.table_name}_{release.number}.{format}"
    return FileResponse(written, media_type="application/octet-stream", filename=name)


def _get_release(core: Core, project: Project, number: int) -> releases.Release:
    with core.store.read() as connection:
        return releases.get(connection, project, number)


@releases_router.get(
    "/projects/{project_id}/releases/{number}/report",
    response_class=Response,
    responses={
        200: {
            "content": {
                "text/html": {"schema": {"type": "string"}},
                "application/pdf": {"schema": {"type": "string", "format": "binary"}},
            }
        }
    },
)
def report(
    core: ServerCore,
    access: Caller,
    project_id: ProjectId,
    number: Number,
    internal: Annotated[
        bool, Query(description="The confidential report for the data controller, created by a job of kind report.")
    ] = False,
    short: Annotated[bool, Query(description="The short report: two pages.")] = False,
    format: Annotated[Literal["html", "pdf"], Query(description="One HTML file, or PDF.")] = "html",  # noqa: A002
) -> Response:
    """The report as one file: the public one, or the internal one for members who may see the original data."""
    project = authorize_project(core, access, project_id, role="member" if internal else "release_reader")
    with core.store.read() as connection:
        release = releases.get(connection, project, number)
    return report_response(core, access.user, project, release, format, internal=internal, short=short)


def record_report_view(core: Core, user: User, project: Project, release: Release, *, internal: bool) -> None:
    """Record who saw a report: the internal one contains originals, and that of a draft is not public yet."""
    if internal:
        access_log.record_original(core.store, user, project, release.dataset_id, release=release.number, report="internal")
    elif not release.open_to_readers:
        access_log.record_release(core.store, user, project, release, report="public")


def report_response(
    core: Core, user: User, project: Project, release: Release, form: Literal["html", "pdf"], *, internal: bool, short: bool
) -> Response:
    """A report for a browser, on record; the sandbox gives an HTML report an origin of its own."""
    name = f"{project.table_name}_{release.number}_{release_files.report_name(form, internal=internal, short=short)}"
    headers = {"Content-Security-Policy": REPORT_CSP, "Content-Disposition": f'inline; filename="{name}"'}
    if form == "pdf":
        pdf = release_files.report_pdf(core.settings, release, internal=internal, short=short)
        record_report_view(core, user, project, release, internal=internal)
        return Response(pdf, media_type="application/pdf", headers={"Content-Disposition": f'attachment; filename="{name}"'})
    page = release_files.report_html(core.settings, release, internal=internal, short=short)
    record_report_view(core, user, project, release, internal=internal)
    return HTMLResponse(page, headers=headers)
