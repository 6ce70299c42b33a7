"""Users take turns: whose job starts next, which one gives way, and what one user, project and job may use."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import insert, update

from discreet.web.auth.accounts import User
from discreet.web.db.store import Store, now
from discreet.web.db.tables import jobs as job_table
from discreet.web.errors import DiskFull, Forbidden, TooManyRequests
from discreet.web.jobs import fairness, process, queue
from discreet.web.jobs.fairness import FairTurns, Step, Waiting
from discreet.web.jobs.running import RunningJob
from discreet.web.jobs.supervisor import Supervisor
from discreet.web.projects import datasets, projects, quotas
from discreet.web.projects.projects import Project
from discreet.web.settings import Limits, Settings

FLOOD, QUIET = 1, 2


def waiting(job: str, user: int, project: int, created: float, kind: str = "risk") -> Waiting:
    return Waiting(job, user, project, kind, created)


def running(job: str, user: int, seconds: float, *, paused: bool = False, kind: str = "select") -> RunningJob:
    process: Any = SimpleNamespace(stop_requested_at=None, pause=lambda: None, resume=lambda: None)
    return RunningJob(job, kind, process, user_id=user, paused=paused, resumed_at=time.monotonic() - seconds)


@pytest.mark.trust("Under load", "Users take turns: a flood or a search of a day delays others by a minute, not by a day")
def test_the_user_served_longest_ago_is_next() -> None:
    turns = FairTurns(1)
    queued = [waiting(f"flood{number}", FLOOD, number, number) for number in range(5)] + [waiting("quiet", QUIET, 99, 100.0)]
    order = []
    while queued:
        (step,) = turns.plan_steps(queued, [], set())
        order.append(step.job)
        queued = [candidate for candidate in queued if candidate.job != step.job]
    assert order[:2] == ["flood0", "quiet"], "though it was submitted last"


def test_a_long_job_gives_way_after_its_slice_and_continues() -> None:
    turns = FairTurns(1)
    search = running("search", FLOOD, fairness.SLICE_SECONDS - 1)
    queued = [waiting("quiet", QUIET, 2, 5.0), waiting("own", FLOOD, 3, 1.0)]
    assert list(turns.plan_steps(queued, [search], {1})) == [], "its slice is not over"
    search = running("search", FLOOD, fairness.SLICE_SECONDS + 1)
    assert list(turns.plan_steps(queued[1:], [search], {1})) == [], "no other user waits"
    assert list(turns.plan_steps(queued, [search], {1})) == [Step("quiet", pause="search")]
    paused = running("search", FLOOD, 0, paused=True)
    assert list(turns.plan_steps([], [paused], {1})) == [Step("search")], "it continues when the place is free"
    assert list(turns.plan_steps([], [paused, running("quiet", QUIET, 1)], {1, 2})) == []


def test_one_user_does_not_take_the_last_place_and_exports_have_their_own() -> None:
    turns = FairTurns(3)
    queued = [waiting(f"flood{number}", FLOOD, number, number) for number in range(5)]
    assert [step.job for step in turns.plan_steps(queued, [], set())] == ["flood0", "flood1"]
    busy = [running("search", FLOOD, 1)]
    exports = [waiting(f"export{number}", FLOOD, 1, number, "export") for number in range(60)]
    assert [step.job for step in FairTurns(1).plan_steps(exports, busy, {1})] == ["export0"], "one per user, beside the search"
    exports.append(waiting("quiet", QUIET, 7, 100.0, "export"))
    assert {step.job for step in FairTurns(1).plan_steps(exports, busy, {1})} == {"export0", "quiet"}


def test_a_paused_process_stands_still_and_another_users_job_runs(
    settings: Settings, store: Store, desk: Any, add_user: Callable[..., User], fake: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """On a server with one place, a job without end, and then a short one of somebody else."""
    monkeypatch.setattr(fairness, "SLICE_SECONDS", 1.0)
    monkeypatch.setattr(process, "STOP_SECONDS", 0.5)
    bert = add_user("bert")
    with store.write() as connection:
        other = projects.create(connection, bert, "Other")
    fake(
        "if inputs['by'] == 'bert':\n    send(event='failed', sentence='short')\nelse:\n"
        "    for n in range(10000):\n        send(event='progress', what='step', done=n, total=10000)\n        time.sleep(0.05)"
    )
    supervisor = Supervisor(replace(settings, jobs=1), store)
    supervisor.start()
    try:
        long = desk.imported()
        desk.wait(long, lambda job: job.state == "running")
        theirs = replace(desk, user=bert, project=other)
        short = theirs.imported()
        assert theirs.wait(short).what == "short"
        desk.wait(long, lambda job: job.state == "running" and job.what == "step")
        with store.write() as connection:
            queue.cancel(connection, desk.user, desk.project, long.id)
        supervisor.wake()
        ended = desk.wait(long)
        assert ended.state == "cancelled"
    finally:
        supervisor.stop()


@pytest.mark.trust("Under load", "A job ends at its time limit, and with its own memory limit")
def test_a_job_is_stopped_at_its_time_limit(
    settings: Settings, store: Store, desk: Any, fake: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "STOP_SECONDS", 0.5)
    fake("while True:\n    send(event='progress', what='step', done=1, total=2)\n    time.sleep(0.05)")
    limited = replace(settings, limits=Limits(job_hours=1 / 3600))
    supervisor = Supervisor(limited, store)
    supervisor.start()
    try:
        ended = desk.wait(desk.imported())
        assert (ended.state, "the time that this job may run" in ended.what) == ("failed", True)
    finally:
        supervisor.stop()


@pytest.mark.trust("Under load", "An administrator sees and cancels any job, and sees nothing of its data")
def test_the_administrator_sees_and_cancels_any_job_without_data(
    store: Store, anna: User, add_user: Callable[..., User], project: Project
) -> None:
    bert = add_user("bert")
    with store.write() as connection:
        hidden = projects.create(connection, bert, "Hidden name")
        job = queue.submit(connection, bert, hidden, "import", {"upload": "0" * 32 + ".csv", "name": "secret.csv"})
        (active,) = queue.list_active(connection)
        assert (active.user, active.kind, active.id) == ("bert", "import", job.id)
        assert "Hidden" not in repr(active)
        assert "secret" not in repr(active)
        with pytest.raises(Forbidden):
            queue.cancel_any(connection, bert, job.id)
        queue.cancel_any(connection, anna, job.id)
        assert queue.get(connection, hidden, job.id).state == "cancelled"
        assert queue.list_active(connection) == []


@pytest.mark.trust("Under load", "Quotas bound the bytes, the jobs and the running time of each user and project")
def test_quotas_bound_jobs_running_time_and_bytes(
    store: Store, settings: Settings, anna: User, add_user: Callable[..., User]
) -> None:
    bert = add_user("bert")
    with store.write() as connection:
        project = projects.create(connection, bert, "Mine")
        quotas.set_quota(connection, anna, "user", bert.id, size=1000, jobs=1, hours=2)
        queue.submit(connection, bert, project, "analyze")
        with pytest.raises(TooManyRequests, match="you have 1 queued or running jobs"):
            queue.submit(connection, bert, project, "analyze")
        connection.execute(update(job_table).values(state="done", ran=2 * 3600))
        with pytest.raises(TooManyRequests, match="2 hours of running time"):
            queue.submit(connection, bert, project, "analyze")
        assert quotas.check_room(connection, settings, project.id) == 1000
        with pytest.raises(DiskFull, match="quota of the project's owner"):
            quotas.check_room(connection, settings, project.id, 1001)
        old = {"id": "a" * 32, "project_id": project.id, "user_id": bert.id, "kind": "risk", "parameters": {}, "state": "done"}
        connection.execute(insert(job_table).values(**old, what="", created=now() - quotas.DAY_SECONDS - 60, ran=99999))
        quotas.set_quota(connection, anna, "user", bert.id, size=1000, jobs=5, hours=3)
        queue.submit(connection, bert, project, "analyze")
    with pytest.raises(DiskFull, match="left of the quota"):
        datasets.receive_upload(settings, project, iter([b"x" * 2000]), "a.csv", room=1000)
    assert quotas.folder_bytes(settings.folder(project.id)) == 0, "nothing is left of it"


@pytest.mark.trust("Under load", "Uploads leave a part of the disk free")
def test_uploads_leave_a_part_of_the_disk_free(store: Store, settings: Settings, project: Project) -> None:
    with store.read() as connection, pytest.raises(DiskFull, match="the server's disk"):
        quotas.check_room(connection, replace(settings, limits=Limits(user_bytes=1e18, project_bytes=1e18)), project.id, 1e17)
