"""Edit conflicts: another user changed the same section; both versions are shown and the user chooses.

The rejected form is repeated as hidden fields. Sent again with ``over``, the revision that the user has now seen, it replaces
the other version.
"""

from __future__ import annotations

from fastapi import Request, Response
from starlette.datastructures import FormData

from discreet.web.auth.sessions import Session
from discreet.web.errors import Conflict, InvalidRequest
from discreet.web.pages.rendering import render_page
from discreet.web.projects.projects import Project

RENEWED_FIELDS = ("csrf", "over")


def base_revision(form: FormData, name: str = "base") -> int:
    """The revision that a form was made from."""
    text = str(form.get(name, ""))
    if not text.isdecimal() or len(text) > 9:
        raise InvalidRequest("the form does not say which revision it was made from; reload the page and try again")
    return int(text)


def compared_revision(form: FormData) -> int:
    """The revision to compare with: the one shown in a conflict (``over``), else the form's own."""
    return base_revision(form, "over") if "over" in form else base_revision(form)


def conflict_page(request: Request, session: Session, project: Project, step: str, error: Conflict, form: FormData) -> Response:
    """Show both versions with a button for each."""
    if "theirs" not in error.detail:
        raise error
    hidden_fields = [(name, value) for name, value in form.multi_items() if name not in RENEWED_FIELDS and isinstance(value, str)]
    section, _, attribute = str(error.detail["path"]).partition(".")
    subject = (
        f"the attribute {attribute}" if attribute else {"plan": "the methods", "risk": "the risk measures"}.get(section, section)
    )
    return render_page(
        request,
        "conflict.html",
        session,
        project,
        step,
        status=409,
        subject=subject,
        hidden_fields=hidden_fields,
        by=error.detail["by"] or "another user",
        at=error.detail["at"],
        theirs=error.detail["theirs"],
        yours=error.detail["yours"],
        over=error.detail["revision"],
        back=f"/projects/{project.id}" + ("" if step == "project" else f"/{step}"),
    )
