"""A project's policy, edited by several people at once without losing what any of them did.

Every edit is a new revision, so going back is always possible. An edit says which revision it started from and which sections
it sets (``attributes.age``, ``plan``, ``limits``, …). Sections that somebody else changed since then are a conflict, which is
told with both versions; edits of different sections go together.
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
from discreet.web.errors import Conflict, Invalid, NotFound
from discreet.web.projects import policy_sandbox, projects
from discreet.web.projects.projects import Project

SECTIONS = ("attributes", "missing", "read", "risk", "loss", "limits", "judge", "plan", "select")


def current(connection: Connection, project: Project) -> Policy:
    """The policy as it stands."""
    return parsed(document(connection, project), project)


def document(connection: Connection, project: Project, revision: int | None = None) -> dict[str, Any]:
    """The policy of a revision (the newest where none is named) as plain values."""
    number = project.revision if revision is None else revision
    found = connection.execute(
        select(revisions.c.policy).where(revisions.c.project_id == project.id, revisions.c.revision == number)
    ).scalar()
    if found is None:
        raise NotFound(f"the project '{project.name}' has no revision {number}; its newest is {project.revision}")
    return dict(found)


def edit(connection: Connection, user: User, project: Project, base: int, sections: Mapping[str, Any], what: str = "") -> int:
    """Set sections (None takes one away); the new revision's number. Nothing changes where a rule is broken."""
    project.demand("editor")
    locked = select(project_table.c.revision).where(project_table.c.id == project.id).with_for_update()
    newest = connection.execute(locked).scalar_one()
    if not 0 <= base <= newest:
        raise Invalid(f"there is no revision {base} to start from; the newest is {newest}")
    start = _at(connection, project, base)
    now_there = _at(connection, project, newest)
    for path, wanted in sections.items():
        before, theirs = take(start, path), take(now_there, path)
        if theirs not in (before, wanted):
            raise _conflict(connection, project, base, path, theirs, wanted)
    made = now_there
    for path, wanted in sections.items():
        made = put(made, path, wanted)
    checked = parsed(made, project)
    policy_sandbox.check(checked.model_dump(mode="json", exclude_defaults=True))
    registry.check_policy(checked)
    if made == now_there:
        return int(newest)
    said = (what or f"{', '.join(sections)} changed")[:400]
    row = {"project_id": project.id, "revision": newest + 1, "user_id": user.id, "at": now(), "what": said, "policy": made}
    connection.execute(insert(revisions).values(**row))
    projects.touch(connection, project.id, revision=newest + 1)
    audit.note(connection, user.name, "policy changed", project.id, revision=newest + 1, sections=sorted(sections))
    return int(newest) + 1


def replace(connection: Connection, user: User, project: Project, base: int, policy: Policy, what: str) -> int:
    """Set the whole policy, as from a file."""
    document_of = policy.model_dump(mode="json", exclude_defaults=True)
    old = _at(connection, project, base)
    paths = [f"attributes.{name}" for name in {**old.get("attributes", {}), **document_of.get("attributes", {})}]
    paths += [section for section in SECTIONS if section != "attributes" and (section in old or section in document_of)]
    return edit(connection, user, project, base, {path: take(document_of, path) for path in paths}, what)


def restore(connection: Connection, user: User, project: Project, revision: int) -> int:
    """Go back to an earlier revision, as a new one."""
    old = parsed(document(connection, project, revision), project)
    return replace(connection, user, project, project.revision, old, f"back to revision {revision}")


def history(connection: Connection, project: Project, limit: int = 100) -> list[dict[str, Any]]:
    """Who changed what and when, newest first."""
    query = (
        select(revisions.c.revision, revisions.c.at, revisions.c.what, users.c.name)
        .outerjoin(users, users.c.id == revisions.c.user_id)
        .where(revisions.c.project_id == project.id)
        .order_by(revisions.c.revision.desc())
        .limit(limit)
    )
    return [dict(row) for row in connection.execute(query).mappings()]


def parsed(content: Mapping[str, Any], project: Project) -> Policy:
    """A document as a policy; files that it names are not looked for on the server."""
    return Policy.from_dict(dict(content), origin=f"the policy of '{project.name}'", confined=True)


def take(content: Mapping[str, Any], path: str) -> Any:
    """What stands at ``attributes.NAME`` or at a section; None where nothing does."""
    section, name = _split(path)
    found = content.get(section)
    return found if name is None else (found or {}).get(name)


def put(content: Mapping[str, Any], path: str, value: Any) -> dict[str, Any]:
    """A copy with another value at a path, or (None) without it."""
    section, name = _split(path)
    made = dict(content)
    if name is not None:
        inner = dict(made.get(section) or {})
        inner.pop(name, None) if value is None else inner.__setitem__(name, value)
        value = inner or None
    if value is None:
        made.pop(section, None)
    else:
        made[section] = value
    return made


def _split(path: str) -> tuple[str, str | None]:
    section, dot, name = path.partition(".")
    if section not in SECTIONS or (bool(dot) != (section == "attributes")) or (dot and not name):
        raise Invalid(f"'{path[:80]}' is no section of a policy: attributes.NAME, {', '.join(SECTIONS[1:])}")
    return section, name if dot else None


def _at(connection: Connection, project: Project, revision: int) -> dict[str, Any]:
    where = (revisions.c.project_id == project.id, revisions.c.revision == revision)
    return dict(connection.execute(select(revisions.c.policy).where(*where)).scalar_one())


def _conflict(connection: Connection, project: Project, base: int, path: str, theirs: Any, yours: Any) -> Conflict:
    query = (
        select(revisions.c.revision, revisions.c.at, revisions.c.policy, users.c.name)
        .outerjoin(users, users.c.id == revisions.c.user_id)
        .where(revisions.c.project_id == project.id, revisions.c.revision >= base)
        .order_by(revisions.c.revision)
    )
    rows = connection.execute(query).all()
    changes = [new for old, new in itertools.pairwise(rows) if take(old.policy, path) != take(new.policy, path)]
    last = changes[-1]
    return Conflict(
        f"{last.name or 'somebody'} changed {path} since you opened it (revision {last.revision}); nothing of yours was saved: "
        "look at both and save again",
        path=path, by=last.name, at=last.at, theirs=theirs, yours=yours, revision=project.revision,
    )  # fmt: skip
