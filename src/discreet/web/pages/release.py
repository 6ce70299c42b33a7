"""Release: the gate that a draft passes. It is submitted, approved or returned by somebody else, published, and withdrawn."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from starlette.datastructures import FormData

from discreet.errors import DiscreetError
from discreet.web.auth.security import CheckedForm, CurrentSession, ServerCore
from discreet.web.auth.sessions import Session
from discreet.web.core import Core
from discreet.web.errors import Conflict, Forbidden, InvalidRequest
from discreet.web.jobs import queue
from discreet.web.pages.downloads import DOWNLOAD_FORMATS
from discreet.web.pages.forms import editing
from discreet.web.pages.rendering import redirect, render_page
from discreet.web.projects import approval, projects, publication, published_tables, releases
from discreet.web.projects.projects import Project
from discreet.web.projects.releases import Release

router = APIRouter(prefix="/projects/{number}/release", include_in_schema=False)


@router.get("")
def show(request: Request, core: ServerCore, session: CurrentSession, number: int) -> Response:
    """Show the releases with their state, and what the user may do with each."""
    return _page(request, core, session, number)


@router.post("")
def move(request: Request, core: ServerCore, session: CurrentSession, form: CheckedForm, number: int) -> Response:
    """Submit, approve, return, publish or withdraw a release."""
    release_number = 0
    try:
        release_number = editing.read_whole_number(form, "release")
        with core.store.write() as connection:
            project = projects.get(connection, session.user, number)
            _run_action(connection, core, session, project, release_number, form)
    except DiscreetError as error:
        if isinstance(error, Forbidden) and release_number == 0:
            raise
        status = error.status if isinstance(error, Conflict | Forbidden) else 422
        typed = {"release": release_number, "action": str(form.get("action", "")), "note": str(form.get("note", ""))}
        return _page(request, core, session, number, message=str(error), status=status, typed=typed)
    core.supervisor.wake()
    return redirect(f"/projects/{number}/release#release-{release_number}")


def _run_action(connection: Any, core: Core, session: Session, project: Project, number: int, form: FormData) -> None:
    action, note, user = str(form.get("action", "")), str(form.get("note", "")), session.user
    if action == "submit":
        approval.submit(connection, user, project, number, note)
    elif action == "approve":
        approval.approve(connection, core.settings, user, project, number, note)
    elif action == "return":
        approval.return_to_makers(connection, user, project, number, note)
    elif action == "publish":
        publication.publish(connection, user, project, number)
    elif action == "withdraw":
        publication.withdraw(connection, core.settings, user, project, number, note)
    else:
        raise InvalidRequest(f"'{action[:20]}' is not an action; use submit, approve, return, publish or withdraw")


def _page(
    request: Request, core: ServerCore, session: Session, number: int, message: str = "", status: int = 200,
    typed: dict[str, Any] | None = None,
) -> Response:  # fmt: skip
    with core.store.read() as connection:
        project = projects.get(connection, session.user, number, "release_reader")
        all_releases = releases.list_releases(connection, project)
        rows = [_describe_release(connection, core, session, project, release) for release in all_releases]
        job = queue.latest_job(connection, project, "publish") if project.allows("member") else None
    return render_page(
        request,
        "release.html",
        session,
        project,
        "release",
        status=status,
        message=message,
        rows=rows,
        typed=typed or {"release": 0, "action": "", "note": ""},
        job=job,
        suffixes=DOWNLOAD_FORMATS,
        address=published_tables.display_address(core.settings.published, project.table_name),
        self_approval=core.settings.self_approval,
    )


def _describe_release(connection: Any, core: Core, session: Session, project: Project, release: Release) -> dict[str, Any]:
    """A release with its verdict by the owner's limits, and the actions that the user may take."""
    if not project.allows("member"):
        return {"release": release, "actions": [], "verdict": "", "evidence": "", "approvers": []}
    verdict, evidence = approval.judge(project, release)
    is_maker = session.user.name in release.makers
    may_approve = project.allows("approver") and (core.settings.self_approval or not is_maker)
    possible = {
        "submit": project.allows("editor") and release.state in ("draft", "returned"),
        "approve": may_approve and release.state == "submitted",
        "return": project.allows("approver") and release.state == "submitted",
        "publish": project.allows("owner") and release.state == "approved",
        "withdraw": project.allows("owner") and release.open_to_readers,
    }
    approvers = approval.find_approvers(connection, core.settings, project, release) if release.state == "submitted" else []
    actions = [action for action, allowed in possible.items() if allowed]
    return {"release": release, "actions": actions, "verdict": verdict, "evidence": evidence, "approvers": approvers}
