"""Somebody else changed the same thing: both versions, and a choice.

The form that was refused is shown again as hidden fields; sent once more with ``over``, the revision that the person has now
seen, it replaces what the other one wrote.
"""

from __future__ import annotations

from fastapi import Request, Response
from starlette.datastructures import FormData

from discreet.web.auth.sessions import Session
from discreet.web.errors import Conflict, Invalid
from discreet.web.pages.rendering import page
from discreet.web.projects.projects import Project

AGAIN = ("csrf", "over")


def base_of(form: FormData, name: str = "base") -> int:
    """The revision that a form was made from."""
    said = str(form.get(name, ""))
    if not said.isdecimal() or len(said) > 9:
        raise Invalid("the form does not say which revision it was made from; reload the page and try again")
    return int(said)


def over_of(form: FormData) -> int:
    """The revision to compare with: the one seen in a conflict where there was one, else the form's own."""
    return base_of(form, "over") if "over" in form else base_of(form)


def conflict_page(request: Request, session: Session, project: Project, step: str, error: Conflict, form: FormData) -> Response:
    """Both versions, one above the other's name, and a button each."""
    if "theirs" not in error.detail:
        raise error
    kept = [(name, value) for name, value in form.multi_items() if name not in AGAIN and isinstance(value, str)]
    section, _, attribute = str(error.detail["path"]).partition(".")
    subject = (
        f"the attribute {attribute}" if attribute else {"plan": "the methods", "risk": "the risk measures"}.get(section, section)
    )
    return page(
        request, "conflict.html", session, project, step, status=409, subject=subject, kept=kept,
        by=error.detail["by"] or "somebody", at=error.detail["at"], theirs=error.detail["theirs"], yours=error.detail["yours"],
        over=error.detail["revision"], back=f"/projects/{project.id}" + ("" if step == "project" else f"/{step}"),
    )  # fmt: skip
