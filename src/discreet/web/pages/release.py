"""Sign off: a named person answers for a release, which then cannot be changed, only superseded."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from discreet.errors import DiscreetError
from discreet.web.auth.security import Here, LoggedIn, Sent
from discreet.web.auth.sessions import Session
from discreet.web.errors import Conflict, Forbidden
from discreet.web.pages.downloads import SUFFIXES
from discreet.web.pages.forms import editing
from discreet.web.pages.generate import database_of
from discreet.web.pages.rendering import go, page
from discreet.web.projects import projects, releases

router = APIRouter(prefix="/projects/{number}/release")


@router.get("")
def show(request: Request, core: Here, session: LoggedIn, number: int) -> Response:
    """The releases with their state, and the form that signs one."""
    return _page(request, core, session, number)


@router.post("")
def sign(request: Request, core: Here, session: LoggedIn, form: Sent, number: int) -> Response:
    """Sign a release off."""
    name, note = str(form.get("name", "")), str(form.get("note", ""))
    try:
        at = editing.whole(form, "release")
        with core.store.write() as connection:
            project = projects.get(connection, session.user, number, "owner")
            releases.sign(connection, session.user, project, at, note, name)
    except Forbidden:
        raise
    except DiscreetError as error:
        status = 409 if isinstance(error, Conflict) else 422
        return _page(request, core, session, number, message=str(error), status=status, name=name, note=note)
    return go(f"/projects/{number}/release#release-{at}")


def _page(
    request: Request, core: Here, session: Session, number: int, message: str = "", status: int = 200, name: str = "",
    note: str = "",
) -> Response:  # fmt: skip
    with core.store.read() as connection:
        project = projects.get(connection, session.user, number)
        made = releases.all_of(connection, project)
    signed = [one.number for one in made if one.signed]
    # an earlier release than one that is signed would be superseded before it was made
    can = [one for one in made if not one.signed and one.number > max(signed, default=0)]
    return page(
        request, "release.html", session, project, "release", status=status, message=message, releases=made, can=can, name=name,
        note=note, suffixes=SUFFIXES, database=database_of(core.settings), may=project.role == "owner",
    )  # fmt: skip
