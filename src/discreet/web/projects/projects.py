"""Projects: made by an owner, seen by whom they named, as editor or reader."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from discreet.web.auth.accounts import User, named
from discreet.web.db import audit
from discreet.web.db.store import now
from discreet.web.db.tables import members, projects, releases, revisions, users
from discreet.web.errors import Conflict, Forbidden, Invalid, NotFound

RANKS = {"reader": 1, "editor": 2, "owner": 3}
TABLE = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,49}")


@dataclass(frozen=True)
class Project:
    """A project as one person sees it."""

    id: int
    name: str
    table_name: str
    owner: str
    role: str
    """What this person is in it: owner, editor or reader."""
    created: float
    updated: float
    revision: int
    dataset_id: int | None

    def demand(self, role: str) -> None:
        """Raise where this person may not do what needs a role."""
        if RANKS[self.role] < RANKS[role]:
            raise Forbidden(f"this needs the role {role} in the project '{self.name}'; you are {self.role}")


def create(connection: Connection, user: User, name: str, table_name: str | None = None) -> Project:
    """A new project; a name that is taken is refused with a suggestion."""
    name = name.strip()
    if not name or len(name) > 120 or not name.isprintable():
        raise Invalid("a project needs a name of 1 to 120 printable characters")
    wanted = (table_name or "").strip() or suggest_table(connection, name)
    if not TABLE.fullmatch(wanted) or wanted.lower().startswith(("discreet", "sqlite", "pg_")):
        raise Invalid(
            f"'{wanted[:60]}' is no name for a masked table: a letter, then up to 49 letters, digits or _; "
            f"not beginning with discreet, sqlite or pg_; '{suggest_table(connection, name)}' would do"
        )
    if _taken(connection, projects.c.name, name):
        free = suggest_name(connection, name)
        raise Conflict(f"there is a project '{name}' already; '{free}' is free", suggestion=free, field="name")
    if _table_taken(connection, wanted):
        free = suggest_table(connection, wanted)
        raise Conflict(f"a masked table '{wanted}' exists already; '{free}' is free", suggestion=free, field="table_name")
    at = now()
    row = {"name": name, "table_name": wanted, "owner_id": user.id, "created": at, "updated": at, "revision": 0}
    try:
        with connection.begin_nested():
            made = connection.execute(insert(projects).values(**row))
    except IntegrityError:
        raise Conflict(f"somebody has just taken '{name}' or '{wanted}'; choose another name") from None
    assert made.inserted_primary_key is not None
    identity = made.inserted_primary_key[0]
    connection.execute(insert(members).values(project_id=identity, user_id=user.id, role="owner"))
    first = {"project_id": identity, "revision": 0, "user_id": user.id, "at": at, "what": "the project was made", "policy": {}}
    connection.execute(insert(revisions).values(**first))
    audit.note(connection, user.name, "project made", identity, name=name, table=wanted)
    return get(connection, user, identity)


def suggest_name(connection: Connection, name: str) -> str:
    """A free project name near this one."""
    stem = re.sub(r" \d+$", "", name)[:110]
    return next(
        one for n in range(1, 10_000) if not _taken(connection, projects.c.name, one := stem if n == 1 else f"{stem} {n}")
    )


def suggest_table(connection: Connection, name: str) -> str:
    """A free table name made from a project's name."""
    stem = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_").lower()
    stem = re.sub(r"_masked(_\d+)?$", "", stem)[:36]
    if not stem or not stem[0].isalpha() or stem.startswith(("discreet", "sqlite", "pg_")):
        stem = f"table_{stem}".rstrip("_")
    tried = (f"{stem}_masked" if n == 1 else f"{stem}_masked_{n}" for n in range(1, 10_000))
    return next(one for one in tried if not _table_taken(connection, one))


