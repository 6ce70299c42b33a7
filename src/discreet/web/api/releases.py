"""Releases: what was measured, the masked table in every format, the report, and the signature."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query
from starlette.responses import FileResponse

from discreet.web.api.data import Asked
from discreet.web.api.idempotency import Key, once
from discreet.web.api.models import ReleaseOut, Rows, SignIn
from discreet.web.api.projects import seen
from discreet.web.api.routing import Number, ProjectId, router
from discreet.web.auth.security import REPORT_POLICY, Asking, Here
from discreet.web.projects import releases

made = router("releases")
BYTES: dict[int | str, dict[str, Any]] = {
    200: {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}
}


@made.get("/projects/{project_id}/releases", response_model=list[ReleaseOut])
def list_releases(core: Here, access: Asking, project_id: ProjectId) -> list[ReleaseOut]:
    """The project's releases, newest first."""
    project = seen(core, access, project_id)
    with core.store.read() as connection:
        return [ReleaseOut.model_validate(one) for one in releases.all_of(connection, project)]


@made.get("/projects/{project_id}/releases/{number}", response_model=ReleaseOut)
def get_release(core: Here, access: Asking, project_id: ProjectId, number: Number) -> ReleaseOut:
    """One release."""
    project = seen(core, access, project_id)
    with core.store.read() as connection:
        return ReleaseOut.model_validate(releases.get(connection, project, number))


@made.get("/projects/{project_id}/releases/{number}/rows", response_model=Rows)
def release_rows(core: Here, access: Asking, project_id: ProjectId, number: Number, window: Asked) -> Rows:
    """Some rows of the masked table, sorted and filtered."""
    project = seen(core, access, project_id)
    with core.store.read() as connection:
        release = releases.get(connection, project, number)
    return window.of(core, releases.path(core.settings, release))


@made.get("/projects/{project_id}/releases/{number}/table", response_class=FileResponse, responses=BYTES)
def download(
    core: Here,
    access: Asking,
    project_id: ProjectId,
    number: Number,
    format: Annotated[  # noqa: A002 - the address says format
        str, Query(pattern=r"^[a-z0-9.]{1,20}$", description="A file format's suffix, such as csv or parquet.")
    ] = "csv",
) -> FileResponse:
    """The masked table as a file."""
    project = seen(core, access, project_id)
    with core.store.read() as connection:
        release = releases.get(connection, project, number)
    place = releases.export(core.settings, release, format)
    name = f"{project.table_name}_{release.number}.{format}"
    return FileResponse(place, media_type="application/octet-stream", filename=name)


@made.get(
    "/projects/{project_id}/releases/{number}/report",
    response_class=FileResponse,
    responses={200: {"content": {"text/html": {"schema": {"type": "string"}}}}},
)
def report(
    core: Here,
    access: Asking,
    project_id: ProjectId,
    number: Number,
    internal: Annotated[
        bool, Query(description="The confidential report for the data controller, which a job of kind report makes.")
    ] = False,
) -> FileResponse:
    """The report, one HTML file: the public one, or the internal one for those who may see the original."""
    project = seen(core, access, project_id)  # every member of a project may see its original
    with core.store.read() as connection:
        release = releases.get(connection, project, number)
    place = releases.report_path(core.settings, release, internal=internal)
    return FileResponse(
        place, media_type="text/html; charset=utf-8", headers={"Content-Security-Policy": REPORT_POLICY},
        filename=f"{project.table_name}_{release.number}_{place.name}", content_disposition_type="inline",
    )  # fmt: skip


@made.post("/projects/{project_id}/releases/{number}/sign", response_model=ReleaseOut)
def sign(core: Here, access: Asking, project_id: ProjectId, number: Number, asked: SignIn, key: Key = None) -> dict[str, Any]:
    """Sign a release off: from then on it cannot be changed, only superseded."""
    project = seen(core, access, project_id, "release", "owner")
    return once(
        core, access, key, [project_id, number, asked.model_dump(mode="json")],
        lambda connection: ReleaseOut.model_validate(
            releases.sign(connection, access.user, project, number, asked.note, asked.name)
        ),
    )  # fmt: skip
