"""What happens, as server-sent events: a job until it is over, and whatever changes in a project.

The generators are asynchronous and hold no thread while they wait: a reader who stays for hours costs a look at the database
twice a second. Every event is a whole picture, so a reader who missed one has lost nothing.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

from sqlalchemy import func, select

from discreet.web.failures import NotFound
from discreet.web.jobs import queue
from discreet.web.projects import Project
from discreet.web.store import Store, now
from discreet.web.tables import jobs, projects, releases, revisions, users

PAUSE = 0.5
ALIVE = 15.0
LONGEST = 3600.0
"""Seconds between looks, between signs of life, and until a reader must come again."""


async def stream(store: Store, project: Project, job_id: str, pause: float = PAUSE) -> AsyncIterator[str]:
    """Events ``progress`` of a job, each :func:`told`, and ``end`` when it is over; the text of an event stream."""

    def look() -> dict[str, Any]:
        with store.read() as connection:
            return told(queue.get(connection, project, job_id))

    async for text in _changes("progress", look, lambda seen: seen["state"] not in queue.ACTIVE, pause):
        yield text


async def project_events(store: Store, project: Project, pause: float = 2 * PAUSE) -> AsyncIterator[str]:
    """Events ``change`` of a project: its revision and who made it, its dataset, its jobs, its releases."""

    def look() -> dict[str, Any]:
        return picture(store, project)

    async for text in _changes("change", look, lambda _: False, pause):
        yield text


def told(job: queue.Job) -> dict[str, Any]:
    """A job for those who follow it; what it found is asked for when it is over."""
    names = ("id", "kind", "state", "cancelling", "what", "done", "total", "partial", "created", "started", "finished", "user")
    return {name: getattr(job, name) for name in names} | {"share": job.share}


def picture(store: Store, project: Project) -> dict[str, Any]:
    """What others may have changed in a project."""
    with store.read() as connection:
        row = connection.execute(
            select(projects.c.revision, projects.c.dataset_id, projects.c.updated).where(projects.c.id == project.id)
        ).one_or_none()
        if row is None:
            raise NotFound(f"the project '{project.name}' is not there any more")
        last = connection.execute(
            select(revisions.c.what, users.c.name)
            .outerjoin(users, users.c.id == revisions.c.user_id)
            .where(revisions.c.project_id == project.id, revisions.c.revision == row.revision)
        ).one_or_none()
        running = connection.execute(
            select(jobs.c.id, jobs.c.kind, jobs.c.state, jobs.c.what, jobs.c.done, jobs.c.total)
            .where(jobs.c.project_id == project.id, jobs.c.state.in_(queue.ACTIVE))
            .order_by(jobs.c.created)
        ).mappings()
        active = [dict(one) for one in running]
        made = connection.execute(
            select(func.max(releases.c.number), func.count(releases.c.signed_at)).where(releases.c.project_id == project.id)
        ).one()
    return {
        "revision": row.revision, "by": last.name if last else None, "what": last.what if last else "",
        "dataset": row.dataset_id, "updated": row.updated, "jobs": active, "release": made[0], "signed": made[1],
    }  # fmt: skip


async def _changes(
    name: str, look: Callable[[], dict[str, Any]], over: Callable[[dict[str, Any]], bool], pause: float
) -> AsyncIterator[str]:
    began = spoken = now()
    before: dict[str, Any] | None = None
    while now() - began < LONGEST:
        try:
            seen = await asyncio.to_thread(look)
        except NotFound as error:
            yield _event("end", {"state": "gone", "what": str(error)})
            return
        if seen != before:
            before, spoken = seen, now()
            yield _event(name, seen)
        elif now() - spoken > ALIVE:
            spoken = now()
            yield ": alive\n\n"
        if over(seen):
            yield _event("end", seen)
            return
        await asyncio.sleep(pause)


def _event(name: str, data: dict[str, Any]) -> str:
    return f"event: {name}\ndata: {json.dumps(data, ensure_ascii=True, allow_nan=False)}\n\n"
