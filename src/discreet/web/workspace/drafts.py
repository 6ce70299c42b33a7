"""Named drafts: a plan with its limits, risk parameters and guesses, saved in the project to be opened or compared later.

A draft holds what the workspace changes, not the attributes with their roles and hierarchies: opened later, it meets the
attributes as they are then, and two drafts that are compared differ in what was decided, not in what the table is. Every change
of a draft names the version that it was based on; a version that somebody else has replaced is a conflict, so that nobody
overwrites another's work.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from discreet.web.auth.accounts import User
from discreet.web.db import audit
from discreet.web.db.store import now
from discreet.web.db.tables import drafts, users
from discreet.web.errors import Conflict, InvalidRequest, NotFound
from discreet.web.projects import policies, projects
from discreet.web.projects.projects import Project

SECTIONS = ("plan", "limits", "presets", "risk", "loss")
"""The sections of a policy that a draft holds, besides the probabilities of being known."""
MAX_DRAFTS = 500
"""Drafts that a project may have."""
MAX_NAME = 120


@dataclass(frozen=True)
class Draft:
    """A named draft of a project."""

    id: int
    name: str
    version: int
    content: dict[str, Any]
    """``sections``, those of :data:`SECTIONS` that the policy had, and ``known``, the probabilities by attribute."""
    created: float
    updated: float
    user: str
    """Who changed it last."""


def list_drafts(connection: Connection, project: Project, page: int = 1, size: int = 50) -> tuple[list[Draft], int]:
    """A page of the drafts, last changed first, and how many there are."""
    total = int(connection.execute(select(func.count()).where(drafts.c.project_id == project.id)).scalar_one())
    last = max(math.ceil(total / size), 1)
    query = _select(project).order_by(drafts.c.updated.desc(), drafts.c.id.desc())
    rows = connection.execute(query.limit(size).offset((min(page, last) - 1) * size)).all()
    return [_from_row(row) for row in rows], total


def get(connection: Connection, project: Project, draft_id: int) -> Draft:
    """One draft."""
    row = connection.execute(_select(project).where(drafts.c.id == min(draft_id, 2**31 - 1))).one_or_none()
    if row is None:
        raise NotFound(f"the project '{project.name}' has no draft {draft_id}; it may have been deleted")
    return _from_row(row)


def save(connection: Connection, user: User, project: Project, name: str, document: Mapping[str, Any]) -> Draft:
    """Save the draft of a policy document under a new name."""
    project.require_role("editor")
    name = _check_name(name)
    _, total = list_drafts(connection, project, size=1)
    if total >= MAX_DRAFTS:
        raise Conflict(f"the project has {MAX_DRAFTS} drafts, the most it may have; delete one first")
    at = now()
    row = {
        "project_id": project.id, "name": name, "version": 1, "content": extract(document), "created": at, "updated": at,
        "user_id": user.id,
    }  # fmt: skip
    try:
        with connection.begin_nested():
            key = connection.execute(insert(drafts).values(**row)).inserted_primary_key
    except IntegrityError:
        raise _name_taken(name) from None
    assert key is not None
    _record(connection, user, project, "draft saved", key[0], name=name)
    return get(connection, project, key[0])


def rename(connection: Connection, user: User, project: Project, draft_id: int, version: int, name: str) -> Draft:
    """Give a draft another name."""
    name = _check_name(name)
    before = get(connection, project, draft_id)
    try:
        with connection.begin_nested():
            _change(connection, user, project, before, version, name=name)
    except IntegrityError:
        raise _name_taken(name) from None
    _record(connection, user, project, "draft renamed", draft_id, name=name, before=before.name)
    return get(connection, project, draft_id)


def replace(
    connection: Connection, user: User, project: Project, draft_id: int, version: int, document: Mapping[str, Any]
) -> Draft:
    """Save another policy document under the name of a draft."""
    before = get(connection, project, draft_id)
    _change(connection, user, project, before, version, content=extract(document))
    _record(connection, user, project, "draft replaced", draft_id, name=before.name)
    return get(connection, project, draft_id)


def remove(connection: Connection, user: User, project: Project, draft_id: int, version: int) -> None:
    """Delete a draft."""
    project.require_role("editor")
    draft = get(connection, project, draft_id)
    condition = (drafts.c.id == draft.id, drafts.c.project_id == project.id, drafts.c.version == version)
    if connection.execute(delete(drafts).where(*condition)).rowcount != 1:
        raise _describe_conflict(draft)
    _record(connection, user, project, "draft deleted", draft.id, name=draft.name)


def open_draft(connection: Connection, user: User, project: Project, draft_id: int, base: int) -> int:
    """Make a draft the current plan, limits and guesses, as a new revision, which can be undone; returns its number.

    ``base`` is the revision that the user saw: a section that somebody else changed since then is a conflict.
    """
    draft = get(connection, project, draft_id)
    current = policies.policy_document(connection, project)
    opened = apply(current, draft.content)
    paths = [section for section in SECTIONS if section in current or section in opened]
    paths += [f"attributes.{name}" for name, value in (opened.get("attributes") or {}).items()
              if value != current["attributes"][name]]  # fmt: skip
    sections = {path: policies.get_section(opened, path) for path in paths}
    return policies.edit(connection, user, project, base, sections, f"the draft '{draft.name}' was opened")


def extract(document: Mapping[str, Any]) -> dict[str, Any]:
    """What a draft holds of a policy document."""
    attributes = document.get("attributes") or {}
    return {
        "sections": {name: document[name] for name in SECTIONS if document.get(name)},
        "known": {name: value["known"] for name, value in attributes.items() if "known" in (value or {})},
    }


def apply(document: Mapping[str, Any], content: Mapping[str, Any]) -> dict[str, Any]:
    """A policy document with what a draft holds; attributes that the document does not have are left out.

    >>> policy = {"attributes": {"age": {"role": "key", "known": 0.2}}, "plan": {"release": 1}}
    >>> draft = {"sections": {"limits": {"k_anonymity.k": 5}}, "known": {"age": 0.7, "gone": 0.1}}
    >>> apply(policy, draft)
    {'attributes': {'age': {'role': 'key', 'known': 0.7}}, 'limits': {'k_anonymity.k': 5}}
    """
    others = {name: value for name, value in document.items() if name not in SECTIONS}
    known = content["known"]
    attributes = {
        name: {field: part for field, part in (value or {}).items() if field != "known"}
        | ({"known": known[name]} if name in known else {})
        for name, value in (document.get("attributes") or {}).items()
    }
    return others | ({"attributes": attributes} if attributes else {}) | dict(content["sections"])


def _change(connection: Connection, user: User, project: Project, draft: Draft, version: int, **values: Any) -> None:
    project.require_role("editor")
    condition = (drafts.c.id == draft.id, drafts.c.project_id == project.id, drafts.c.version == version)
    changes = {"version": version + 1, "updated": now(), "user_id": user.id, **values}
    if connection.execute(update(drafts).where(*condition).values(**changes)).rowcount != 1:
        raise _describe_conflict(draft)


def _describe_conflict(draft: Draft) -> Conflict:
    return Conflict(
        f"{draft.user} changed the draft '{draft.name}' since you opened it; nothing was saved: reload it first",
        draft=draft.id, by=draft.user, at=draft.updated, version=draft.version,
    )  # fmt: skip


def _name_taken(name: str) -> Conflict:
    return Conflict(f"the project has a draft '{name}' already; choose another name, or replace that draft", field="name")


def _check_name(name: str) -> str:
    name = name.strip()
    if not name or len(name) > MAX_NAME or not name.isprintable():
        raise InvalidRequest(f"a draft needs a name of 1 to {MAX_NAME} printable characters")
    return name


def _record(connection: Connection, user: User, project: Project, action: str, draft_id: int, **detail: Any) -> None:
    projects.mark_updated(connection, project.id)
    audit.record(connection, user.name, action, project.id, draft=draft_id, **detail)


def _select(project: Project) -> Any:
    query = select(drafts, users.c.name.label("user")).join(users, users.c.id == drafts.c.user_id)
    return query.where(drafts.c.project_id == project.id)


def _from_row(row: Row[Any]) -> Draft:
    return Draft(**{name: row._mapping[name] for name in Draft.__dataclass_fields__})
