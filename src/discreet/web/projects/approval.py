"""The gate: a draft is submitted, and another person approves it against the owner's limits or returns it with a comment.

The approver is the account that is logged in. Nobody approves what they made themselves, unless the server is set up for a single
person (``--self-approval``), which the report then says. A verdict other than *met* needs a written reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, select, update

from discreet.web.auth.accounts import User
from discreet.web.db import audit
from discreet.web.db.store import now
from discreet.web.db.tables import projects as project_table
from discreet.web.db.tables import releases as release_table
from discreet.web.errors import Conflict, Forbidden, InvalidRequest
from discreet.web.projects import projects, release_files, releases
from discreet.web.projects.membership import list_people
from discreet.web.projects.projects import Project
from discreet.web.projects.release_states import SUBMITTABLE
from discreet.web.projects.releases import Release
from discreet.web.settings import Settings

MAX_NOTE = 4000


def submit(connection: Connection, user: User, project: Project, number: int, note: str = "") -> Release:
    """Submit a draft, or a release that was returned, for approval."""
    project.require_role("editor")
    release = lock(connection, project, number)
    _require_state(release, SUBMITTABLE, "submitted")
    return move(connection, user, project, release, "submitted", note=check_note(note))


def approve(connection: Connection, settings: Settings, user: User, project: Project, number: int, reason: str = "") -> Release:
    """Approve a submitted release; raises if the user made it, or if a reason is needed and missing."""
    project.require_role("approver")
    release = lock(connection, project, number)
    # read again under the lock: an owner may just have changed the limits, or the user's role
    project = projects.get(connection, user, project.id, "approver")
    _require_state(release, ("submitted",), "approved")
    is_maker = user.name in release.makers
    if is_maker and not settings.self_approval:
        raise Forbidden(
            f"release {number} was generated or submitted by you, so another approver or owner has to approve it; "
            "on a server for one person, discreet serve --self-approval allows it"
        )
    reason = check_note(reason)
    verdict, evidence = judge(project, release)
    if verdict != "met" and not reason:
        raise InvalidRequest(f"{evidence} State in writing why release {number} is approved nevertheless")
    release_files.check_digest(settings, release)
    submitted = release.last("submitted") or {"by": release.user}
    approval = {
        "by": user.name, "at": round(now(), 3), "reason": reason, "maker": release.user, "submitted_by": submitted["by"],
        "self_approval": is_maker, "self_approval_allowed": settings.self_approval, "verdict": verdict, "evidence": evidence,
        "limits": owner_limits(project), "revision": release.revision, "records": release.records, "sha256": release.sha256,
    }  # fmt: skip
    detail = {name: approval[name] for name in ("verdict", "evidence", "limits", "sha256", "self_approval")}
    return move(connection, user, project, release, "approved", note=reason, detail=detail, approval=approval)


def return_to_makers(connection: Connection, user: User, project: Project, number: int, comment: str) -> Release:
    """Return a submitted release to its makers, with a comment that says what is missing."""
    project.require_role("approver")
    release = lock(connection, project, number)
    _require_state(release, ("submitted",), "returned")
    comment = check_note(comment)
    if not comment:
        raise InvalidRequest(f"a comment has to say why release {number} is returned")
    return move(connection, user, project, release, "returned", note=comment)


def judge(project: Project, release: Release) -> tuple[str, str]:
    """The verdict on a release by the limits that the owner has set, and the evidence for it as a sentence.

    The verdict is ``met``, ``not met``, ``incomplete`` or ``no limits``. A limit that was set after the release was generated was
    not judged, so the evidence is incomplete.
    """
    required = owner_limits(project)
    if not required:
        return "no limits", "The owner of the project has set no limits."
    judged = {entry["limit"]: entry for entry in release.assessment.get("verdict", {}).get("limits", [])}
    not_judged = [name for name, value in required.items() if name not in judged or judged[name].get("wanted") != value]
    if not_judged:
        return "incomplete", (
            f"The release was not judged on the owner's limit {', '.join(_format_limits(not_judged, required))}: "
            "generate it again."
        )
    limits = ", ".join(_format_limits(required, required))
    meaning = {"met": "are met", "not met": "are not all met"}.get(release.status, "are not proven: the evidence is incomplete")
    return release.status, f"The owner's limits {limits} {meaning} (policy revision {release.revision})."


def owner_limits(project: Project) -> dict[str, float]:
    """The limits that the owner has set for approval."""
    return dict(project.limits or {})


def find_approvers(connection: Connection, settings: Settings, project: Project, release: Release) -> list[str]:
    """The members who may approve a release."""
    return [
        member["name"]
        for member in list_people(connection, project.id)
        if member["role"] in ("owner", "approver") and (settings.self_approval or member["name"] not in release.makers)
    ]


def lock(connection: Connection, project: Project, number: int) -> Release:
    """A release whose state nobody else changes until the transaction ends."""
    connection.execute(select(project_table.c.id).where(project_table.c.id == project.id).with_for_update())
    return releases.get(connection, project, number)


def move(
    connection: Connection,
    user: User,
    project: Project,
    release: Release,
    state: str,
    *,
    note: str = "",
    detail: dict[str, Any] | None = None,
    **values: Any,
) -> Release:
    """Give a release another state, and record it in its history and in the audit log."""
    entry = {"state": state, "by": user.name, "at": round(now(), 3), "note": note}
    unchanged = (release_table.c.id == release.id, release_table.c.state == release.state)
    changes = {"state": state, "history": [*release.history, entry], **values}
    if not connection.execute(update(release_table).where(*unchanged).values(**changes)).rowcount:
        raise Conflict(f"somebody else has just changed the state of release {release.number}; reload the page")
    projects.mark_updated(connection, project.id)
    audit.record(
        connection, user.name, f"release {state}", project.id, **{"release": release.number, "note": note, **(detail or {})}
    )
    return releases.get(connection, project, release.number)


def check_note(text: str) -> str:
    """A note, comment or reason without surrounding blanks; raises if it is too long."""
    note = text.replace("\r\n", "\n").strip()
    if len(note) > MAX_NOTE:
        raise InvalidRequest(f"a note can have at most {MAX_NOTE:,} characters; got {len(note):,}")
    return note


def _require_state(release: Release, states: Sequence[str], new_state: str) -> None:
    if release.state not in states:
        raise Conflict(
            f"release {release.number} is {release.state}, so it cannot be {new_state}; that needs a release that is "
            f"{' or '.join(states)}",
            state=release.state,
        )


def _format_limits(names: Any, limits: dict[str, float]) -> list[str]:
    return [f"{name} {limits[name]:.12g}" for name in names]
