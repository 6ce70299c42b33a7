"""Authentication of requests, protection against cross-site requests, and security headers.

Browsers authenticate with a session cookie, programs with ``Authorization: Bearer TOKEN``. Requests of a browser that change
something must come from our own pages: the headers Sec-Fetch-Site and Origin and the session's CSRF token are all checked.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request, Response
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData

from discreet.web.auth import sessions, tokens
from discreet.web.auth.accounts import User
from discreet.web.auth.sessions import Session
from discreet.web.core import Core, get_core
from discreet.web.errors import Forbidden, Unauthenticated
from discreet.web.settings import Settings

SESSION_COOKIE = "discreet_session"
CSRF_HEADER = "x-csrf-token"
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
PAGE_CSP = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
REPORT_CSP = (
    "sandbox allow-scripts allow-popups; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src data:; font-src data:; frame-ancestors 'none'"
)
"""Content security policy of a report, a single file with inline scripts: sandboxed in an origin of its own, without network."""
SECURITY_HEADERS = {
    "Content-Security-Policy": PAGE_CSP,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


@dataclass(frozen=True)
class Access:
    """The authenticated user of a request, the scopes it has, and the session unless it came with a token."""

    user: User
    scopes: tuple[str, ...]
    session: Session | None = None

    def require_scope(self, scope: str) -> None:
        """Raise if the request does not have a scope."""
        if scope not in self.scopes:
            raise Forbidden(f"this token has the scopes {', '.join(self.scopes) or 'none'}; this needs {scope}")


def current_session(request: Request, core: Annotated[Core, Depends(get_core)]) -> Session:
    """The session of a request for a page; raises if nobody is logged in."""
    session = sessions.find(core.store, request.cookies.get(SESSION_COOKIE), core.settings)
    if session is None:
        raise Unauthenticated("log in first")
    request.state.who = session.user.name
    return session


def optional_session(request: Request, core: Annotated[Core, Depends(get_core)]) -> Session | None:
    """The session of a request, or None if nobody is logged in."""
    return sessions.find(core.store, request.cookies.get(SESSION_COOKIE), core.settings)


def authenticate(request: Request, core: Annotated[Core, Depends(get_core)]) -> Access:
    """The user of an API request: by token, or by session with a CSRF token if the request changes something."""
    header = request.headers.get("authorization", "")
    if header:
        scheme, _, secret = header.partition(" ")
        if scheme.lower() != "bearer" or not secret.strip():
            raise Unauthenticated("the Authorization header must be 'Bearer TOKEN'")
        user, scopes = tokens.find(core.store, secret.strip())
        request.state.who = user.name
        return Access(user, scopes)
    session = current_session(request, core)
    if request.method not in SAFE_METHODS:
        session.check_csrf(request.headers.get(CSRF_HEADER))
    scopes = tuple(scope for scope in tokens.SCOPES if scope != "admin" or session.user.admin)
    return Access(session.user, scopes, session)


def admin_session(session: Annotated[Session, Depends(current_session)]) -> Session:
    """The session of an administrator; raises for other users."""
    if not session.user.admin:
        raise Forbidden("only administrators may see this")
    return session


async def checked_form(request: Request, core: Annotated[Core, Depends(get_core)]) -> AsyncIterator[FormData]:
    """The submitted form, after a check that its hidden field ``csrf`` holds the session's CSRF token."""
    session = await run_in_threadpool(current_session, request, core)
    async with request.form(max_fields=20_000, max_part_size=4 << 20) as form:
        sent = form.get("csrf")
        session.check_csrf(sent if isinstance(sent, str) else None)
        yield form


CurrentSession = Annotated[Session, Depends(current_session)]
AdminSession = Annotated[Session, Depends(admin_session)]
Caller = Annotated[Access, Depends(authenticate)]
CheckedForm = Annotated[FormData, Depends(checked_form)]
ServerCore = Annotated[Core, Depends(get_core)]


def check_same_origin(request: Request, settings: Settings) -> None:
    """Raise if a state-changing request of a browser was sent by a page of another site."""
    if request.method in SAFE_METHODS or request.headers.get("authorization"):
        return
    site = request.headers.get("sec-fetch-site")
    origin = request.headers.get("origin")
    own_origins = {settings.url, f"{request.url.scheme}://{request.headers.get('host', '')}"}
    if site not in (None, "same-origin", "none") or (origin is not None and origin not in own_origins):
        raise Forbidden("the request was sent by a page of another site; open discreet directly and try again")


def set_session_cookie(response: Response, secret: str, settings: Settings) -> None:
    """Set the session cookie: HttpOnly, SameSite=Lax, and Secure if the server is reached over TLS."""
    max_age = int(settings.session_hours * 3600)
    response.set_cookie(SESSION_COOKIE, secret, max_age=max_age, httponly=True, samesite="lax", secure=settings.secure, path="/")


def delete_session_cookie(response: Response, settings: Settings) -> None:
    """Delete the session cookie."""
    response.delete_cookie(SESSION_COOKIE, httponly=True, samesite="lax", secure=settings.secure, path="/")
