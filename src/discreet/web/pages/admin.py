"""Pages for administrators: the users and the audit log."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response

from discreet.web.auth import accounts
from discreet.web.auth.security import AdminSession, CheckedForm, ServerCore
from discreet.web.db import audit
from discreet.web.errors import Conflict, Forbidden, InvalidRequest, NotFound
from discreet.web.pages.rendering import redirect, render_page

router = APIRouter(prefix="/admin")
ENTRIES_PER_PAGE = 100
AUTOMATIC_CHECK_LIMIT = 5_000
"""A log of up to this many entries is verified on every view, a longer one only on request."""


@router.get("/users")
def show_users(request: Request, core: ServerCore, session: AdminSession) -> Response:
    """List all users."""
    return _page(request, core, session)


@router.post("/users")
def add(request: Request, core: ServerCore, session: AdminSession, form: CheckedForm) -> Response:
    """Add a user; the link that sets the password is in this response and is not stored."""
    name = str(form.get("name", ""))
    try:
        with core.store.write() as connection:
            user, secret = accounts.add(connection, name, admin=form.get("admin") == "yes", by=session.user.name)
    except (Conflict, InvalidRequest) as error:
        return _page(request, core, session, status=error.status, wrong=str(error), name=name[:80])
    return _page(request, core, session, link=core.welcome_url(secret), linked=user.name)


@router.post("/users/reset")
def reset(request: Request, core: ServerCore, session: AdminSession, form: CheckedForm) -> Response:
    """Invalidate a password and show a link that sets a new one."""
    try:
        with core.store.write() as connection:
            user, secret = accounts.reset_password(connection, str(form.get("name", "")), by=session.user.name)
    except NotFound as error:
        return _page(request, core, session, status=error.status, wrong=str(error))
    return _page(request, core, session, link=core.welcome_url(secret), linked=user.name)


@router.post("/users/disable")
def disable(request: Request, core: ServerCore, session: AdminSession, form: CheckedForm) -> Response:
    """Disable or enable a user."""
    try:
        with core.store.write() as connection:
            name, disabled = str(form.get("name", "")), form.get("disabled") == "yes"
            accounts.disable(connection, name, by=session.user.name, disabled=disabled)
    except (Forbidden, NotFound) as error:
        return _page(request, core, session, status=error.status, wrong=str(error))
    return redirect("/admin/users")


@router.get("/audit")
def show_audit_log(
    request: Request, core: ServerCore, session: AdminSession, before: int | None = None, check: str = ""
) -> Response:
    """Show the audit log, newest entry first, and whether its hash chain is intact."""
    with core.store.read() as connection:
        entries = audit.list_entries(connection, limit=ENTRIES_PER_PAGE + 1, before=before)
        checked = bool(check) or (before is None and (not entries or entries[0]["id"] <= AUTOMATIC_CHECK_LIMIT))
        fault = audit.verify_chain(connection) if checked else None
    more = entries[ENTRIES_PER_PAGE - 1]["id"] if len(entries) > ENTRIES_PER_PAGE else None
    shown = entries[:ENTRIES_PER_PAGE]
    return render_page(request, "audit.html", session, entries=shown, more=more, before=before, checked=checked, fault=fault)


def _page(request: Request, core: ServerCore, session: AdminSession, status: int = 200, **overrides: Any) -> Response:
    with core.store.read() as connection:
        all_users = accounts.list_users(connection)
    values = {"wrong": "", "name": "", "link": "", "linked": "", **overrides}
    return render_page(request, "users.html", session, status=status, users=all_users, hours=accounts.LINK_HOURS, **values)
