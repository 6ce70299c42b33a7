"""Server-sent events: the progress of a job until it ends, and the changes of a project.

The generators are asynchronous and hold no thread while they wait. All followers of projects share one database query, so
fifty open pages cost as much as one. Every event is a complete snapshot, so a client that misses one loses nothing.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from typing import Any

from sqlalchemy import case, func, select

from discreet.web.auth.following import Follower, still_allowed
from discreet.web.db.store import Store, now
from discreet.web.db.tables import jobs, projects, releases, revisions, users
from discreet.web.errors import NotFound
from discreet.web.jobs import queue
from discreet.web.projects.projects import Project

POLL_SECONDS = 0.5
KEEPALIVE_SECONDS = 5.0
JOB_STREAM_SECONDS = 3600.0
PROJECT_STREAM_SECONDS = 120.0
"""Seconds between queries, between keep-alive events, and until the stream of a job or project ends. Browsers then reconnect by
themselves, and are authenticated and authorised again."""
STREAM_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
"""Of every event stream: nobody stores it, and nginx passes events on as they come."""
ACCESS_ENDED = "the project does not exist any more, or your access to it has ended"


async def stream_job(
    store: Store, project: Project, job_id: str, follower: Follower, pause: float = POLL_SECONDS
) -> AsyncIterator[str]:
    """The event stream of a job: ``progress`` events with a :func:`job_snapshot`, and ``end`` when the job or the access ends."""

    def read_job() -> dict[str, Any]:
        with store.read() as connection:
            if not still_allowed(connection, [follower]):
                raise NotFound(ACCESS_ENDED)
            return job_snapshot(queue.get(connection, project, job_id))

    async for text in _change_events("progress", lambda: asyncio.to_thread(read_job), _is_over, pause, JOB_STREAM_SECONDS):
        yield text


class Watcher:
    """Reads the state of all followed projects in one query, shared by all followers; at most one query runs at a time.

    The same query tells who of them may still see it.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._followers: Counter[Follower] = Counter()
        self._snapshots: dict[Follower, dict[str, Any] | None] = {}
        self._read_at = 0.0
        self._reading: asyncio.Task[None] | None = None

    async def follow(self, project: Project, follower: Follower, pause: float = 2 * POLL_SECONDS) -> AsyncIterator[str]:
        """``change`` events of a project: its revision and author, its dataset, its jobs and its releases."""

        async def read_project() -> dict[str, Any]:
            snapshot = await self._snapshot(follower, pause / 2)
            if snapshot is None:
                raise NotFound(ACCESS_ENDED)
            return snapshot

        self._followers[follower] += 1
        try:
            async for text in _change_events("change", read_project, lambda _: False, pause, PROJECT_STREAM_SECONDS):
                yield text
        finally:
            self._followers -= Counter([follower])

    async def _snapshot(self, follower: Follower, max_age: float) -> dict[str, Any] | None:
        if time.monotonic() - self._read_at > max_age:
            await self._refresh()
        while follower not in self._snapshots:  # it was not followed yet when that query began
            await self._refresh()
        return self._snapshots[follower]

    async def _refresh(self) -> None:
        # a task of a closed event loop would never finish
        if self._reading is None or self._reading.get_loop() is not asyncio.get_running_loop():
            self._reading = asyncio.create_task(self._read_all())
        await asyncio.shield(self._reading)  # a follower that disconnects must not cancel the query of the others

    async def _read_all(self) -> None:
        try:
            followers = list(self._followers)
            snapshots, allowed = await asyncio.to_thread(self._read_snapshots, followers)
            self._snapshots = {
                follower: snapshots.get(follower.project_id) if follower in allowed else None for follower in followers
            }
            self._read_at = time.monotonic()
        finally:
            self._reading = None

    def _read_snapshots(self, followers: Collection[Follower]) -> tuple[dict[int, dict[str, Any]], set[Follower]]:
        with self._store.read() as connection:
            allowed = still_allowed(connection, followers)
        return project_snapshots(self._store, {follower.project_id for follower in allowed}), allowed


def _is_over(snapshot: dict[str, Any]) -> bool:
    return snapshot["state"] not in queue.ACTIVE


def job_snapshot(job: queue.Job) -> dict[str, Any]:
    """The state of a job without its result, which clients fetch when the job is over."""
    names = ("id", "kind", "state", "cancelling", "what", "done", "total", "partial", "created", "started", "finished", "user")
    return {name: getattr(job, name) for name in names} | {"share": job.share}


def project_snapshots(store: Store, project_ids: Collection[int]) -> dict[int, dict[str, Any]]:
    """The state of several projects, by id; deleted projects are left out."""
    project_query = (
        select(
            projects.c.id, projects.c.revision, users.c.name.label("by"), func.coalesce(revisions.c.what, "").label("what"),
            projects.c.dataset_id.label("dataset"), projects.c.updated,
        )
        .outerjoin(revisions, (revisions.c.project_id == projects.c.id) & (revisions.c.revision == projects.c.revision))
        .outerjoin(users, users.c.id == revisions.c.user_id)
        .where(projects.c.id.in_(project_ids))
    )  # fmt: skip
    job_query = (
        select(jobs.c.project_id, jobs.c.id, jobs.c.kind, jobs.c.state, jobs.c.what, jobs.c.done, jobs.c.total)
        .where(jobs.c.project_id.in_(project_ids), jobs.c.state.in_(queue.ACTIVE))
        .order_by(jobs.c.created)
    )
    release_query = (
        select(
            releases.c.project_id,
            func.max(releases.c.number).label("release"),
            func.max(case((releases.c.state == "published", releases.c.number))).label("published"),
        )
        .where(releases.c.project_id.in_(project_ids))
        .group_by(releases.c.project_id)
    )
    with store.read() as connection:
        project_rows = {row.pop("id"): row for row in map(dict, connection.execute(project_query).mappings())}
        job_rows: dict[int, list[dict[str, Any]]] = defaultdict(list)
        for row in map(dict, connection.execute(job_query).mappings()):
            job_rows[row.pop("project_id")].append(row)
        release_rows = {row.pop("project_id"): row for row in map(dict, connection.execute(release_query).mappings())}
    no_release = {"release": None, "published": None}
    return {
        project_id: {**row, "jobs": job_rows[project_id], **release_rows.get(project_id, no_release)}
        for project_id, row in project_rows.items()
    }


async def _change_events(
    name: str,
    take_snapshot: Callable[[], Awaitable[dict[str, Any]]],
    is_over: Callable[[dict[str, Any]], bool],
    pause: float,
    max_seconds: float,
) -> AsyncIterator[str]:
    started = last_sent = now()
    previous: dict[str, Any] | None = None
    while now() - started < max_seconds:
        try:
            snapshot = await take_snapshot()
        except NotFound as error:
            yield _format_event("end", {"state": "gone", "what": str(error)})
            return
        if snapshot != previous:
            previous, last_sent = snapshot, now()
            yield _format_event(name, snapshot)
        elif now() - last_sent > KEEPALIVE_SECONDS:
            last_sent = now()
            yield "event: alive\ndata: {}\n\n"  # without it, a page could not notice that the server is gone
        if is_over(snapshot):
            yield _format_event("end", snapshot)
            return
        await asyncio.sleep(pause)


def _format_event(name: str, data: dict[str, Any]) -> str:
    return f"event: {name}\ndata: {json.dumps(data, ensure_ascii=True, allow_nan=False)}\n\n"
