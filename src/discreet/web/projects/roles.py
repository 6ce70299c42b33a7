"""The roles in a project, and what each of them includes.

Rights are named after the role that they are made for: a place that requires ``editor`` is open to every role that includes the
rights of an editor. ``member`` is everybody who may see originals and drafts: all roles but that of a release reader.
"""

from __future__ import annotations

ROLES = {
    "owner": "sets the limits, shares, approves the releases of others, publishes, withdraws, purges and deletes",
    "editor": "changes the policy, runs jobs and submits drafts for approval",
    "approver": "sees originals and drafts, and approves or returns what others have submitted",
    "release_reader": "sees approved releases and their public reports, never originals or drafts",
}
"""Each role with its meaning, for people."""
_INCLUDED_RIGHTS = {
    "owner": ("owner", "editor", "approver", "member", "release_reader"),
    "editor": ("editor", "member", "release_reader"),
    "approver": ("approver", "member", "release_reader"),
    "release_reader": ("release_reader",),
}


def includes(role: str, right: str) -> bool:
    """Whether a role has the rights of another one (or of a ``member``).

    >>> includes("owner", "editor"), includes("editor", "approver"), includes("release_reader", "member")
    (True, False, False)
    """
    return right in _INCLUDED_RIGHTS.get(role, ())


def label(role: str) -> str:
    """A role as people read it.

    >>> label("release_reader")
    'release reader'
    """
    return role.replace("_", " ")
