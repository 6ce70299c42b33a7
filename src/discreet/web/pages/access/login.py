"""What follows a right password, a one-time link or a login at the provider: a second factor where needed, then a session."""

from __future__ import annotations

from fastapi import Request, Response

from discreet.web.auth import second_factor, sessions
from discreet.web.auth.accounts import User
from discreet.web.auth.kept_forms import KeptForm
from discreet.web.auth.security import set_session_cookie
from discreet.web.auth.short_cookies import delete_short_cookie, set_short_cookie
from discreet.web.core import Core
from discreet.web.db import audit
from discreet.web.pages.rendering import redirect, render_page

PENDING_COOKIE = "discreet_pending"


def client_address(request: Request) -> str:
    """The address of the client, for throttling and the audit log."""
    return request.client.host if request.client else "unknown"


def continue_login(request: Request, core: Core, user: User, next_address: str, kept: str = "") -> Response:
    """After a right password: ask for the second factor, set one up where it is required, or start the session."""
    with core.store.write() as connection:
        factor = second_factor.get_factor(connection, user, core.settings)
        pending = second_factor.start_pending(connection, user) if factor.enrolled or factor.required else None
    if pending is None:
        return start_session(request, core, user, next_address, KeptForm.from_text(kept))
    if factor.enrolled:
        response = render_page(request, "second_factor.html", next=next_address, kept=kept, message="")
    else:
        response = redirect("/login/enrol")
    set_short_cookie(response, PENDING_COOKIE, pending, second_factor.PENDING_MINUTES * 60, core.settings)
    return response


def start_session(
    request: Request,
    core: Core,
    user: User,
    next_address: str,
    kept: KeptForm | None = None,
    *,
    hours: float | None = None,
    id_token: str | None = None,
) -> Response:
    """Start a session and send the browser on, or let the user send a form that was kept over the login."""
    with core.store.write() as connection:
        secret = sessions.start(connection, user, core.settings, hours=hours, id_token=id_token)
        second_factor.end_pending(connection, user)
        audit.record(connection, user.name, "logged in", address=client_address(request))
    if kept is None:
        response = redirect(next_address)
    else:
        session = sessions.find(core.store, secret, core.settings)
        response = render_page(request, "kept_form.html", session, kept=kept)
    set_session_cookie(response, secret, core.settings)
    if PENDING_COOKIE in request.cookies:
        delete_short_cookie(response, PENDING_COOKIE, core.settings)
    return response
