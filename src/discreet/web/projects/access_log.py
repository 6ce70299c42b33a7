"""Entries of the audit log for looking at data: originals, drafts, the link between both, and every download."""

from __future__ import annotations

from typing import Any

from discreet.web.auth.accounts import User
from discreet.web.db import audit
from discreet.web.db.store import Store
from discreet.web.projects.projects import Project
from discreet.web.projects.releases import Release


def record_original(store: Store, user: User, project: Project, dataset: int | None, **detail: Any) -> None:
    """Record that a user sees values or records of the initial microdata."""
    _record(store, user, "original viewed", project, dataset=dataset, **detail)


def record_release(store: Store, user: User, project: Project, release: Release, what: str = "viewed", **detail: Any) -> None:
    """Record that a user sees or downloads a release: a *draft* as long as it is not approved."""
    kind = "release" if release.open_to_readers else "draft"
    _record(store, user, f"{kind} {what}", project, release=release.number, **detail)


def record_link(store: Store, user: User, project: Project, release: Release, **detail: Any) -> None:
    """Record that a user sees which record of a release comes from which original."""
    _record(store, user, "link viewed", project, release=release.number, dataset=release.dataset_id, **detail)


def _record(store: Store, user: User, action: str, project: Project, **detail: Any) -> None:
    with store.write() as connection:
        audit.record(
            connection, user.name, action, project.id, **{name: value for name, value in detail.items() if value is not None}
        )
