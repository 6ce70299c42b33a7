"""Log in through the OpenID Connect provider: to the provider, and back with its answer."""

from __future__ import annotations

import logging
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from sqlalchemy.exc import IntegrityError
from starlette.responses import RedirectResponse

from discreet.web.auth.security import ServerCore
from discreet.web.auth.short_cookies import delete_short_cookie, set_short_cookie
from discreet.web.auth.sso import accounts as sso_accounts
from discreet.web.auth.sso.attempt import COOKIE, MAX_SECONDS, Attempt
from discreet.web.errors import LoginRefused, NotFound, ProviderUnavailable
from discreet.web.pages.access.login import client_address, start_session

router = APIRouter(prefix="/login/oidc", include_in_schema=False)
log = logging.getLogger("discreet.web.sso")
Answer = Annotated[str, Query(max_length=4000)]


@router.get("")
def go_to_provider(core: ServerCore, next: Annotated[str, Query(max_length=2000)] = "/") -> Response:  # noqa: A002
    """Send the browser to the provider, with a cookie that its answer must match."""
    if core.provider is None:
        raise NotFound("this server has no single sign-on")
    attempt = Attempt.start(next)
    response = RedirectResponse(core.provider.authorization_url(attempt), status_code=303)
    set_short_cookie(response, COOKIE, attempt.to_cookie(), MAX_SECONDS, core.settings)
    return response


@router.get("/callback")
def finish_login(
    request: Request, core: ServerCore, code: Answer = "", state: Answer = "", iss: Answer = "", error: Answer = ""
) -> Response:
    """Check the provider's answer and log its user in."""
    if core.provider is None or core.settings.oidc is None:
        raise NotFound("this server has no single sign-on")
    oidc = core.settings.oidc
    attempt = Attempt.from_cookie(request.cookies.get(COOKIE, ""))
    try:
        if attempt is None or not attempt.matches(state):
            raise LoginRefused("this login was not started in this browser, or took more than ten minutes; try again")
        if iss and iss != oidc.issuer:
            raise LoginRefused("the answer came from another provider than the one that was asked; try again")
        if error or not code:
            log.warning("the OpenID provider refused a login: %s", error[:60] if error.isidentifier() else "no code")
            raise LoginRefused(f"{oidc.label} did not log you in; try again, or ask whoever runs it")
        claims = core.provider.redeem(attempt, code)
        try:
            with core.store.write() as connection:
                outcome = sso_accounts.log_in(connection, oidc, claims, client_address(request))
        except IntegrityError:
            raise LoginRefused("you logged in twice at the same moment; try again") from None
        if outcome.user is None:
            raise LoginRefused(outcome.refusal)
    except (LoginRefused, ProviderUnavailable):
        core.metrics.count_failed_login("single sign-on")
        raise
    response = start_session(
        request, core, outcome.user, attempt.next_address, hours=oidc.session_hours, id_token=claims.id_token
    )
    delete_short_cookie(response, COOKIE, core.settings)
    return response
