"""The current user, their API tokens, and for administrators the users and the audit log."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path, Query, Response
from starlette.responses import StreamingResponse

from discreet.web.api.idempotency import IdempotencyKey, run_once
from discreet.web.api.models import (
    Audit,
    Entry,
    Grant,
    Invitation,
    Me,
    QuotaIn,
    QuotaOut,
    TokenIn,
    TokenMade,
    TokenOut,
    UserIn,
    UserOut,
)
from discreet.web.api.routing import PAGED, Number, PageOf, create_router
from discreet.web.auth import accounts, tokens
from discreet.web.auth.accounts import User
from discreet.web.auth.security import Access, Caller, ServerCore
from discreet.web.db import audit
from discreet.web.errors import Forbidden
from discreet.web.projects import quotas, sources

people_router = create_router("people")
UserName = Annotated[str, Path(min_length=1, max_length=80, pattern=r"^[^/\\<>\x00-\x1f\x7f]+$")]


@people_router.get("/me", response_model=Me)
def me(access: Caller) -> Me:
    """The current user and their scopes."""
    return Me(name=access.user.name, admin=access.user.admin, scopes=list(access.scopes))


@people_router.get("/tokens", response_model=list[TokenOut], responses=PAGED)
def list_tokens(core: ServerCore, access: Caller, paging: PageOf, response: Response) -> list[TokenOut]:
    """Your tokens."""
    access.require_scope("read")
    with core.store.read() as connection:
        listed = tokens.list_tokens(connection, access.user)[paging.offset : paging.stop]
    return [TokenOut.model_validate(token) for token in paging.send(response, listed)]


@people_router.post("/tokens", response_model=TokenMade, status_code=201)
def make_token(core: ServerCore, access: Caller, body: TokenIn) -> dict[str, Any]:
    """Create a token; a request authenticated by a token can only grant scopes that it has itself."""
    access.require_scope("write")
    for scope in body.scopes:
        access.require_scope(scope)
    with core.store.write() as connection:
        token, secret = tokens.create(connection, access.user, body.name, list(body.scopes), body.days, access.token)
    return {**TokenOut.model_validate(token).model_dump(), "secret": secret}


@people_router.delete("/tokens/{token}", status_code=204)
def revoke_token(core: ServerCore, access: Caller, token: Number) -> None:
    """Revoke a token immediately."""
    access.require_scope("write")
    with core.store.write() as connection:
        tokens.revoke(connection, access.user, token)


@people_router.get("/users", response_model=list[UserOut], responses=PAGED)
def list_users(core: ServerCore, access: Caller, paging: PageOf, response: Response) -> list[UserOut]:
    """All users (administrators only)."""
    require_admin(access)
    with core.store.read() as connection:
        listed = accounts.list_users(connection)[paging.offset : paging.stop]
    return [UserOut.model_validate(user) for user in paging.send(response, listed)]


@people_router.post("/users", response_model=Invitation, status_code=201)
def add_user(core: ServerCore, access: Caller, body: UserIn) -> Invitation:
    """Add a user; the response contains the link that sets the password (administrators only)."""
    require_admin(access)
    with core.store.write() as connection:
        user, secret = accounts.add(connection, body.name, admin=body.admin, by=access.user.name)
    return _create_invitation(user, core.welcome_url(secret))


@people_router.post("/users/{name}/disable", response_model=UserOut)
def disable_user(core: ServerCore, access: Caller, name: UserName, key: IdempotencyKey = None) -> dict[str, Any]:
    """Disable a user immediately (administrators only)."""
    require_admin(access)
    return run_once(
        core, access, key, ["disable", name],
        lambda connection: UserOut.model_validate(accounts.disable(connection, name, by=access.user.name)),
    )  # fmt: skip


@people_router.post("/users/{name}/enable", response_model=UserOut)
def enable_user(core: ServerCore, access: Caller, name: UserName, key: IdempotencyKey = None) -> dict[str, Any]:
    """Enable a disabled user (administrators only)."""
    require_admin(access)
    return run_once(
        core, access, key, ["enable", name],
        lambda connection: UserOut.model_validate(accounts.disable(connection, name, by=access.user.name, disabled=False)),
    )  # fmt: skip


@people_router.post("/users/{name}/reset", response_model=Invitation)
def reset_user(core: ServerCore, access: Caller, name: UserName) -> Invitation:
    """Delete a user's password and sessions; the response contains a new link (administrators only)."""
    require_admin(access)
    with core.store.write() as connection:
        user, secret = accounts.reset_password(connection, name, by=access.user.name)
    return _create_invitation(user, core.welcome_url(secret))


@people_router.get("/audit", response_model=Audit)
def whole_audit(
    core: ServerCore,
    access: Caller,
    limit: Annotated[int, Query(ge=1, le=1000)] = 200,
    before: Annotated[int | None, Query(ge=1, le=2**31 - 1)] = None,
) -> Audit:
    """The audit log of this server, newest entry first, and whether its hash chain is intact (administrators only)."""
    require_admin(access)
    with core.store.read() as connection:
        fault = audit.verify_chain(connection)
        head = audit.read_head(connection)
        entries = [Entry.model_validate(entry) for entry in audit.list_entries(connection, limit=limit, before=before)]
    return Audit(whole=fault is None, fault=fault, head=str(head), entries=entries)


@people_router.get(
    "/audit/export",
    response_class=StreamingResponse,
    responses={200: {"content": {"application/x-ndjson": {"schema": {"type": "string"}}}, "description": "Lines of JSON."}},
)
def export_audit(core: ServerCore, access: Caller) -> StreamingResponse:
    """The whole audit log as lines of JSON, oldest entry first (administrators only)."""
    require_admin(access)
    return StreamingResponse(audit.stream_export(core.store), media_type="application/x-ndjson")


@people_router.put("/users/{name}/quota", response_model=QuotaOut)
def set_user_quota(core: ServerCore, access: Caller, name: UserName, body: QuotaIn) -> QuotaOut:
    """Set what a user may use; null is the server's default (administrators only)."""
    require_admin(access)
    with core.store.write() as connection:
        user = accounts.get_by_name(connection, name)
        quotas.set_quota(connection, access.user, "user", user.id, size=body.bytes, jobs=body.jobs, hours=body.hours)
        return QuotaOut.model_validate(quotas.get_quota(connection, core.settings, "user", user.id))


@people_router.get("/grants", response_model=list[Grant])
def list_grants(core: ServerCore, access: Caller) -> list[Grant]:
    """Who may import which tables of connected databases (administrators only)."""
    require_admin(access)
    with core.store.read() as connection:
        return [Grant.model_validate(granted) for granted in sources.list_grants(connection)]


@people_router.post("/grants", response_model=list[Grant], status_code=201)
def add_grant(core: ServerCore, access: Caller, body: Grant) -> list[Grant]:
    """Let a user import a table of a connected database, or all of them (administrators only)."""
    require_admin(access)
    with core.store.write() as connection:
        sources.grant(connection, core.settings, access.user, body.user, body.source, body.table)
        return [Grant.model_validate(granted) for granted in sources.list_grants(connection)]


def require_admin(access: Access) -> None:
    """Raise unless the request comes from an administrator and has the scope admin."""
    if not access.user.admin:
        raise Forbidden("only administrators may do this")
    access.require_scope("admin")


def _create_invitation(user: User, link: str) -> Invitation:
    return Invitation(user=UserOut.model_validate(user), link=link)
