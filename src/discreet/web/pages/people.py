"""Log in, log out, and the link that sets a password."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request, Response

from discreet.web.auth import accounts, sessions
from discreet.web.auth.security import Here, LoggedIn, Sent, drop_cookie, give_cookie
from discreet.web.db import audit
from discreet.web.errors import Invalid, TooMany, Unknown
from discreet.web.pages.rendering import go, page

router = APIRouter()


@router.get("/login")
def login_form(request: Request, next: str = "/") -> Response:  # noqa: A002 - the address says next
    """Ask for name and password."""
    return page(request, "login.html", next=next, name="", message="")


@router.post("/login")
def log_in(
    request: Request,
    core: Here,
    name: Annotated[str, Form(max_length=200)] = "",
    password: Annotated[str, Form(max_length=1000)] = "",
    next: Annotated[str, Form(max_length=2000)] = "/",  # noqa: A002
) -> Response:
    """Let somebody in with a new session, or say that it was not right (and not which of the two)."""
    try:
        user = accounts.log_in(core.store, name, password, _address(request))
    except (Unknown, TooMany) as error:
        return page(request, "login.html", status=error.status, next=next, name=name, message=str(error))
    return _enter(request, core, user, next)


@router.post("/logout")
def log_out(core: Here, session: LoggedIn, _form: Sent) -> Response:
    """End the sessions of this person, on every browser."""
    with core.store.write() as connection:
        sessions.end(connection, session)
        audit.note(connection, session.user.name, "logged out")
    response = go("/login")
    drop_cookie(response, core.settings)
    return response


@router.get("/welcome/{secret}")
def welcome(request: Request, core: Here, secret: str) -> Response:
    """Where a one-time link leads."""
    with core.store.read() as connection:
        user = accounts.by_link(connection, secret)
    return page(request, "welcome.html", name=user.name, message="")


@router.post("/welcome/{secret}")
def set_password(
    request: Request,
    core: Here,
    secret: str,
    password: Annotated[str, Form(max_length=1000)] = "",
    again: Annotated[str, Form(max_length=1000)] = "",
) -> Response:
    """Set the password, spend the link, and go in."""
    try:
        if password != again:
            raise Invalid("the two passwords are not the same")
        with core.store.write() as connection:
            user = accounts.use_link(connection, secret, password)
    except Invalid as error:
        with core.store.read() as connection:
            user = accounts.by_link(connection, secret)
        return page(request, "welcome.html", status=422, name=user.name, message=str(error))
    return _enter(request, core, user, "/")


def _enter(request: Request, core: Here, user: accounts.User, to: str) -> Response:
    with core.store.write() as connection:
        secret = sessions.start(connection, user, core.settings)
        audit.note(connection, user.name, "logged in", address=_address(request))
    response = go(to)
    give_cookie(response, secret, core.settings)
    return response


def _address(request: Request) -> str:
    return request.client.host if request.client else "unknown"
