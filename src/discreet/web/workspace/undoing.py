"""Undo and redo over every change of the policy, by whoever made it.

Revisions are never deleted, so undoing appends a revision with earlier content. The revisions are followed from the first: one
that is described as undone and has the content of the parent of the current state leads back to that parent, one that is
described as redone and has the content of its newest child leads to that child, and any other is a new state, whose parent is
the current one, even where its content was there before (an opened draft, a restored revision). Undoing goes to the parent;
redoing goes to the newest child. So a change made after undoing starts another branch, and nothing is ever lost.
"""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Mapping, Sequence
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
_UNDONE, _REDONE = "undone: ", "redone: "
"""How the description of a revision begins that undoing or redoing made."""
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
    numbers, descriptions = [row.revision for row in rows], [row.what for row in rows]
    current, parents = follow_revisions([digests[number] for number in numbers], descriptions)
    undo, redo = parents[current], _newest_child(parents, current)
    return History(
        None if undo is None else Change(numbers[undo], descriptions[current]),
        None if redo is None else Change(numbers[redo], descriptions[redo]),
    )


def follow_revisions(contents: Sequence[str], descriptions: Sequence[str]) -> tuple[int, dict[int, int | None]]:
    """The place of the revision that is the current state, and the parent of every state.

    >>> follow_revisions("abcb", ["made", "b", "c", "undone: c"])
    (1, {0: None, 1: 0, 2: 1})
    >>> follow_revisions("abcbc", ["made", "b", "c", "undone: c", "redone: c"])
    (2, {0: None, 1: 0, 2: 1})
    >>> follow_revisions("aba", ["made", "b", "the draft 'a' was opened"])
    (2, {0: None, 1: 0, 2: 1})
    """
    current = 0
    parents: dict[int, int | None] = {0: None}
    for place in range(1, len(contents)):
        target = None
        if descriptions[place].startswith(_UNDONE):
            target = parents[current]
        elif descriptions[place].startswith(_REDONE):
            target = _newest_child(parents, current)
        if target is not None and contents[target] == contents[place]:
            current = target
        else:
            parents[place], current = current, place
    return current, parents


def _newest_child(parents: Mapping[int, int | None], state: int) -> int | None:
    return max((child for child, parent in parents.items() if parent == state), default=None)


def undo(connection: Connection, user: User, project: Project) -> int:
    """Go back to the policy before the last change; returns the new revision."""
    target = read_history(connection, project).undo
    if target is None:
        raise Conflict("there is no change to undo")
    return _go_to(connection, user, project, target.revision, f"{_UNDONE}{target.what}")


def redo(connection: Connection, user: User, project: Project) -> int:
    """Make the newest change again that was undone; returns the new revision."""
    target = read_history(connection, project).redo
    if target is None:
        raise Conflict("there is no change to redo")
    return _go_to(connection, user, project, target.revision, f"{_REDONE}{target.what}")


def _go_to(connection: Connection, user: User, project: Project, revision: int, what: str) -> int:
    """Set every section to what it was, as it was written, so that the content is recognised again."""
    now, then = policies.policy_document(connection, project), policies.policy_document(connection, project, revision)
    names = {**now.get("attributes", {}), **then.get("attributes", {})}
    paths = [f"attributes.{name}" for name in names]
    paths += [section for section in policies.SECTIONS[1:] if section in now or section in then]
    sections = {path: policies.get_section(then, path) for path in paths}
    return policies.edit(connection, user, project, project.revision, sections, what)


def _read_digests(connection: Connection, project_id: int, changed_at: Mapping[int, float]) -> dict[int, str]:
    missing = [number for number, at in changed_at.items() if (project_id, number, at) not in _digests]
    if missing:
        query = select(revisions.c.revision, revisions.c.policy).where(
            revisions.c.project_id == project_id, revisions.c.revision.in_(missing)
        )
        for row in connection.execute(query).all():
            _digests[(project_id, row.revision, changed_at[row.revision])] = _digest(row.policy)
    digests = {number: _digests[(project_id, number, at)] for number, at in changed_at.items()}
    while len(_digests) > _DIGESTS_KEPT:
        _digests.popitem(last=False)
    return digests


def _digest(policy: Any) -> str:
    return hashlib.sha256(json.dumps(policy, sort_keys=True).encode("utf-8", "surrogatepass")).hexdigest()