def mine(connection: Connection, user: User) -> list[dict[str, Any]]:
    """The projects a person may see, newest change first, each with the verdict of its last release."""
    last = (
        select(releases.c.project_id, func.max(releases.c.number).label("number"))
        .group_by(releases.c.project_id)
        .subquery("last")
    )
    query = (
        _seen_by(user)
        .add_columns(
            releases.c.number,
            releases.c.ok,
            releases.c.assessment["verdict"]["status"].as_string().label("status"),
            releases.c.created.label("released"),
            releases.c.signed_by,
        )
        .outerjoin(last, last.c.project_id == projects.c.id)
        .outerjoin(releases, (releases.c.project_id == projects.c.id) & (releases.c.number == last.c.number))
        .order_by(projects.c.updated.desc())
    )
    return [
        {
            "project": _project(row),
            "release": None if row.number is None else row.number,
            "ok": row.ok,
            "status": None if row.number is None else row.status or ("not met" if row.ok is False else "incomplete"),
            "released": row.released,
            "signed_by": row.signed_by,
        }
        for row in connection.execute(query).all()
    ]


def get(connection: Connection, user: User, identity: int, role: str = "reader") -> Project:
    """A project, where this person has at least a role in it; to others it does not exist."""
    known = 0 < identity < 2**31  # what no database could hold is not asked for
    row = connection.execute(_seen_by(user).where(projects.c.id == identity)).one_or_none() if known else None
    if row is None:
        raise NotFound(f"there is no project number {identity} that you may see")
    found = _project(row)
    found.demand(role)
    return found


def people(connection: Connection, project: Project) -> list[dict[str, str]]:
    """Who may see the project, and as what."""
    query = (
        select(users.c.name, members.c.role)
        .join(users, users.c.id == members.c.user_id)
        .where(members.c.project_id == project.id)
    )
    return [{"name": row.name, "role": row.role} for row in connection.execute(query.order_by(users.c.name)).all()]


def share(connection: Connection, user: User, project: Project, name: str, role: str | None) -> None:
    """Give somebody a role in a project, or (None) take it away."""
    project.demand("owner")
    other = named(connection, name)
    if role is not None and role not in RANKS:
        raise Invalid(f"a role is one of {', '.join(RANKS)}; got '{role}'")
    owners = [one["name"] for one in people(connection, project) if one["role"] == "owner"]
    if role != "owner" and owners == [other.name]:
        raise Conflict(f"'{other.name}' is the only owner of '{project.name}'; make somebody else an owner first")
    connection.execute(delete(members).where(members.c.project_id == project.id, members.c.user_id == other.id))
    if role is not None:
        connection.execute(insert(members).values(project_id=project.id, user_id=other.id, role=role))
    audit.note(connection, user.name, "project shared", project.id, user=other.name, role=role or "none")


def touch(connection: Connection, project: int, **values: Any) -> None:
    """Say that something in a project changed now."""
    connection.execute(update(projects).where(projects.c.id == project).values(updated=now(), **values))


def remove(connection: Connection, user: User, project: Project) -> None:
    """Delete a project that has nothing signed off; its files go when the transaction is over."""
    project.demand("owner")
    signed = select(func.count()).where(releases.c.project_id == project.id, releases.c.signed_at.is_not(None))
    if connection.execute(signed).scalar_one():
        raise Conflict(f"'{project.name}' holds a release that was signed off, so it stays")
    connection.execute(delete(projects).where(projects.c.id == project.id))
    audit.note(connection, user.name, "project deleted", project.id, name=project.name)


def _seen_by(user: User) -> Any:
    return (
        select(projects, members.c.role, users.c.name.label("owner"))
        .join(members, (members.c.project_id == projects.c.id) & (members.c.user_id == user.id))
        .join(users, users.c.id == projects.c.owner_id)
    )


def _project(row: Row[Any]) -> Project:
    return Project(**{name: getattr(row, name) for name in Project.__dataclass_fields__})


def _taken(connection: Connection, column: Any, name: str) -> bool:
    return connection.execute(select(func.count()).where(func.lower(column) == name.lower())).scalar_one() > 0


def _table_taken(connection: Connection, name: str) -> bool:
    """Whether a project's table has this name, or one that a signed release keeps."""
    return _taken(connection, projects.c.table_name, name) or _taken(connection, releases.c.table_name, name)
