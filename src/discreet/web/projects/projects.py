"""Projects and their members."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import Connection, Row, bindparam, case, delete, func, insert, select, true, update
from sqlalchemy.exc import IntegrityError

from discreet.web.auth.accounts import User, get_by_name
from discreet.web.db import audit
from discreet.web.db.store import now
from discreet.web.db.tables import members, projects, releases, revisions, users
from discreet.web.errors import Conflict, Forbidden, InvalidRequest, NotFound
from discreet.web.projects import roles
from discreet.web.projects.membership import memberships
from discreet.web.projects.release_states import OPEN_TO_READERS, PUBLIC

TABLE_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,49}")
RESERVED_TABLES = ("discreet", "sqlite", "pg_")
"""How table names do not begin, because the server or the database uses such names."""


@dataclass(frozen=True)
class Project:
    """A project, with the role of one user."""

    id: int
    name: str
    table_name: str
    owner: str
    role: str
    """The user's role, one of :data:`discreet.web.projects.roles.ROLES`."""
    created: float
    updated: float
    revision: int
    dataset_id: int | None
    limits: dict[str, float] | None = None
    """The limits that the owner has set for approval; every release is judged on them, whatever the policy says."""
    retention_days: int | None = None
    grants: list[str] | None = None
    """The accounts of the database that may read the published table."""

    def require_role(self, role: str) -> None:
        """Raise if the user's role does not include the rights of a role."""
        if not self.allows(role):
            needed = "a role other than release reader" if role == "member" else f"the role {roles.label(role)}"
            raise Forbidden(f"this requires {needed} in the project '{self.name}'; your role is {roles.label(self.role)}")

    def allows(self, role: str) -> bool:
        """Whether the user's role includes the rights of a role."""
        return roles.includes(self.role, role)


def create(connection: Connection, user: User, name: str, table_name: str | None = None) -> Project:
    """Create a project; if a name is taken, the error suggests a free one.

    Project names are unique among the projects that a user owns, so a name tells nothing about projects of others. A derived
    table name ends with random characters for the same reason. A table name that the user chooses may be unavailable because it
    is reserved or in use: the answer is the same.
    """
    name = name.strip()
    if not name or len(name) > 120 or not name.isprintable():
        raise InvalidRequest("a project needs a name of 1 to 120 printable characters")
    masked_table = (table_name or "").strip() or suggest_table(connection, name)
    if not TABLE_NAME.fullmatch(masked_table):
        raise InvalidRequest(
            f"'{masked_table[:60]}' is not a valid name for a masked table: use a letter, then up to 49 letters, digits or _; "
            f"for example '{suggest_table(connection, name)}'"
        )
    if _is_name_taken(connection, user, name):
        free = suggest_name(connection, user, name)
        raise Conflict(f"you have a project '{name}' already; '{free}' is free", suggestion=free, field="name")
    if masked_table.lower().startswith(RESERVED_TABLES) or _is_table_taken(connection, masked_table):
        free = suggest_table(connection, masked_table)
        raise Conflict(f"the table name '{masked_table}' is not available; '{free}' is free", suggestion=free, field="table_name")
    created = now()
    row = {"name": name, "table_name": masked_table, "owner_id": user.id, "created": created, "updated": created, "revision": 0}
    try:
        with connection.begin_nested():
            inserted = connection.execute(insert(projects).values(**row))
    except IntegrityError:
        raise Conflict(f"'{name}' or '{masked_table}' has just been taken; choose another name") from None
    assert inserted.inserted_primary_key is not None
    project_id = inserted.inserted_primary_key[0]
    connection.execute(insert(members).values(project_id=project_id, user_id=user.id, role="owner"))
    first = {
        "project_id": project_id,
        "revision": 0,
        "user_id": user.id,
        "at": created,
        "what": "the project was created",
        "policy": {},
    }
    connection.execute(insert(revisions).values(**first))
    audit.record(connection, user.name, "project made", project_id, name=name, table=masked_table)
    return get(connection, user, project_id)


def suggest_name(connection: Connection, user: User, name: str) -> str:
    """A project name similar to this one that the user has not taken."""
    stem = re.sub(r" \d+$", "", name)[:110]
    return next(
        candidate
        for n in range(1, 10_000)
        if not _is_name_taken(connection, user, candidate := stem if n == 1 else f"{stem} {n}")
    )


def suggest_table(connection: Connection, name: str) -> str:
    """A free table name derived from a project's name, with random characters that make it independent of other projects."""
    stem = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_").lower()
    stem = re.sub(r"_masked(_[a-z0-9]+)*$", "", stem)[:36]
    if not stem or not stem[0].isalpha() or stem.startswith(RESERVED_TABLES):
        stem = f"table_{stem}".rstrip("_")
    while _is_table_taken(connection, candidate := f"{stem}_masked_{secrets.token_hex(2)}"):
        pass
    return candidate


def list_projects(connection: Connection, user: User) -> list[dict[str, Any]]:
    """The projects that a user may see, most recently changed first, each with the verdict of its latest release."""
    return [
        {
            "project": _project_from_row(row),
            "release": None if row.number is None else row.number,
            "ok": row.ok,
            "status": None if row.number is None else row.status or ("not met" if row.ok is False else "incomplete"),
            "released": row.released,
            "state": row.state,
        }
        for row in connection.execute(_visible_projects_query(), {"seen_by": user.id}).all()
    ]


