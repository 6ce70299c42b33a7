"""A project's policy, which several users can edit at the same time without losing each other's changes.

Every edit creates a new revision, so earlier revisions can always be restored. An edit states the revision it is based on and
the sections it sets (``attributes.age``, ``plan``, ``limits``, …). A section that somebody else changed since then is a conflict,
reported with both versions; edits of different sections are merged.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, insert, select

from discreet import registry
from discreet.model.policy import Policy
from discreet.web.auth.accounts import User
from discreet.web.db import audit
from discreet.web.db.store import now
from discreet.web.db.tables import projects as project_table
from discreet.web.db.tables import revisions, users
from discreet.web.errors import Conflict, InvalidRequest, NotFound
from discreet.web.projects import policy_sandbox, projects
from discreet.web.projects.projects import Project

READING_SECONDS = 5.0
"""Seconds that the text of a policy may take to read."""
SECTIONS = ("attributes", *(name for name in Policy.model_fields if name not in ("attributes", "engine")))
"""The sections of a policy that a project has: all, except the engine, because jobs of the server run on its own."""


def current_policy(connection: Connection, project: Project) -> Policy:
    """The current policy."""
    return parse_document(policy_document(connection, project), project)


def policy_document(connection: Connection, project: Project, revision: int | None = None) -> dict[str, Any]:
    """The policy of a revision (default: the latest) as JSON values."""
    number = project.revision if revision is None else revision
    content = connection.execute(
        select(revisions.c.policy).where(revisions.c.project_id == project.id, revisions.c.revision == number)
    ).scalar()
    if content is None:
        raise NotFound(f"the project '{project.name}' has no revision {number}; the latest is {project.revision}")
    return dict(content)


def edit(connection: Connection, user: User, project: Project, base: int, sections: Mapping[str, Any], what: str = "") -> int:
    """Set sections (None removes one); returns the number of the new revision. Nothing is saved if the policy is invalid.

    The section ``attributes`` sets each attribute that it names and leaves the others, so that a whole policy, such as the
    result of a search, can be sent as it is.
    """
    project.require_role("editor")
    sections = _split_attributes(sections)
    locked = select(project_table.c.revision).where(project_table.c.id == project.id).with_for_update()
    newest = connection.execute(locked).scalar_one()
    if not 0 <= base <= newest:
        raise InvalidRequest(f"revision {base} does not exist; the latest is {newest}")
    base_document = _document_at(connection, project, base)
    newest_document = _document_at(connection, project, newest)
    for path, section in sections.items():
        before, theirs = get_section(base_document, path), get_section(newest_document, path)
        if theirs not in (before, section):
            raise _describe_conflict(connection, project, base, path, theirs, section)
    document, limits_before = newest_document, newest_document.get("limits")
    for path, section in sections.items():
        document = with_section(document, path, section)
    policy = parse_document(document, project)
    if "preset" in (document.get("limits") or {}):  # approval compares numbers, so a preset is saved as its limits
        document = {**document, "limits": dict(policy.limits), "presets": list(policy.presets)}
    policy_sandbox.check_confined(policy.model_dump(mode="json", exclude_defaults=True))
    registry.check_policy(policy)
    if document == newest_document:
        return int(newest)
    description = (what or f"{', '.join(sections)} changed")[:400]
    row = {
        "project_id": project.id,
        "revision": newest + 1,
        "user_id": user.id,
        "at": now(),
        "what": description,
        "policy": document,
    }
    connection.execute(insert(revisions).values(**row))
    changes: dict[str, Any] = {"revision": newest + 1}
    if project.role == "owner" and document.get("limits") != limits_before:  # limits that an owner sets are those for approval
        changes["limits"] = document.get("limits")
    projects.mark_updated(connection, project.id, **changes)
    audit.record(connection, user.name, "policy changed", project.id, revision=newest + 1, sections=sorted(sections))
    return int(newest) + 1


def replace(connection: Connection, user: User, project: Project, base: int, policy: Policy, what: str) -> int:
    """Replace the whole policy."""
    document = policy.model_dump(mode="json", exclude_defaults=True)
    old = policy_document(connection, project, base)
    paths = [f"attributes.{name}" for name in {**old.get("attributes", {}), **document.get("attributes", {})}]
    paths += [section for section in SECTIONS if section != "attributes" and (section in old or section in document)]
    return edit(connection, user, project, base, {path: get_section(document, path) for path in paths}, what)


def restore(connection: Connection, user: User, project: Project, revision: int) -> int:
    """Restore an earlier revision as a new revision."""
    old = parse_document(policy_document(connection, project, revision), project)
    return replace(connection, user, project, project.revision, old, f"restored revision {revision}")


def history(connection: Connection, project: Project, limit: int = 100, offset: int = 0) -> list[dict[str, Any]]:
    """The revisions with author, time and description, newest first."""
    query = (
        select(revisions.c.revision, revisions.c.at, revisions.c.what, users.c.name)
        .outerjoin(users, users.c.id == revisions.c.user_id)
        .where(revisions.c.project_id == project.id)
        .order_by(revisions.c.revision.desc())
        .limit(limit)
        .offset(offset)
    )
    return [dict(row) for row in connection.execute(query).mappings()]


def parse_document(content: Mapping[str, Any], project: Project) -> Policy:
    """Parse a document as a policy; files that it names are not opened on the server."""
    return Policy.from_dict(dict(content), origin=f"the policy of '{project.name}'", confined=True)


def get_section(content: Mapping[str, Any], path: str) -> Any:
    """The value of ``attributes.NAME`` or of a section; None if it is not set."""
    section, name = _split_path(path)
    value = content.get(section)
    return value if name is None else (value or {}).get(name)


def with_section(content: Mapping[str, Any], path: str, value: Any) -> dict[str, Any]:
    """A copy of the document with another value at a path, or without it if the value is None."""
    section, name = _split_path(path)
    document = dict(content)
    if name is not None:
        inner = dict(document.get(section) or {})
        inner.pop(name, None) if value is None else inner.__setitem__(name, value)
        value = inner or None
    if value is None:
        document.pop(section, None)
    else:
        document[section] = value
    return document


def _split_attributes(sections: Mapping[str, Any]) -> dict[str, Any]:
    """The sections with ``attributes`` as one section per attribute."""
    whole = sections.get("attributes")
    if "attributes" in sections and not isinstance(whole, Mapping):
        raise InvalidRequest("the section attributes is an object of attributes by name; attributes.NAME: null removes one")
    split = {f"attributes.{name}": attribute for name, attribute in (whole or {}).items()}
    if twice := sorted(split.keys() & sections.keys()):
        raise InvalidRequest(f"{twice[0][:80]} is set twice: by its own section and by the section attributes")
    return {**split, **{path: value for path, value in sections.items() if path != "attributes"}}


def _split_path(path: str) -> tuple[str, str | None]:
    section, dot, name = path.partition(".")
    if section not in SECTIONS or (bool(dot) != (section == "attributes")) or (dot and not name):
        raise InvalidRequest(
            f"'{path[:80]}' is not a section of a policy; sections are attributes.NAME, {', '.join(SECTIONS[1:])}"
        )
    return section, name if dot else None


def _document_at(connection: Connection, project: Project, revision: int) -> dict[str, Any]:
    condition = (revisions.c.project_id == project.id, revisions.c.revision == revision)
    return dict(connection.execute(select(revisions.c.policy).where(*condition)).scalar_one())


def _describe_conflict(connection: Connection, project: Project, base: int, path: str, theirs: Any, yours: Any) -> Conflict:
    query = (
        select(revisions.c.revision, revisions.c.at, revisions.c.policy, users.c.name)
        .outerjoin(users, users.c.id == revisions.c.user_id)
        .where(revisions.c.project_id == project.id, revisions.c.revision >= base)
        .order_by(revisions.c.revision)
    )
    rows = connection.execute(query).all()
    changes = [new for old, new in itertools.pairwise(rows) if get_section(old.policy, path) != get_section(new.policy, path)]
    last = changes[-1]
    return Conflict(
        f"{last.name or 'somebody'} changed {path} since you opened it (revision {last.revision}); your changes were not saved: "
        "compare both versions and save again",
        path=path, by=last.name, at=last.at, theirs=theirs, yours=yours, revision=project.revision,
    )  # fmt: skip
