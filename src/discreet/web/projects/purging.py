"""Deletion of originals, drafts and links: by the owner after an approval, or when the retention period of a project is over.

Approved releases, their public reports and the audit log remain. Rows are changed in one transaction, files are deleted after it
(at the latest by the next start), and then the database is rewritten, so that none of its files contains what was deleted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, delete, func, select, update

from discreet.keys.ring import KeyRing
from discreet.web.auth.accounts import User
from discreet.web.db import audit
from discreet.web.db.store import Store, now
from discreet.web.db.sweeping import delete_unreferenced_files, delete_uploads
from discreet.web.db.tables import answers, datasets, jobs, releases
from discreet.web.db.tables import projects as project_table
from discreet.web.errors import Conflict
from discreet.web.jobs.key_project import key_project
from discreet.web.jobs.queue import ACTIVE
from discreet.web.projects import projects
from discreet.web.projects.membership import list_people
from discreet.web.projects.projects import Project
from discreet.web.projects.release_states import OPEN_TO_READERS, PURGEABLE
from discreet.web.settings import Settings

SERVER = "the server"
"""Who applies the retention period, as the audit log names it."""
_KEPT_PARTS = ("records_before", "records_after", "losses", "verdict", "sf", "fs")
"""The parts of an assessment that name no record and no value."""
_EMPTIED_PARTS = ("warnings", "not_measured", "adversaries", "loss", "steps")


@dataclass(frozen=True)
class Purge:
    """What a purge deleted."""

    originals: int
    drafts: int
    links: int

    @property
    def empty(self) -> bool:
        """Whether there was nothing to delete."""
        return not (self.originals or self.drafts or self.links)


def purge(store: Store, settings: Settings, user: User, project: Project) -> Purge:
    """Delete the originals, the drafts and the links of a project that has an approved release."""
    project.require_role("owner")
    with store.write() as connection:
        _lock(connection, project.id)
        if _has_active_jobs(connection, project.id):
            raise Conflict("a job of the project is still active; cancel it first")
        approved = (releases.c.project_id == project.id, releases.c.state.in_(OPEN_TO_READERS))
        if not connection.execute(select(func.count()).where(*approved)).scalar_one():
            raise Conflict(
                "no release is approved yet, so nothing can be purged without losing the work; delete the project instead, or "
                "set a retention period"
            )
        purged = _purge_rows(connection, project.id, user.name, before=None)
        audit.record(
            connection, user.name, "data purged", project.id, originals=purged.originals, drafts=purged.drafts, links=purged.links
        )
    _delete_content(store, settings, project.id)
    store.reclaim()
    return purged


def apply_retention(store: Store, settings: Settings) -> list[int]:
    """Purge what is older than its project's retention period; returns the ids of the projects that had any."""
    with store.read() as connection:
        query = select(project_table.c.id, project_table.c.retention_days).where(project_table.c.retention_days.is_not(None))
        candidates = connection.execute(query).all()
    purged_projects = []
    for row in candidates:
        before = now() - row.retention_days * 86_400
        with store.write() as connection:
            _lock(connection, row.id)
            if _has_active_jobs(connection, row.id):
                continue  # the next sweep will find it idle
            purged = _purge_rows(connection, row.id, SERVER, before)
            if purged.empty:
                continue
            detail = {"originals": purged.originals, "drafts": purged.drafts, "links": purged.links, "days": row.retention_days}
            audit.record(connection, SERVER, "data purged", row.id, **detail)
        _delete_content(store, settings, row.id)
        purged_projects.append(row.id)
    if purged_projects:
        store.reclaim()
    return purged_projects


def _purge_rows(connection: Connection, project_id: int, by: str, before: float | None) -> Purge:
    """Remove all content from the rows of originals, drafts and links (created before a time); the rows themselves remain."""
    at = now()
    dataset_conditions = [datasets.c.project_id == project_id, datasets.c.purged.is_(None)]
    release_conditions = [releases.c.project_id == project_id, releases.c.purged.is_(None)]
    if before is not None:
        dataset_conditions.append(datasets.c.created < before)
        release_conditions.append(releases.c.created < before)
    dataset_ids = list(connection.execute(select(datasets.c.id).where(*dataset_conditions)).scalars())
    if dataset_ids:
        emptied = {"purged": at, "file": "", "columns": [], "profile": None}
        connection.execute(update(datasets).where(datasets.c.id.in_(dataset_ids)).values(**emptied))
        current = (project_table.c.id == project_id, project_table.c.dataset_id.in_(dataset_ids))
        connection.execute(update(project_table).where(*current).values(dataset_id=None))
    rows = connection.execute(select(releases).where(*release_conditions)).all()
    drafts = [row for row in rows if row.state in PURGEABLE]
    for row in rows:
        values: dict[str, Any] = {"purged": at, "assessment": _without_records(row.assessment)}
        if row.state in PURGEABLE:
            entry = {"state": "purged", "by": by, "at": round(at, 3), "note": ""}
            values |= {"state": "purged", "file": "", "policy": {}, "history": [*(row.history or []), entry]}
        connection.execute(update(releases).where(releases.c.id == row.id).values(**values))
    _delete_jobs(connection, project_id, dataset_ids, before)
    # stored answers to requests with an idempotency key may contain assessments
    people = [person["id"] for person in list_people(connection, project_id)]
    connection.execute(delete(answers).where(answers.c.user_id.in_(people)))
    projects.mark_updated(connection, project_id)
    return Purge(len(dataset_ids), len(drafts), len(rows) - len(drafts))


def _delete_jobs(connection: Connection, project_id: int, dataset_ids: list[int], before: float | None) -> None:
    """Delete finished jobs, whose results name records and values: those of purged datasets, and those created before a time."""
    finished = (jobs.c.project_id == project_id, jobs.c.state.not_in(ACTIVE))
    rows = connection.execute(select(jobs.c.id, jobs.c.created, jobs.c.parameters).where(*finished)).all()
    ids = [
        row.id
        for row in rows
        if before is None or row.created < before or row.parameters.get("dataset") in dataset_ids
    ]  # fmt: skip
    connection.execute(delete(jobs).where(jobs.c.id.in_(ids)))


def _delete_content(store: Store, settings: Settings, project_id: int) -> None:
    """Delete the files of what was purged, and the keys with which records of a release could be linked to originals."""
    delete_unreferenced_files(settings, store, project_id)
    delete_uploads(settings, project_id)
    with store.read() as connection:
        unpurged = (releases.c.project_id == project_id, releases.c.purged.is_(None))
        kept = {(row.policy.get("plan") or {}).get("key") for row in connection.execute(select(releases).where(*unpurged)).all()}
    delete_keys(settings, project_id, kept)


def delete_keys(settings: Settings, project_id: int, kept: set[str | None]) -> None:
    """Delete the keys of a project from the server's key ring, except some."""
    ring = KeyRing(settings.home, project=key_project({"project": {"id": project_id}}))
    for key in ring.ids():
        if key not in kept:
            ring.delete(key)


def _without_records(assessment: dict[str, Any]) -> dict[str, Any]:
    return {name: assessment[name] for name in _KEPT_PARTS if name in assessment} | {name: [] for name in _EMPTIED_PARTS}


def _lock(connection: Connection, project_id: int) -> None:
    connection.execute(select(project_table.c.id).where(project_table.c.id == project_id).with_for_update())


def _has_active_jobs(connection: Connection, project_id: int) -> bool:
    active = (jobs.c.project_id == project_id, jobs.c.state.in_(ACTIVE))
    return bool(connection.execute(select(func.count()).where(*active)).scalar_one())
