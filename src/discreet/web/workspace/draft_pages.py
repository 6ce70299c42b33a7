"""The pages of named drafts: the list with what can be done to each, and two of them side by side."""

from __future__ import annotations

import math
from typing import Any

from fastapi import APIRouter, Request, Response
from sqlalchemy import Connection
from starlette.datastructures import FormData

from discreet.web.auth.security import CheckedForm, CurrentSession, ServerCore
from discreet.web.auth.sessions import Session
from discreet.web.core import Core
from discreet.web.errors import Conflict, InvalidRequest, NotFound, TooManyRequests
from discreet.web.pages.forms import conflicts
from discreet.web.pages.forms.editing import read_whole_number
from discreet.web.pages.rendering import redirect, render_page
from discreet.web.projects import access_log, projects
from discreet.web.projects.projects import Project
from discreet.web.workspace import drafts
from discreet.web.workspace.comparison import CURRENT, compare_policies, compare_sides, on_one_basis, open_side
from discreet.web.workspace.desk import open_desk
from discreet.web.workspace.view import View

router = APIRouter(prefix="/projects/{number}/workspace", include_in_schema=False)
PAGE_DRAFTS = 25
SHOWN_DRAFTS = 5
"""Drafts in the panel of the workspace; the page of drafts has all of them."""


@router.get("/drafts")
def show(request: Request, core: ServerCore, session: CurrentSession, number: int, page: int = 1) -> Response:
    """Show the named drafts, page by page."""
    return _page(request, core, session, number, page=max(page, 1))


@router.post("/drafts")
def act(request: Request, core: ServerCore, session: CurrentSession, form: CheckedForm, number: int) -> Response:
    """Save the present plan as a draft, or open, rename, replace or delete a draft."""
    action = str(form.get("do", ""))
    with core.store.read() as connection:
        project = projects.get(connection, session.user, number, "editor")
    try:
        with core.store.write() as connection:
            _run_action(connection, core, session, projects.get(connection, session.user, number, "editor"), action, form)
    except Conflict as error:
        if action == "open" and "theirs" in error.detail:
            return conflicts.conflict_page(request, session, project, "workspace", error, form)
        return _page(request, core, session, number, message=str(error), status=error.status, typed=str(form.get("name", "")))
    except (InvalidRequest, NotFound) as error:
        return _page(request, core, session, number, message=str(error), status=error.status, typed=str(form.get("name", "")))
    return redirect(f"/projects/{number}/workspace" + ("/drafts" if action in ("rename", "delete", "replace") else ""))


def _run_action(connection: Connection, core: Core, session: Session, project: Project, action: str, form: FormData) -> None:
    user, name = session.user, str(form.get("name", ""))
    if action == "save":
        drafts.save(connection, user, project, name, _document(connection, core, project, form))
        return
    if action not in ("open", "rename", "replace", "delete"):
        raise InvalidRequest(f"'{action[:20]}' is not an action; use save, open, rename, replace or delete")
    draft = min(read_whole_number(form, "draft"), 2**31 - 1)
    if action == "open":
        drafts.open_draft(connection, user, project, draft, conflicts.compared_revision(form))
        return
    version = min(read_whole_number(form, "version"), 2**31 - 1)
    if action == "rename":
        drafts.rename(connection, user, project, draft, version, name)
    elif action == "replace":
        drafts.replace(connection, user, project, draft, version, _document(connection, core, project, form))
    else:
        drafts.remove(connection, user, project, draft, version)


def _document(connection: Connection, core: Core, project: Project, form: FormData) -> dict[str, Any]:
    """The present policy with the guesses that the workspace shows without having saved them."""
    known = {name: str(value) for name, value in form.items() if name.startswith("known.")}
    return open_desk(connection, core, project, View(known=known)).own_document


@router.get("/compare")
def compare(
    request: Request, core: ServerCore, session: CurrentSession, number: int, a: str = CURRENT, b: str = "", now: str = ""
) -> Response:
    """Show two drafts side by side; what needs previews that are not in memory is computed with ``now``."""
    with core.store.read() as connection:
        project = projects.get(connection, session.user, number, "member")
        listed, _ = drafts.list_drafts(connection, project, size=drafts.MAX_DRAFTS)
        chosen_b = b or next((str(draft.id) for draft in listed if str(draft.id) != a), CURRENT)
        sides = on_one_basis(*(open_side(connection, core, project, choice) for choice in (a, chosen_b)))
    values: dict[str, Any] = compare_policies(*sides)
    problem, measured = "", None
    if project.dataset_id is not None:
        try:
            previews = [side.find_preview(now=bool(now)) for side in sides]
            if previews[0] is not None and previews[1] is not None:
                with core.store.read() as connection:
                    measured = compare_sides(connection, core, sides, (previews[0], previews[1]))
                access_log.record_original(core.store, session.user, project, project.dataset_id, page="drafts compared")
        except (InvalidRequest, NotFound, TooManyRequests) as error:
            problem = str(error)
    return render_page(
        request, "workspace_compare.html", session, project, "workspace", sides=sides, drafts=listed, a=a, b=chosen_b,
        problem=problem, measured=measured, current=CURRENT, **values,
    )  # fmt: skip


def _page(
    request: Request, core: Core, session: Session, number: int, *, page: int = 1, message: str = "", status: int = 200,
    typed: str = "",
) -> Response:  # fmt: skip
    with core.store.read() as connection:
        project = projects.get(connection, session.user, number, "member")
        listed, total = drafts.list_drafts(connection, project, page, PAGE_DRAFTS)
    pages = max(math.ceil(total / PAGE_DRAFTS), 1)
    return render_page(
        request, "drafts.html", session, project, "workspace", status=status, drafts=listed, total=total, page=min(page, pages),
        pages=pages, message=message, typed=typed, may=project.allows("editor"), current=CURRENT,
    )  # fmt: skip
