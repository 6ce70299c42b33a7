"""The projects somebody may see, and a new one."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from discreet.web.auth.security import Here, LoggedIn, Sent
from discreet.web.errors import Conflict, Invalid
from discreet.web.pages.rendering import go, page
from discreet.web.projects import projects

router = APIRouter()


@router.get("/")
def overview(request: Request, core: Here, session: LoggedIn) -> Response:
    """The projects with verdict and date."""
    with core.store.read() as connection:
        rows = projects.mine(connection, session.user)
    return page(request, "projects.html", session, rows=rows)


@router.get("/projects/new")
def new(request: Request, session: LoggedIn) -> Response:
    """Ask for the names."""
    return page(request, "new_project.html", session, name="", table_name="", message="")


@router.post("/projects/new")
def create(request: Request, core: Here, session: LoggedIn, form: Sent) -> Response:
    """Make it, or suggest names that are free."""
    name, table_name = str(form.get("name", "")), str(form.get("table_name", ""))
    try:
        with core.store.write() as connection:
            made = projects.create(connection, session.user, name, table_name)
    except (Conflict, Invalid) as error:
        if "suggestion" in error.detail:
            free = str(error.detail["suggestion"])
            name, table_name = (free, table_name) if error.detail["field"] == "name" else (name, free)
        return page(
            request, "new_project.html", session, status=error.status, name=name, table_name=table_name, message=str(error)
        )
    return go(f"/projects/{made.id}/data")
