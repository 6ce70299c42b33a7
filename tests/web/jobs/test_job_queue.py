"""The job queue: limits, checks of parameters and roles, and events."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from followers import make_follower
from sqlalchemy import event, update

from discreet.web.auth.accounts import User
from discreet.web.db.store import Store
from discreet.web.db.tables import jobs as job_table
from discreet.web.errors import Forbidden, NotFound, TooManyRequests
from discreet.web.jobs import events, queue
from discreet.web.jobs.supervisor import Supervisor
from discreet.web.projects import policies, projects, quotas
from discreet.web.projects.projects import Project
from discreet.web.settings import Settings


class TestQueue:
    def test_two_people_submit_and_their_projects_run_side_by_side(
        self, settings: Settings, store: Store, anna: User, project: Project, desk: Any, add_user: Callable[..., User],
        fake: Callable[[str], None],
    ) -> None:  # fmt: skip
        bert = add_user("bert")
        with store.write() as connection:
            other = projects.create(connection, bert, "Other")
            projects.set_role(connection, anna, project, "bert", "editor")
        fake("time.sleep(0.5)\nsend(event='failed', sentence='over')")
        supervisor = Supervisor(replace(settings, jobs=2), store)
        first = [replace(desk, user=user).imported() for user in (anna, bert)]
        second = replace(desk, user=bert, project=other).imported()
        supervisor.start()
        try:
            annas, berts = (desk.wait(job) for job in first)
            in_other_project = replace(desk, project=other).wait(second)
        finally:
            supervisor.stop()
        assert (annas.user, berts.user, in_other_project.user) == ("anna", "bert", "bert")
        assert None not in (annas.finished, berts.started, in_other_project.started)
        assert (annas.finished or 0) <= (berts.started or 0), "a project's jobs run one after the other"
        assert (in_other_project.started or 0) < (annas.finished or 0), "two projects' jobs run at once"

    def test_the_queue_is_bounded_and_checks_roles(
        self, settings: Settings, store: Store, anna: User, project: Project, desk: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(quotas.DEFAULT_JOBS, "project", 2)
        first = desk.submit("analyze")
        desk.submit("analyze")
        with pytest.raises(TooManyRequests, match="2 queued or running jobs"):
            desk.submit("analyze")
        with store.write() as connection:
            assert queue.cancel(connection, anna, project, first.id).state == "cancelled"
            with pytest.raises(Forbidden):
                queue.submit(connection, anna, replace(project, role="approver"), "analyze")
            with pytest.raises(Forbidden):
                queue.cancel(connection, anna, replace(project, role="approver"), first.id)
            with pytest.raises(NotFound):
                queue.get(connection, project, "nothing")
            latest = queue.latest_job(connection, project, "analyze", "cancelled")
            assert latest is not None
            assert latest.id == first.id
            assert queue.latest_job(connection, project, "risk") is None

    def test_a_list_of_jobs_does_not_read_their_results(self, store: Store, anna: User, project: Project, desk: Any) -> None:
        job = desk.submit("analyze")
        with store.write() as connection:
            this = job_table.c.id == job.id
            connection.execute(update(job_table).where(this).values(result={"large": 1}, partial=[1]))
        statements: list[str] = []
        with store.read() as connection:
            event.listen(connection, "before_cursor_execute", lambda *arguments: statements.append(arguments[2]))
            (listed,) = queue.list_jobs(connection, project)
            assert (listed.result, listed.partial) == (None, None)
            assert (listed.id, listed.kind, listed.user) == (job.id, "analyze", "anna")
            assert "discreet_jobs.what" in statements[0]
            assert "discreet_jobs.result" not in statements[0]
            assert "discreet_jobs.partial" not in statements[0]
            assert queue.get(connection, project, job.id).result == {"large": 1}

    @pytest.mark.parametrize(
        ("kind", "parameters", "words"),
        [
            ("dance", {}, "not a kind of job"),
            ("import", {}, "needs either an upload"),
            ("import", {"upload": "../../../etc/passwd"}, "'upload'"),
            ("import", {"source": "x"}, "name the table"),
            ("import", {"upload": "0" * 32 + ".csv", "address": "postgresql://u:p@h/d"}, "'address' is not a field"),
            ("risk", {"measures": ["k_anonimity"]}, "k_anonymity"),
            ("select", {"seconds": -1}, "'seconds'"),
            ("report", {"release": 1, "format": "exe"}, "'format'"),
            ("analyze", {"dataset": "one"}, "'dataset'"),
        ],
    )
    def test_invalid_parameters_are_refused_before_queueing(self, kind: str, parameters: dict[str, Any], words: str) -> None:
        from discreet.errors import DiscreetError
        from discreet.web.jobs import job_types

        project = Project(1, "P", "p", "anna", "owner", 0.0, 0.0, 4, None)
        with pytest.raises(DiscreetError, match=words):
            job_types.check_parameters(project, kind, parameters)
        assert job_types.check_parameters(project, "generate", {}) == {"revision": 4}


def test_changes_of_a_project_are_sent_as_events(
    store: Store, settings: Settings, anna: User, project: Project, desk: Any
) -> None:
    before = events.project_snapshots(store, [project.id])[project.id]
    assert (before["revision"], before["by"], before["jobs"], before["release"], before["published"]) == (
        0,
        "anna",
        [],
        None,
        None,
    )
    desk.submit("analyze")
    with store.write() as connection:
        policies.edit(connection, anna, project, 0, {"missing": ["n/a"]})
    after = events.project_snapshots(store, [project.id, 77])
    assert list(after) == [project.id]
    snapshot = after[project.id]
    assert (snapshot["revision"], snapshot["by"], [job["kind"] for job in snapshot["jobs"]]) == (1, "anna", ["analyze"])

    follower = make_follower(store, settings, anna, project)

    async def first() -> str:
        return await anext(events.Watcher(store).follow(project, follower))

    assert asyncio.run(first()).startswith("event: change\n")
    with store.write() as connection:
        projects.delete_project_rows(connection, anna, project)
    assert '"gone"' in asyncio.run(first())


def test_followers_of_projects_share_one_query(
    store: Store, settings: Settings, anna: User, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    with store.write() as connection:
        other = projects.create(connection, anna, "Another", "")
    queries: list[list[int]] = []
    real_snapshots = events.project_snapshots

    def counted(store: Store, numbers: list[int]) -> dict[int, dict[str, Any]]:
        queries.append(sorted(numbers))
        return real_snapshots(store, numbers)

    monkeypatch.setattr(events, "project_snapshots", counted)

    async def follow() -> list[str]:
        watcher = events.Watcher(store)
        followers = {followed.id: make_follower(store, settings, anna, followed) for followed in (project, other)}
        streams = [watcher.follow(followed, followers[followed.id], pause=0.2) for followed in [project, other] * 10]
        first = await asyncio.gather(*(anext(stream) for stream in streams))
        assert all(text.startswith("event: change") for text in first)
        assert len(queries) <= 2  # of twenty
        late = [asyncio.ensure_future(anext(stream)) for stream in streams]
        await asyncio.sleep(0.05)
        late[0].cancel()  # somebody leaves
        with store.write() as connection:
            policies.edit(connection, anna, project, 0, {"missing": ["n/a"]})
            projects.delete_project_rows(connection, anna, other)
        last_events = await asyncio.gather(*late[1:])
        for followed in streams:
            await followed.aclose()
        assert not watcher._followers
        return last_events

    last_events = asyncio.run(follow())
    assert all('"revision": 1' in text for text in last_events[1::2])
    assert all('"gone"' in text for text in last_events[0::2])
    assert queries[0] == sorted([project.id, other.id])


def test_a_query_of_a_closed_event_loop_is_not_awaited(
    store: Store, settings: Settings, anna: User, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    watcher = events.Watcher(store)
    follower = make_follower(store, settings, anna, project)

    async def first() -> str:
        return await anext(watcher.follow(project, follower))

    async def cut_off() -> None:
        monkeypatch.setattr(watcher, "_read_all", lambda: asyncio.sleep(60))
        asking = asyncio.ensure_future(first())
        await asyncio.sleep(0.05)
        asking.cancel()

    asyncio.run(cut_off())
    monkeypatch.undo()
    assert asyncio.run(first()).startswith("event: change")


def test_project_streams_end_so_that_browsers_reauthenticate(
    store: Store, settings: Settings, anna: User, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "PROJECT_STREAM_SECONDS", 0.3)

    async def follow() -> list[str]:
        follower = make_follower(store, settings, anna, project)
        return [text async for text in events.Watcher(store).follow(project, follower, pause=0.1)]

    assert [text.split("\n")[0] for text in asyncio.run(follow())] == ["event: change"]  # no end: a browser asks again
