"""Pages for administrators: users, jobs, quotas, grants and the audit log."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Any

from fastapi import APIRouter, Request, Response
from sqlalchemy import Connection

from discreet.web.auth import accounts, second_factor
from discreet.web.auth.security import AdminSession, CheckedForm, ServerCore
from discreet.web.db import audit
from discreet.web.db.store import now
from discreet.web.errors import Conflict, Forbidden, InvalidRequest, NotFound
from discreet.web.jobs import queue
from discreet.web.pages.forms.editing import read_whole_number
from discreet.web.pages.rendering import redirect, render_page
from discreet.web.projects import quotas, sources

router = APIRouter(prefix="/admin", include_in_schema=False)
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
    except (Conflict, NotFound) as error:
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


@router.post("/users/factor")
def change_second_factor(request: Request, core: ServerCore, session: AdminSession, form: CheckedForm) -> Response:
    """Require a second factor of a user, no longer require it, or reset that of a lost device."""
    name, action = str(form.get("name", "")), str(form.get("action", ""))
    try:
        with core.store.write() as connection:
            if action == "reset":
                second_factor.reset(connection, name, by=session.user.name)
            else:
                second_factor.set_required(connection, name, action == "require", by=session.user.name)
    except NotFound as error:
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
        head = str(audit.read_head(connection))
    more = entries[ENTRIES_PER_PAGE - 1]["id"] if len(entries) > ENTRIES_PER_PAGE else None
    shown = entries[:ENTRIES_PER_PAGE]
    return render_page(
        request, "audit.html", session, entries=shown, more=more, before=before, checked=checked, fault=fault, head=head
    )


@router.get("/jobs")
def show_jobs(request: Request, core: ServerCore, session: AdminSession) -> Response:
    """List the queued and running jobs of all users, without anything of their data."""
    with core.store.read() as connection:
        active = queue.list_active(connection)
    return render_page(request, "admin_jobs.html", session, jobs=active, current_time=now())


@router.post("/jobs/cancel")
def cancel_job(core: ServerCore, session: AdminSession, form: CheckedForm) -> Response:
    """Cancel a job of any user; one that has ended meanwhile is left unchanged."""
    with suppress(Conflict), core.store.write() as connection:
        queue.cancel_any(connection, session.user, str(form.get("job", "")))
    core.supervisor.wake()
    return redirect("/admin/jobs")


@router.get("/limits")
def show_limits(request: Request, core: ServerCore, session: AdminSession) -> Response:
    """Show the quotas of all users and projects, and the tables of connected databases that were granted."""
    return _limits_page(request, core, session)


@router.post("/limits/quota")
def set_quota(request: Request, core: ServerCore, session: AdminSession, form: CheckedForm) -> Response:
    """Set the quota of a user or of a project; an empty field is the server's default."""
    try:
        values = {name: _parse_number(str(form.get(name, "")), name) for name in ("gigabytes", "jobs", "hours")}
        with core.store.write() as connection:
            kind, subject_id = _find_subject(connection, form)
            quotas.set_quota(
                connection, session.user, kind, subject_id, hours=values["hours"],
                size=None if values["gigabytes"] is None else values["gigabytes"] * 1e9,
                jobs=None if values["jobs"] is None else int(values["jobs"]),
            )  # fmt: skip
    except (InvalidRequest, NotFound) as error:
        return _limits_page(request, core, session, status=error.status, wrong=str(error))
    return redirect(f"/admin/limits#{'quotas' if kind == 'user' else 'projects'}")


def _find_subject(connection: Connection, form: CheckedForm) -> tuple[str, int]:
    """The kind and the id of the user or project that a form sets a quota of."""
    if "project" not in form:
        return "user", accounts.get_by_name(connection, str(form.get("name", ""))).id
    number = read_whole_number(form, "project")
    quotas.check_project(connection, number)
    return "project", number


@router.post("/limits/grant")
def grant(request: Request, core: ServerCore, session: AdminSession, form: CheckedForm) -> Response:
    """Grant a table of a connected database to a user, or take the grant back."""
    name, source, table = (str(form.get(field, "")) for field in ("name", "source", "table"))
    try:
        with core.store.write() as connection:
            if form.get("revoke"):
                sources.revoke(connection, session.user, name, source, table)
            else:
                sources.grant(connection, core.settings, session.user, name, source, table)
    except (Conflict, InvalidRequest, NotFound) as error:
        return _limits_page(request, core, session, status=error.status, wrong=str(error))
    return redirect("/admin/limits#grants")


def _limits_page(request: Request, core: ServerCore, session: AdminSession, status: int = 200, wrong: str = "") -> Response:
    with core.store.read() as connection:
        rows = [
            {"user": user, "quota": quotas.get_quota(connection, core.settings, "user", user.id)}
            for user in accounts.list_users(connection)
        ]
        project_quotas = quotas.list_project_quotas(connection, core.settings)
        grants = sources.list_grants(connection)
    connected = sorted(core.settings.sources)
    return render_page(
        request, "admin_limits.html", session, status=status, rows=rows, project_quotas=project_quotas, grants=grants,
        sources=connected, wrong=wrong,
    )  # fmt: skip


def _parse_number(text: str, name: str) -> float | None:
    if not text.strip():
        return None
    try:
        number = float(text.strip().replace(",", "."))
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise InvalidRequest(f"{name} must be a number; got '{text[:20]}'")
    return number


def _page(request: Request, core: ServerCore, session: AdminSession, status: int = 200, **overrides: Any) -> Response:
    with core.store.read() as connection:
        all_users = accounts.list_users(connection)
        linked = accounts.list_linked(connection)
        factors = second_factor.list_factors(connection)
    values = {"linked_users": linked, "factors": factors, "wrong": "", "name": "", "link": "", "linked": "", **overrides}
    return render_page(request, "users.html", session, status=status, users=all_users, hours=accounts.LINK_HOURS, **values)
