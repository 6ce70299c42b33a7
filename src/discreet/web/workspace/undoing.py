"""Undo and redo over every change of the policy, by whoever made it.

Revisions are never deleted, so undoing appends a revision with earlier content. What it undoes is found from the content: the
state of a revision is the first revision with the same policy, and a state's parent is the state of the revision before it.
Undoing goes to the parent; redoing goes to the newest child. So a change made after undoing starts another branch, and nothing is
ever lost.
"""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, select

from discreet.web.auth.accounts import User
from discreet.web.db.tables import revisions
from discreet.web.errors import Conflict
from discreet.web.projects import policies
from discreet.web.projects.projects import Project

_LOOKED_AT = 200
"""Revisions among which states are looked for."""
_DIGESTS_KEPT = 20_000
_digests: OrderedDict[tuple[int, int, float], str] = OrderedDict()
"""Digests by project, revision and time: a number alone may come again, after a transaction that failed or a restored backup."""


@dataclass(frozen=True)
class Change:
    """A change that can be undone or redone: the revision to go to, and what the change was."""

    revision: int
    what: str


@dataclass(frozen=True)
class History:
    """What can be undone and redone now."""

    undo: Change | None
    redo: Change | None


def read_history(connection: Connection, project: Project) -> History:
    """The change that led to the current policy, and the newest one that was made on it."""
    rows = connection.execute(
        select(revisions.c.revision, revisions.c.what, revisions.c.at)
        .where(revisions.c.project_id == project.id, revisions.c.revision > project.revision - _LOOKED_AT)
        .order_by(revisions.c.revision)
    ).all()
    digests = _read_digests(connection, project.id, {row.revision: row.at for row in rows})
    states = find_states([digests[row.revision] for row in rows])
    numbers, descriptions = [row.revision for row in rows], [row.what for row in rows]
    undo, redo = find_targets(states)
    return History(
        None if undo is None else Change(numbers[undo], descriptions[states[-1]]),
        None if redo is None else Change(numbers[redo], descriptions[redo]),
    )


def find_states(contents: list[str]) -> list[int]:
    """For each revision the place of the first one with the same content.

    >>> find_states(["a", "b", "a", "c"])
    [0, 1, 0, 3]
    """
    first: dict[str, int] = {}
    return [first.setdefault(content, place) for place, content in enumerate(contents)]


def find_targets(states: list[int]) -> tuple[int | None, int | None]:
    """The states to which undoing and redoing lead from the last revision.

    >>> find_targets([0, 1, 2])
    (1, None)
    >>> find_targets([0, 1, 2, 1])
    (0, 2)
    >>> find_targets([0, 1, 2, 1, 0])
    (None, 1)
    """
    current = states[-1]
    children = [place for place, state in enumerate(states) if place and state == place and states[place - 1] == current]
    return (states[current - 1] if current else None), (children[-1] if children else None)


def undo(connection: Connection, user: User, project: Project) -> int:
    """Go back to the policy before the last change; returns the new revision."""
    target = read_history(connection, project).undo
    if target is None:
        raise Conflict("there is no change to undo")
    return _go_to(connection, user, project, target.revision, f"undone: {target.what}")


def redo(connection: Connection, user: User, project: Project) -> int:
    """Make the newest change again that was undone; returns the new revision."""
    target = read_history(connection, project).redo
    if target is None:
        raise Conflict("there is no change to redo")
    return _go_to(connection, user, project, target.revision, f"redone: {target.what}")


def _go_to(connection: Connection, user: User, project: Project, revision: int, what: str) -> int:
    """Set every section to what it was, as it was written, so that the content is recognised again."""
    now, then = policies.policy_document(connection, project), policies.policy_document(connection, project, revision)
    names = {**now.get("attributes", {}), **then.get("attributes", {})}
    paths = [f"attributes.{name}" for name in names]
    paths += [section for section in policies.SECTIONS[1:] if section in now or section in then]
    sections = {path: policies.get_section(then, path) for path in paths}
    return policies.edit(connection, user, project, project.revision, sections, what)


def _read_digests(connection: Connection, project_id: int, wanted: Mapping[int, float]) -> dict[int, str]:
    missing = [number for number, at in wanted.items() if (project_id, number, at) not in _digests]
    if missing:
        query = select(revisions.c.revision, revisions.c.policy).where(
            revisions.c.project_id == project_id, revisions.c.revision.in_(missing)
        )
        for row in connection.execute(query).all():
            _digests[(project_id, row.revision, wanted[row.revision])] = _digest(row.policy)
    found = {number: _digests[(project_id, number, at)] for number, at in wanted.items()}
    while len(_digests) > _DIGESTS_KEPT:
        _digests.popitem(last=False)
    return found


def _digest(policy: Any) -> str:
    return hashlib.sha256(json.dumps(policy, sort_keys=True).encode("utf-8", "surrogatepass")).hexdigest()
