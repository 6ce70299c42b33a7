"""Releases of a project: created by a job, listed, exported, and signed off by a named person.

A signed release cannot be changed, only superseded by a later signed release.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from sqlalchemy import Connection, Row, select, update

from discreet import registry
from discreet.convert.files.formats import FORMATS
from discreet.web.auth.accounts import User
from discreet.web.db import audit
from discreet.web.db.store import now
from discreet.web.db.tables import releases, users
from discreet.web.errors import Conflict, InvalidRequest, NotFound
from discreet.web.jobs import queue
from discreet.web.projects import projects
from discreet.web.projects.projects import Project
from discreet.web.settings import Settings

REPORT_FORMATS = ("html", "json", "pdf")
READ_ONLY_FORMATS = (".sas7bdat",)


@dataclass(frozen=True)
class Release:
    """A masked table with the policy that produced it, its assessment and its signature."""

    id: int
    project_id: int
    number: int
    dataset_id: int
    job_id: str
    revision: int
    policy: dict[str, Any]
    file: str
    sha256: str
    records: int
    table_name: str
    """Its table in the database of published releases; empty if a later release replaced it."""
    assessment: dict[str, Any]
    ok: bool | None
    """Whether all limits are met; None if there are no limits."""
    created: float
    user: str
    signed_by: str | None
    signed_at: float | None
    signed_note: str | None
    superseded_by: int | None

    @property
    def status(self) -> str:
        """The verdict: met, not met or incomplete.

        Releases of earlier versions have no stored status; their limits were judged on the release alone, so it is incomplete
        even if they were met.
        """
        return str(self.assessment.get("verdict", {}).get("status") or ("not met" if self.ok is False else "incomplete"))

    @property
    def signed(self) -> bool:
        """Whether it is signed off."""
        return self.signed_at is not None


def get(connection: Connection, project: Project, number: int | None = None) -> Release:
    """A release of a project; default: the latest."""
    query = _select_releases(project).order_by(releases.c.number.desc()).limit(1)
    searched_number = None if number is None else min(number, 2**31 - 1)  # larger numbers do not fit the column
    row = connection.execute(
        query if searched_number is None else query.where(releases.c.number == searched_number)
    ).one_or_none()
    if row is None:
        which = "release yet" if number is None else f"release {number}"
        raise NotFound(f"the project '{project.name}' has no {which}")
    return _release_from_row(row)


def list_releases(connection: Connection, project: Project) -> list[Release]:
    """A project's releases, newest first."""
    return [
        _release_from_row(row) for row in connection.execute(_select_releases(project).order_by(releases.c.number.desc())).all()
    ]


def path(settings: Settings, release: Release) -> Path:
    """The Parquet file of the masked table."""
    return settings.folder(release.project_id) / release.file


def report_path(settings: Settings, release: Release, form: str = "html", *, internal: bool = False) -> Path:
    """The file of a report. Every release has a public report as html and json; a job of kind report creates the others."""
    file = path(settings, release).with_name(report_name(form, internal=internal))
    if form not in REPORT_FORMATS or not file.is_file():
        raise NotFound(f"release {release.number} does not have this report yet; a job of kind report creates it")
    return file


def report_name(form: str, *, internal: bool = False) -> str:
    """The file name of a report."""
    return f"report{'-confidential' if internal else ''}.{form}"


def export_path(settings: Settings, release: Release, form: str) -> Path:
    """Where the masked table in a format (``csv``, ``xlsx``, ``sav``, …) is; a job writes it on first use, and it is kept."""
    suffix = "." + form.strip().lower().removeprefix(".")
    if suffix not in FORMATS or suffix in READ_ONLY_FORMATS:
        raise InvalidRequest(f"'{form[:20]}' is not a format that can be written; formats: {', '.join(list_formats())}")
    masked = path(settings, release)
    return masked if suffix == ".parquet" else masked.with_name(f"export{suffix}")


def list_formats() -> list[str]:
    """The formats in which a release can be downloaded."""
    return [suffix[1:] for suffix in FORMATS if suffix not in READ_ONLY_FORMATS]


def policy_yaml(release: Release) -> str:
    """The policy file that reproduces this release from its dataset."""
    return yaml.safe_dump(release.policy, sort_keys=False, allow_unicode=True, width=120)


def sign(connection: Connection, user: User, project: Project, number: int, note: str, name: str) -> Release:
    """Sign off a release as a named person; it cannot be changed afterwards."""
    project.require_role("owner")
    release = get(connection, project, number)
    name, note = name.strip(), note.strip()
    if not name or len(name) > 120 or not name.isprintable():
        raise InvalidRequest("enter the name of the person who signs off: 1 to 120 printable characters")
    if len(note) > 4000:
        raise InvalidRequest("a note can have at most 4,000 characters")
    signatory = name if name == user.name else f"{name} ({user.name})"
    this_release = releases.c.id == release.id
    # of two simultaneous signatures only one succeeds
    values = {"signed_by": signatory, "signed_at": now(), "signed_note": note}
    if not connection.execute(update(releases).where(this_release, releases.c.signed_at.is_(None)).values(**values)).rowcount:
        release = get(connection, project, number)
        raise Conflict(f"release {number} was signed off by {release.signed_by}; it can only be superseded by a later one")
    earlier = (
        releases.c.project_id == project.id,
        releases.c.number < number,
        releases.c.signed_at.is_not(None),
        releases.c.superseded_by.is_(None),
    )
    connection.execute(update(releases).where(*earlier).values(superseded_by=number))
    if not release.table_name:  # a later release replaced it in the project's table, so it needs a separate table
        queue.submit(connection, user, project, "publish", {"release": number})
    projects.mark_updated(connection, project.id)
    audit.record(connection, user.name, "release signed", project.id, release=number, name=name, sha256=release.sha256)
    return get(connection, project, number)


def risk_loss_points(connection: Connection, project: Project, risk: str, loss: str) -> list[dict[str, Any]]:
    """Risk and loss (MEASURE.FIELD) of each release, oldest first; releases without either value are left out."""
    for name, kind in ((risk, "risk"), (loss, "loss")):
        if registry.resolve_limit(name, origin="the map")[0] != kind:
            raise InvalidRequest(f"'{name}' is not a {kind}; the map needs a risk and a loss")
    points = []
    for release in reversed(list_releases(connection, project)):
        coordinates = [_measured_value(release, "after", risk), _measured_value(release, "losses", loss)]
        if None not in coordinates:
            points.append(
                {
                    "release": release.number,
                    "risk": coordinates[0],
                    "loss": coordinates[1],
                    "ok": release.ok,
                    "status": release.status,
                    "signed": release.signed,
                }
            )
    return points


def _measured_value(release: Release, part: str, limit: str) -> float | None:
    measure, _, field = limit.partition(".")
    value = release.assessment.get(part, {}).get(measure, {}).get(field)
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None


def _select_releases(project: Project) -> Any:
    return (
        select(releases, users.c.name.label("user"))
        .join(users, users.c.id == releases.c.user_id)
        .where(releases.c.project_id == project.id)
    )


def _release_from_row(row: Row[Any]) -> Release:
    return Release(**{name: row._mapping[name] for name in Release.__dataclass_fields__})
