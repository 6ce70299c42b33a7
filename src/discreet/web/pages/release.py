"""Sign-off: a named person takes responsibility for a release, which can then only be superseded, not changed."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from discreet.errors import DiscreetError
from discreet.web.auth.security import CheckedForm, CurrentSession, ServerCore
from discreet.web.auth.sessions import Session
from discreet.web.errors import Conflict, Forbidden
from discreet.web.pages.downloads import DOWNLOAD_FORMATS
from discreet.web.pages.forms import editing
from discreet.web.pages.generate import published_database
from discreet.web.pages.rendering import redirect, render_page
from discreet.web.projects import projects, releases

router = APIRouter(prefix="/projects/{number}/release")


@router.get("")
def show(request: Request, core: ServerCore, session: CurrentSession, number: int) -> Response:
    """Show the releases with their state, and the sign-off form."""
    return _page(request, core, session, number)


@router.post("")
def sign(request: Request, core: ServerCore, session: CurrentSession, form: CheckedForm, number: int) -> Response:
    """Sign a release off."""
    name, note = str(form.get("name", "")), str(form.get("note", ""))
    try:
        release_number = editing.read_whole_number(form, "release")
        with core.store.write() as connection:
            project = projects.get(connection, session.user, number, "owner")
            releases.sign(connection, session.user, project, release_number, note, name)
    except Forbidden:
        raise
    except DiscreetError as error:
        status = 409 if isinstance(error, Conflict) else 422
        return _page(request, core, session, number, message=str(error), status=status, name=name, note=note)
    return redirect(f"/projects/{number}/release#release-{release_number}")


def _page(
    request: Request, core: ServerCore, session: Session, number: int, message: str = "", status: int = 200, name: str = "",
    note: str = "",
) -> Response:  # fmt: skip
    with core.store.read() as connection:
        project = projects.get(connection, session.user, number)
        all_releases = releases.list_releases(connection, project)
    signed_numbers = [release.number for release in all_releases if release.signed]
    # a release older than a signed one would be superseded as soon as it is signed, so it is not offered
    signable = [release for release in all_releases if not release.signed and release.number > max(signed_numbers, default=0)]
    return render_page(
        request,
        "release.html",
        session,
        project,
        "release",
        status=status,
        message=message,
        releases=all_releases,
        signable=signable,
        name=name,
        note=note,
        suffixes=DOWNLOAD_FORMATS,
        database=published_database(core.settings),
        may=project.role == "owner",
    )
