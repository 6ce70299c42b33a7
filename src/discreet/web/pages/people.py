"""Log in, log out, and set a password through a one-time link."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request, Response

from discreet.web.auth import accounts, sessions
from discreet.web.auth.kept_forms import MAX_TEXT, KeptForm
from discreet.web.auth.security import CheckedForm, CurrentSession, ServerCore, delete_session_cookie, set_session_cookie
from discreet.web.db import audit
from discreet.web.errors import InvalidRequest, TooManyRequests, Unauthenticated
from discreet.web.pages.rendering import redirect, render_page

router = APIRouter()


@router.get("/login")
def login_form(request: Request, next: str = "/") -> Response:  # noqa: A002 - the address says next
    """Show the login form."""
    return render_page(request, "login.html", next=next, name="", message="", kept="")


@router.post("/login")
def log_in(
    request: Request,
    core: ServerCore,
    name: Annotated[str, Form(max_length=200)] = "",
    password: Annotated[str, Form(max_length=1000)] = "",
    next: Annotated[str, Form(max_length=2000)] = "/",  # noqa: A002
    kept: Annotated[str, Form(max_length=MAX_TEXT)] = "",
) -> Response:
    """Start a session, or report a failure without saying whether name or password was wrong."""
    try:
        user = accounts.log_in(core.store, name, password, _client_address(request))
    except (Unauthenticated, TooManyRequests) as error:
        return render_page(request, "login.html", status=error.status, next=next, name=name, message=str(error), kept=kept)
    return _start_session(request, core, user, next, KeptForm.from_text(kept))


@router.post("/logout")
def log_out(core: ServerCore, session: CurrentSession, _form: CheckedForm) -> Response:
    """End all sessions of this user, in every browser."""
    with core.store.write() as connection:
        sessions.end(connection, session)
        audit.record(connection, session.user.name, "logged out")
    response = redirect("/login")
    delete_session_cookie(response, core.settings)
    return response


@router.get("/welcome/{secret}")
def welcome(request: Request, core: ServerCore, secret: str) -> Response:
    """Show the form that a one-time link opens."""
    with core.store.read() as connection:
        user = accounts.get_by_link(connection, secret)
    return render_page(request, "welcome.html", name=user.name, message="")


@router.post("/welcome/{secret}")
def set_password(
    request: Request,
    core: ServerCore,
    secret: str,
    password: Annotated[str, Form(max_length=1000)] = "",
    again: Annotated[str, Form(max_length=1000)] = "",
) -> Response:
    """Set the password, invalidate the link, and log the user in."""
    try:
        if password != again:
            raise InvalidRequest("the two passwords are not the same")
        with core.store.write() as connection:
            user = accounts.set_password_with_link(connection, secret, password)
    except InvalidRequest as error:
        with core.store.read() as connection:
            user = accounts.get_by_link(connection, secret)
        return render_page(request, "welcome.html", status=422, name=user.name, message=str(error))
    return _start_session(request, core, user, "/")


def _start_session(
    request: Request, core: ServerCore, user: accounts.User, next_address: str, kept: KeptForm | None = None
) -> Response:
    with core.store.write() as connection:
        secret = sessions.start(connection, user, core.settings)
        audit.record(connection, user.name, "logged in", address=_client_address(request))
    if kept is None:
        response = redirect(next_address)
    else:
        session = sessions.find(core.store, secret, core.settings)
        response = render_page(request, "kept_form.html", session, kept=kept)
    set_session_cookie(response, secret, core.settings)
    return response


def _client_address(request: Request) -> str:
    return request.client.host if request.client else "unknown"
