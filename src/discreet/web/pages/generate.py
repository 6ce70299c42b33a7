"""Generate: run the plan on the initial microdata, and list the drafts and releases."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from discreet.errors import DiscreetError
from discreet.web.auth.security import CheckedForm, CurrentSession, ServerCore
from discreet.web.auth.sessions import Session
from discreet.web.errors import Forbidden, InvalidRequest
from discreet.web.jobs import queue
from discreet.web.pages.downloads import DOWNLOAD_FORMATS
from discreet.web.pages.forms import plan_check
from discreet.web.pages.forms.labels import step_rows
from discreet.web.pages.rendering import redirect, render_page
from discreet.web.projects import datasets, policies, projects, releases

router = APIRouter(prefix="/projects/{number}/generate", include_in_schema=False)


@router.get("")
def show(request: Request, core: ServerCore, session: CurrentSession, number: int) -> Response:
    """Show the plan that will run, the running job and the existing releases."""
    return _page(request, core, session, number)


@router.post("")
def start(request: Request, core: ServerCore, session: CurrentSession, _form: CheckedForm, number: int) -> Response:
    """Queue a job that runs the current policy."""
    try:
        with core.store.write() as connection:
            project = projects.get(connection, session.user, number, "editor")
            if project.dataset_id is None:
                raise InvalidRequest("there are no initial microdata yet; upload a table first")
            job = queue.submit(connection, session.user, project, "generate")
    except Forbidden:
        raise
    except DiscreetError as error:
        return _page(request, core, session, number, message=str(error), status=422)
    return redirect(f"/projects/{number}/generate{'' if job.active else '?same=yes'}#job")


def _page(request: Request, core: ServerCore, session: Session, number: int, message: str = "", status: int = 200) -> Response:
    with core.store.read() as connection:
        project = projects.get(connection, session.user, number)
        policy = policies.current_policy(connection, project)
        preview = plan_check.preview_table(connection, core.settings, project, policy)
        dataset = None if project.dataset_id is None else datasets.get(connection, project)
        all_releases = releases.list_releases(connection, project)
        job = queue.latest_job(connection, project, "generate")
    findings = plan_check.findings_by_step(preview, policy.plan)
    return render_page(
        request,
        "generate.html",
        session,
        project,
        "generate",
        status=status,
        message=message,
        dataset=dataset,
        preview=preview,
        steps=step_rows(policy.plan),
        findings=[finding for step_findings in findings.values() for finding in step_findings],
        limits=len(policy.limits),
        job=job,
        releases=all_releases,
        suffixes=DOWNLOAD_FORMATS,
        same=request.query_params.get("same") == "yes",
        may=project.allows("editor"),
    )
