"""The list of projects, and the form that creates one."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from discreet.web.auth.security import CheckedForm, CurrentSession, ServerCore
from discreet.web.errors import Conflict, InvalidRequest
from discreet.web.pages.rendering import redirect, render_page
from discreet.web.projects import projects

router = APIRouter(include_in_schema=False)


@router.get("/")
def overview(request: Request, core: ServerCore, session: CurrentSession) -> Response:
    """List the user's projects with verdict and date."""
    with core.store.read() as connection:
        rows = projects.list_projects(connection, session.user)
    return render_page(request, "projects.html", session, rows=rows)


@router.get("/projects/new")
def new(request: Request, session: CurrentSession) -> Response:
    """Show the form of a new project."""
    return render_page(request, "new_project.html", session, name="", table_name="", message="")


@router.post("/projects/new")
def create(request: Request, core: ServerCore, session: CurrentSession, form: CheckedForm) -> Response:
    """Create the project, or suggest a name that is not taken."""
    name, table_name = str(form.get("name", "")), str(form.get("table_name", ""))
    try:
        with core.store.write() as connection:
            project = projects.create(connection, session.user, name, table_name)
    except (Conflict, InvalidRequest) as error:
        if "suggestion" in error.detail:
            suggestion = str(error.detail["suggestion"])
            name, table_name = (suggestion, table_name) if error.detail["field"] == "name" else (name, suggestion)
        return render_page(
            request, "new_project.html", session, status=error.status, name=name, table_name=table_name, message=str(error)
        )
    return redirect(f"/projects/{project.id}/data")
