"""Authentication of requests, protection against cross-site requests, and security headers.

Browsers authenticate with a session cookie, programs with ``Authorization: Bearer TOKEN``. Requests of a browser that change
something must come from our own pages: the headers Sec-Fetch-Site and Origin and the session's CSRF token are all checked.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import Depends, Request, Response
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData

from discreet.web.auth.identity import CSRF_HEADER, SAFE_METHODS, SESSION_COOKIE, Access, Identity, identify
from discreet.web.auth.sessions import Session
from discreet.web.core import Core, get_core
from discreet.web.errors import Forbidden, Unauthenticated
from discreet.web.settings import Settings

__all__ = [
    "CSRF_HEADER",
    "REPORT_CSP",
    "SAFE_METHODS",
    "SECURITY_HEADERS",
    "SECURITY_SCHEMES",
    "SESSION_COOKIE",
    "Access",
    "AdminSession",
    "Caller",
    "CheckedForm",
    "CurrentSession",
    "ServerCore",
    "check_same_origin",
    "get_identity",
]

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


# The dependencies of requests are coroutines because FastAPI runs each plain function in a thread of its own, for every request.


async def provide_core(request: Request) -> Core:
    """The server that handles a request."""
    return get_core(request)


async def get_identity(request: Request, core: Core) -> Identity:
    """Who sends a request; determined by the server's middleware before the body was read, or now."""
    if not hasattr(request.state, "identity"):
        request.state.identity = await run_in_threadpool(identify, request, core)
    identity: Identity = request.state.identity
    return identity


async def current_session(request: Request, core: Annotated[Core, Depends(provide_core)]) -> Session:
    """The session of a request for a page; raises if nobody is logged in."""
    session = await optional_session(request, core)
    if session is None:
        raise Unauthenticated("log in first")
    return session


async def optional_session(request: Request, core: Annotated[Core, Depends(provide_core)]) -> Session | None:
    """The session of a request, or None if nobody is logged in."""
    access = (await get_identity(request, core)).access
    return None if access is None else access.session


async def authenticate(request: Request, core: Annotated[Core, Depends(provide_core)]) -> Access:
    """The user of an API request: by token, or by session with a CSRF token if the request changes something."""
    return (await get_identity(request, core)).require()


async def admin_session(session: Annotated[Session, Depends(current_session)]) -> Session:
    """The session of an administrator; raises for other users."""
    if not session.user.admin:
        raise Forbidden("only administrators may see this")
    return session


async def checked_form(request: Request, core: Annotated[Core, Depends(provide_core)]) -> AsyncIterator[FormData]:
    """The submitted form, after a check that its hidden field ``csrf`` holds the session's CSRF token."""
    session = await current_session(request, core)
    async with request.form(max_fields=20_000, max_part_size=4 << 20) as form:
        sent = form.get("csrf")
        session.check_csrf(sent if isinstance(sent, str) else None)
        yield form


SECURITY_SCHEMES = {
    "token": {"type": "http", "scheme": "bearer", "description": "An API token, made on the page of your account or by REST."},
    "session": {
        "type": "apiKey",
        "in": "cookie",
        "name": SESSION_COOKIE,
        "description": f"The session of a browser; a request that changes something also sends the header {CSRF_HEADER}.",
    },
}
"""How requests authenticate, as the OpenAPI document says it: by one of these."""

CurrentSession = Annotated[Session, Depends(current_session)]
AdminSession = Annotated[Session, Depends(admin_session)]
Caller = Annotated[Access, Depends(authenticate)]
CheckedForm = Annotated[FormData, Depends(checked_form)]
ServerCore = Annotated[Core, Depends(provide_core)]


def check_same_origin(request: Request, settings: Settings) -> None:
    """Raise if a state-changing request of a browser was sent by a page of another site."""
    if request.method in SAFE_METHODS or request.headers.get("authorization"):
        return
    site = request.headers.get("sec-fetch-site")
    origin = request.headers.get("origin")
    own_origins = {settings.origin, f"{request.url.scheme}://{request.headers.get('host', '')}"}
    if site not in (None, "same-origin", "none") or (origin is not None and origin not in own_origins):
        raise Forbidden("the request was sent by a page of another site; open discreet directly and try again")


def set_session_cookie(response: Response, secret: str, settings: Settings) -> None:
    """Set the session cookie: HttpOnly, SameSite=Lax, and Secure if the server is reached over TLS."""
    max_age = int(settings.session_hours * 3600)
    response.set_cookie(
        SESSION_COOKIE, secret, max_age=max_age, httponly=True, samesite="lax", secure=settings.secure, path=settings.path or "/"
    )


def delete_session_cookie(response: Response, settings: Settings) -> None:
    """Delete the session cookie."""
    response.delete_cookie(SESSION_COOKIE, httponly=True, samesite="lax", secure=settings.secure, path=settings.path or "/")
