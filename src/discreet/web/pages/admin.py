"""For administrators: who may log in, and the audit log."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response

from discreet.web.auth import accounts
from discreet.web.auth.security import Admin, Here, Sent
from discreet.web.db import audit
from discreet.web.errors import Conflict, Forbidden, Invalid, NotFound
from discreet.web.pages.rendering import go, page

router = APIRouter(prefix="/admin")
ENTRIES = 100
CHECKED_AT_ONCE = 5_000
"""A log of so many entries is checked whenever it is looked at, a longer one when asked."""


@router.get("/users")
def users(request: Request, core: Here, session: Admin) -> Response:
    """Everybody who may log in."""
    return _page(request, core, session)


@router.post("/users")
def add(request: Request, core: Here, session: Admin, form: Sent) -> Response:
    """Add somebody; the link that sets the password is in this answer and nowhere else."""
    name = str(form.get("name", ""))
    try:
        with core.store.write() as connection:
            user, secret = accounts.add(connection, name, admin=form.get("admin") == "yes", by=session.user.name)
    except (Conflict, Invalid) as error:
        return _page(request, core, session, status=error.status, wrong=str(error), name=name[:80])
    return _page(request, core, session, link=core.link(secret), linked=user.name)


@router.post("/users/reset")
def reset(request: Request, core: Here, session: Admin, form: Sent) -> Response:
    """End a password and make a link for a new one."""
    try:
        with core.store.write() as connection:
            user, secret = accounts.reset(connection, str(form.get("name", "")), by=session.user.name)
    except NotFound as error:
        return _page(request, core, session, status=error.status, wrong=str(error))
    return _page(request, core, session, link=core.link(secret), linked=user.name)


@router.post("/users/disable")
def disable(request: Request, core: Here, session: Admin, form: Sent) -> Response:
    """Lock somebody out, or let them in again."""
    try:
        with core.store.write() as connection:
            name, away = str(form.get("name", "")), form.get("disabled") == "yes"
            accounts.disable(connection, name, by=session.user.name, disabled=away)
    except (Forbidden, NotFound) as error:
        return _page(request, core, session, status=error.status, wrong=str(error))
    return go("/admin/users")


@router.get("/audit")
def log(request: Request, core: Here, session: Admin, before: int | None = None, check: str = "") -> Response:
    """Who did what, newest first, and whether the log is as it was written."""
    with core.store.read() as connection:
        entries = audit.entries(connection, limit=ENTRIES + 1, before=before)
        checked = bool(check) or (before is None and (not entries or entries[0]["id"] <= CHECKED_AT_ONCE))
        fault = audit.check(connection) if checked else None
    more = entries[ENTRIES - 1]["id"] if len(entries) > ENTRIES else None
    shown = entries[:ENTRIES]
    return page(request, "audit.html", session, entries=shown, more=more, before=before, checked=checked, fault=fault)


def _page(request: Request, core: Here, session: Admin, status: int = 200, **said: Any) -> Response:
    with core.store.read() as connection:
        everybody = accounts.all_users(connection)
    values = {"wrong": "", "name": "", "link": "", "linked": "", **said}
    return page(request, "users.html", session, status=status, users=everybody, hours=accounts.LINK_HOURS, **values)
