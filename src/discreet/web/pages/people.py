"""Log in, log out, and set a password through a one-time link."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request, Response

from discreet.web.auth import accounts, sessions
from discreet.web.auth.kept_forms import MAX_TEXT, KeptForm
from discreet.web.auth.security import CheckedForm, CurrentSession, ServerCore, delete_session_cookie
from discreet.web.db import audit
from discreet.web.errors import Forbidden, InvalidRequest, TooManyRequests, Unauthenticated
from discreet.web.pages.access.login import client_address, continue_login, start_session
from discreet.web.pages.rendering import redirect, render_page

router = APIRouter(include_in_schema=False)


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
    _check_passwords(core)
    try:
        user = accounts.log_in(core.store, name, password, client_address(request))
    except (Unauthenticated, TooManyRequests) as error:
        core.metrics.count_failed_login("password")
        return render_page(request, "login.html", status=error.status, next=next, name=name, message=str(error), kept=kept)
    return continue_login(request, core, user, next, kept)


@router.post("/logout")
def log_out(request: Request, core: ServerCore, session: CurrentSession, _form: CheckedForm) -> Response:
    """End all sessions of this user, in every browser, and the one at the provider of single sign-on."""
    with core.store.write() as connection:
        sessions.end(connection, session)
        audit.record(connection, session.user.name, "logged out")
    onward = None
    if core.provider is not None and session.id_token is not None:
        onward = core.provider.logout_url(f"{core.settings.url}/login", session.id_token)
    # a page, not a redirect: the content security policy forbids that a form leads to another server
    response = redirect("/login") if onward is None else render_page(request, "logging_out.html", onward=onward)
    delete_session_cookie(response, core.settings)
    return response


@router.post("/kept")
def show_kept_form(request: Request, session: CurrentSession, kept: Annotated[str, Form(max_length=MAX_TEXT)] = "") -> Response:
    """Show a form that was kept while its user logged in at the provider, in another tab."""
    form = KeptForm.from_text(kept)
    return redirect("/") if form is None else render_page(request, "kept_form.html", session, kept=form)


@router.get("/welcome/{secret}")
def welcome(request: Request, core: ServerCore, secret: str) -> Response:
    """Show the form that a one-time link opens."""
    _check_passwords(core)
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
    _check_passwords(core)
    try:
        if password != again:
            raise InvalidRequest("the two passwords are not the same")
        with core.store.write() as connection:
            user = accounts.set_password_with_link(connection, secret, password)
    except InvalidRequest as error:
        with core.store.read() as connection:
            user = accounts.get_by_link(connection, secret)
        return render_page(request, "welcome.html", status=422, name=user.name, message=str(error))
    return continue_login(request, core, user, "/")


@router.get("/rescue/{secret}")
def rescue_form(request: Request, core: ServerCore, secret: str) -> Response:
    """Show the button of a rescue link: programs that preview links open addresses, but press no buttons."""
    with core.store.read() as connection:
        user = accounts.get_by_link(connection, secret, "rescue")
    return render_page(request, "rescue.html", name=user.name)


@router.post("/rescue/{secret}")
def rescue(request: Request, core: ServerCore, secret: str) -> Response:
    """Log an administrator in with a link that the operator of the machine has made."""
    with core.store.write() as connection:
        user = accounts.use_rescue_link(connection, secret)
    return start_session(request, core, user, "/admin/users", hours=1.0)


def _check_passwords(core: ServerCore) -> None:
    if not core.settings.passwords:
        raise Forbidden("this server has no passwords; log in through single sign-on")