def get(connection: Connection, user: User, project_id: int, role: str = "member") -> Project:
    """A project in which the user has the rights of a role; for users without any role the project does not exist.

    By default a release reader is refused: what release readers may see has to ask for the role ``release_reader``.
    """
    is_valid = 0 < project_id < 2**31  # larger numbers do not fit the column
    parameters = {"seen_by": user.id, "project": project_id}
    row = connection.execute(_visible_project_query(), parameters).one_or_none() if is_valid else None
    if row is None:
        raise NotFound(f"project {project_id} does not exist or is not visible to you")
    project = _project_from_row(row)
    project.require_role(role)
    return project


def list_members(connection: Connection, project: Project) -> list[dict[str, str]]:
    """The people who were made members of a project one by one, and their roles; those by group come in addition."""
    query = (
        select(users.c.name, members.c.role)
        .join(users, users.c.id == members.c.user_id)
        .where(members.c.project_id == project.id)
    )
    return [{"name": row.name, "role": row.role} for row in connection.execute(query.order_by(users.c.name)).all()]


def set_role(connection: Connection, user: User, project: Project, name: str, role: str | None) -> None:
    """Assign a role in a project to a user, or remove the user (None)."""
    project.require_role("owner")
    member = get_by_name(connection, name)
    if role is not None and role not in roles.ROLES:
        raise InvalidRequest(f"the role must be one of {', '.join(roles.ROLES)}; got '{role[:40]}'")
    owners = [person["name"] for person in list_members(connection, project) if person["role"] == "owner"]
    if role != "owner" and owners == [member.name]:
        raise Conflict(f"'{member.name}' is the only owner of '{project.name}'; make somebody else an owner first")
    connection.execute(delete(members).where(members.c.project_id == project.id, members.c.user_id == member.id))
    if role is not None:
        connection.execute(insert(members).values(project_id=project.id, user_id=member.id, role=role))
    audit.record(connection, user.name, "project shared", project.id, user=member.name, role=role or "none")


def mark_updated(connection: Connection, project: int, **values: Any) -> None:
    """Set a project's time of change (and other columns) to now."""
    connection.execute(update(projects).where(projects.c.id == project).values(updated=now(), **values))


def delete_project_rows(connection: Connection, user: User, project: Project) -> None:
    """Delete a project without public releases from the database; its files are deleted after the transaction."""
    project.require_role("owner")
    public = select(releases.c.number, releases.c.state).where(releases.c.project_id == project.id, releases.c.state.in_(PUBLIC))
    if (release := connection.execute(public.order_by(releases.c.number.desc())).first()) is not None:
        raise Conflict(
            f"release {release.number} of '{project.name}' is {release.state}, so the project cannot be deleted; withdraw the "
            "release first, or purge the project, which deletes originals and drafts and keeps the release with its report"
        )
    connection.execute(delete(projects).where(projects.c.id == project.id))
    audit.record(connection, user.name, "project deleted", project.id, name=project.name)


@cache
def _visible_project_query() -> Any:
    """One project with the user's role, by the parameters ``project`` and ``seen_by``.

    Nearly every request begins with it, and building the query takes longer than running it.
    """
    return _select_visible_to(memberships(bindparam("seen_by"))).where(projects.c.id == bindparam("project"))


@cache
def _visible_projects_query() -> Any:
    """All projects with the user's role and their latest release that the user may see, by the parameter ``seen_by``."""
    last, last_open = (
        select(releases.c.project_id, func.max(releases.c.number).label("number"))
        .where(condition)
        .group_by(releases.c.project_id)
        .subquery(name)
        for name, condition in (("last", true()), ("last_open", releases.c.state.in_(OPEN_TO_READERS)))
    )
    members = memberships(bindparam("seen_by"))
    shown_number = case((members.c.role == "release_reader", last_open.c.number), else_=last.c.number)
    return (
        _select_visible_to(members)
        .add_columns(
            releases.c.number,
            releases.c.ok,
            releases.c.assessment["verdict"]["status"].as_string().label("status"),
            releases.c.created.label("released"),
            releases.c.state,
        )
        .outerjoin(last, last.c.project_id == projects.c.id)
        .outerjoin(last_open, last_open.c.project_id == projects.c.id)
        .outerjoin(releases, (releases.c.project_id == projects.c.id) & (releases.c.number == shown_number))
        .order_by(projects.c.updated.desc())
    )


def _select_visible_to(members: Any) -> Any:
    return (
        select(projects, members.c.role, users.c.name.label("owner"))
        .join(members, members.c.project_id == projects.c.id)
        .join(users, users.c.id == projects.c.owner_id)
    )


def _project_from_row(row: Row[Any]) -> Project:
    return Project(**{name: getattr(row, name) for name in Project.__dataclass_fields__})


def _is_name_taken(connection: Connection, user: User, name: str) -> bool:
    """Whether the user has created a project of this name."""
    own = (projects.c.owner_id == user.id, func.lower(projects.c.name) == name.lower())
    return connection.execute(select(func.count()).where(*own)).scalar_one() > 0


def _is_taken(connection: Connection, column: Any, name: str) -> bool:
    return connection.execute(select(func.count()).where(func.lower(column) == name.lower())).scalar_one() > 0


def _is_table_taken(connection: Connection, name: str) -> bool:
    """Whether a table name is used by a project or by a release."""
    return _is_taken(connection, projects.c.table_name, name) or _is_taken(connection, releases.c.table_name, name)
