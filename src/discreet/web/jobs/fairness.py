"""Whose job runs next: users take turns, and a long job gives way for a while to those of others.

A server runs a fixed number of jobs at a time. A free place goes to the user who was served longest ago. If all places are
taken and another user waits, the job that has run longest without a break is paused after ``SLICE_SECONDS``, and continues when
a place is free again: a search of a day delays others by a minute, not by a day. A paused process uses no CPU time but keeps its
memory, so there are at most as many paused jobs as places. Exports and previews have places of their own, because somebody
waits for them.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from discreet.web.jobs.running import RunningJob

SLICE_SECONDS = 60.0
EXPORT_KINDS = ("export", "preview")
EXPORT_PLACES = 2


@dataclass(frozen=True)
class Waiting:
    """A job that waits for a place: queued, or paused (then without a project, which it occupies already)."""

    job: str
    user_id: int
    project_id: int | None
    kind: str
    created: float


@dataclass(frozen=True)
class Step:
    """Start or resume a job; ``pause`` is the job that gives way to it."""

    job: str
    pause: str | None = None


class FairTurns:
    """Remembers when each user was served last."""

    def __init__(self, places: int) -> None:
        self.places = places
        self._served: dict[int, float] = {}

    def plan_steps(self, queued: Sequence[Waiting], running: Sequence[RunningJob], busy_projects: set[int]) -> Iterator[Step]:
        """The jobs to start, resume and pause now. Two jobs of one project do not run at the same time, except exports."""
        exports = [waiting for waiting in queued if waiting.kind in EXPORT_KINDS]
        active_exports = [job for job in running if job.kind in EXPORT_KINDS]
        yield from self._fill_places(exports, [job.user_id for job in active_exports], EXPORT_PLACES, per_user=1, busy=set())
        jobs = [job for job in running if job.kind not in EXPORT_KINDS]
        active = [job for job in jobs if not job.paused]
        paused = [Waiting(job.job, job.user_id, None, job.kind, job.created) for job in jobs if job.paused]
        others = [waiting for waiting in queued if waiting.kind not in EXPORT_KINDS]
        per_user = max(1, self.places - 1)  # one place is left for somebody else
        busy = set(busy_projects)
        users = [job.user_id for job in active]
        steps = list(self._fill_places([*paused, *others], users, self.places, per_user, busy))
        yield from steps
        if len(active) + len(steps) >= self.places and len(paused) < self.places:
            started = {step.job for step in steps}
            yield from self._give_way([*paused, *others], active, busy, started)

    def _fill_places(
        self, waiting: Sequence[Waiting], active_users: list[int], places: int, per_user: int, busy: set[int]
    ) -> Iterator[Step]:
        remaining = list(waiting)
        while len(active_users) < places:
            free = [
                candidate
                for candidate in remaining
                if candidate.project_id not in busy and active_users.count(candidate.user_id) < per_user
            ]
            if not free:
                return
            chosen = min(free, key=self._order)
            remaining.remove(chosen)
            active_users.append(chosen.user_id)
            self._serve(chosen, busy)
            yield Step(chosen.job)

    def _give_way(
        self, waiting: Sequence[Waiting], active: Sequence[RunningJob], busy: set[int], started: set[str]
    ) -> Iterator[Step]:
        """One job of a user without any active job takes the place of the one that has run longest."""
        active_users = {job.user_id for job in active}
        candidates = [
            candidate
            for candidate in waiting
            if candidate.job not in started and candidate.user_id not in active_users and candidate.project_id not in busy
        ]
        longest = max(active, key=lambda job: job.stretch, default=None)
        if not candidates or longest is None or longest.stretch < SLICE_SECONDS or longest.process.stop_requested_at is not None:
            return
        chosen = min(candidates, key=self._order)
        self._serve(chosen, busy)
        yield Step(chosen.job, pause=longest.job)

    def _order(self, waiting: Waiting) -> tuple[float, float, str]:
        return self._served.get(waiting.user_id, -math.inf), waiting.created, waiting.job

    def _serve(self, waiting: Waiting, busy: set[int]) -> None:
        self._served[waiting.user_id] = time.monotonic()
        if waiting.project_id is not None and waiting.kind not in EXPORT_KINDS:
            busy.add(waiting.project_id)
