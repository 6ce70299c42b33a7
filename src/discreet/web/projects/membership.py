"""Who is in a project: people with a role of their own, and people by a group that the project is shared with.

A role of one's own counts before those of groups, so that an owner can make an exception in either direction. Of several groups,
the role that comes first in :data:`RANKS` counts. Groups are those of the provider of single sign-on, as of the last login.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import BindParameter, Connection, and_, case, delete, exists, func, insert, select, union_all
from sqlalchemy.sql.selectable import Subquery

from discreet.web.auth.accounts import User
from discreet.web.db import audit
from discreet.web.db.tables import members, project_groups, user_groups, users
from discreet.web.errors import InvalidRequest
from discreet.web.projects import roles

if TYPE_CHECKING:
    from discreet.web.projects.projects import Project

RANKS = ("owner", "editor", "approver", "release_reader")
"""The roles from the strongest on; an editor by one group and approver by another is an editor, who cannot approve."""
MAX_GROUP_NAME = 200


def memberships(user_id: int | BindParameter[int] | None = None) -> Subquery:
    """A subquery with one row per project and person (project_id, user_id, role), for one user or for all."""
    own = select(members.c.project_id, members.c.user_id, members.c.role)
    has_own_role = exists().where(
        and_(members.c.project_id == project_groups.c.project_id, members.c.user_id == user_groups.c.user_id)
    )
    rank = case({role: number for number, role in enumerate(RANKS)}, value=project_groups.c.role, else_=len(RANKS))
    strongest = (
        select(project_groups.c.project_id, user_groups.c.user_id, func.min(rank).label("rank"))
        .join(user_groups, user_groups.c.group_name == project_groups.c.group_name)
        .where(~has_own_role)
        .group_by(project_groups.c.project_id, user_groups.c.user_id)
    )
    if user_id is not None:
        own = own.where(members.c.user_id == user_id)
        strongest = strongest.where(user_groups.c.user_id == user_id)
    by_group = strongest.subquery("by_group")
    role = case(dict(enumerate(RANKS)), value=by_group.c.rank, else_="release_reader")
    return union_all(own, select(by_group.c.project_id, by_group.c.user_id, role)).subquery("memberships")


def list_people(connection: Connection, project_id: int) -> list[dict[str, Any]]:
    """Everybody in a project, each with id, name and role, whether by a role of their own or by a group."""
    everybody = memberships()
    query = select(users.c.id, users.c.name, everybody.c.role).join(everybody, everybody.c.user_id == users.c.id)
    rows = connection.execute(query.where(everybody.c.project_id == project_id).order_by(users.c.name)).all()
    return [{"id": row.id, "name": row.name, "role": row.role} for row in rows]


def list_groups(connection: Connection, project: Project) -> list[dict[str, Any]]:
    """The groups that a project is shared with, each with its role and how many people of it have logged in so far."""
    query = (
        select(project_groups.c.group_name, project_groups.c.role, func.count(user_groups.c.user_id).label("people"))
        .outerjoin(user_groups, user_groups.c.group_name == project_groups.c.group_name)
        .where(project_groups.c.project_id == project.id)
        .group_by(project_groups.c.group_name, project_groups.c.role)
        .order_by(project_groups.c.group_name)
    )
    return [{"group": row.group_name, "role": row.role, "people": row.people} for row in connection.execute(query).all()]


def set_group_role(connection: Connection, user: User, project: Project, group: str, role: str | None) -> None:
    """Share a project with a group in a role, or no more (None)."""
    project.require_role("owner")
    name = group.strip()
    if not name or len(name) > MAX_GROUP_NAME or not name.isprintable():
        raise InvalidRequest(f"a group has a name of 1 to {MAX_GROUP_NAME} printable characters, spelt as the provider spells it")
    if role is not None and role not in roles.ROLES:
        raise InvalidRequest(f"the role must be one of {', '.join(roles.ROLES)}; got '{role[:40]}'")
    this_group = (project_groups.c.project_id == project.id, project_groups.c.group_name == name)
    connection.execute(delete(project_groups).where(*this_group))
    if role is not None:
        connection.execute(insert(project_groups).values(project_id=project.id, group_name=name, role=role))
    audit.record(connection, user.name, "project shared", project.id, group=name, role=role or "none")
