"""A person's own account: the password, and tokens for programs."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response

from discreet.web.auth import accounts, sessions, tokens
from discreet.web.auth.security import Here, LoggedIn, Sent, give_cookie
from discreet.web.db.store import now
from discreet.web.errors import Invalid
from discreet.web.pages.rendering import go, page

router = APIRouter()


@router.get("/account")
def account(request: Request, core: Here, session: LoggedIn) -> Response:
    """The account with its tokens."""
    return _page(request, core, session, done=request.query_params.get("done", ""))


@router.post("/account/password")
def change_password(request: Request, core: Here, session: LoggedIn, form: Sent) -> Response:
    """Set another password; every other browser is logged out, this one goes on in a new session."""
    old, new, again = (str(form.get(name, ""))[:1000] for name in ("old", "password", "again"))
    try:
        if new != again:
            raise Invalid("the two new passwords are not the same")
        with core.store.write() as connection:
            accounts.change_password(connection, session.user, old, new)
            secret = sessions.start(connection, session.user, core.settings)
    except Invalid as error:
        return _page(request, core, session, status=422, wrong=str(error))
    response = go("/account?done=password")
    give_cookie(response, secret, core.settings)
    return response


@router.post("/account/tokens")
def make_token(request: Request, core: Here, session: LoggedIn, form: Sent) -> Response:
    """Make a token; its secret is in this answer and nowhere else."""
    name, days = str(form.get("name", "")), str(form.get("days", "90"))
    scopes = [str(scope) for scope in form.getlist("scopes")]
    try:
        with core.store.write() as connection:
            made, secret = tokens.make(connection, session.user, name, scopes, _days(days))
    except Invalid as error:
        return _page(request, core, session, status=422, token_wrong=str(error), token_name=name[:80], chosen=scopes)
    return _page(request, core, session, secret=secret, made=made.name)


@router.post("/account/tokens/revoke")
def revoke_token(core: Here, session: LoggedIn, form: Sent) -> Response:
    """End a token."""
    number = str(form.get("token", ""))
    if not number.isdecimal():
        raise Invalid("a token is named by its number")
    with core.store.write() as connection:
        tokens.revoke(connection, session.user, int(number))
    return go("/account?done=revoked")


def _days(text: str) -> float:
    if not text.strip().isdecimal():
        raise Invalid(f"a token lives a whole number of days, 1 to 366; got '{text[:20]}'")
    return float(text)


def _page(request: Request, core: Here, session: LoggedIn, status: int = 200, **said: Any) -> Response:
    with core.store.read() as connection:
        mine = tokens.of(connection, session.user)
    values = {"done": "", "wrong": "", "token_wrong": "", "token_name": "", "chosen": ["read"], "secret": "", "made": "", **said}
    scopes = {name: what for name, what in tokens.SCOPES.items() if name != "admin" or session.user.admin}
    return page(request, "account.html", session, status=status, tokens=mine, scopes=scopes, at=now(), **values)
