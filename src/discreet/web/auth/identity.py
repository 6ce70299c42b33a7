"""Who sends a request, determined once, from its head alone, before any of its body is read."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import Request

from discreet.web.auth import sessions, tokens
from discreet.web.auth.accounts import User
from discreet.web.auth.sessions import Session
from discreet.web.auth.tokens import Token
from discreet.web.core import Core
from discreet.web.errors import Forbidden, Unauthenticated, WebError

SESSION_COOKIE = "discreet_session"
CSRF_HEADER = "x-csrf-token"
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")


@dataclass(frozen=True)
class Access:
    """The authenticated user of a request, the scopes it has, and the session or token that it came with."""

    user: User
    scopes: tuple[str, ...]
    session: Session | None = None
    token: Token | None = None

    def require_scope(self, scope: str) -> None:
        """Raise if the request does not have a scope."""
        if scope not in self.scopes:
            raise Forbidden(f"this token has the scopes {', '.join(self.scopes) or 'none'}; this needs {scope}")

    @property
    def credential(self) -> str:
        """The stored hash of the session's cookie or of the token, by which a stream checks that it still exists."""
        return self.session.hash if self.session is not None else self.token.hash if self.token is not None else ""


@dataclass(frozen=True)
class Identity:
    """The outcome of the authentication of one request: who it is, or why nobody."""

    access: Access | None = None
    refusal: WebError | None = None

    def require(self) -> Access:
        """The access; raises if nobody is logged in."""
        if self.access is None:
            raise self.refusal or Unauthenticated("log in first")
        return self.access


def routed_path(request: Request) -> str:
    """The path by which the request is routed. That of ``request.url`` also depends on the header Host, which anybody writes."""
    return str(request.scope["path"])


def identify(request: Request, core: Core) -> Identity:
    """Authenticate a request: by token under /api/, otherwise by session; with a CSRF header where a script changes something."""
    is_api = routed_path(request).startswith("/api/")
    header = request.headers.get("authorization", "")
    try:
        if is_api and header:
            return Identity(_access_by_token(core, header))
        session = sessions.find(core.store, request.cookies.get(SESSION_COOKIE), core.settings)
        if session is None:
            return Identity()
        if is_api and request.method not in SAFE_METHODS:
            session.check_csrf(request.headers.get(CSRF_HEADER))
    except WebError as error:
        return Identity(refusal=error)
    scopes = tuple(scope for scope in tokens.SCOPES if scope != "admin" or session.user.admin)
    return Identity(Access(session.user, scopes, session))


def _access_by_token(core: Core, header: str) -> Access:
    scheme, _, secret = header.partition(" ")
    if scheme.lower() != "bearer" or not secret.strip():
        raise Unauthenticated("the Authorization header must be 'Bearer TOKEN'")
    user, token = tokens.find(core.store, secret.strip(), None if core.settings.oidc is None else core.settings.oidc.token_days)
    return Access(user, token.scopes, token=token)
