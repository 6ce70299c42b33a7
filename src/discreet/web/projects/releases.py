"""Releases of a project: made by a job, looked at, compared, and signed off by a named person.

What is signed cannot be changed, only superseded by a later release that is signed in its turn.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
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
from discreet.web.errors import Conflict, Invalid, NotFound
from discreet.web.jobs import queue
from discreet.web.projects import projects
from discreet.web.projects.projects import Project
from discreet.web.settings import Settings

REPORTS = ("html", "json", "pdf")
READ_ONLY = (".sas7bdat",)


@dataclass(frozen=True)
class Release:
    """One masked table with the policy that made it, its assessment, and who answers for it."""

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
    """Where other programs find it in the database of releases; empty where a later release took its place."""
    assessment: dict[str, Any]
    ok: bool | None
    """Whether the verdict is met; None where there are no limits."""
    created: float
    user: str
    signed_by: str | None
    signed_at: float | None
    signed_note: str | None
    superseded_by: int | None

    @property
    def status(self) -> str:
        """The verdict: met, not met or incomplete.

        A release of an earlier version has no such word; where its limits were met, they were judged on the release alone.
        """
        return str(self.assessment.get("verdict", {}).get("status") or ("not met" if self.ok is False else "incomplete"))

    @property
    def signed(self) -> bool:
        """Whether somebody answers for it."""
        return self.signed_at is not None


def get(connection: Connection, project: Project, number: int | None = None) -> Release:
    """A release of a project: the one with this number, or the newest."""
    query = _of(project).order_by(releases.c.number.desc()).limit(1)
    wanted = None if number is None else min(number, 2**31 - 1)  # what no database could hold is not asked for
    row = connection.execute(query if wanted is None else query.where(releases.c.number == wanted)).one_or_none()
    if row is None:
        which = "release yet" if number is None else f"release number {number}"
        raise NotFound(f"the project '{project.name}' has no {which}")
    return _release(row)


def all_of(connection: Connection, project: Project) -> list[Release]:
    """A project's releases, newest first."""
    return [_release(row) for row in connection.execute(_of(project).order_by(releases.c.number.desc())).all()]


def path(settings: Settings, release: Release) -> Path:
    """Where the masked table lies as Parquet."""
    return settings.folder(release.project_id) / release.file


def report_path(settings: Settings, release: Release, form: str = "html", *, internal: bool = False) -> Path:
    """Where a report lies: every release has a public one as html and json; a job of kind report makes the others."""
    place = path(settings, release).with_name(report_name(form, internal=internal))
    if form not in REPORTS or not place.is_file():
        raise NotFound(f"release {release.number} has no such report; a job of the kind report makes it")
    return place


def report_name(form: str, *, internal: bool = False) -> str:
    """The file of a report beside the masked table."""
    return f"report{'-confidential' if internal else ''}.{form}"


def export(settings: Settings, release: Release, form: str) -> Path:
    """The masked table as a file of a format (``csv``, ``xlsx``, ``sav``, …), made once and kept."""
    suffix = "." + form.strip().lower().removeprefix(".")
    if suffix not in FORMATS or suffix in READ_ONLY:
        raise Invalid(f"'{form[:20]}' is no format that tables are written in: {', '.join(formats())}")
    masked = path(settings, release)
    if suffix == ".parquet":
        return masked
    place = masked.with_name(f"export{suffix}")
    if place.is_file():
        return place
    # in a process of its own: some formats take the whole table into memory, which the server must not
    asked = {"source": str(masked), "target": str(place)}
    made = subprocess.run(
        [sys.executable, "-m", "discreet.web.jobs.exporting"],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=False,
    )
    if made.returncode or not place.is_file():
        lines = made.stdout.strip().splitlines()
        raise Conflict(lines[-1] if lines else f"the table could not be written as {suffix}; the server's log may say why")
    return place


def formats() -> list[str]:
    """The formats that a release can be had in."""
    return [suffix[1:] for suffix in FORMATS if suffix not in READ_ONLY]


def policy_yaml(release: Release) -> str:
    """The policy file that makes this release from its dataset."""
    return yaml.safe_dump(release.policy, sort_keys=False, allow_unicode=True, width=120)


def sign(connection: Connection, user: User, project: Project, number: int, note: str, name: str) -> Release:
    """Sign a release off as a named person; it cannot be changed afterwards."""
    project.demand("owner")
    found = get(connection, project, number)
    name, note = name.strip(), note.strip()
    if not name or len(name) > 120 or not name.isprintable():
        raise Invalid("a release is signed off by a person: give a name of 1 to 120 printable characters")
    if len(note) > 4000:
        raise Invalid("a note has at most 4,000 characters")
    shown = name if name == user.name else f"{name} ({user.name})"
    this = releases.c.id == found.id
    # of two who sign at once one wins
    values = {"signed_by": shown, "signed_at": now(), "signed_note": note}
    if not connection.execute(update(releases).where(this, releases.c.signed_at.is_(None)).values(**values)).rowcount:
        found = get(connection, project, number)
        raise Conflict(f"release {number} was signed off by {found.signed_by}; it can only be superseded by a later one")
    earlier = (
        releases.c.project_id == project.id,
        releases.c.number < number,
        releases.c.signed_at.is_not(None),
        releases.c.superseded_by.is_(None),
    )
    connection.execute(update(releases).where(*earlier).values(superseded_by=number))
    if not found.table_name:  # a later release stands in the project's table, so this one needs its own
        queue.submit(connection, user, project, "publish", {"release": number})
    projects.touch(connection, project.id)
    audit.note(connection, user.name, "release signed", project.id, release=number, name=name, sha256=found.sha256)
    return get(connection, project, number)


def points(connection: Connection, project: Project, risk: str, loss: str) -> list[dict[str, Any]]:
    """The releases on the map of a risk and a loss (MEASURE.FIELD), oldest first; those without either number are left out."""
    for name, kind in ((risk, "risk"), (loss, "loss")):
        if registry.direction(name, origin="the map")[0] != kind:
            raise Invalid(f"'{name}' is not a {kind}; the map needs a risk and a loss")
    placed = []
    for one in reversed(all_of(connection, project)):
        found = [_number(one, "after", risk), _number(one, "losses", loss)]
        if None not in found:
            placed.append(
                {
                    "release": one.number,
                    "risk": found[0],
                    "loss": found[1],
                    "ok": one.ok,
                    "status": one.status,
                    "signed": one.signed,
                }
            )
    return placed


def _number(release: Release, part: str, limit: str) -> float | None:
    measure, _, field = limit.partition(".")
    value = release.assessment.get(part, {}).get(measure, {}).get(field)
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None


def _of(project: Project) -> Any:
    return (
        select(releases, users.c.name.label("user"))
        .join(users, users.c.id == releases.c.user_id)
        .where(releases.c.project_id == project.id)
    )


def _release(row: Row[Any]) -> Release:
    return Release(**{name: row._mapping[name] for name in Release.__dataclass_fields__})
