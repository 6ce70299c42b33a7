"""The user's own account: password and API tokens."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response

from discreet.web.auth import accounts, second_factor, sessions, tokens
from discreet.web.auth.security import CheckedForm, CurrentSession, ServerCore, set_session_cookie
from discreet.web.db.store import now
from discreet.web.errors import InvalidRequest
from discreet.web.pages.rendering import redirect, render_page

router = APIRouter(include_in_schema=False)


@router.get("/account")
def account(request: Request, core: ServerCore, session: CurrentSession) -> Response:
    """Show the account with its tokens."""
    return _page(request, core, session, done=request.query_params.get("done", ""))


@router.post("/account/password")
def change_password(request: Request, core: ServerCore, session: CurrentSession, form: CheckedForm) -> Response:
    """Change the password: every other session ends, and this browser gets a new one."""
    old, new, again = (str(form.get(name, ""))[:1000] for name in ("old", "password", "again"))
    try:
        if new != again:
            raise InvalidRequest("the two new passwords are not the same")
        with core.store.write() as connection:
            accounts.change_password(connection, session.user, old, new)
            secret = sessions.start(connection, session.user, core.settings)
    except InvalidRequest as error:
        return _page(request, core, session, status=422, wrong=str(error))
    response = redirect("/account?done=password")
    set_session_cookie(response, secret, core.settings)
    return response


@router.post("/account/tokens")
def create_token(request: Request, core: ServerCore, session: CurrentSession, form: CheckedForm) -> Response:
    """Create a token; its secret is in this response and is not stored."""
    name, days = str(form.get("name", "")), str(form.get("days", "90"))
    scopes = [str(scope) for scope in form.getlist("scopes")]
    try:
        with core.store.write() as connection:
            token, secret = tokens.create(connection, session.user, name, scopes, _parse_days(days))
    except InvalidRequest as error:
        return _page(request, core, session, status=422, token_wrong=str(error), token_name=name[:80], chosen=scopes)
    return _page(request, core, session, secret=secret, created=token.name)


@router.post("/account/tokens/revoke")
def revoke_token(core: ServerCore, session: CurrentSession, form: CheckedForm) -> Response:
    """Revoke a token."""
    number = str(form.get("token", ""))
    if not number.isdecimal():
        raise InvalidRequest("a token is named by its number")
    with core.store.write() as connection:
        tokens.revoke(connection, session.user, int(number))
    return redirect("/account?done=revoked")


def _parse_days(text: str) -> float:
    if not text.strip().isdecimal():
        raise InvalidRequest(f"a token is valid for a whole number of days, 1 to 366; got '{text[:20]}'")
    return float(text)


def _page(request: Request, core: ServerCore, session: CurrentSession, status: int = 200, **overrides: Any) -> Response:
    with core.store.read() as connection:
        user_tokens = tokens.list_tokens(connection, session.user)
        linked = accounts.is_linked(connection, session.user)
        factor = second_factor.get_factor(connection, session.user, core.settings)
    values = {
        "done": "",
        "wrong": "",
        "token_wrong": "",
        "token_name": "",
        "chosen": ["read"],
        "secret": "",
        "created": "",
        **overrides,
    }
    scopes = {name: meaning for name, meaning in tokens.SCOPES.items() if name != "admin" or session.user.admin}
    return render_page(
        request,
        "account.html",
        session,
        status=status,
        tokens=user_tokens,
        scopes=scopes,
        current_time=now(),
        linked=linked,
        factor=factor,
        **values,
    )
