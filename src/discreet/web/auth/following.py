"""Who follows an event stream, and whether they still may: sessions, tokens and roles can end while a stream is open."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import Connection, or_, select

from discreet.web.db.store import now
from discreet.web.db.tables import sessions, tokens, users
from discreet.web.projects.membership import memberships


@dataclass(frozen=True)
class Follower:
    """A user who follows a project, with the stored hash of the session or token that the stream was opened with."""

    project_id: int
    user_id: int
    credential: str


def still_allowed(connection: Connection, followers: Collection[Follower]) -> set[Follower]:
    """Those whose session or token still exists, whose account is enabled, and who still have a role in the project."""
    credentials = {follower.credential for follower in followers}
    user_ids = {follower.user_id for follower in followers}
    valid = set()
    for table in (sessions, tokens):
        query = select(table.c.hash).where(table.c.hash.in_(credentials), table.c.expires > now())
        if table is sessions:
            query = query.where(or_(sessions.c.ends.is_(None), sessions.c.ends > now()))
        valid |= set(connection.execute(query).scalars())
    enabled = set(connection.execute(select(users.c.id).where(users.c.id.in_(user_ids), ~users.c.disabled)).scalars())
    members = memberships()
    sees_data = members.c.role != "release_reader"  # a stream tells of jobs and drafts
    query_members = select(members.c.project_id, members.c.user_id).where(members.c.user_id.in_(user_ids), sees_data)
    pairs = {(row.project_id, row.user_id) for row in connection.execute(query_members).all()}
    return {
        follower
        for follower in followers
        if follower.credential in valid and follower.user_id in enabled and (follower.project_id, follower.user_id) in pairs
    }
