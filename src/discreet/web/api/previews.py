"""Previews of imports: how an uploaded file, or a table of a connected database, would be read."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path

from discreet.web.api.models import PreviewOut
from discreet.web.api.projects import authorize_project
from discreet.web.api.routing import ProjectId, create_router
from discreet.web.auth.security import Caller, ServerCore
from discreet.web.projects import access_log, staged_imports

previews_router = create_router("data")
JobId = Annotated[str, Path(pattern=r"^[0-9a-f]{32}$")]


@previews_router.get("/projects/{project_id}/previews/{job}", response_model=PreviewOut)
def get_preview(core: ServerCore, access: Caller, project_id: ProjectId, job: JobId) -> dict[str, Any]:
    """The preview that your job of kind preview has made: options with reasons, columns and first rows.

    Submit a job of kind preview with the parameters of an import; then one of kind import with the same ``read``.
    """
    project = authorize_project(core, access, project_id, "read", "editor")
    with core.store.read() as connection:
        requested = staged_imports.get_job(connection, access.user, project, job)
    content = staged_imports.read_preview(core.settings, project, requested)
    access_log.record_original(core.store, access.user, project, None, preview=content["name"])
    return content


@previews_router.delete("/projects/{project_id}/previews/{job}", status_code=204)
def discard_preview(core: ServerCore, access: Caller, project_id: ProjectId, job: JobId) -> None:
    """Discard an upload that is not to be imported, with all its previews."""
    project = authorize_project(core, access, project_id, "write", "editor")
    with core.store.write() as connection:
        requested = staged_imports.get_job(connection, access.user, project, job)
        staged_imports.discard(connection, core.settings, access.user, project, requested)
