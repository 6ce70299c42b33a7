"""Releases of a project: drafts in a private store until they are approved; see :mod:`discreet.web.projects.approval`.

Release readers get only what is open to them, from the functions here: approved releases, without their assessment and policy,
which contain risks of records and values of attributes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import yaml
from sqlalchemy import Connection, Row, select

from discreet import registry
from discreet.web.db.tables import releases, users
from discreet.web.errors import InvalidRequest, NotFound
from discreet.web.projects.projects import Project
from discreet.web.projects.release_states import OPEN_TO_READERS, State

_SUMMARY_PARTS = ("after", "losses", "verdict")
"""The parts of an assessment that a summary of a release has."""


@dataclass(frozen=True)
class Release:
    """A masked table with the policy that produced it, its assessment, its state and its approval."""

    id: int
    project_id: int
    number: int
    dataset_id: int
    job_id: str
    revision: int
    policy: dict[str, Any]
    file: str
    """The Parquet file in the project's folder; empty if it was purged."""
    sha256: str
    records: int
    table_name: str
    """Its table in the database of published releases; empty unless it is published."""
    assessment: dict[str, Any]
    ok: bool | None
    """Whether all limits are met; None if there are no limits."""
    created: float
    user: str
    """Who generated it."""
    state: State
    history: list[dict[str, Any]]
    """Its states so far: ``state``, ``by``, ``at`` and ``note``."""
    approval: dict[str, Any] | None
    superseded_by: int | None
    purged: float | None

    @property
    def status(self) -> str:
        """The verdict: met, not met or incomplete.

        Releases of earlier versions have no stored status; their limits were judged on the release alone, so it is incomplete
        even if they were met.
        """
        return str(self.assessment.get("verdict", {}).get("status") or ("not met" if self.ok is False else "incomplete"))

    @property
    def open_to_readers(self) -> bool:
        """Whether release readers see it."""
        return self.state in OPEN_TO_READERS

    @property
    def makers(self) -> list[str]:
        """Who generated it and who submitted it: nobody of them may approve it."""
        submitters = [str(entry["by"]) for entry in self.history if entry["state"] == "submitted"]
        return list(dict.fromkeys([self.user, *submitters]))

    def last(self, state: str) -> dict[str, Any] | None:
        """The newest entry of its history with a state, or None."""
        return next((entry for entry in reversed(self.history) if entry["state"] == state), None)


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
    return _release_from_row(row, project)


def list_releases(connection: Connection, project: Project) -> list[Release]:
    """A project's releases, newest first."""
    return [
        _release_from_row(row, project)
        for row in connection.execute(_select_releases(project).order_by(releases.c.number.desc())).all()
    ]


def list_summaries(connection: Connection, project: Project) -> list[Release]:
    """A project's releases, newest first, with only what a map or a list shows of them.

    Of the assessment they have the numbers after masking, the losses and the verdict, of the policy the limits; the database
    takes these parts out of the documents, because reading whole assessments takes longer than everything else on a page.
    """
    parts = [releases.c.assessment[part].label(f"part_{part}") for part in _SUMMARY_PARTS]
    whole = [column for column in releases.c if column.name not in ("assessment", "policy", "history")]
    query = _select_releases(project, *whole, releases.c.policy["limits"].label("limits"), *parts)
    listed = []
    for row in connection.execute(query.order_by(releases.c.number.desc())).mappings():
        values = {name: row[name] for name in Release.__dataclass_fields__ if name in row}
        assessment = {part: row[f"part_{part}"] for part in _SUMMARY_PARTS if row[f"part_{part}"] is not None}
        policy = {} if row["limits"] is None else {"limits": row["limits"]}
        release = Release(**values, policy=policy, assessment=assessment, history=[])
        listed.append(release if project.allows("member") else _without_confidential_parts(release))
    return listed


def policy_yaml(release: Release) -> str:
    """The policy file that reproduces this release from its dataset."""
    return yaml.safe_dump(release.policy, sort_keys=False, allow_unicode=True, width=120)


def risk_loss_points(listed: Sequence[Release], risk: str, loss: str) -> list[dict[str, Any]]:
    """Risk and loss (MEASURE.FIELD) of releases, newest first, as points, oldest first; those without either are left out."""
    for name, kind in ((risk, "risk"), (loss, "loss")):
        if registry.resolve_limit(name, origin="the map")[0] != kind:
            raise InvalidRequest(f"'{name}' is not a {kind}; the map needs a risk and a loss")
    points = []
    for release in reversed(listed):
        coordinates = [_measured_value(release, "after", risk), _measured_value(release, "losses", loss)]
        if None not in coordinates:
            points.append(
                {
                    "release": release.number,
                    "risk": coordinates[0],
                    "loss": coordinates[1],
                    "ok": release.ok,
                    "status": release.status,
                    "state": release.state,
                }
            )
    return points


def _measured_value(release: Release, part: str, limit: str) -> float | None:
    measure, _, field = limit.partition(".")
    value = release.assessment.get(part, {}).get(measure, {}).get(field)
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None


def _select_releases(project: Project, *columns: Any) -> Any:
    query = (
        select(*(columns or (releases,)), users.c.name.label("user"))
        .join(users, users.c.id == releases.c.user_id)
        .where(releases.c.project_id == project.id)
    )
    return query if project.allows("member") else query.where(releases.c.state.in_(OPEN_TO_READERS))


def _release_from_row(row: Row[Any], project: Project) -> Release:
    values = {name: row._mapping[name] for name in Release.__dataclass_fields__}
    release = Release(**values | {"history": values["history"] or []})
    return release if project.allows("member") else _without_confidential_parts(release)


def _without_confidential_parts(release: Release) -> Release:
    """What a release reader may know of a release."""
    history = [entry | {"note": ""} for entry in release.history if entry["state"] in OPEN_TO_READERS]
    return replace(release, policy={}, assessment={"verdict": {"status": release.status}}, history=history)
