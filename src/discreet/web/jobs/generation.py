"""What makes two requests to generate a release the same: the table, the policy with its plan, and the owner's limits.

Generating again what exists would only add another random draw of the same release, from which more could be averaged out. For
another draw on purpose, the plan's ``release`` number is raised, which makes the policy another one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, select

from discreet.web.db.tables import jobs, releases, revisions
from discreet.web.db.tables import projects as project_table
from discreet.web.projects.projects import Project

_ACTIVE = ("queued", "running")


def identify(connection: Connection, project: Project, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The table, limits and digest of a request to generate; other requests for the project wait until the transaction ends."""
    row = connection.execute(select(project_table).where(project_table.c.id == project.id).with_for_update()).one()
    dataset, limits = parameters.get("dataset", row.dataset_id), dict(row.limits or {})
    condition = (revisions.c.project_id == project.id, revisions.c.revision == parameters["revision"])
    policy = dict(connection.execute(select(revisions.c.policy).where(*condition)).scalar() or {})
    text = json.dumps([dataset, with_limits(policy, limits)], sort_keys=True)
    identity: dict[str, Any] = {"limits": limits, "digest": hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()}
    return identity | ({} if dataset is None else {"dataset": dataset})


def with_limits(policy: Mapping[str, Any], limits: Mapping[str, float]) -> dict[str, Any]:
    """A policy that is judged on the owner's limits too; where both name a limit, the owner's counts."""
    merged = {**(policy.get("limits") or {}), **limits}
    return {**policy, "limits": merged} if merged else dict(policy)


def find_earlier_job(connection: Connection, project: Project, digest: str) -> str | None:
    """The job that generates the same release, or has generated one that is neither withdrawn nor purged."""
    available = (releases.c.project_id == project.id, releases.c.state.not_in(("withdrawn", "purged")))
    released_jobs = set(connection.execute(select(releases.c.job_id).where(*available)).scalars())
    query = select(jobs.c.id, jobs.c.parameters, jobs.c.state, jobs.c.cancelling).where(
        jobs.c.project_id == project.id, jobs.c.kind == "generate", jobs.c.state.in_((*_ACTIVE, "done"))
    )
    for job in connection.execute(query.order_by(jobs.c.created.desc(), jobs.c.id)).all():
        is_available = (job.state in _ACTIVE and not job.cancelling) or job.id in released_jobs
        if job.parameters.get("digest") == digest and is_available:
            return str(job.id)
    return None
