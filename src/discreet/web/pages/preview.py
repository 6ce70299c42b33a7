"""The preview of an import: how a file or table would be read, the options to change that, and the import itself."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Request, Response

from discreet.web.auth.security import CheckedForm, CurrentSession, ServerCore
from discreet.web.errors import Conflict, InvalidRequest, TooManyRequests
from discreet.web.jobs import queue
from discreet.web.jobs.queue import Job
from discreet.web.pages.forms import reading_form
from discreet.web.pages.forms.reading_form import ReadingForm
from discreet.web.pages.rendering import redirect, render_page
from discreet.web.projects import access_log, projects, staged_imports
from discreet.web.projects.projects import Project

router = APIRouter(prefix="/projects/{number}/data/preview", include_in_schema=False)
JobId = Annotated[str, Path(pattern=r"^[0-9a-f]{32}$")]


@router.get("/{job_id}")
def show(request: Request, core: ServerCore, session: CurrentSession, number: int, job_id: JobId) -> Response:
    """Show a preview, or the progress of the job that makes it."""
    return _page(request, core, session, number, job_id)


@router.post("/{job_id}")
def act(request: Request, core: ServerCore, session: CurrentSession, form: CheckedForm, number: int, job_id: JobId) -> Response:
    """Import with the options that were previewed, make another preview with other options, or discard the upload.

    ``action`` is import, import-on (which leads on to the attributes), again or discard.
    Options that were changed after the last preview are previewed before an import.
    """
    project, job = _get_job(core, session, number, job_id)
    action = str(form.get("action", "again"))
    if action == "discard":
        with core.store.write() as connection:
            staged_imports.discard(connection, core.settings, session.user, project, job)
        return redirect(f"/projects/{number}/data")
    content = staged_imports.read_preview(core.settings, project, job)
    submitted = ReadingForm.from_form(form)
    try:
        options = submitted.to_options(content["options"])
        previewed = action in ("import", "import-on") and options == content["read"] and not content["problem"]
        parameters = staged_imports.describe_source(job) | {"read": options}
        with core.store.write() as connection:
            following = queue.submit(connection, session.user, project, "import" if previewed else "preview", parameters)
    except (InvalidRequest, Conflict, TooManyRequests) as error:
        return _page(request, core, session, number, job_id, status=error.status, wrong=str(error), form=submitted)
    core.supervisor.wake()
    if previewed:
        return redirect(f"/projects/{number}/{'attributes' if action == 'import-on' else 'data'}")
    changed = "?changed=yes" if action in ("import", "import-on") else ""
    return redirect(f"/projects/{number}/data/preview/{following.id}{changed}")


def _get_job(core: ServerCore, session: CurrentSession, number: int, job_id: str) -> tuple[Project, Job]:
    with core.store.read() as connection:
        project = projects.get(connection, session.user, number, "editor")
        return project, staged_imports.get_job(connection, session.user, project, job_id)


def _page(
    request: Request, core: ServerCore, session: CurrentSession, number: int, job_id: str, status: int = 200, wrong: str = "",
    form: ReadingForm | None = None,
) -> Response:  # fmt: skip
    project, job = _get_job(core, session, number, job_id)
    values: dict[str, Any] = {
        "job": job,
        "preview": None,
        "wrong": wrong,
        "changed": request.query_params.get("changed") == "yes",
    }
    if job.state == "done":
        content = staged_imports.read_preview(core.settings, project, job)
        access_log.record_original(core.store, session.user, project, None, preview=content["name"])
        choices = {choice["option"]: choice for choice in content["choices"]}
        sheets = choices["sheet"]["alternatives"] if "sheet" in choices else ()
        values |= {
            "preview": content,
            "form": form or ReadingForm.from_options(content["read"]),
            "choices": choices,
            "sheet_options": {"": "as recognised", **{name: name for name in sheets}},
            "separators": reading_form.SEPARATORS,
            "decimals": reading_form.DECIMALS,
            "thousands": reading_form.THOUSANDS,
            "encodings": reading_form.ENCODINGS,
            "date_formats": reading_form.DATE_FORMATS,
        }
    return render_page(request, "preview.html", session, project, "data", status=status, **values)
