"""Who asks, whether it is really they, and what a browser may do with the answer.

A person comes with a session cookie, a program with ``Authorization: Bearer TOKEN``. What a browser sends to change something
must come from our own pages: the browser's own word (Sec-Fetch-Site, Origin) and the session's secret word are both checked.
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
from discreet.web.core import Core, core_of
from discreet.web.errors import Forbidden, Unknown
from discreet.web.settings import Settings

COOKIE = "discreet_session"
CSRF_HEADER = "x-csrf-token"
SAFE = ("GET", "HEAD", "OPTIONS")
POLICY = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
REPORT_POLICY = (
    "sandbox allow-scripts allow-popups; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src data:; font-src data:; frame-ancestors 'none'"
)
"""For a report, which is one file with its scripts inside: it runs in an origin of its own and reaches nothing."""
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


@dataclass(frozen=True)
class Access:
    """Somebody who asks for something: a person or a person's program."""

    user: User
    scopes: tuple[str, ...]
    session: Session | None = None

    def demand(self, scope: str) -> None:
        """Raise where a token was not made for this."""
        if scope not in self.scopes:
            raise Forbidden(f"this token has the scopes {', '.join(self.scopes) or 'none'}; this needs {scope}")


def session_of(request: Request, core: Annotated[Core, Depends(core_of)]) -> Session:
    """The session of a page's request; raises where nobody is logged in."""
    found = sessions.find(core.store, request.cookies.get(COOKIE), core.settings)
    if found is None:
        raise Unknown("log in first")
    request.state.who = found.user.name
    return found


def maybe_session_of(request: Request, core: Annotated[Core, Depends(core_of)]) -> Session | None:
    """The session where there is one."""
    return sessions.find(core.store, request.cookies.get(COOKIE), core.settings)


def access_of(request: Request, core: Annotated[Core, Depends(core_of)]) -> Access:
    """Who asks the API: a token, or the session of one of our own pages (which says its secret word to change something)."""
    said = request.headers.get("authorization", "")
    if said:
        kind, _, secret = said.partition(" ")
        if kind.lower() != "bearer" or not secret.strip():
            raise Unknown("say 'Authorization: Bearer TOKEN'")
        user, scopes = tokens.find(core.store, secret.strip())
        request.state.who = user.name
        return Access(user, scopes)
    session = session_of(request, core)
    if request.method not in SAFE:
        session.check(request.headers.get(CSRF_HEADER))
    scopes = tuple(scope for scope in tokens.SCOPES if scope != "admin" or session.user.admin)
    return Access(session.user, scopes, session)


def admin_of(session: Annotated[Session, Depends(session_of)]) -> Session:
    """A session of an administrator."""
    if not session.user.admin:
        raise Forbidden("only an administrator may see this")
    return session


async def form_of(request: Request, core: Annotated[Core, Depends(core_of)]) -> AsyncIterator[FormData]:
    """A page's form, checked to be from our own page: its hidden field ``csrf`` holds the session's word."""
    session = await run_in_threadpool(session_of, request, core)
    async with request.form(max_fields=20_000, max_part_size=4 << 20) as form:
        said = form.get("csrf")
        session.check(said if isinstance(said, str) else None)
        yield form


LoggedIn = Annotated[Session, Depends(session_of)]
Admin = Annotated[Session, Depends(admin_of)]
Asking = Annotated[Access, Depends(access_of)]
Sent = Annotated[FormData, Depends(form_of)]
Here = Annotated[Core, Depends(core_of)]


def same_origin(request: Request, settings: Settings) -> None:
    """Raise where a browser says that something that changes state was sent by another site's page."""
    if request.method in SAFE or request.headers.get("authorization"):
        return
    site = request.headers.get("sec-fetch-site")
    origin = request.headers.get("origin")
    own = {settings.url, f"{request.url.scheme}://{request.headers.get('host', '')}"}
    if site not in (None, "same-origin", "none") or (origin is not None and origin not in own):
        raise Forbidden("this was sent by another site's page; go to discreet itself and try again")


def give_cookie(response: Response, secret: str, settings: Settings) -> None:
    """Set the session's cookie: out of reach of scripts and other sites, over TLS only where there is TLS."""
    longest = int(settings.session_hours * 3600)
    response.set_cookie(COOKIE, secret, max_age=longest, httponly=True, samesite="lax", secure=settings.secure, path="/")


def drop_cookie(response: Response, settings: Settings) -> None:
    """Take the cookie away."""
    response.delete_cookie(COOKIE, httponly=True, samesite="lax", secure=settings.secure, path="/")
