"""The second factor: asked for at the login, set up and turned off by its user."""

from __future__ import annotations

from typing import Annotated, Any

import segno
from fastapi import APIRouter, Form, Request, Response

from discreet.web.auth import accounts, second_factor, sessions, totp
from discreet.web.auth.accounts import User
from discreet.web.auth.kept_forms import MAX_TEXT, KeptForm
from discreet.web.auth.security import CheckedForm, CurrentSession, ServerCore, set_session_cookie
from discreet.web.auth.sessions import Session
from discreet.web.auth.short_cookies import delete_short_cookie
from discreet.web.db import audit
from discreet.web.errors import Forbidden, InvalidRequest, TooManyRequests, Unauthenticated
from discreet.web.pages.access.login import PENDING_COOKIE, client_address, start_session
from discreet.web.pages.rendering import redirect, render_page

router = APIRouter(include_in_schema=False)
Code = Annotated[str, Form(max_length=60)]


@router.post("/login/code")
def check_code(
    request: Request,
    core: ServerCore,
    code: Code = "",
    next: Annotated[str, Form(max_length=2000)] = "/",  # noqa: A002 - the address says next
    kept: Annotated[str, Form(max_length=MAX_TEXT)] = "",
) -> Response:
    """Start the session of a user who has given the right password and now the right code."""
    try:
        with core.store.read() as connection:
            user = second_factor.find_pending(connection, request.cookies.get(PENDING_COOKIE))
    except Unauthenticated as error:
        return render_page(request, "login.html", status=401, next=next, name="", message=str(error), kept=kept)
    try:
        second_factor.check_code(core.store, user, code, client_address(request))
    except (Unauthenticated, TooManyRequests) as error:
        core.metrics.count_failed_login("second factor")
        return render_page(request, "second_factor.html", status=error.status, next=next, kept=kept, message=str(error))
    return start_session(request, core, user, next, KeptForm.from_text(kept))


@router.get("/login/enrol")
def enrolment_form(request: Request, core: ServerCore) -> Response:
    """Show the setup to a user who must have a second factor before the first session."""
    with core.store.write() as connection:
        user = second_factor.find_pending(connection, request.cookies.get(PENDING_COOKIE))
        secret = second_factor.begin_enrolment(connection, user)
    return _enrolment_page(request, user, secret, None, "")


@router.post("/login/enrol")
def enrol_at_login(request: Request, core: ServerCore, code: Code = "") -> Response:
    """Turn the second factor on, start the session, and show the recovery codes."""
    try:
        with core.store.write() as connection:
            user = second_factor.find_pending(connection, request.cookies.get(PENDING_COOKIE))
            codes = second_factor.confirm_enrolment(connection, user, code)
            second_factor.end_pending(connection, user)
            cookie = sessions.start(connection, user, core.settings)
            audit.record(connection, user.name, "logged in", address=client_address(request))
    except InvalidRequest as error:
        with core.store.write() as connection:
            secret = second_factor.begin_enrolment(connection, user)
        return _enrolment_page(request, user, secret, None, str(error))
    session = sessions.find(core.store, cookie, core.settings)
    response = render_page(request, "recovery_codes.html", session, codes=codes, onward="/")
    set_session_cookie(response, cookie, core.settings)
    delete_short_cookie(response, PENDING_COOKIE, core.settings)
    return response


@router.get("/account/second-factor")
def setup_form(request: Request, core: ServerCore, session: CurrentSession) -> Response:
    """Show the setup to a user who wants a second factor."""
    _check_local(core, session)
    with core.store.write() as connection:
        secret = second_factor.begin_enrolment(connection, session.user)
    return _enrolment_page(request, session.user, secret, session, "")


@router.post("/account/second-factor")
def set_up(request: Request, core: ServerCore, session: CurrentSession, form: CheckedForm) -> Response:
    """Turn the second factor on, after the password: whoever finds an open browser must not lock its user out."""
    _check_local(core, session)
    code, password = str(form.get("code", ""))[:60], str(form.get("password", ""))[:1000]
    try:
        with core.store.write() as connection:
            accounts.check_password(connection, session.user, password)
            codes = second_factor.confirm_enrolment(connection, session.user, code)
    except InvalidRequest as error:
        with core.store.write() as connection:
            secret = second_factor.begin_enrolment(connection, session.user)
        return _enrolment_page(request, session.user, secret, session, str(error))
    return render_page(request, "recovery_codes.html", session, codes=codes, onward="/account")


@router.post("/account/second-factor/change")
def change(request: Request, core: ServerCore, session: CurrentSession, form: CheckedForm) -> Response:
    """Turn the second factor off, or make new recovery codes; a current code is needed for either."""
    try:
        second_factor.check_code(core.store, session.user, str(form.get("code", ""))[:60], client_address(request))
    except Unauthenticated as error:  # not a lost session: the page says what is wrong
        raise Forbidden(str(error)) from None
    with core.store.write() as connection:
        if form.get("action") == "renew":
            codes = second_factor.renew_recovery_codes(connection, session.user)
            return render_page(request, "recovery_codes.html", session, codes=codes, onward="/account")
        if second_factor.get_factor(connection, session.user, core.settings).required:
            raise Forbidden("this server requires a second factor of you; an administrator can reset it for another device")
        second_factor.turn_off(connection, session.user)
    return redirect("/account?done=factor")


def _check_local(core: ServerCore, session: Session) -> None:
    with core.store.read() as connection:
        if accounts.is_linked(connection, session.user):
            raise Forbidden("you log in through single sign-on; a second factor is set up there")


def _enrolment_page(request: Request, user: User, secret: str, session: Session | None, message: str) -> Response:
    address = totp.enrolment_address(secret, user.name, f"discreet {request.url.hostname or ''}".strip())
    values: dict[str, Any] = {
        "picture": segno.make(address, error="m").svg_data_uri(scale=5, border=3, light="white"),
        "typed_secret": " ".join(secret[start : start + 4] for start in range(0, len(secret), 4)),
        "message": message,
        "action": "/login/enrol" if session is None else "/account/second-factor",
    }
    return render_page(request, "enrol.html", session, status=422 if message else 200, **values)
