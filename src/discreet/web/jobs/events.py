"""What happens, as server-sent events: a job until it is over, and whatever changes in a project.

The generators are asynchronous and hold no thread while they wait. Those who follow projects share their looks at the
database: fifty open pages cost what one does. Every event is a whole picture, so a reader who missed one has lost nothing.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from typing import Any

from sqlalchemy import func, select

from discreet.web.db.store import Store, now
from discreet.web.db.tables import jobs, projects, releases, revisions, users
from discreet.web.errors import NotFound
from discreet.web.jobs import queue
from discreet.web.projects.projects import Project

PAUSE = 0.5
ALIVE = 15.0
LONGEST = 3600.0
VISIT = 120.0
"""Seconds between looks, between signs of life, and until a reader of a job or of a project must come again: a browser does so by
itself, and is asked anew who it is and whether it may still see the project."""


async def stream(store: Store, project: Project, job_id: str, pause: float = PAUSE) -> AsyncIterator[str]:
    """Events ``progress`` of a job, each :func:`told`, and ``end`` when it is over; the text of an event stream."""

    def look() -> dict[str, Any]:
        with store.read() as connection:
            return told(queue.get(connection, project, job_id))

    async for text in _changes("progress", lambda: asyncio.to_thread(look), _is_over, pause, LONGEST):
        yield text


class Watcher:
    """Looks at projects for all who follow one, together: at most one look at a time, of every followed project."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._followed: Counter[int] = Counter()
        self._seen: dict[int, dict[str, Any] | None] = {}
        self._at = 0.0
        self._looking: asyncio.Task[None] | None = None

    async def follow(self, project: Project, pause: float = 2 * PAUSE) -> AsyncIterator[str]:
        """Events ``change`` of a project: its revision and who made it, its dataset, its jobs, its releases."""

        async def look() -> dict[str, Any]:
            seen = await self._look(project.id, pause / 2)
            if seen is None:
                raise NotFound(f"the project '{project.name}' is not there any more")
            return seen

        self._followed[project.id] += 1
        try:
            async for text in _changes("change", look, lambda _: False, pause, VISIT):
                yield text
        finally:
            self._followed -= Counter([project.id])

    async def _look(self, number: int, young: float) -> dict[str, Any] | None:
        if time.monotonic() - self._at > young:
            await self._renew()
        while number not in self._seen:  # it was not followed yet when that look began
            await self._renew()
        return self._seen[number]

    async def _renew(self) -> None:
        # one that belongs to a loop which is over will never end
        if self._looking is None or self._looking.get_loop() is not asyncio.get_running_loop():
            self._looking = asyncio.create_task(self._look_at_all())
        await asyncio.shield(self._looking)  # one who leaves takes nothing from the others

    async def _look_at_all(self) -> None:
        try:
            numbers = list(self._followed)
            found = await asyncio.to_thread(pictures, self._store, numbers)
            self._seen = {number: found.get(number) for number in numbers}
            self._at = time.monotonic()
        finally:
            self._looking = None


def _is_over(seen: dict[str, Any]) -> bool:
    return seen["state"] not in queue.ACTIVE


def told(job: queue.Job) -> dict[str, Any]:
    """A job for those who follow it; what it found is asked for when it is over."""
    names = ("id", "kind", "state", "cancelling", "what", "done", "total", "partial", "created", "started", "finished", "user")
    return {name: getattr(job, name) for name in names} | {"share": job.share}


def pictures(store: Store, numbers: Collection[int]) -> dict[int, dict[str, Any]]:
    """What may have changed in each of some projects; one that is gone is left out."""
    stand = (
        select(
            projects.c.id, projects.c.revision, users.c.name.label("by"), func.coalesce(revisions.c.what, "").label("what"),
            projects.c.dataset_id.label("dataset"), projects.c.updated,
        )
        .outerjoin(revisions, (revisions.c.project_id == projects.c.id) & (revisions.c.revision == projects.c.revision))
        .outerjoin(users, users.c.id == revisions.c.user_id)
        .where(projects.c.id.in_(numbers))
    )  # fmt: skip
    running = (
        select(jobs.c.project_id, jobs.c.id, jobs.c.kind, jobs.c.state, jobs.c.what, jobs.c.done, jobs.c.total)
        .where(jobs.c.project_id.in_(numbers), jobs.c.state.in_(queue.ACTIVE))
        .order_by(jobs.c.created)
    )
    made = (
        select(
            releases.c.project_id, func.max(releases.c.number).label("release"), func.count(releases.c.signed_at).label("signed")
        )
        .where(releases.c.project_id.in_(numbers))
        .group_by(releases.c.project_id)
    )
    with store.read() as connection:
        found = {row.pop("id"): row for row in map(dict, connection.execute(stand).mappings())}
        active: dict[int, list[dict[str, Any]]] = defaultdict(list)
        for row in map(dict, connection.execute(running).mappings()):
            active[row.pop("project_id")].append(row)
        released = {row.pop("project_id"): row for row in map(dict, connection.execute(made).mappings())}
    nothing = {"release": None, "signed": 0}
    return {number: {**row, "jobs": active[number], **released.get(number, nothing)} for number, row in found.items()}


async def _changes(
    name: str,
    look: Callable[[], Awaitable[dict[str, Any]]],
    over: Callable[[dict[str, Any]], bool],
    pause: float,
    longest: float,
) -> AsyncIterator[str]:
    began = spoken = now()
    before: dict[str, Any] | None = None
    while now() - began < longest:
        try:
            seen = await look()
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
