"""Who asks, their tokens, and (for administrators) the users and the audit log."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path, Query

from discreet.web.api.idempotency import Key, once
from discreet.web.api.models import Audit, Entry, Invitation, Me, TokenIn, TokenMade, TokenOut, UserIn, UserOut
from discreet.web.api.routing import Number, router
from discreet.web.auth import accounts, tokens
from discreet.web.auth.accounts import User
from discreet.web.auth.security import Access, Asking, Here
from discreet.web.db import audit
from discreet.web.errors import Forbidden

people = router("people")
Name = Annotated[str, Path(min_length=1, max_length=80, pattern=r"^[^/\\<>\x00-\x1f\x7f]+$")]


@people.get("/me", response_model=Me)
def me(access: Asking) -> Me:
    """Who you are to this server."""
    return Me(name=access.user.name, admin=access.user.admin, scopes=list(access.scopes))


@people.get("/tokens", response_model=list[TokenOut])
def list_tokens(core: Here, access: Asking) -> list[TokenOut]:
    """Your tokens."""
    access.demand("read")
    with core.store.read() as connection:
        return [TokenOut.model_validate(one) for one in tokens.of(connection, access.user)]


@people.post("/tokens", response_model=TokenMade, status_code=201)
def make_token(core: Here, access: Asking, asked: TokenIn) -> dict[str, Any]:
    """Make a token; a token can make others with its own scopes at most."""
    access.demand("write")
    for scope in asked.scopes:
        access.demand(scope)
    with core.store.write() as connection:
        made, secret = tokens.make(connection, access.user, asked.name, list(asked.scopes), asked.days)
    return {**TokenOut.model_validate(made).model_dump(), "secret": secret}


@people.delete("/tokens/{token}", status_code=204)
def revoke_token(core: Here, access: Asking, token: Number) -> None:
    """End a token at once."""
    access.demand("write")
    with core.store.write() as connection:
        tokens.revoke(connection, access.user, token)


@people.get("/users", response_model=list[UserOut])
def list_users(core: Here, access: Asking) -> list[UserOut]:
    """Everybody (administrators)."""
    _administrator(access)
    with core.store.read() as connection:
        return [UserOut.model_validate(one) for one in accounts.all_users(connection)]


@people.post("/users", response_model=Invitation, status_code=201)
def add_user(core: Here, access: Asking, asked: UserIn) -> Invitation:
    """Add a user; the answer holds the link that sets their password (administrators)."""
    _administrator(access)
    with core.store.write() as connection:
        user, secret = accounts.add(connection, asked.name, admin=asked.admin, by=access.user.name)
    return _invitation(user, core.link(secret))


@people.post("/users/{name}/disable", response_model=UserOut)
def disable_user(core: Here, access: Asking, name: Name, key: Key = None) -> dict[str, Any]:
    """Lock somebody out at once (administrators)."""
    _administrator(access)
    return once(
        core, access, key, ["disable", name],
        lambda connection: UserOut.model_validate(accounts.disable(connection, name, by=access.user.name)),
    )  # fmt: skip


@people.post("/users/{name}/enable", response_model=UserOut)
def enable_user(core: Here, access: Asking, name: Name, key: Key = None) -> dict[str, Any]:
    """Let somebody in again (administrators)."""
    _administrator(access)
    return once(
        core, access, key, ["enable", name],
        lambda connection: UserOut.model_validate(accounts.disable(connection, name, by=access.user.name, disabled=False)),
    )  # fmt: skip


@people.post("/users/{name}/reset", response_model=Invitation)
def reset_user(core: Here, access: Asking, name: Name) -> Invitation:
    """End somebody's password and sessions; the answer holds a new link (administrators)."""
    _administrator(access)
    with core.store.write() as connection:
        user, secret = accounts.reset(connection, name, by=access.user.name)
    return _invitation(user, core.link(secret))


@people.get("/audit", response_model=Audit)
def whole_audit(
    core: Here,
    access: Asking,
    limit: Annotated[int, Query(ge=1, le=1000)] = 200,
    before: Annotated[int | None, Query(ge=1, le=2**31 - 1)] = None,
) -> Audit:
    """Who did what on this server, newest first, and whether the log is as it was written (administrators)."""
    _administrator(access)
    with core.store.read() as connection:
        fault = audit.check(connection)
        found = [Entry.model_validate(one) for one in audit.entries(connection, limit=limit, before=before)]
    return Audit(whole=fault is None, fault=fault, entries=found)


def _administrator(access: Access) -> None:
    if not access.user.admin:
        raise Forbidden("only an administrator may do this")
    access.demand("admin")


def _invitation(user: User, link: str) -> Invitation:
    return Invitation(user=UserOut.model_validate(user), link=link)
